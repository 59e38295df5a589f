// The table of ops that compute each element by itself, for those who join such ops in one kernel.
#pragma once

#include <string>
#include <string_view>

#include "../base/registry.h"

namespace opencl {

// An op and its OpenCL C. x0, x1 are the operands in the computed type C; U is the type in which
// integers wrap; X0_S is the stored type of x0.
struct MapRow {
  OpRow row;
  const char* floats;            // the result, for floats
  const char* others = nullptr;  // for integers and bool; NULL: the same
  const char* report = nullptr;  // what an integer operand may do wrong
  const char* attr0 = nullptr;   // a float attribute, A0 in the expression
};

// How many operands a row has, and how their shapes must fit.
enum class Operands { kOne, kBroadcast, kSameShape };

struct FoundRow {
  const MapRow* row = nullptr;  // NULL: the table has no such op
  Operands operands = Operands::kOne;
};
FoundRow FindMapRow(std::string_view op);

// The statements that set r. `floats`: the operands are floats. `attr0` stands for A0.
std::string StatementsOf(const MapRow& row, bool floats, const std::string& attr0);

}  // namespace opencl
