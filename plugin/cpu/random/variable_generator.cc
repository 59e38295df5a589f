#include "plugin/cpu/random/variable_generator.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

constexpr int kStateSize = 3;  // a counter of two numbers, the lower half first, and a key

absl::Status CheckState(const Variable& variable, const Tensor& state, int first) {
  if (!state.initialized()) return variable.NoValue(absl::StatusCode::kNotFound);
  if (state.dtype() == DataType::kInt64 && state.shape().rank() == 1 &&
      state.num_elements() >= first + kStateSize) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the state of a generator must be a vector of at least ", first + kStateSize,
                   " int64, variable '", variable.name(), "' holds ", DataTypeName(state.dtype()),
                   state.shape().ToString()));
}

absl::Status ReadNothing(const Tensor&) { return absl::OkStatus(); }

// `delta` outputs are skipped.
absl::Status RunSkip(const void*, const StepArgs& args) {
  TENON_RETURN_IF_ERROR(CheckAlgorithm(*static_cast<const int64_t*>(args.in[1])));
  TENON_ASSIGN_OR_RETURN(Variable * variable, GeneratorInput(args, 0));
  return Reserve(*variable, 0, *static_cast<const uint64_t*>(args.in[2]) * kBlocksPerOutput)
      .status();
}

absl::Status RunReadAndSkip(const void*, const StepArgs& args) {
  TENON_RETURN_IF_ERROR(CheckAlgorithm(*static_cast<const int32_t*>(args.in[1])));
  TENON_ASSIGN_OR_RETURN(Variable * variable, GeneratorInput(args, 0));
  const auto read = [&](const Tensor& state) {
    std::memcpy(args.out[0], state.data(), kStateSize * sizeof(int64_t));
    return absl::OkStatus();
  };
  return Reserve(*variable, 0, *static_cast<const uint64_t*>(args.in[2]) * kBlocksPerOutput, read)
      .status();
}

absl::Status PrepareSkip(Prepare& p) {
  if (p.input_shape(1).rank() != 0 || p.input_shape(2).rank() != 0)
    return p.Invalid("the algorithm and 'delta' must be scalars");
  if (p.num_outputs() == 1) p.set_output_shape(0, Shape({kStateSize}));
  p.set_run(p.num_outputs() == 1 ? &RunReadAndSkip : &RunSkip);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAlgorithm(int64_t algorithm) {
  constexpr int64_t kPhilox = 1, kThreeFry = 2, kAuto = 3;
  if (algorithm == kPhilox || algorithm == kAuto) return absl::OkStatus();
  if (algorithm == kThreeFry)
    return absl::UnimplementedError(
        "the algorithm is 2, ThreeFry; use 1, Philox, or 3, which "
        "chooses it");
  return absl::InvalidArgumentError(
      absl::StrCat("the algorithm must be 1 (Philox) or 3 (to be chosen), not ", algorithm));
}

Philox PhiloxFromState(const int64_t* state) {
  const auto low = [&](int i) { return static_cast<uint32_t>(state[i]); };
  const auto high = [&](int i) {
    return static_cast<uint32_t>(static_cast<uint64_t>(state[i]) >> 32);
  };
  Philox philox;
  philox.counter = {low(0), high(0), low(1), high(1)};
  philox.key = {low(2), high(2)};
  return philox;
}

absl::StatusOr<Variable*> GeneratorInput(const StepArgs& args, int i) {
  Object* object = *static_cast<Object* const*>(args.in[i]);
  if (auto* variable = ObjectAs<Variable>(object)) return variable;
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a variable, it is ",
                                                 object == nullptr ? "nothing" : "a ",
                                                 object == nullptr ? "" : object->kind()));
}

absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks) {
  return Reserve(variable, first, blocks, &ReadNothing);
}

absl::StatusOr<Philox> Reserve(Variable& variable, int first, uint64_t blocks,
                               absl::FunctionRef<absl::Status(const Tensor& state)> read) {
  Philox start;
  TENON_RETURN_IF_ERROR(variable.Update([&](Tensor& held) -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckState(variable, held, first));
    // A state with `first` > 0 begins with the algorithm's number.
    if (first > 0) TENON_RETURN_IF_ERROR(CheckAlgorithm(held.IntAt(0)));
    TENON_RETURN_IF_ERROR(read(held));
    TENON_RETURN_IF_ERROR(MakeWritable(held));
    int64_t* const state = held.flat<int64_t>() + first;
    start = PhiloxFromState(state);
    Philox next = start;
    next.Skip(blocks);
    for (int i = 0; i < 2; ++i) {
      state[i] = static_cast<int64_t>(static_cast<uint64_t>(next.counter[2 * i + 1]) << 32 |
                                      next.counter[2 * i]);
    }
    return absl::OkStatus();
  }));
  return start;
}

absl::Span<const CpuKernelSpec> GeneratorSkipKernels() {
  static const CpuKernelSpec specs[] = {
      {"RngSkip", {}, PrepareSkip, 0, true, false, true},
      {"RngReadAndSkip", {}, PrepareSkip, 0, true, false, true},
  };
  return specs;
}

}  // namespace tenon::cpu
