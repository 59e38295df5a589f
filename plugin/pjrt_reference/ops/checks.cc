#include "checks.h"

#include <algorithm>

namespace pjref {
namespace {

std::string Listed(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "'" : ", '") + ToString(type) + "'";
  return text.empty() ? "nothing" : text;
}

}  // namespace

void CheckThat(const Op& op, bool right, const std::string& message) {
  if (!right) op.Refuse(message);
}

void CheckCounts(const Op& op, size_t operands, size_t results, size_t regions) {
  const auto expected = [&](size_t there, size_t wanted, const char* what) {
    if (there != wanted) {
      op.Refuse("expected " + std::to_string(wanted) + " " + what + ", but found " +
                std::to_string(there));
    }
  };
  expected(op.operands.size(), operands, "operands");
  expected(op.result_types.size(), results, "results");
  expected(op.regions.size(), regions, "regions");
}

void CheckKind(const Op& op, const Type& type, unsigned kinds) {
  const Element e = type.element;
  const unsigned kind = e == Element::kI1 ? kBool
                        : IsSigned(e)     ? kSigned
                        : IsUnsigned(e)   ? kUnsigned
                        : IsFloat(e)      ? kFloats
                        : IsComplex(e)    ? kComplexes
                                          : 0U;
  if (!(kind & kinds)) op.Refuse("does not take elements of '" + ToString(type) + "'");
}

void CheckResult(const Op& op, size_t index, const Type& expected) {
  if (op.result_types[index] == expected) return;
  op.Refuse("inferred type(s) '" + ToString(expected) +
            "' are incompatible with return type(s) of operation '" +
            ToString(op.result_types[index]) + "'");
}

void CheckAxes(const Op& op, const char* what, const Dims& axes, int64_t limit) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= limit) {
      op.Refuse(std::string(what) + " must be in [0, " + std::to_string(limit) + "), but has " +
                std::to_string(axes[i]));
    }
    if (std::count(axes.begin(), axes.end(), axes[i]) != 1)
      op.Refuse(std::string(what) + " must be unique");
  }
}

void CheckSize(const Op& op, const char* what, const Dims& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) == size) return;
  op.Refuse("expects " + std::string(what) + " to have " + std::to_string(size) +
            " elements, but found " + std::to_string(values.size()));
}

void CheckScalar(const Op& op, const Type& type) {
  if (!type.dims.empty()) op.Refuse("expected a scalar, but found '" + ToString(type) + "'");
}

const std::vector<Type>& ReturnTypes(const Op& op, size_t index) {
  return op.regions[index].ops.back().operand_types;
}

void CheckRegion(const Op& op, size_t index, const std::vector<Type>& arguments,
                 const std::vector<Type>& results) {
  const Region& region = op.regions[index];
  if (region.argument_types != arguments) {
    op.Refuse("region #" + std::to_string(index) + " must take " + Listed(arguments) +
              ", but takes " + Listed(region.argument_types));
  }
  if (ReturnTypes(op, index) != results) {
    op.Refuse("region #" + std::to_string(index) + " must return " + Listed(results) +
              ", but returns " + Listed(ReturnTypes(op, index)));
  }
}

bool Contains(const Dims& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace pjref
