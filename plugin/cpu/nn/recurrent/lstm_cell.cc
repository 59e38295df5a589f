// One step of an LSTM's cells, element by element, and its derivative. The columns of a row of
// gates are four blocks of `cells`: i, then ci and f in the order that the op's version has, then
// o.
#include "plugin/cpu/nn/recurrent/lstm_cell.h"

#include <algorithm>
#include <cmath>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/recurrent/sigmoid.h"

namespace tenon::cpu {
namespace {

// Calls f(row, cell) for all elements, split over rows.
template <typename F>
void ForEachElement(const LstmCell& cell, Workers* workers, F f) {
  // The grain counts bytes. An element's five exponentials take longer than its memory: it counts
  // as 256 bytes.
  workers->ParallelFor(cell.batch, GrainFor(cell.cells * 256), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < cell.cells; ++c) f(r, c);
    }
  });
}

}  // namespace

void RunLstmForward(const LstmCell& cell, const LstmForward& s, Workers* workers) {
  ForEachElement(cell, workers, [&](int64_t r, int64_t c) {
    const int64_t at = r * cell.cells + c, row = r * 4 * cell.cells;
    const auto gate = [&](int64_t first) {
      return s.from_x[row + first + c] + s.from_h[row + first + c] + s.bias[first + c];
    };
    const float cs_prev = s.cs_prev[at];
    const float to_i = cell.peephole ? cs_prev * s.peepholes.i[c] : 0;
    const float to_f = cell.peephole ? cs_prev * s.peepholes.f[c] : 0;
    const float i = Sigmoid(gate(0) + to_i);
    const float f = Sigmoid(gate(cell.f()) + cell.forget_bias + to_f);
    const float ci = std::tanh(gate(cell.ci()));
    float cs = ci * i + f * cs_prev;
    if (cell.clip > 0) cs = std::clamp(cs, -cell.clip, cell.clip);
    const float o = Sigmoid(gate(cell.o()) + (cell.peephole ? cs * s.peepholes.o[c] : 0));
    const float co = std::tanh(cs);
    s.out.i[at] = i;
    s.out.cs[at] = cs;
    s.out.f[at] = f;
    s.out.o[at] = o;
    s.out.ci[at] = ci;
    s.out.co[at] = co;
    s.out.h[at] = o * co;
  });
}

void RunLstmBackward(const LstmCell& cell, const LstmBackward& s, Workers* workers) {
  ForEachElement(cell, workers, [&](int64_t r, int64_t c) {
    const int64_t at = r * cell.cells + c, row = r * 4 * cell.cells + c;
    const float i = s.state.i[at], f = s.state.f[at], o = s.state.o[at];
    const float ci = s.state.ci[at], co = s.state.co[at], cs_prev = s.cs_prev[at];
    const float dh = s.h_grad[at] + (s.h_carry != nullptr ? s.h_carry[at] : 0);
    // Backward through h = o * tanh(cs), then cs = ci * i + f * cs_prev. The sigmoid's derivative
    // is o (1 - o), that of tanh 1 - co^2.
    const float d_o = o * (1 - o) * dh * co;
    float dcs = s.cs_grad[at] + (s.cs_carry != nullptr ? s.cs_carry[at] : 0);
    dcs += dh * o * (1 - co * co);
    // The output gate looks at the new cs, the other two at cs_prev.
    if (cell.peephole) dcs += d_o * s.peepholes.o[c];
    const float d_ci = (1 - ci * ci) * dcs * i;
    const float d_f = f * (1 - f) * dcs * cs_prev;
    const float d_i = i * (1 - i) * dcs * ci;
    s.gates_grad[row] = d_i;
    s.gates_grad[row + cell.ci()] = d_ci;
    s.gates_grad[row + cell.f()] = d_f;
    s.gates_grad[row + cell.o()] = d_o;
    float before = dcs * f;
    if (cell.peephole) before += d_i * s.peepholes.i[c] + d_f * s.peepholes.f[c];
    s.cs_prev_grad[at] = before;
  });
}

void RunPeepholeGrads(const LstmCell& cell, const PeepholeGrads& g, Workers* workers) {
  const int64_t rows = g.steps * cell.batch;
  workers->ParallelFor(cell.cells, GrainFor(rows * 32), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      // Sums over all steps and rows, in one order, in double.
      double i = 0, f = 0, o = 0;
      for (int64_t r = 0; cell.peephole && r < rows; ++r) {
        const float* const gates = g.gates_grad + r * 4 * cell.cells + c;
        const float* const before =
            r < cell.batch ? g.cs_first + r * cell.cells : g.cs + (r - cell.batch) * cell.cells;
        i += double{gates[0]} * before[c];
        f += double{gates[cell.f()]} * before[c];
        o += double{gates[cell.o()]} * g.cs[r * cell.cells + c];
      }
      g.i[c] = static_cast<float>(i);
      g.f[c] = static_cast<float>(f);
      g.o[c] = static_cast<float>(o);
    }
  });
}

}  // namespace tenon::cpu
