// What checks of several families share. Each function whose name begins with Check refuses the op
// at its place. An `index` must be there: CheckCounts goes first.
#pragma once

#include <string>
#include <vector>

#include "../text/module.h"

namespace pjref {

// Which element types an op takes.
enum Kinds : unsigned { kBool = 1, kSigned = 2, kUnsigned = 4, kFloats = 8, kComplexes = 16 };
constexpr unsigned kIntegers = kSigned | kUnsigned;
constexpr unsigned kReals = kIntegers | kFloats;
constexpr unsigned kNumbers = kReals | kComplexes;
constexpr unsigned kAll = kNumbers | kBool;

void CheckCounts(const Op& op, size_t operands, size_t results, size_t regions = 0);
void CheckKind(const Op& op, const Type& type, unsigned kinds);
// The type of result `index` is `expected`, which the operands imply.
void CheckResult(const Op& op, size_t index, const Type& expected);
// Refuses the op with `message` unless `right`.
void CheckThat(const Op& op, bool right, const std::string& message);
// Each value is in [0, limit) and stands once. `what` names the values in the refusal.
void CheckAxes(const Op& op, const char* what, const Dims& axes, int64_t limit);
void CheckSize(const Op& op, const char* what, const Dims& values, int64_t size);
void CheckScalar(const Op& op, const Type& type);
// Region `index` takes arguments of these types and returns results of these types.
void CheckRegion(const Op& op, size_t index, const std::vector<Type>& arguments,
                 const std::vector<Type>& results);
// The types that a region returns.
const std::vector<Type>& ReturnTypes(const Op& op, size_t index);
bool Contains(const Dims& values, int64_t value);

}  // namespace pjref
