// Sums and zeros of lists, optionals and ragged tensors: what gradients begin with and add up.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/variant_math.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

bool IsAllZeros(const Tensor& tensor) {
  const auto* const bytes = static_cast<const uint8_t*>(tensor.data());
  return IsMemcpyable(tensor.dtype()) &&
         std::all_of(bytes, bytes + tensor.bytes(), [](uint8_t byte) { return byte == 0; });
}

// Elements that are no numbers have no sums, but gradients of lists of them meet, too: all of them
// are zeros.
absl::StatusOr<Tensor> AddOnHost(const Tensor& a, const Tensor& b, Workers* workers) {
  const bool are_numbers = HasType(kNumberTypes, a.dtype());
  if (!are_numbers && a.shape() == b.shape() && IsAllZeros(a) && IsAllZeros(b)) return a;
  TENON_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(a.dtype(), a.shape()));
  ElementStep step;
  if (!are_numbers || !MakeElementStep(ElementOp::kAdd, a.dtype(), a.shape(), a.shape(), &step)) {
    return absl::UnimplementedError(
        absl::StrCat("there are no sums of ", DataTypeName(a.dtype()), " elements"));
  }
  const void* const operands[] = {a.data(), b.data()};
  RunElementStep(step, operands, sum.data(), workers);
  return sum;
}

absl::StatusOr<Tensor> ZerosOnHost(const Tensor& tensor) {
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(tensor.dtype(), tensor.shape()));
  if (IsMemcpyable(zeros.dtype())) std::memset(zeros.data(), 0, zeros.bytes());
  return zeros;
}

absl::Status RunAddN(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  const auto add = [&](const Tensor& a, const Tensor& b) { return AddOnHost(a, b, args.workers); };
  VariantAdder adder(add);
  TENON_ASSIGN_OR_RETURN(Tensor sum, args.run_state->TakeInput(0));
  for (size_t i = 1; i < s.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(sum, adder.Add(sum, args.run_state->Input(static_cast<int>(i))));
  }
  args.run_state->SetOutput(0, std::move(sum));
  return absl::OkStatus();
}

absl::Status RunZerosLike(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Tensor zeros, VariantZeros(ZerosOnHost).Like(args.run_state->Input(0)));
  args.run_state->SetOutput(0, std::move(zeros));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> VariantSumKernels() {
  constexpr uint64_t kVariant = TypeBits(DataType::kVariant);
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("AddN", "T", kVariant, PrepareWhole<&RunAddN>),
      WholeTensorKernel("ZerosLike", "T", kVariant, PrepareWhole<&RunZerosLike>),
  };
  return specs;
}

}  // namespace tenon::cpu
