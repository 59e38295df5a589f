#include "grappler_lite/analysis/work_estimate.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "graph/tensor/memory_bound.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

constexpr double kPerElement = 16;   // of kernels that do little with each
constexpr double kPerTextByte = 16;  // of strings
constexpr double kMost = 1e18;

// What is done with matrices, for each element times the longer side.
const absl::flat_hash_map<std::string_view, double>& OfMatrices() {
  static const auto* const kOps = new absl::flat_hash_map<std::string_view, double>{
      {"Cholesky", 1},
      {"CholeskyGrad", 4},
      {"BatchCholesky", 1},
      {"MatrixDeterminant", 2},
      {"BatchMatrixDeterminant", 2},
      {"LogMatrixDeterminant", 2},
      {"Lu", 2},
      {"MatrixInverse", 4},
      {"BatchMatrixInverse", 4},
      {"MatrixSolve", 4},
      {"BatchMatrixSolve", 4},
      {"MatrixTriangularSolve", 2},
      {"BatchMatrixTriangularSolve", 2},
      {"MatrixSolveLs", 8},
      {"BatchMatrixSolveLs", 8},
      {"MatrixExponential", 40},
      {"MatrixLogarithm", 100},
      {"MatrixSquareRoot", 60},
      {"Qr", 8},
      {"Svd", 20},
      {"BatchSvd", 20},
      {"SelfAdjointEig", 20},
      {"SelfAdjointEigV2", 20},
      {"BatchSelfAdjointEig", 20},
      {"BatchSelfAdjointEigV2", 20},
      {"Eig", 60},
  };
  return *kOps;
}

// What each element costs where that is much more than usual.
const absl::flat_hash_map<std::string_view, double>& OfElements() {
  static const auto* const kOps = new absl::flat_hash_map<std::string_view, double>{
      {"Betainc", 8000},
      {"Igamma", 8000},
      {"Igammac", 8000},
      {"IgammaGradA", 16000},
      {"RandomGammaGrad", 16000},
      {"Zeta", 4000},
      {"Polygamma", 4000},
      {"StatelessRandomGammaV2", 4000},
      {"StatelessRandomGammaV3", 4000},
      {"StatelessRandomBinomial", 8000},
      {"StatelessRandomPoisson", 8000},
      {"CTCBeamSearchDecoder", 16000},
      {"EncodePng", 500},
      {"EncodeJpeg", 500},
      {"DecodePng", 500},
      {"DecodeJpeg", 500},
      {"DecodeImage", 500},
      {"DecodeAndCropJpeg", 500},
  };
  return *kOps;
}

double ElementsOf(const Tensor& t) { return static_cast<double>(t.num_elements()); }
double Dim(const Tensor& t, int i) {
  const int rank = t.shape().rank();
  const int at = i < 0 ? rank + i : i;
  return at < 0 || at >= rank ? 1 : static_cast<double>(t.shape().dim(at));
}

// Products of types that have no fast ones.
double PerProduct(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kDouble:
      return 2;
    default:
      return 32;
  }
}

// Of a list with as many elements as there are, one by one along the last dimension.
double LengthOfSort(const Tensor& t) { return std::log2(std::max(Dim(t, -1), 2.0)); }

class Estimator {
 public:
  Estimator(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs, double elements)
      : g_(graph), n_(n), in_(inputs), elements_(elements), op_(graph.op_name(n)) {}

  double Work() const {
    double work = elements_ * kPerElement;
    for (const Tensor& t : in_) {
      work += ElementsOf(t) * kPerElement;
      if (t.dtype() == DataType::kString) work += static_cast<double>(HeldBytes(t)) * kPerTextByte;
    }
    return work + Besides();
  }

 private:
  // What the elements alone do not say.
  double Besides() const {
    if (in_.empty()) return 0;
    if (const auto it = OfElements().find(op_); it != OfElements().end())
      return it->second * (elements_ + ElementsOf(in_[0]));
    if (const auto it = OfMatrices().find(op_); it != OfMatrices().end())
      return it->second * MatrixWork();
    if (absl::StrContains(op_, "MatMul") && in_.size() >= 2) return PerProduct(Type()) * Products();
    if (op_ == "Einsum") return PerProduct(Type()) * EinsumProducts();
    if (absl::StrContains(op_, "Conv") || absl::StrContains(op_, "conv") ||
        absl::StartsWith(op_, "Dilation2D"))
      return PerProduct(Type()) * WindowProducts();
    if (absl::StrContains(op_, "LSTM") || absl::StrContains(op_, "GRU") ||
        absl::StrContains(op_, "RNN"))
      return PerProduct(Type()) * LargestTwo();
    if (absl::StrContains(op_, "FFT")) return ElementsOf(in_[0]) * 5 * FftLength();
    if (op_ == "TopK" || op_ == "TopKV2" || absl::StartsWith(op_, "Unique") || op_ == "NthElement")
      return ElementsOf(in_[0]) * kPerElement * LengthOfSort(in_[0]);
    if (absl::StrContains(op_, "Pool")) return ElementsOf(in_[0]) * WindowOf("ksize");
    if (absl::StrContains(op_, "NonMaxSuppression")) return Pairs() / 16 * kPerElement;
    if (op_ == "EditDistance") return Pairs();
    return 0;
  }

