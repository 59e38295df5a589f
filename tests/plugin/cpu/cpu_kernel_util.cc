#include "tests/plugin/cpu/cpu_kernel_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::testing {
namespace {

class TestSession : public SessionState {
 public:
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view, const std::function<std::shared_ptr<NodeState>()>& make) override {
    return make();
  }
  std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) override {
    auto& entry = packed_[{constant, std::string(key)}];
    if (entry == nullptr) entry = make();
    return entry;
  }

 private:
  std::map<std::pair<const void*, std::string>, std::shared_ptr<const void>> packed_;
};

// Whether the row is for these types. Attributes that are not given fit each row.
bool Fits(const CpuKernelSpec& spec, const AttrSet& attrs) {
  return std::all_of(spec.constraints.begin(), spec.constraints.end(), [&](const auto& of) {
    const AttrValue* const value = attrs.Find(of.attr);
    const std::optional<DataType> type =
        value == nullptr ? std::nullopt
                         : std::optional(value->AsType().value_or(DataType::kInvalid));
    return !type.has_value() || *type == DataType::kInvalid || (of.types & TypeBit(*type)) != 0;
  });
}

// A row of the op: if several are there, the one for these types.
const CpuKernelSpec* FindKernel(std::string_view op, const AttrSet& attrs) {
  const CpuKernelSpec* found = nullptr;
  for (absl::Span<const CpuKernelSpec> family : CpuKernels()) {
    for (const CpuKernelSpec& spec : family) {
      if (op != spec.op) continue;
      if (Fits(spec, attrs)) return &spec;
      found = &spec;
    }
  }
  return found;
}

absl::StatusOr<Tensor> NoisyTensor(DataType type, const Shape& shape) {
  absl::StatusOr<Tensor> tensor = Tensor::Allocate(type, shape);
  if (tensor.ok() && type != DataType::kString) memset(tensor->data(), 0x5b, tensor->bytes());
  return tensor;
}

// For kernels whose outputs' shapes only the data tells.
class DynamicOutputs : public RunState {
 public:
  DynamicOutputs(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs)
      : inputs_(inputs), outputs_(outputs) {}

  absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) override {
    TENON_ASSIGN_OR_RETURN(outputs_[i], NoisyTensor(outputs_[i].dtype(), shape));
    return outputs_[i].data();
  }
  void SetOutput(int i, Tensor value) override { outputs_[i] = std::move(value); }
  Tensor Input(int i) override { return inputs_[i]; }
  absl::StatusOr<Tensor> TakeInput(int i) override { return inputs_[i].Copy(); }

 private:
  const std::vector<Tensor>& inputs_;
  std::vector<Tensor>& outputs_;
};

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunCpuKernel(const std::string& op, const Attrs& attrs,
                                                 const std::vector<Tensor>& inputs, int threads,
                                                 bool constant) {
  const OpDef* def = OpRegistry::Global().Find(op);
  std::vector<Attr> list;
  for (const auto& [name, wire] : attrs) list.push_back({name, AttrValue(wire)});
  const AttrSet set(std::move(list));
  const CpuKernelSpec* spec = FindKernel(op, set);
  if (def == nullptr || spec == nullptr) return absl::NotFoundError(op);
  TENON_ASSIGN_OR_RETURN(const NodeTypes types, ResolveTypes(*def, set));
  std::vector<Prepare::Input> prepared;
  std::vector<void*> in, out;
  for (const Tensor& t : inputs) {
    const bool asked = spec->value_inputs >> prepared.size() & 1;
    const bool known = asked || (constant && !prepared.empty());
    prepared.push_back({t.shape(), known ? &t : nullptr, false});
  }
  TestSession session;
  Workers workers(threads);
  Prepare p("node", *def, set, types, prepared, session, workers);
  TENON_RETURN_IF_ERROR(spec->prepare(p));
  for (size_t i = 0; i < inputs.size(); ++i)
    in.push_back(p.inputs()[i].dropped ? nullptr : inputs[i].data());
  std::vector<Tensor> outputs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor output, NoisyTensor(p.output_type(i), p.outputs()[i].shape));
    out.push_back(output.data());
    outputs.push_back(std::move(output));
  }
  const auto scratch_bytes = static_cast<int64_t>(p.scratch_bytes());
  TENON_ASSIGN_OR_RETURN(const Tensor scratch,
                         NoisyTensor(DataType::kInt8, Shape({scratch_bytes})));
  DynamicOutputs dynamic(inputs, outputs);
  const StepArgs args{in.data(), out.data(), scratch.data(), &workers, &dynamic};
  const DenormalGuard flush;  // as the threads of the workers have it
  for (int i = 0; i < 2 && p.run() != nullptr; ++i)
    TENON_RETURN_IF_ERROR(p.run()(p.state().get(), args));
  return outputs;
}

std::vector<Tensor> RunSteadily(const std::string& op, const Attrs& attrs,
                                const std::vector<Tensor>& inputs,
                                std::initializer_list<int> threads, bool constant) {
  auto one = RunCpuKernel(op, attrs, inputs, 1, constant);
  EXPECT_TRUE(one.ok()) << op << " " << one.status();
  if (!one.ok()) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return std::vector<Tensor>(8, Tensor::CopyOf(DataType::kFloat, Shape(), &nan, sizeof(nan)));
  }
  for (int count : threads) {
    const auto more = RunCpuKernel(op, attrs, inputs, count, constant);
    EXPECT_TRUE(more.ok()) << op << " " << more.status();
    for (size_t i = 0; more.ok() && i < one->size(); ++i) {
      EXPECT_TRUE(SameBits((*one)[i], (*more)[i]))
          << op << ", output " << i << " with " << count << " threads, constant " << constant;
    }
  }
  return *std::move(one);
}

}  // namespace tenon::testing
