#include "benchmarks/bench_kernel.h"

#include <cstring>
#include <utility>

#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

class BenchSession : public SessionState {
 public:
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view, const std::function<std::shared_ptr<NodeState>()>& make) override {
    return make();
  }
  std::shared_ptr<const void> GetPacked(
      const void*, std::string_view,
      const std::function<std::shared_ptr<const void>()>& make) override {
    return make();
  }
};

const CpuKernelSpec* FindKernel(std::string_view op) {
  for (absl::Span<const CpuKernelSpec> family : CpuKernels()) {
    for (const CpuKernelSpec& spec : family) {
      if (op == spec.op) return &spec;
    }
  }
  return nullptr;
}

template <typename T>
void FillWith(const Tensor& t, T (*value)(int64_t)) {
  for (int64_t i = 0; i < t.num_elements(); ++i) t.flat<T>()[i] = value(i);
}

}  // namespace

Tensor Filled(DataType type, const Shape& shape) {
  Tensor t = *Tensor::Allocate(type, shape);
  switch (type) {
    case DataType::kFloat:
      FillWith<float>(t, [](int64_t i) { return static_cast<float>(i % 13) / 8 - 0.7f; });
      break;
    case DataType::kInt32:
      FillWith<int32_t>(t, [](int64_t i) { return static_cast<int32_t>(i % 13); });
      break;
    case DataType::kBool:
      FillWith<bool>(t, [](int64_t i) { return i % 13 % 2 == 0; });
      break;
    case DataType::kHalf:  // from 1 on
      FillWith<uint16_t>(t, [](int64_t i) { return static_cast<uint16_t>(0x3c00 + i % 13); });
      break;
    case DataType::kBfloat16:
      FillWith<uint16_t>(t, [](int64_t i) { return static_cast<uint16_t>(0x3f80 + i % 13); });
      break;
    default:
      std::memset(t.data(), 0, t.bytes());
  }
  return t;
}

absl::StatusOr<std::unique_ptr<BenchKernel>> BenchKernel::Make(
    const std::string& op, const std::map<std::string, std::string>& attrs,
    std::vector<Tensor> inputs, bool constants, int threads) {
  const OpDef* def = OpRegistry::Global().Find(op);
  const CpuKernelSpec* spec = FindKernel(op);
  if (def == nullptr || spec == nullptr) return absl::NotFoundError(op);
  std::vector<Attr> list;
  for (const auto& [name, wire] : attrs) list.push_back({name, AttrValue(wire)});
  const AttrSet set(std::move(list));
  TENON_ASSIGN_OR_RETURN(const NodeTypes types, ResolveTypes(*def, set));
  std::unique_ptr<BenchKernel> kernel(new BenchKernel(threads));
  kernel->inputs_ = std::move(inputs);
  std::vector<Prepare::Input> known;
  for (const Tensor& t : kernel->inputs_) {
    const bool asked = spec->value_inputs >> known.size() & 1;
    known.push_back({t.shape(), asked || (constants && !known.empty()) ? &t : nullptr, false});
    kernel->in_.push_back(t.data());
  }
  BenchSession session;
  Prepare p("bench", *def, set, types, std::move(known), session, kernel->workers_);
  TENON_RETURN_IF_ERROR(spec->prepare(p));
  if (p.run() == nullptr) return absl::InvalidArgumentError(op + " has nothing to run");
  for (size_t i = 0; i < p.outputs().size(); ++i) {
    kernel->outputs_.push_back(Filled(p.output_type(static_cast<int>(i)), p.outputs()[i].shape));
    kernel->out_.push_back(kernel->outputs_.back().data());
  }
  const auto scratch_bytes = static_cast<int64_t>(p.scratch_bytes());
  TENON_ASSIGN_OR_RETURN(kernel->scratch_,
                         Tensor::Allocate(DataType::kUint8, Shape({scratch_bytes})));
  kernel->state_ = p.state();
  kernel->run_ = p.run();
  kernel->args_ = {kernel->in_.data(), kernel->out_.data(), kernel->scratch_.data(),
                   &kernel->workers_, nullptr};
  return kernel;
}

}  // namespace tenon
