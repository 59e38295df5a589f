// What kernels derive from constants and keep.
#include "executor/run/kernel_states.h"

#include <memory>

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(PackedValues, AreMadeAgainWhereMemoryWasShort) {
  PackedValues values;
  const int constant = 0;
  const auto none = [] { return std::shared_ptr<const void>(); };
  const auto five = [] { return std::make_shared<const int>(5); };
  const auto six = [] { return std::make_shared<const int>(6); };
  EXPECT_EQ(nullptr, values.Get(&constant, "key", none));
  const auto made = values.Get(&constant, "key", five);
  ASSERT_NE(nullptr, made);
  EXPECT_EQ(5, *static_cast<const int*>(made.get()));
  EXPECT_EQ(made, values.Get(&constant, "key", six));
  EXPECT_EQ(made, values.Get(&constant, "key", none));
}

}  // namespace
}  // namespace tenon
