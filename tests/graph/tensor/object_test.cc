#include "graph/tensor/object.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

class Link : public Object {
 public:
  explicit Link(int* alive) : alive_(alive) { ++*alive_; }
  ~Link() override { --*alive_; }
  std::string_view kind() const override { return "link"; }
  ObjectRef<Link> next;

 private:
  int* alive_;
};

TEST(Object, LongChainsGoWithoutRecursion) {
  int alive = 0;
  ObjectRef<Link> head;
  for (int i = 0; i < 1000000; ++i) {
    auto link = ObjectRef<Link>::Make(&alive);
    link->next = std::move(head);
    head = std::move(link);
  }
  EXPECT_EQ(alive, 1000000);
  head = ObjectRef<Link>();
  EXPECT_EQ(alive, 0);
}

// Static objects go after what the main thread owns, which a first Destroy might have made.
TEST(Object, StaticOnesGoAtTheEndOfTheProcess) {
  EXPECT_EXIT(
      {
        static int alive = 0;
        static ObjectRef<Link> last;
        last = ObjectRef<Link>::Make(&alive);
        last->next = ObjectRef<Link>::Make(&alive);
        ObjectRef<Link>::Make(&alive);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Object, TensorsHoldAndShareTheirElements) {
  int alive = 0;
  {
    absl::StatusOr<Tensor> variants = Tensor::Allocate(DataType::kVariant, Shape({3}));
    ASSERT_TRUE(variants.ok());
    EXPECT_EQ(variants->ObjectAt(1), nullptr);
    variants->SetObject(1, ObjectRef<Link>::Make(&alive));
    variants->SetObject(1, ObjectRef<Link>::Make(&alive));
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(variants->ObjectAt(1)->unique());
    const absl::StatusOr<Tensor> copy = variants->Copy();
    ASSERT_TRUE(copy.ok());
    EXPECT_EQ(copy->ObjectAt(1), variants->ObjectAt(1));
    EXPECT_FALSE(variants->ObjectAt(1)->unique());
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace tenon
