// A step that computes one matrix of a batch after the other. MatrixStep reads shapes and sets
// outputs; its state holds where each matrix of each operand lies.
#include "plugin/cpu/linalg/matrix_step.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/batch_broadcast.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct MatrixStep::State {
  struct Operand {
    int64_t bytes = 0;           // of one matrix
    std::vector<int64_t> index;  // of the matrix to take for each of the batch; empty: the same
    bool shared = false;         // one value for the whole batch
  };
  int64_t count = 1;  // matrices of the batch
  std::vector<Operand> in, out;
  std::vector<MatrixSize> in_sizes, out_sizes;
  ComputeFn compute;
  int64_t grain = 1;
};

MatrixStep::MatrixStep(Prepare& p) : p_(p), state_(std::make_shared<State>()) {}

absl::Status MatrixStep::CheckRank(int input) const {
  const Shape& shape = p_.input_shape(input);
  if (shape.rank() >= 2) return absl::OkStatus();
  return p_.Invalid(
      absl::StrCat("input ", input, " must have at least rank 2, not ", shape.rank()));
}

void MatrixStep::AddInput(int i) {
  const Shape& shape = p_.input_shape(i);
  const MatrixSize size{shape.dim(shape.rank() - 2), shape.dim(shape.rank() - 1)};
  const auto element = static_cast<int64_t>(DataTypeSize(p_.input_type(i)));
  state_->in_sizes.push_back(size);
  state_->in.push_back({size.rows * size.columns * element, {}, false});
}

absl::Status MatrixStep::ReadInputs(int count) {
  TENON_RETURN_IF_ERROR(CheckRank(0));
  const Shape& first = p_.input_shape(0);
  const auto batch = first.dims().first(first.rank() - 2);
  for (int i = 0; i < count; ++i) {
    const Shape& shape = p_.input_shape(i);
    if (shape.rank() != first.rank() || shape.dims().first(batch.size()) != batch) {
      return p_.Invalid(absl::StrCat("input ", i, " must have the batch dimensions of input 0, ",
                                     first.ToString(), ", it is ", shape.ToString()));
    }
    AddInput(i);
  }
  batch_.assign(batch.begin(), batch.end());
  state_->count = Shape(batch).num_elements();
  return absl::OkStatus();
}

absl::Status MatrixStep::ReadBroadcastInputs() {
  absl::Span<const int64_t> batch[2];
  for (int i = 0; i < 2; ++i) {
    TENON_RETURN_IF_ERROR(CheckRank(i));
    const Shape& shape = p_.input_shape(i);
    batch[i] = shape.dims().first(shape.rank() - 2);
    AddInput(i);
  }
  TENON_ASSIGN_OR_RETURN(batch_, BroadcastBatch(p_, batch[0], batch[1]));
  TENON_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p_, batch_));
  state_->count = shape.num_elements();
  // Without a broadcast no table is needed: matrix i of an input belongs to matrix i of the output.
  if (batch[0] == batch[1]) return absl::OkStatus();
  for (const absl::Span<const int64_t> dims : batch)
    broadcast_.emplace_back(dims.begin(), dims.end());
  return absl::OkStatus();
}

absl::Status MatrixStep::ReadScalarInput(int i) {
  TENON_RETURN_IF_ERROR(CheckScalars(p_, i, i + 1));
  state_->in_sizes.push_back({1, 1});
  state_->in.push_back({0, {}, true});
  return absl::OkStatus();
}

MatrixSize MatrixStep::in(int i) const { return state_->in_sizes[i]; }

absl::Status MatrixStep::RequireSquare(int i) const {
  const MatrixSize size = in(i);
  if (size.rows == size.columns) return absl::OkStatus();
  return p_.Invalid(absl::StrCat("the matrices of input ", i, " must be square, they are ",
                                 size.rows, " by ", size.columns));
}

absl::Status MatrixStep::RequireSameRows() const {
  if (in(0).rows == in(1).rows) return absl::OkStatus();
  return p_.Invalid(absl::StrCat("the matrix and the right-hand side must have as many rows, not ",
                                 in(0).rows, " and ", in(1).rows));
}

