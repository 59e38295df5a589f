// The common inputs and attributes of the LSTM ops and their gradients.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/nn/recurrent/lstm_cell.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

struct Lstm {
  LstmCell cell;       // forget_bias and clip are the caller's to set
  int64_t time = 1;    // steps that the tensors have
  int64_t steps = 1;   // steps to compute; at most `time`; 0 for an empty batch
  int64_t inputs = 0;  // columns of x
  int first = 0;       // input number of x; cs_prev, h_prev, w, wci, wcf, wco and b follow

  int64_t rows() const { return steps * cell.batch; }
  // The shape of the forward op's outputs: [time, batch, cells] of a sequence, else [batch, cells].
  Shape state;
};

// Reads a node of LSTMBlockCell or its gradient, which have one step; with `sequence`, of BlockLSTM
// or its gradients, which have the number of steps in input 0. INVALID_ARGUMENT if shapes do not
// fit each other, are too large, or the number of steps is negative or greater than x has; a
// forward op's peepholes that are not used may have any shape. INTERNAL if the value of input 0 is
// not known.
absl::StatusOr<Lstm> ReadLstm(const Prepare& p, bool sequence);

}  // namespace tenon::cpu
