#include "graph/c_api/handles.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tenon {
namespace {

struct Picky {
  explicit Picky(int number) : number(number) {
    if (number < 0) throw std::invalid_argument("negative");
  }
  int number;
};

TEST(Handles, AConstructorThatThrowsLosesNoMemory) {
  using Pool = Handles<Picky>;
  Picky* const first = Pool::New(1);
  ASSERT_TRUE(Pool::Delete(first));
  for (int i = 0; i < 3; ++i) EXPECT_THROW(Pool::New(-1), std::invalid_argument);
  EXPECT_FALSE(Pool::IsLive(first));
  Picky* const second = Pool::New(2);
  EXPECT_EQ(second, first);
  EXPECT_TRUE(Pool::IsLive(second));
  EXPECT_EQ(second->number, 2);
  EXPECT_TRUE(Pool::Delete(second));
}

}  // namespace
}  // namespace tenon
