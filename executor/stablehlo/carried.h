// What calls, branches and loops of functions share. Private to executor/stablehlo/.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/stablehlo/lowerer.h"
#include "executor/stablehlo/op.h"

namespace tenon::stablehlo {

using Entries = std::vector<Entry>;

// The inputs from `first` on.
Entries InputsFrom(Op& op, int first);
// INVALID_ARGUMENT for another number of results than the node has outputs.
absl::Status SetOutputs(Op& op, Entries results);
// The name of the function in an attribute.
absl::StatusOr<std::string_view> FunctionOf(Op& op, std::string_view attr);

// The values that stand for an entry among a region's operands and results: of a list its elements,
// if their shape is known, and, if it grows or shrinks in the run, its count. Nothing of an entry
// that no program can hold. A constant is written here.
Values PartsOf(Op& op, Entry& entry);
// The entry as these parts, which are those of PartsOf, give it in another place. Without a list
// there must be a part. Nothing is known of it but its shape, and of a list what `entry` says,
// ListValue::each too.
Entry Renewed(const Entry& entry, absl::Span<const Value> parts);
// Whether both have parts of the same types and shapes, and both or neither is a list. Lists must
// also have the same size.
bool SameParts(Op& op, Entry& a, Entry& b);

// Takes out the flags that have been added since there were `count`.
std::vector<CheckFlag> TakeChecks(Lowerer& lowerer, size_t count);

// A condition as TensorFlow reads it: a number is true unless it is 0, a tensor that is no scalar
// unless it is empty.
Value AsCondition(Op& op, const Value& v);

}  // namespace tenon::stablehlo
