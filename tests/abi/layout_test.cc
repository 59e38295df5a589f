// The public headers from C++: layouts are frozen, and function types survive both languages.

#include <gtest/gtest.h>

#include <type_traits>

#include "tests/abi/headers.inc"

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes));
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset));
#define VALUE(constant, number) static_assert((constant) == (number));
#include "tests/abi/layout.inc"
#undef SIZE
#undef AT
#undef VALUE

namespace {

TEST(LayoutTest, EveryOwedFunctionIsDeclared) {
#define F(name) static_assert(std::is_function_v<decltype(name)>);
#include "tests/abi/functions.inc"
#undef F
}

TEST(LayoutTest, StatusNamesAreOneType) {
  static_assert(std::is_same_v<TF_Status, TSL_Status>);
  static_assert(std::is_same_v<TF_Code, TSL_Code>);
  static_assert(std::is_same_v<decltype(TF_NewStatus), decltype(TSL_NewStatus)>);
}

}  // namespace
