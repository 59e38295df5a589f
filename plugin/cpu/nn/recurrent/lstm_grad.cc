// LSTMBlockCellGrad, BlockLSTMGrad and BlockLSTMGradV2. Clipping is not differentiated, as in
// TensorFlow.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/recurrent/float_step.h"
#include "plugin/cpu/nn/recurrent/lstm.h"
#include "plugin/cpu/nn/recurrent/product.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Inputs after those of the forward op: its outputs i, cs, f, o, ci, co (of a sequence also h),
// then cs_grad and h_grad.
constexpr int kLstmState = 8;

absl::Status CheckStates(const Prepare& p, const Lstm& s) {
  for (int i = s.first + kLstmState; i < p.num_inputs(); ++i)
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, s.state));
  return absl::OkStatus();
}

// Inputs and outputs of a run, as floats.
struct Arguments {
  const StepArgs& args;
  int first;
  const float* in(int i) const { return static_cast<const float*>(args.in[first + i]); }
  float* out(int i) const { return static_cast<float*>(args.out[i]); }
  LstmState state() const {
    const auto at = [&](int i) { return const_cast<float*>(in(kLstmState + i)); };
    return {at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
  }
  Peepholes peepholes() const { return {in(4), in(5), in(6)}; }
};

// --- One step.

struct CellGrad {
  CellGrad(const Lstm& lstm, const FloatStep& step) : s(lstm), floats(step) {}
  Lstm s;
  FloatStep floats;
};

absl::Status RunCellGrad(const void* state, const StepArgs& args) {
  const auto& g = *static_cast<const CellGrad*>(state);
  return g.floats.Run(args, [&](const StepArgs& floats) {
    const Arguments a{floats, 0};
    RunLstmBackward(g.s.cell,
                    {a.state(), a.in(1), a.peepholes(), a.in(kLstmState + 6), a.in(kLstmState + 7),
                     nullptr, nullptr, a.out(1), a.out(0)},
                    floats.workers);
    RunPeepholeGrads(g.s.cell, {1, a.out(1), a.state().cs, a.in(1), a.out(2), a.out(3), a.out(4)},
                     floats.workers);
    return absl::OkStatus();
  });
}

absl::Status PrepareCellGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Lstm s, ReadLstm(p, false));
  TENON_RETURN_IF_ERROR(CheckStates(p, s));
  p.set_output_shape(0, s.state);
  p.set_output_shape(1, Shape({s.cell.batch, 4 * s.cell.cells}));
  for (int i = 2; i < 5; ++i) p.set_output_shape(i, Shape({s.cell.cells}));
  auto g = std::make_shared<CellGrad>(s, FloatStep(p));
  p.set_scratch_bytes(g->floats.scratch_bytes());
  p.set_run(&RunCellGrad, std::move(g));
  return absl::OkStatus();
}

// --- All steps, the last one first.

struct SequenceGrad {
  SequenceGrad(const Lstm& lstm, const FloatStep& step) : s(lstm), floats(step) {}
  Lstm s;
  FloatStep floats;
  Product h_grad;            // of one step: gates_grad * w_h'
  Product x_grad;            // of all steps: gates_grad * w_x'
  Product wx_grad, wh_grad;  // x' * gates_grad, h' * gates_grad
  size_t product_bytes = 0;

  int64_t gates() const { return 4 * s.cell.cells; }
  // The gates' gradients and the outputs that preceded each step.
  size_t scratch_bytes() const {
    return product_bytes + s.rows() * (gates() + s.cell.cells) * sizeof(float);
  }
};

// Of x, cs_prev, h_prev, w, wci, wcf, wco, b.
enum LstmGradOutput {
  kLstmX,
  kLstmCsPrev,
  kLstmHPrev,
  kLstmW,
  kLstmWci,
  kLstmWcf,
  kLstmWco,
  kLstmB
};

absl::Status StepBack(const SequenceGrad& g, const Arguments& a, float* gates_grad) {
  const LstmCell& cell = g.s.cell;
  const float* const w_h = a.in(3) + g.s.inputs * g.gates();
  // The outputs serve as carries: after step 0 they hold the gradients of the first state.
  float *const cs_carry = a.out(kLstmCsPrev), *const h_carry = a.out(kLstmHPrev);
  for (int64_t t = g.s.steps - 1; t >= 0; --t) {
    const bool last = t + 1 == g.s.steps;
    const int64_t at = t * cell.elements();
    float* const now = gates_grad + t * cell.batch * g.gates();
    RunLstmBackward(cell,
                    {a.state().At(t, cell), t == 0 ? a.in(1) : a.state().cs + at - cell.elements(),
                     a.peepholes(), a.in(kLstmState + 7) + at, a.in(kLstmState + 8) + at,
                     last ? nullptr : cs_carry, last ? nullptr : h_carry, now, cs_carry},
                    a.args.workers);
    TENON_RETURN_IF_ERROR(g.h_grad.Run(now, w_h, h_carry, a.args.scratch, a.args.workers));
  }
  return absl::OkStatus();
}

