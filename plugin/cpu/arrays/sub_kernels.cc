#include "plugin/cpu/arrays/sub_kernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The first spec that takes this T. What it demands of other attributes is not looked at.
const CpuKernelSpec* FindSpec(std::string_view op, DataType type) {
  for (absl::Span<const CpuKernelSpec> family : CpuKernels()) {
    for (const CpuKernelSpec& spec : family) {
      if (op != spec.op) continue;
      const bool fits = std::all_of(
          spec.constraints.begin(), spec.constraints.end(),
          [&](const TypeConstraint& c) { return c.attr != "T" || (c.types & TypeBit(type)) != 0; });
      if (fits) return &spec;
    }
  }
  return nullptr;
}

}  // namespace

SubKernels::SubKernels(Prepare& p) : p_(p) { state_->inputs = p.num_inputs(); }

SubTensor SubKernels::Input(int i) const {
  return {i, p_.input_type(i), p_.input_shape(i), p_.input_value(i)};
}

int SubKernels::NewBuffer(int64_t bytes) {
  state_->buffers.push_back(scratch_);
  scratch_ += static_cast<int64_t>(AlignedBytes(bytes));
  return state_->inputs + static_cast<int>(state_->buffers.size()) - 1;
}

absl::StatusOr<SubTensor> SubKernels::Call(std::string_view op,
                                           std::vector<std::pair<std::string, std::string>> attrs,
                                           DataType type, std::vector<SubTensor> inputs) {
  const OpDef* def = OpRegistry::Global().Find(op);
  const CpuKernelSpec* spec = FindSpec(op, type);
  if (def == nullptr || spec == nullptr) {
    return p_.Unimplemented(absl::StrCat("no CPU kernel of ", op, " for ", DataTypeName(type)));
  }
  std::vector<Attr> list;
  for (const auto& [name, wire] : attrs) list.push_back({name, AttrValue(wire)});
  const AttrSet set(std::move(list));
  NodeTypes types;
  std::vector<Prepare::Input> described;
  for (const SubTensor& in : inputs) {
    types.inputs.push_back(in.type);
    Prepare::Input& d = described.emplace_back();
    d.shape = in.shape;
    d.value = in.value;
  }
  types.outputs.push_back(type);
  Prepare sub(p_.node_name(), *def, set, types, std::move(described), p_.session(), p_.workers());
  TENON_RETURN_IF_ERROR(spec->prepare(sub));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (sub.inputs()[i].dropped && inputs[i].buffer >= 0 && inputs[i].buffer < state_->inputs)
      p_.DropInput(inputs[i].buffer);
  }
  const Prepare::PreparedOutput& out = sub.outputs()[0];
  // No part would write the buffer.
  if (out.value.has_value()) {
    return absl::InternalError(absl::StrCat(op, " as a part has a value already"));
  }
  if (out.alias.has_value()) return SubTensor{inputs[*out.alias].buffer, type, out.shape, nullptr};
  SubTensor result{NewBuffer(out.shape.num_elements() * static_cast<int64_t>(DataTypeSize(type))),
                   type, out.shape, nullptr};
  if (sub.run() == nullptr) return result;
  Part part{sub.run(), sub.state(), {}, result.buffer, part_scratch_};
  part_scratch_ = std::max(part_scratch_, static_cast<int64_t>(sub.scratch_bytes()));
  for (size_t i = 0; i < inputs.size(); ++i)
    part.inputs.push_back(sub.inputs()[i].dropped ? -1 : inputs[i].buffer);
  state_->parts.push_back(std::move(part));
  return result;
}

SubTensor SubKernels::Run(RunFn run, std::shared_ptr<const void> state,
                          std::vector<SubTensor> inputs, DataType type, const Shape& shape) {
  SubTensor result{NewBuffer(shape.num_elements() * static_cast<int64_t>(DataTypeSize(type))), type,
                   shape, nullptr};
  Part part{run, std::move(state), {}, result.buffer};
  for (const SubTensor& in : inputs) part.inputs.push_back(in.buffer);
  state_->parts.push_back(std::move(part));
  return result;
}

SubTensor SubKernels::Copy(const SubTensor& in, const Shape& shape, StridedCopy copy) {
  const RunFn run = [](const void* state, const StepArgs& args) {
    static_cast<const StridedCopy*>(state)->Run(args.in[0], args.out[0], args.workers);
    return absl::OkStatus();
  };
  return Run(run, std::make_shared<StridedCopy>(std::move(copy)), {in}, in.type, shape);
}

void SubKernels::Finish(absl::Span<const SubTensor> results) {
  bool computed = false;
  for (int i = 0; i < static_cast<int>(results.size()); ++i) {
    p_.set_output_shape(i, results[i].shape);
    if (results[i].buffer < state_->inputs) {
      p_.Alias(i, results[i].buffer);
    } else {
      state_->buffers[results[i].buffer - state_->inputs] = -1 - i;
      computed = true;
    }
  }
  if (!computed) return;
  DropUnread(results);
  // The parts' own scratch lies behind the buffers; they run one at a time.
  for (Part& part : state_->parts) part.scratch_offset = scratch_;
  p_.set_scratch_bytes(static_cast<size_t>(scratch_ + part_scratch_));
  p_.set_run(&SubKernels::RunParts, state_);
}

void SubKernels::DropUnread(absl::Span<const SubTensor> results) {
  std::vector<bool> read(state_->inputs + state_->buffers.size());
  for (const SubTensor& result : results) read[result.buffer] = true;
  std::vector<Part> kept;
  std::vector<int> unread;
  for (auto part = state_->parts.rbegin(); part != state_->parts.rend(); ++part) {
    const bool runs = read[part->output];
    for (const int buffer : part->inputs) {
      if (buffer < 0) continue;
      if (runs) {
        read[buffer] = true;
      } else if (buffer < state_->inputs) {
        unread.push_back(buffer);
      }
    }
    if (runs) kept.push_back(std::move(*part));
  }
  for (const int input : unread) {
    if (!read[input]) p_.DropInput(input);
  }
  state_->parts.assign(std::make_move_iterator(kept.rbegin()),
                       std::make_move_iterator(kept.rend()));
}

absl::Status SubKernels::RunParts(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const State*>(state);
  char* scratch = static_cast<char*>(args.scratch);
  const auto at = [&](int buffer) -> void* {
    if (buffer < 0) return nullptr;
    if (buffer < s.inputs) return args.in[buffer];
    const int64_t offset = s.buffers[buffer - s.inputs];
    return offset < 0 ? args.out[-1 - offset] : scratch + offset;
  };
  for (const Part& part : s.parts) {
    absl::InlinedVector<void*, 4> in;
    for (int buffer : part.inputs) in.push_back(at(buffer));
    void* out = at(part.output);
    // Without a RunState: a part cannot have outputs whose shapes its run function finds.
    const StepArgs sub{in.data(), &out, scratch + part.scratch_offset, args.workers, nullptr};
    TENON_RETURN_IF_ERROR(part.run(part.state.get(), sub));
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
