// Steps that do the same to every matrix of a batch: the last two dimensions of a tensor are its
// matrices, those before them the batch. A family says what is done to one matrix; shapes, the loop
// over the batch, threads and errors are here.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "plugin/cpu/base/element.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

struct MatrixSize {
  int64_t rows = 0;
  int64_t columns = 0;
};

// One matrix of every input and output, row after row. A vector has one column, a scalar one
// element.
class MatrixArgs {
 public:
  // `Map` is made from (pointer, rows, columns) and has the type of its elements as Scalar, as
  // Eigen::Map and MatrixRef have.
  template <typename Map>
  Map In(int i) const {
    return Map(static_cast<const typename Map::Scalar*>(in_[i]), in_sizes_[i].rows,
               in_sizes_[i].columns);
  }
  template <typename Map>
  Map Out(int i) const {
    return Map(static_cast<typename Map::Scalar*>(out_[i]), out_sizes_[i].rows,
               out_sizes_[i].columns);
  }
  // The only element of an input of the op that is no matrix.
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

// Elements of a matrix without Eigen.
template <typename T>
struct MatrixRef {
  using Scalar = std::remove_const_t<T>;
  MatrixRef(T* d, int64_t r, int64_t c) : data(d), rows(r), columns(c) {}
  T* row(int64_t r) const { return data + r * columns; }
  T& operator()(int64_t r, int64_t c) const { return data[r * columns + c]; }

  T* data;
  int64_t rows, columns;
};

// Lets this thread compute with denormals for the life of the object: for iterations that converge
// on values which FTZ would lose.
class WithDenormals {
 public:
  WithDenormals();
  ~WithDenormals();
  WithDenormals(const WithDenormals&) = delete;
  WithDenormals& operator=(const WithDenormals&) = delete;

 private:
  uint32_t saved_;
};

// Prepares such a step. Used on one thread.
class MatrixStep {
 public:
  // Returns an error without the node's name.
  using ComputeFn = std::function<absl::Status(const MatrixArgs&)>;

  explicit MatrixStep(Prepare& p);

  // The op's first `count` inputs are matrices of equal batch dimensions; INVALID_ARGUMENT if not.
  absl::Status ReadInputs(int count);
  // The op's two inputs are matrices of batch dimensions that are broadcast.
  absl::Status ReadBroadcastInputs();
  // Input i, after the matrices, is one value for the whole batch; INVALID_ARGUMENT if it is no
  // scalar.
  absl::Status ReadScalarInput(int i);
  MatrixSize in(int i) const;
  absl::Status RequireSquare(int i) const;
  // Inputs 0 and 1 have as many rows.
  absl::Status RequireSameRows() const;

  // Outputs in their order.
  absl::Status AddMatrix(int64_t rows, int64_t columns);
  absl::Status AddVector(int64_t size);
  absl::Status AddScalar();
  // An output that the node did not ask for: an empty vector.
  void AddNothing();

  // Eigenvalues of the square matrix of input 0 and, if wanted, its eigenvectors.
  absl::Status AddEigenOutputs(bool vectors);

  // `compute` is called for every matrix of the batch unless all outputs are empty. Where it fails,
  // the error of the first matrix that failed is the step's.
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
};

// Calls f with a zero of the C++ type: float, double or one of their complex types.
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

// The type in which decompositions of matrices of T are computed where one of each precision would
// not be worth its code.
template <typename T>
using WideElement = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

inline constexpr uint64_t kRealMatrixTypes = TypeBits(DataType::kFloat, DataType::kDouble);
inline constexpr uint64_t kMatrixTypes =
    TypeBits(DataType::kFloat, DataType::kDouble, DataType::kComplex64, DataType::kComplex128);

}  // namespace tenon::cpu
