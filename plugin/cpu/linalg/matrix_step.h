// Steps that compute the same function of every matrix of a batch. The last two dimensions of a
// tensor are the rows and columns of its matrices; all dimensions before them are the batch. A
// kernel supplies the function of one matrix. This file supplies shapes, the loop over the batch,
// threads and errors.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/linalg/decompositions/matrix_ref.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

struct MatrixSize {
  int64_t rows = 0;
  int64_t columns = 0;
};

// The arguments of one call of MatrixStep::ComputeFn: a row-major matrix of each input and output.
// A vector has one column, a scalar one element. Inputs and outputs are numbered as MatrixStep
// added them. The run owns the memory. Outputs are not zeroed, and lie over no input.
class MatrixArgs {
 public:
  // T is the C++ type of the elements; of halves uint16_t.
  template <typename T>
  MatrixRef<const T> In(int i) const {
    return {static_cast<const T*>(in_[i]), in_sizes_[i].rows, in_sizes_[i].columns};
  }
  template <typename T>
  MatrixRef<T> Out(int i) const {
    return {static_cast<T*>(out_[i]), out_sizes_[i].rows, out_sizes_[i].columns};
  }
  // Returns the only element of an input that ReadScalarInput added.
  template <typename T>
  T InScalar(int i) const {
    return *static_cast<const T*>(in_[i]);
  }

 private:
  friend class MatrixStep;
  absl::InlinedVector<const void*, 4> in_;
  absl::InlinedVector<void*, 4> out_;
  absl::Span<const MatrixSize> in_sizes_, out_sizes_;
};

// Prepares a step of matrices, in one thread. First call ReadInputs or ReadBroadcastInputs, then
// ReadScalarInput where the op has a scalar input, then add all outputs in order, then call
// Compute.
class MatrixStep {
 public:
  // The function of one matrix. Several threads call it at the same time. Its errors do not contain
  // the node's name. If it throws std::bad_alloc, its error is RESOURCE_EXHAUSTED.
  using ComputeFn = std::function<absl::Status(const MatrixArgs&)>;

  // `p` must outlive the object.
  explicit MatrixStep(Prepare& p);

  // Adds the op's first `count` inputs. INVALID_ARGUMENT unless all have the same rank, at least 2,
  // and the same batch dimensions.
  absl::Status ReadInputs(int count);
  // Adds the op's first two inputs. The batch dimensions are broadcast. INVALID_ARGUMENT if an
  // input has a rank below 2, the batch dimensions do not broadcast, or the batch has more than
  // 2^48 matrices.
  absl::Status ReadBroadcastInputs();
  // Adds input i, one value for the whole batch. i must be the number of inputs added before.
  // INVALID_ARGUMENT unless the input is a scalar.
  absl::Status ReadScalarInput(int i);
  // Returns the size of the matrices of input i.
  MatrixSize in(int i) const;
  // Returns INVALID_ARGUMENT unless the matrices of input i are square.
  absl::Status RequireSquare(int i) const;
  // Returns INVALID_ARGUMENT unless the matrices of inputs 0 and 1 have equally many rows.
  absl::Status RequireSameRows() const;

  // Each call adds the next output, one matrix, vector or scalar per matrix of the batch, and sets
  // its shape. INVALID_ARGUMENT if the output would have more than 2^48 elements.
  absl::Status AddMatrix(int64_t rows, int64_t columns);
  absl::Status AddVector(int64_t size);
  absl::Status AddScalar();
  // Adds an output that the node's attributes do not ask for: an empty vector.
  void AddNothing();

  // Adds output 0, the eigenvalues of input 0's matrices, and output 1, the eigenvectors if
  // `vectors`, else AddNothing(). INVALID_ARGUMENT unless the matrices are square.
  absl::Status AddEigenOutputs(bool vectors);

  // Sets the run function, unless all outputs are empty. The run function calls `compute` for each
  // matrix of the batch, split over the workers. It returns the error of the lowest matrix that
  // failed, with the matrix's number if the batch has several; matrices above that one may not be
  // computed.
  void Compute(ComputeFn compute);

 private:
  struct State;
  absl::Status CheckRank(int input) const;
  void AddInput(int i);
  absl::Status AddOutput(const Dims& dims, MatrixSize size);
  static absl::Status Run(const void* state, const StepArgs& args);
  static absl::Status ComputeOne(const State& s, const StepArgs& args, int64_t matrix);

  Prepare& p_;
  std::shared_ptr<State> state_;
  Dims batch_;
  std::vector<Dims> broadcast_;  // the batch dimensions of inputs 0 and 1, if they differ
};

// Calls f with a zero of the C++ type of `type`: float, double, std::complex<float> or
// std::complex<double>. Does nothing for any other type.
template <typename F>
void VisitMatrixType(DataType type, F&& f) {
  switch (type) {
    case DataType::kFloat:
      return f(float());
    case DataType::kDouble:
      return f(double());
    case DataType::kComplex64:
      return f(std::complex<float>());
    case DataType::kComplex128:
      return f(std::complex<double>());
    default:
      return;
  }
}

inline constexpr uint64_t kRealMatrixTypes = TypeBits(DataType::kFloat, DataType::kDouble);
inline constexpr uint64_t kMatrixTypes =
    TypeBits(DataType::kFloat, DataType::kDouble, DataType::kComplex64, DataType::kComplex128);

}  // namespace tenon::cpu
