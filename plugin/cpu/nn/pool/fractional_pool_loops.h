// The run functions of FractionalMaxPool, FractionalAvgPool and their gradients. The state is a
// FractionalPool, of the gradients a FractionalGrad.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/nn/pool/fractional_cells.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// With `deterministic` each run has the same cells, because the generator does not advance.
struct FractionalPool {
  FractionalCells cells;
  DataType type = DataType::kFloat;
  bool max = false, pseudo_random = false, deterministic = false;
  std::shared_ptr<GeneratorState> generator;
};

absl::Status RunFractionalPool(const void* state, const StepArgs& args);

struct FractionalGrad {
  FractionalCells cells;
  DataType type = DataType::kFloat;
  bool max = false;
  int gradient_input = 1;  // its boundaries are the next two inputs
};

// INVALID_ARGUMENT if a cell has no rows or no columns inside the input. Of a maximum also if an
// element of orig_output (input 1) is neither NaN nor the largest value of its cell. Here the
// largest value of a cell that begins with NaN is NaN; TensorFlow refuses such a cell, too.
absl::Status RunFractionalGrad(const void* state, const StepArgs& args);

}  // namespace tenon::cpu
