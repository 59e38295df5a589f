// The arithmetic of one step of a long short-term memory, element by element.
#pragma once

#include <cstdint>

#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {

// Matrices are [batch, cells]; those of the gates [batch, 4 * cells].
struct LstmCell {
  int64_t batch = 0, cells = 0;
  bool forget_second = false;  // gates in the order i, f, ci, o instead of i, ci, f, o
  bool peephole = false;
  float forget_bias = 0;
  float clip = 0;  // of the cell state, where positive

  int64_t elements() const { return batch * cells; }
  // Where the columns of a gate begin.
  int64_t ci() const { return (forget_second ? 2 : 1) * cells; }
  int64_t f() const { return (forget_second ? 1 : 2) * cells; }
  int64_t o() const { return 3 * cells; }
};

// Weights of the peepholes, [cells] each; not read where the cell has none.
struct Peepholes {
  const float *i, *f, *o;
};

// What a step computes: input gate, cell state, forget gate, output gate, cell input, squashed cell
// state, output.
struct LstmState {
  float *i, *cs, *f, *o, *ci, *co, *h;
  // The same of step t.
  LstmState At(int64_t t, const LstmCell& cell) const {
    const int64_t n = t * cell.elements();
    return {i + n, cs + n, f + n, o + n, ci + n, co + n, h + n};
  }
};

struct LstmForward {
  const float *from_x, *from_h;  // what x and h contribute to the gates
  const float* bias;             // [4 * cells]
  const float* cs_prev;
  Peepholes peepholes;
  LstmState out;
};
void RunLstmForward(const LstmCell& cell, const LstmForward& step, Workers* workers);

struct LstmBackward {
  LstmState state;  // of the forward step; h is not read
  const float* cs_prev;
  Peepholes peepholes;
  const float *cs_grad, *h_grad;    // from outside
  const float *cs_carry, *h_carry;  // from the next step, or null
  float* gates_grad;
  float* cs_prev_grad;  // may be cs_carry
};
void RunLstmBackward(const LstmCell& cell, const LstmBackward& step, Workers* workers);

// The gradients of the peepholes, [cells] each, from all `steps`: gates_grad is [steps, batch,
// 4 * cells], cs [steps, batch, cells], cs_first what preceded it. Zero where the cell has none.
struct PeepholeGrads {
  int64_t steps;
  const float *gates_grad, *cs, *cs_first;
  float *i, *f, *o;
};
void RunPeepholeGrads(const LstmCell& cell, const PeepholeGrads& g, Workers* workers);

}  // namespace tenon::cpu
