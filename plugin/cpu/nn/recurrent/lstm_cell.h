// The arithmetic of one step of a long short-term memory (LSTM), element by element, in float. Each
// function shares its elements among `workers`, which is not null, and returns when all are done.
// Results do not depend on the number of threads, and do not overlap inputs unless a comment says
// so.
#pragma once

#include <cstdint>

#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {

// The sizes and constants of a cell. A matrix is [batch, cells]; a matrix of the gates is
// [batch, 4 * cells], one block of columns per gate.
struct LstmCell {
  int64_t batch = 0, cells = 0;
  bool forget_second = false;  // gates in the order i, f, ci, o instead of i, ci, f, o
  bool peephole = false;
  float forget_bias = 0;
  float clip = 0;  // the cell state is clipped to [-clip, clip] if clip > 0

  int64_t elements() const { return batch * cells; }
  // The first column of a gate; gate i begins at column 0.
  int64_t ci() const { return (forget_second ? 2 : 1) * cells; }
  int64_t f() const { return (forget_second ? 1 : 2) * cells; }
  int64_t o() const { return 3 * cells; }
};

// Weights of the peepholes, [cells] each. Read only if the cell has peepholes.
struct Peepholes {
  const float *i, *f, *o;
};

// The matrices that a step computes; those of gates hold values after the activation.
//   i   input gate       o   output gate   h   output
//   f   forget gate      ci  cell input
//   cs  cell state       co  tanh of the cell state
struct LstmState {
  float *i, *cs, *f, *o, *ci, *co, *h;
  // Returns the matrices of step t, if *this is step 0 of a sequence: the matrices of one kind lie
  // one after the other, step by step.
  LstmState At(int64_t t, const LstmCell& cell) const {
    const int64_t n = t * cell.elements();
    return {i + n, cs + n, f + n, o + n, ci + n, co + n, h + n};
  }
};

// One forward step. The caller owns all memory. Pointers without a shape are [batch, cells].
struct LstmForward {
  // Matrices of the gates: the products of x and of h with the weights, which the step adds.
  const float *from_x, *from_h;
  const float* bias;  // [4 * cells]
  const float* cs_prev;
  Peepholes peepholes;
  LstmState out;
};
void RunLstmForward(const LstmCell& cell, const LstmForward& step, Workers* workers);

// One backward step. Pointers without a shape are [batch, cells]. The clip of the cell state is not
// taken into account.
struct LstmBackward {
  LstmState state;  // as the forward step has written it; cs and h are not read
  const float* cs_prev;
  Peepholes peepholes;
  const float *cs_grad, *h_grad;  // gradients of this step's cs and h
  // Gradients that the next step has passed back, to be added to cs_grad and h_grad. Each may be
  // null.
  const float *cs_carry, *h_carry;
  float* gates_grad;    // result: a matrix of the gates
  float* cs_prev_grad;  // result; may be cs_carry
};
void RunLstmBackward(const LstmCell& cell, const LstmBackward& step, Workers* workers);

// The gradients of the peepholes' weights, summed over all steps and the batch. They are 0 if the
// cell has no peepholes. gates_grad is [steps, batch, 4 * cells], cs, the cell states after each
// step, is [steps, batch, cells]. cs_first, of [batch, cells], is the cell state before step 0.
struct PeepholeGrads {
  int64_t steps;
  const float *gates_grad, *cs, *cs_first;
  float *i, *f, *o;  // results, [cells] each
};
void RunPeepholeGrads(const LstmCell& cell, const PeepholeGrads& g, Workers* workers);

}  // namespace tenon::cpu
