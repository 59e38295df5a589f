#include "executor/session/spread_runs.h"

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(LeastBusy, GivesTheLeastOfThoseThatAreUsedLeast) {
  LeastBusy busy(3);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(busy.Take(), i);
  }
  busy.Give(1);
  EXPECT_EQ(busy.Take(), 1u);
  for (size_t i = 0; i < 3; ++i) busy.Give(i);
  busy.Give(2);
  EXPECT_EQ(busy.Take(), 2u);
  EXPECT_EQ(busy.Take(), 0u);
}

}  // namespace
}  // namespace tenon
