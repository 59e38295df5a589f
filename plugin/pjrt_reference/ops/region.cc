#include "region.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace pjref {

ElementFunction::ElementFunction(Frame* frame, const Region& region)
    : frame_(frame), region_(region), lifts_(frame->options().wrong_op.empty()) {
  for (size_t i = 0; i + 1 < region.ops.size(); ++i) {
    const Op& op = region.ops[i];
    const auto is_scalar = [](const Type& type) { return type.dims.empty(); };
    lifts_ = lifts_ && op.row->lifted &&
             std::all_of(op.operand_types.begin(), op.operand_types.end(), is_scalar) &&
             std::all_of(op.result_types.begin(), op.result_types.end(), is_scalar);
  }
}

std::vector<Array> ElementFunction::Apply(const std::vector<Array>& arguments,
                                          int64_t count) const {
  return lifts_ ? ApplyLifted(arguments, count) : ApplyEach(arguments, count);
}

std::string_view ElementFunction::OnlyOp() const {
  if (region_.ops.size() != 2 || region_.arguments.size() != 2 || !lifts_) return {};
  const Op& op = region_.ops[0];
  const bool plain = op.operands == region_.arguments && region_.ops[1].operands == op.results;
  return plain ? std::string_view(op.name) : std::string_view();
}

std::vector<Array> ElementFunction::ApplyLifted(const std::vector<Array>& arguments,
                                                int64_t count) const {
  const Dims dims = {count};
  std::unordered_map<int, Array> values;
  for (size_t i = 0; i < arguments.size(); ++i)
    values[region_.arguments[i]] = arguments[i].WithDims(dims);
  // What comes from outside of the region is one scalar for all elements.
  const auto value = [&](int number) {
    const auto found = values.find(number);
    return found != values.end() ? found->second : Splat(frame_->value(number), dims);
  };
  std::vector<Array> operands;
  for (const Op& op : region_.ops) {
    operands.clear();
    for (int number : op.operands) operands.push_back(value(number));
    if (&op != &region_.ops.back()) values[op.results[0]] = op.row->lifted(op, operands, dims);
  }
  return operands;
}

std::vector<Array> ElementFunction::ApplyEach(const std::vector<Array>& arguments,
                                              int64_t count) const {
  std::vector<Array> results;
  for (const Type& type : region_.ops.back().operand_types)
    results.emplace_back(Type{type.element, {count}});
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Array> scalars;
    for (const Array& argument : arguments) {
      Array scalar({argument.element(), {}});
      std::memcpy(scalar.data(), argument.data() + i * scalar.bytes(), scalar.bytes());
      scalars.push_back(std::move(scalar));
    }
    const std::vector<Array> made = frame_->Run(region_, std::move(scalars));
    for (size_t k = 0; k < made.size(); ++k) {
      std::memcpy(results[k].data() + i * made[k].bytes(), made[k].data(), made[k].bytes());
    }
  }
  return results;
}

}  // namespace pjref