void SumRows(const float* rows, int64_t n, int64_t columns, float* sums, Workers* workers) {
  workers->ParallelFor(columns, GrainFor(n * 8), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      // In double and in the order of the rows, whatever the number of threads.
      double sum = 0;
      for (int64_t r = 0; r < n; ++r) sum += rows[r * columns + c];
      sums[c] = static_cast<float>(sum);
    }
  });
}

absl::Status ComputeGrads(const SequenceGrad& g, const StepArgs& args) {
  const Lstm& s = g.s;
  const LstmCell& cell = s.cell;
  const Arguments a{args, s.first};
  char* const scratch = static_cast<char*>(args.scratch);
  auto* const gates_grad = reinterpret_cast<float*>(scratch + g.product_bytes);
  float* const h_before = gates_grad + s.rows() * g.gates();
  // Without a step nothing writes the gradients of state and weights. The others are zeroed or
  // summed below.
  if (s.steps == 0) {
    for (int i : {kLstmCsPrev, kLstmHPrev}) std::fill_n(a.out(i), cell.elements(), 0.0f);
    std::fill_n(a.out(kLstmW), (s.inputs + cell.cells) * g.gates(), 0.0f);
  } else {
    TENON_RETURN_IF_ERROR(StepBack(g, a, gates_grad));
    // The h that preceded each step: h_prev, then the outputs of all steps but the last.
    std::copy_n(a.in(2), cell.elements(), h_before);
    std::copy_n(a.in(kLstmState + 6), (s.steps - 1) * cell.elements(), h_before + cell.elements());
    float* const wh_grad = a.out(kLstmW) + s.inputs * g.gates();
    TENON_RETURN_IF_ERROR(g.x_grad.Run(gates_grad, a.in(3), a.out(kLstmX), scratch, args.workers));
    TENON_RETURN_IF_ERROR(g.wx_grad.Run(a.in(0), gates_grad, a.out(kLstmW), scratch, args.workers));
    TENON_RETURN_IF_ERROR(g.wh_grad.Run(h_before, gates_grad, wh_grad, scratch, args.workers));
  }
  std::fill_n(a.out(kLstmX) + s.rows() * s.inputs, (s.time - s.steps) * cell.batch * s.inputs,
              0.0f);
  SumRows(gates_grad, s.rows(), g.gates(), a.out(kLstmB), args.workers);
  RunPeepholeGrads(cell,
                   {s.steps, gates_grad, a.state().cs, a.in(1), a.out(kLstmWci), a.out(kLstmWcf),
                    a.out(kLstmWco)},
                   args.workers);
  return absl::OkStatus();
}

absl::Status RunSequenceGrad(const void* state, const StepArgs& args) {
  const auto& g = *static_cast<const SequenceGrad*>(state);
  return g.floats.Run(args, [&](const StepArgs& floats) { return ComputeGrads(g, floats); });
}

absl::Status PrepareSequenceGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Lstm s, ReadLstm(p, true));
  TENON_RETURN_IF_ERROR(CheckStates(p, s));
  for (int i = 0; i < 8; ++i) p.set_output_shape(i, p.input_shape(s.first + i));
  auto g = std::make_shared<SequenceGrad>(s, FloatStep(p));
  const int64_t cells = s.cell.cells, gates = g->gates(), rows = s.rows();
  TENON_ASSIGN_OR_RETURN(g->h_grad, Product::Make(p, {s.cell.batch, gates, cells, false, true}));
  TENON_ASSIGN_OR_RETURN(g->x_grad, Product::Make(p, {rows, gates, s.inputs, false, true}));
  TENON_ASSIGN_OR_RETURN(g->wx_grad, Product::Make(p, {s.inputs, rows, gates, true, false}));
  TENON_ASSIGN_OR_RETURN(g->wh_grad, Product::Make(p, {cells, rows, gates, true, false}));
  g->product_bytes = Product::SharedScratch({&g->h_grad, &g->x_grad, &g->wx_grad, &g->wh_grad});
  p.set_scratch_bytes(g->floats.scratch_bytes() + g->scratch_bytes());
  p.set_run(&RunSequenceGrad, std::move(g));
  return absl::OkStatus();
}

constexpr uint64_t kLstmGradTypes = TypeBits(DataType::kFloat, DataType::kHalf);

const CpuKernelSpec kLstmGradKernels[] = {
    {"LSTMBlockCellGrad", {{"T", kLstmGradTypes}}, &PrepareCellGrad},
    {"BlockLSTMGrad", {{"T", kLstmGradTypes}}, &PrepareSequenceGrad, 0b1},
    {"BlockLSTMGradV2", {{"T", kLstmGradTypes}}, &PrepareSequenceGrad, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> LstmGradKernels() { return kLstmGradKernels; }

}  // namespace tenon::cpu
