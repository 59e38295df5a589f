// The constants that all plans of an executable share.
#include "executor/plan/base/const_store.h"

#include "gtest/gtest.h"

namespace tenon {
namespace {

// Plans may ask in turns for a constant and for a part of it that begins where it begins.
TEST(ConstStore, MakesAndCountsEachCopyOnce) {
  const Graph graph;
  ConstStore store(graph);
  const Tensor memory = *Tensor::Allocate(DataType::kInt8, Shape({4096}));
  const auto view = [&](int64_t size) {
    char* const data = static_cast<char*>(memory.data()) + 1;
    return Tensor(DataType::kInt8, Shape({size}),
                  BufferRef::Adopt(Buffer::View(memory.buffer().get(), data, size)));
  };
  const Tensor whole = view(3000), part = view(2000);
  const void* const copy = store.Aligned(whole)->data();
  for (int plan = 0; plan < 3; ++plan) {
    EXPECT_EQ(store.Aligned(whole)->data(), copy);
    EXPECT_EQ(store.Aligned(part)->bytes(), 2000u);
    EXPECT_EQ(store.bytes(), 5000);
  }
}

}  // namespace
}  // namespace tenon
