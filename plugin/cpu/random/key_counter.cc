// What the second versions of the stateless ops take instead of a seed: a key, a counter, and the
// number of the algorithm.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int32_t kPhiloxAlgorithm = 1;

struct SeedType {
  DataType type;
};

absl::Status RunKeyCounter(const void* state, const StepArgs& args) {
  const Philox philox = PhiloxFromSeed(args.in[0], static_cast<const SeedType*>(state)->type);
  const auto join = [](uint32_t low, uint32_t high) {
    return static_cast<uint64_t>(high) << 32 | low;
  };
  *static_cast<uint64_t*>(args.out[0]) = join(philox.key[0], philox.key[1]);
  auto* const counter = static_cast<uint64_t*>(args.out[1]);
  counter[0] = join(philox.counter[0], philox.counter[1]);
  counter[1] = join(philox.counter[2], philox.counter[3]);
  return absl::OkStatus();
}

// Output i is the one algorithm that there is.
void SetAlgorithm(Prepare& p, int i) {
  Tensor algorithm = Tensor::CopyOf(DataType::kInt32, {}, &kPhiloxAlgorithm, sizeof(int32_t));
  p.set_output_shape(i, algorithm.shape());
  p.set_output_value(i, std::move(algorithm));
}

absl::Status PrepareKeyCounter(Prepare& p) {
  if (!(p.input_shape(0) == Shape({2}))) return p.Invalid("'seed' must hold two numbers");
  p.set_output_shape(0, Shape({1}));
  p.set_output_shape(1, Shape({2}));
  if (p.num_outputs() == 3) SetAlgorithm(p, 2);
  p.set_run(&RunKeyCounter, std::make_shared<SeedType>(SeedType{p.input_type(0)}));
  return absl::OkStatus();
}

absl::Status PrepareAlgorithm(Prepare& p) {
  SetAlgorithm(p, 0);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> KeyCounterKernels() {
  static const CpuKernelSpec specs[] = {
      {"StatelessRandomGetKeyCounter", {}, PrepareKeyCounter},
      {"StatelessRandomGetKeyCounterAlg", {}, PrepareKeyCounter},
      {"StatelessRandomGetAlg", {}, PrepareAlgorithm},
  };
  return specs;
}

}  // namespace tenon::cpu