  DataType Type() const { return BaseType(in_[0].dtype()); }

  double MatrixWork() const {
    double work = ElementsOf(in_[0]) * std::max(Dim(in_[0], -1), Dim(in_[0], -2));
    if (in_.size() > 1) work += ElementsOf(in_[1]) * Dim(in_[0], -1);  // right-hand sides
    return work;
  }

  bool Flag(std::string_view name) const { return BoolAttr(g_, n_, name); }

  double Products() const {
    if (absl::StartsWith(op_, "Sparse") && op_ != "SparseMatMul") return LargestTwo();
    const Tensor &a = in_[0], &b = in_[1];
    const bool transposed = Flag("transpose_a") || Flag("adj_x");
    const double inner = Dim(a, transposed ? -2 : -1), rows = Dim(a, transposed ? -1 : -2);
    const bool transposed_b = Flag("transpose_b") || Flag("adj_y");
    double products = rows * inner * Dim(b, transposed_b ? -2 : -1);
    for (int i = 3; i <= std::max(a.shape().rank(), b.shape().rank()); ++i)
      products *= std::max(Dim(a, -i), Dim(b, -i));
    return products;
  }

  // Every combination of its indices.
  double EinsumProducts() const {
    const AttrValue* attr = g_.attr(n_, "equation");
    const std::string_view equation =
        attr == nullptr ? std::string_view() : attr->AsString().value_or("");
    absl::flat_hash_map<char, double> sizes;
    double products = 1;
    size_t input = 0;
    std::string_view rest = equation.substr(0, equation.find("->"));
    while (input < in_.size()) {
      const size_t comma = rest.find(',');
      std::string_view labels = rest.substr(0, comma);
      if (absl::StrContains(labels, ".")) return LargestTwo();
      int dim = 0;
      for (const char label : labels) {
        if (label != ' ') sizes[label] = std::max(sizes[label], Dim(in_[input], dim++));
      }
      ++input;
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    for (const auto& [label, size] : sizes) products *= size;
    return products;
  }

  // Each element, or each group of channels, with the window that a filter is. The filter has the
  // window first, then channels; of a gradient the element that comes in counts.
  double WindowProducts() const {
    if (in_.size() < 2) return 0;
    const bool of_input = absl::StrContains(op_, "BackpropInput");
    const bool of_filter = absl::StrContains(op_, "BackpropFilter");
    const Tensor& data = in_[(of_input || of_filter) && in_.size() > 2 ? 2 : 0];
    double filter = ElementsOf(in_[1]), channels = Dim(in_[1], of_input ? -1 : -2);
    if (of_filter) {
      filter = 1;
      const Tensor& sizes = in_[1];
      for (int64_t i = 0; i < std::min<int64_t>(sizes.num_elements(), 8); ++i) {
        const bool is_int = sizes.dtype() == DataType::kInt32 || sizes.dtype() == DataType::kInt64;
        const double size = is_int ? static_cast<double>(sizes.IntAt(i)) : 1;
        filter *= std::max(size, 1.0);
        if (i + 1 == sizes.num_elements()) channels = std::max(size, 1.0);
      }
    }
    const double strides = of_input || of_filter ? 1 : WindowOf("strides");
    return ElementsOf(data) / std::max(channels, 1.0) * filter / std::max(strides, 1.0);
  }

  double WindowOf(std::string_view name) const {
    const AttrValue* attr = g_.attr(n_, name);
    double window = 1;
    if (attr == nullptr) return window;
    const auto list = attr->AsIntList();
    if (!list.ok()) return window;
    for (const int64_t size : *list) window *= std::max(static_cast<double>(size), 1.0);
    return window;
  }

  double LargestTwo() const {
    double first = 0, second = 0;
    for (const Tensor& t : in_) {
      const double elements = ElementsOf(t);
      second = std::max(second, std::min(first, elements));
      first = std::max(first, elements);
    }
    return first * second;
  }

  double FftLength() const {
    double length = 1;
    const int dims = absl::StrContains(op_, "3D") ? 3 : absl::StrContains(op_, "2D") ? 2 : 1;
    for (int i = 1; i <= dims; ++i) length *= Dim(in_[0], -i);
    return std::log2(std::max(length, 2.0)) * 4;  // lengths that are no powers of two take longer
  }

  double Pairs() const { return ElementsOf(in_[0]) * ElementsOf(in_[0]); }

  const Graph& g_;
  const NodeId n_;
  const absl::Span<const Tensor> in_;
  const double elements_;
  const std::string_view op_;
};

}  // namespace

int64_t EstimateWork(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs,
                     int64_t elements) {
  const double work = Estimator(graph, n, inputs, static_cast<double>(elements)).Work();
  return work < kMost ? static_cast<int64_t>(work) : static_cast<int64_t>(kMost);
}

}  // namespace tenon
