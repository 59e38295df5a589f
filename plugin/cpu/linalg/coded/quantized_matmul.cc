// _TenonQuantizedMatMul: products of floats that become bytes in the run with constant bytes.
#include <memory>
#include <utility>

#include "graph/base/status_macros.h"
#include "graph/op_defs/byte_sums.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/coded/byte_input.h"
#include "plugin/cpu/linalg/coded/coded_problem.h"
#include "plugin/cpu/linalg/coded/quantized_results.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct QuantizedMatMul {
  CodedProblem q;
  ByteInput input;
  ByteMatMul product;
  ByteConstant right;
  QuantizedResults results;

  size_t SumBytes() const { return AlignedBytes(static_cast<size_t>(q.m * q.n) * 4); }
};

// Scratch: what the input becomes, the sums, what the product takes.
absl::Status RunQuantizedMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const QuantizedMatMul*>(state);
  char* const memory = static_cast<char*>(args.scratch) + s.input.ScratchBytes();
  auto* const sums = reinterpret_cast<int32_t*>(memory);
  const ByteInput::Result rows =
      s.input.Run(args, static_cast<const float*>(args.in[0]), args.scratch);
  const auto store = [&](int64_t row, int64_t begin, int64_t end) {
    s.results.Store(args, {sums + row * s.q.n + begin, s.q.n, 1, begin, end, nullptr},
                    rows.scales[row], row);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = store;
  s.product.Run(*args.workers, rows.bytes, s.right.Or(args.in[1]),
                {rows.zeros, s.results.zeros(args)}, memory + s.SumBytes(), sums, &finish);
  return absl::OkStatus();
}

absl::Status PrepareQuantizedMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const CodedProblem q, ReadCodedProblem(p, QuantizedResults::kFirstArg));
  TENON_RETURN_IF_ERROR(CheckByteTerms(p, q.k, kMostQuantizedTerms));
  TENON_ASSIGN_OR_RETURN(const auto results, QuantizedResults::Read(p, q.fused, q.n));
  TENON_ASSIGN_OR_RETURN(const ByteInput input, ByteInput::Read(p, q.m, q.k));
  if (q.m == 0 || q.n == 0) return absl::OkStatus();
  const ByteMatMul product(q.m, q.k, q.n, {false}, {true, q.transposed});
  TENON_ASSIGN_OR_RETURN(const ByteConstant right, ByteConstant::Pack(p, 1, product.right()));
  TENON_ASSIGN_OR_RETURN(const size_t scratch, product.ScratchBytes(right.is_packed()));
  auto s = std::make_shared<QuantizedMatMul>(QuantizedMatMul{q, input, product, right, results});
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
