// The common inputs and attributes of the LSTM ops and their gradients.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/nn/recurrent/lstm_cell.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct Lstm {
  LstmCell cell;
  int64_t time = 1;    // steps that the tensors have
  int64_t steps = 1;   // steps to compute; at most `time`
  int64_t inputs = 0;  // columns of x
  int first = 0;       // input number of x; then cs_prev, h_prev, w, wci, wcf, wco, b

  int64_t rows() const { return steps * cell.batch; }
  // The shape of outputs and states: [time, batch, cells], or [batch, cells] for one step.
  Shape state;
};

// Reads a node of LSTMBlockCell or its gradient, which have one step; with `sequence`, of BlockLSTM
// or its gradients, which have the number of steps in input 0. INVALID_ARGUMENT if shapes do not
// fit each other.
absl::StatusOr<Lstm> ReadLstm(const Prepare& p, bool sequence);

}  // namespace tenon::cpu