absl::Status MatrixStep::AddOutput(const Dims& dims, MatrixSize size) {
  Dims all = batch_;
  all.insert(all.end(), dims.begin(), dims.end());
  TENON_ASSIGN_OR_RETURN(Shape shape, CheckedShape(p_, all));
  const int i = static_cast<int>(state_->out.size());
  p_.set_output_shape(i, std::move(shape));
  const auto element = static_cast<int64_t>(DataTypeSize(p_.output_type(i)));
  state_->out_sizes.push_back(size);
  state_->out.push_back({size.rows * size.columns * element, {}, false});
  return absl::OkStatus();
}

absl::Status MatrixStep::AddMatrix(int64_t rows, int64_t columns) {
  return AddOutput({rows, columns}, {rows, columns});
}
absl::Status MatrixStep::AddVector(int64_t size) { return AddOutput({size}, {size, 1}); }
absl::Status MatrixStep::AddScalar() { return AddOutput({}, {1, 1}); }

void MatrixStep::AddNothing() {
  p_.set_output_shape(static_cast<int>(state_->out.size()), Shape({0}));
  state_->out_sizes.push_back({0, 0});
  state_->out.push_back({});
}

absl::Status MatrixStep::AddEigenOutputs(bool vectors) {
  TENON_RETURN_IF_ERROR(RequireSquare(0));
  const int64_t n = in(0).rows;
  TENON_RETURN_IF_ERROR(AddVector(n));
  if (vectors) return AddMatrix(n, n);
  AddNothing();
  return absl::OkStatus();
}

void MatrixStep::Compute(ComputeFn compute) {
  State& s = *state_;
  const bool any_output =
      std::any_of(s.out.begin(), s.out.end(), [](const State::Operand& o) { return o.bytes > 0; });
  // A step without a run does nothing: there is no element to write.
  if (s.count == 0 || !any_output) return;
  // Only now: a batch of empty matrices may be far larger than memory is.
  for (size_t i = 0; i < broadcast_.size(); ++i)
    s.in[i].index = BatchIndices(broadcast_[i], batch_);
  // A decomposition takes time by the third power of the size. A range should have some 64 K
  // operations: for less, waking a thread costs more than the thread saves.
  const MatrixSize size = s.in_sizes[0];
  const double work = 1.0 * size.rows * size.columns * std::min(size.rows, size.columns);
  s.grain = std::max<int64_t>(1, static_cast<int64_t>(65536 / std::max(work, 1.0)));
  s.compute = std::move(compute);
  p_.set_run(&Run, state_);
}

absl::Status MatrixStep::ComputeOne(const State& s, const StepArgs& args, int64_t matrix) {
  MatrixArgs m;
  m.in_sizes_ = s.in_sizes;
  m.out_sizes_ = s.out_sizes;
  for (size_t i = 0; i < s.in.size(); ++i) {
    const State::Operand& o = s.in[i];
    const int64_t at = o.shared ? 0 : o.index.empty() ? matrix : o.index[matrix];
    m.in_.push_back(static_cast<const char*>(args.in[i]) + at * o.bytes);
  }
  for (size_t i = 0; i < s.out.size(); ++i)
    m.out_.push_back(static_cast<char*>(args.out[i]) + matrix * s.out[i].bytes);
  try {
    return s.compute(m);
    // Eigen allocates its temporaries itself.
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("there is not enough memory to decompose the matrix");
  }
}

absl::Status MatrixStep::Run(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const State*>(state);
  std::mutex mutex;
  int64_t failed = s.count;
  absl::Status error;
  args.workers->ParallelFor(s.count, s.grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      absl::Status status = ComputeOne(s, args, i);
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex);
      // Each range stops at its own first failure, so the least of them is the first of the whole
      // batch, whichever threads came first.
      if (i < failed) {
        failed = i;
        error = std::move(status);
      }
      return;
    }
  });
  if (error.ok() || s.count == 1) return error;
  return Annotate(error, "", absl::StrCat(" (matrix ", failed, " of the batch)"));
}

}  // namespace tenon::cpu
