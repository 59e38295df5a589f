#include "plugin/cpu/sparse/csr_cholesky.h"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <complex>
#include <vector>

namespace tenon::cpu {
namespace {

using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;

// Matrix b of the batch in Eigen's form, in which each place of a row is there once; value_of(i) is
// that of entry i.
template <typename T, typename F>
Eigen::SparseMatrix<T> ToEigen(const CsrMatrix& m, int64_t b, F&& value_of) {
  const int32_t* const rows = m.row_starts.flat<int32_t>() + b * (m.rows() + 1);
  std::vector<Eigen::Triplet<T>> entries;
  for (int64_t r = 0; r < m.rows(); ++r) {
    for (int64_t i = m.first(b) + rows[r]; i < m.first(b) + rows[r + 1]; ++i) {
      entries.emplace_back(static_cast<int>(r), m.entry_columns.flat<int32_t>()[i], value_of(i));
    }
  }
  Eigen::SparseMatrix<T> made(m.rows(), m.columns());
  made.setFromTriplets(entries.begin(), entries.end());
  return made;
}

}  // namespace

void MinimumDegreeOrder(const CsrMatrix& m, int64_t b, int32_t* order) {
  Permutation permutation;
  const Eigen::SparseMatrix<float> pattern = ToEigen<float>(m, b, [](int64_t) { return 1.0f; });
  Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), permutation);
  std::copy_n(permutation.indices().data(), m.rows(), order);
}

template <typename T>
bool PutCholeskyFactor(const CsrMatrix& m, int64_t b, const int32_t* permutation,
                       CsrBuilder<T>* factors) {
  using Columns = Eigen::SparseMatrix<T>;
  Permutation p(m.rows());
  std::copy_n(permutation, m.rows(), p.indices().data());
  const Columns a = ToEigen<T>(m, b, [&](int64_t i) { return m.values.flat<T>()[i]; });
  Columns ordered(m.rows(), m.rows());
  ordered.template selfadjointView<Eigen::Lower>() =
      a.template selfadjointView<Eigen::Lower>().twistedBy(p.inverse());
  Eigen::SimplicialLLT<Columns, Eigen::Lower, Eigen::NaturalOrdering<int>> solver(ordered);
  if (solver.info() != Eigen::Success) return false;
  const Eigen::SparseMatrix<T, Eigen::RowMajor> lower = solver.matrixL();
  for (int64_t r = 0; r < m.rows(); ++r) {
    for (typename Eigen::SparseMatrix<T, Eigen::RowMajor>::InnerIterator it(lower, r); it; ++it)
      factors->Put(it.col(), it.value());
    factors->EndRow();
  }
  return true;
}

#define TENON_INSTANTIATE(T) \
  template bool PutCholeskyFactor(const CsrMatrix&, int64_t, const int32_t*, CsrBuilder<T>*);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
TENON_INSTANTIATE(std::complex<float>)
TENON_INSTANTIATE(std::complex<double>)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
