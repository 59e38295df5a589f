// What the LSTM ops and their gradients read alike.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/nn/recurrent/lstm_cell.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct Lstm {
  LstmCell cell;
  int64_t time = 1;    // of the tensors
  int64_t steps = 1;   // to compute, at most `time`
  int64_t inputs = 0;  // columns of x
  int first = 0;       // input number of x; then cs_prev, h_prev, w, wci, wcf, wco, b

  int64_t rows() const { return steps * cell.batch; }
  // Of outputs and states: [time, batch, cells], or of one step [batch, cells].
  Shape state;
};

// LSTMBlockCell and its gradient have one step; BlockLSTM and its gradients, `sequence`, have the
// number of steps as input 0. INVALID_ARGUMENT says what does not fit.
absl::StatusOr<Lstm> ReadLstm(const Prepare& p, bool sequence);

}  // namespace tenon::cpu
