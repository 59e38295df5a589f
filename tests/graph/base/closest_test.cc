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
}

}  // namespace
}  // namespace tenon
