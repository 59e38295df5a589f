// Guesses at misspelt names.
#include "graph/base/closest.h"

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(ClosestName, TheNameItselfWinsAfterAnyOther) {
  ClosestName closest("Relu");
  closest.Offer("Relu6");
  closest.Offer("Relu");
  closest.Offer("Elu");
  EXPECT_EQ(closest.best(), "Relu");
  EXPECT_TRUE(closest.found());
}

TEST(ClosestName, AnEmptyNameIsNotFound) {
  ClosestName closest("");
  closest.Offer("Relu");
  EXPECT_FALSE(closest.found());
}

TEST(ClosestName, ALongNameIsFoundToo) {
  const std::string name(200, 'a');
  ClosestName closest(name);
  closest.Offer(std::string(200, 'b'));
  EXPECT_FALSE(closest.found());
  closest.Offer(name);
  EXPECT_TRUE(closest.found());
  EXPECT_EQ(closest.best(), name);
}

}  // namespace
}  // namespace tenon
