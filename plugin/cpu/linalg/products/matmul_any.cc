// Matrix products of any type.
#include <memory>
#include <utility>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/cpu/linalg/products/matmul_any_loops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// --- Bytes, with sums of int32.

struct BytesMatMul {
  MatMulProblem q;
  ByteMatMul product;
  ByteConstant right;  // of the one matrix b
};

absl::Status RunBytes(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BytesMatMul*>(state);
  const MatMulProblem& q = s.q;
  constexpr int32_t kZero = 0;
  for (int64_t i = 0; i < q.batch(); ++i) {
    s.product.Run(*args.workers, static_cast<const char*>(args.in[0]) + q.a_batch[i] * q.m * q.k,
                  s.right.Or(static_cast<const char*>(args.in[1]) + q.b_batch[i] * q.k * q.n),
                  {{&kZero, 1}, {&kZero, 1}}, args.scratch,
                  static_cast<int32_t*>(args.out[0]) + i * q.m * q.n, nullptr);
  }
  return absl::OkStatus();
}

bool IsByte(DataType type) { return type == DataType::kInt8 || type == DataType::kUint8; }

absl::Status PrepareBytes(Prepare& p, const MatMulProblem& q) {
  const auto side = [&](int i, bool transposed) {
    return ByteSide{p.input_type(i) == DataType::kInt8, transposed};
  };
  auto s = std::make_shared<BytesMatMul>(BytesMatMul{
      q, ByteMatMul(q.m, q.k, q.n, side(0, q.transpose_a), side(1, q.transpose_b)), {}});
  if (p.input_shape(1).num_elements() == q.k * q.n) {
    TENON_ASSIGN_OR_RETURN(s->right, ByteConstant::Pack(p, 1, s->product.right()));
  }
  TENON_ASSIGN_OR_RETURN(const size_t scratch, s->product.ScratchBytes(s->right.is_packed()));
  p.set_scratch_bytes(scratch);
  p.set_run(&RunBytes, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareAnyMatMul(Prepare& p, const MatMulProblem& problem) {
  if (IsByte(p.input_type(0)) && IsByte(p.input_type(1)) && p.output_type(0) == DataType::kInt32)
    return PrepareBytes(p, problem);
  auto s = std::make_shared<AnyMatMul>();
  s->q = problem;
  s->a_type = p.input_type(0);
  s->b_type = p.input_type(1);
  s->out_type = p.output_type(0);
  const AnyMatMulRun choice = FindAnyMatMul(s->out_type, problem);
  if (choice.bytes > 1e15)
    return absl::ResourceExhaustedError("the matrices are too large to be widened");
  p.set_scratch_bytes(static_cast<size_t>(choice.bytes));
  p.set_run(choice.run, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
