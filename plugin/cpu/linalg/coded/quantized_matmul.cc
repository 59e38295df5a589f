// _TenonQuantizedMatMul: products of floats that become bytes in the run with constant bytes.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/byte_sums.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/coded/byte_input.h"
#include "plugin/cpu/linalg/coded/coded_problem.h"
#include "plugin/cpu/linalg/coded/following.h"
#include "plugin/cpu/linalg/coded/quantized_loops.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int kScalesInput = 2, kZerosInput = 3;

struct QuantizedMatMul {
  CodedProblem q;
  ByteInput input;
  ByteMatMul product;
  ByteConstant right;
  Following following;

  size_t SumBytes() const { return AlignedBytes(static_cast<size_t>(q.m * q.n) * 4); }
};

// Scratch: what the input becomes, the sums, what the product takes.
absl::Status RunQuantizedMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const QuantizedMatMul*>(state);
  const QuantizedLoops& loops = ChooseQuantizedLoops();
  const int64_t n = s.q.n;
  char* const memory = static_cast<char*>(args.scratch) + s.input.ScratchBytes();
  auto* const sums = reinterpret_cast<int32_t*>(memory);
  const ByteInput::Result rows =
      s.input.Run(args, static_cast<const float*>(args.in[0]), args.scratch);
  const auto* const scales = static_cast<const float*>(args.in[kScalesInput]);
  const auto* const bias =
      s.q.fused.bias < 0 ? nullptr : static_cast<const float*>(args.in[s.q.fused.bias]);
  auto* const out = static_cast<float*>(args.out[0]);
  const auto store = [&](int64_t row, int64_t begin, int64_t end) {
    const int64_t at = row * n + begin;
    loops.from_sums(sums + at, 1, end - begin, rows.scales[row], scales + begin,
                    bias == nullptr ? nullptr : bias + begin, out + at);
    s.following.Run(args, out + at, end - begin, begin, at);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = store;
  const absl::Span<const int32_t> zeros(static_cast<const int32_t*>(args.in[kZerosInput]),
                                        static_cast<size_t>(n));
  s.product.Run(*args.workers, rows.bytes, s.right.Or(args.in[1]), {rows.zeros, zeros},
                memory + s.SumBytes(), sums, &finish);
  return absl::OkStatus();
}

absl::Status PrepareQuantizedMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const CodedProblem q, ReadCodedProblem(p, 4));
  TENON_RETURN_IF_ERROR(CheckByteTerms(p, q.k, kMostQuantizedTerms));
  for (const int i : {kScalesInput, kZerosInput}) {
    if (!(p.input_shape(i) == Shape({q.n})))
      return p.Invalid(absl::StrCat("scales and zeros need ", q.n, " values, one for each column"));
  }
  TENON_ASSIGN_OR_RETURN(const ByteInput input, ByteInput::Read(p, q.m, q.k));
  if (q.m == 0 || q.n == 0) return absl::OkStatus();
  const ByteMatMul product(q.m, q.k, q.n, {false}, {true, q.transposed});
  TENON_ASSIGN_OR_RETURN(const ByteConstant right, ByteConstant::Pack(p, 1, product.right()));
  TENON_ASSIGN_OR_RETURN(const size_t scratch, product.ScratchBytes(right.is_packed()));
  auto s = std::make_shared<QuantizedMatMul>(
      QuantizedMatMul{q, input, product, right, Following(q.fused, /*adds_bias=*/false)});
  p.set_scratch_bytes(input.ScratchBytes() + s->SumBytes() + scratch);
  p.set_run(&RunQuantizedMatMul, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kQuantizedMatMulKernels[] = {
    {"_TenonQuantizedMatMul", {{"T", TypeBit(DataType::kFloat)}}, &PrepareQuantizedMatMul},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedMatMulKernels() { return kQuantizedMatMulKernels; }

}  // namespace tenon::cpu
