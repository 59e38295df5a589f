// Work is estimated by the sizes of operands, in units of about one operation of a fast product.
// Estimates decide what may be computed ahead of a run, so that they must not depend on the
// machine. Doubles, since products of sizes overflow integers.

#include "graph/shapes/cost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "graph/op_defs/op_facts.h"
#include "graph/tensor/memory_bound.h"

namespace tenon {
namespace {

constexpr double kPerElement = 16;   // of kernels that do little with each
constexpr double kPerTextByte = 16;  // of strings
constexpr double kMost = 1e18;

bool Flag(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value != nullptr && value->AsBool().value_or(false);
}

// How often a filter, window or step of these sizes has an element.
double WindowOf(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* attr = g.attr(n, name);
  double window = 1;
  if (attr == nullptr) return window;
  const auto list = attr->AsIntList();
  if (!list.ok()) return window;
  for (const int64_t size : *list) window *= std::max(static_cast<double>(size), 1.0);
  return window;
}

// Multiplications, each with an addition, of a node whose operands have these shapes.
class Products {
 public:
  // `out`: the shape of output 0, of unknown rank where nobody knows it.
  Products(const Graph& graph, NodeId n, std::vector<PartialShape> in, PartialShape out)
      : g_(graph), n_(n), in_(std::move(in)), out_(std::move(out)) {}

  // Whether some dimension was unknown and taken as 1.
  bool assumed() const { return assumed_; }

  double Dim(const PartialShape& shape, int i) {
    const int at = i < 0 ? shape.rank() + i : i;
    if (at < 0 || at >= shape.rank()) return 1;
    const int64_t dim = shape.dim(at);
    assumed_ |= dim < 0;
    return dim < 0 ? 1 : static_cast<double>(dim);
  }

  double Elements(const PartialShape& shape) {
    double product = 1;
    for (int i = 0; i < shape.rank(); ++i) product *= Dim(shape, i);
    return product;
  }

  // Of matrices, perhaps in batches.
  double OfMatrices() {
    if (in_.size() < 2) return 0;
    const PartialShape &a = in_[0], &b = in_[1];
    const bool transposed = Flag(g_, n_, "transpose_a") || Flag(g_, n_, "adj_x");
    const double inner = Dim(a, transposed ? -2 : -1);
    if (out_.known_rank()) return Elements(out_) * inner;
    const bool transposed_b = Flag(g_, n_, "transpose_b") || Flag(g_, n_, "adj_y");
    double products = Dim(a, transposed ? -1 : -2) * inner * Dim(b, transposed_b ? -2 : -1);
    for (int i = 3; i <= std::max(a.rank(), b.rank()); ++i)
      products *= std::max(Dim(a, -i), Dim(b, -i));
    return products;
  }

  // Every combination of its indices.
  double OfEinsum() {
    const AttrValue* attr = g_.attr(n_, "equation");
    const std::string_view equation =
        attr == nullptr ? std::string_view() : attr->AsString().value_or("");
    absl::flat_hash_map<char, double> sizes;
    std::string_view rest = equation.substr(0, equation.find("->"));
    for (const PartialShape& operand : in_) {
      const size_t comma = rest.find(',');
      const std::string_view labels = rest.substr(0, comma);
      if (absl::StrContains(labels, ".")) return OfLargestTwo();
      int dim = 0;
      for (const char label : labels) {
        if (label != ' ') sizes[label] = std::max(sizes[label], Dim(operand, dim++));
      }
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    double products = 1;
    for (const auto& [label, size] : sizes) products *= size;
    return products;
  }

  double OfLargestTwo() {
    double first = 0, second = 0;
    for (const PartialShape& shape : in_) {
      const double elements = Elements(shape);
      second = std::max(second, std::min(first, elements));
      first = std::max(first, elements);
    }
    return first * second;
  }

 private:
  const Graph& g_;
  const NodeId n_;
  const std::vector<PartialShape> in_;
  const PartialShape out_;
  bool assumed_ = false;
};

double ElementsOf(const Tensor& t) { return static_cast<double>(t.num_elements()); }
double Dim(const Tensor& t, int i) {
  const int rank = t.shape().rank();
  const int at = i < 0 ? rank + i : i;
  return at < 0 || at >= rank ? 1 : static_cast<double>(t.shape().dim(at));
}

// Units of work for one product of elements, with its addition: products of types other than float
// and double have no fast kernels.
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

// The operand that is the filter: the first one by that name, as sizes and padding may stand before
// it; without one operand 1, where gradients have the filter or its sizes.
size_t FilterInput(const Graph& g, NodeId n) {
  const std::vector<ArgDef>& args = g.op(n)->inputs;
  const auto filter = std::ranges::find(args, "filter", &ArgDef::name);
  return filter == args.end() ? 1 : static_cast<size_t>(filter - args.begin());
}

// The dimension of channels of what a convolution makes: 1, or -1 for the last.
int ChannelsDim(const Graph& g, NodeId n) {
  const AttrValue* format = g.attr(n, "data_format");
  if (format == nullptr) return -1;
  return absl::StartsWith(format->AsString().value_or(""), "NC") ? 1 : -1;
}

class WorkEstimator {
 public:
  WorkEstimator(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs, double elements)
      : g_(graph), n_(n), in_(inputs), elements_(elements), cost_(graph.facts(n).cost) {}

  double Work() const {
    double work = elements_ * kPerElement;
    for (const Tensor& t : in_) {
      work += ElementsOf(t) * kPerElement;
      if (t.dtype() == DataType::kString) work += static_cast<double>(HeldBytes(t)) * kPerTextByte;
    }
    return in_.empty() ? work : work + Besides();
  }

 private:
  // What the elements alone do not say.
  double Besides() const {
    const double first = ElementsOf(in_[0]);
    switch (cost_.rule) {
      case CostRule::kElements:
        return cost_.scale * (elements_ + first);
      case CostRule::kMove:
      case CostRule::kReduce:
        return 0;
      case CostRule::kProduct:
        return PerProduct(Type()) * Operands().OfMatrices();
      case CostRule::kEinsum:
        return PerProduct(Type()) * Operands().OfEinsum();
      case CostRule::kLargestTwo:
        return PerProduct(Type()) * Operands().OfLargestTwo();
      case CostRule::kWindow:
      case CostRule::kChannelWindow:
      case CostRule::kWindowOfInput:
      case CostRule::kWindowOfFilter:
        return PerProduct(Type()) * WindowProducts();
      case CostRule::kMatrix:
        return cost_.scale * MatrixWork();
      case CostRule::kFourier:
        // 5 n log2 n operations, each of which takes as long as 4 of a product.
        return first * 5 * FourierLength();
      case CostRule::kSort:
        return first * kPerElement * LengthOfSort(in_[0]);
      case CostRule::kPool:
      case CostRule::kPoolGradient:
        return first * WindowOf(g_, n_, "ksize");
      case CostRule::kPairs:
        return first * first;
    }
    return 0;
  }

  DataType Type() const { return BaseType(in_[0].dtype()); }

  Products Operands() const {
    std::vector<PartialShape> shapes;
    for (const Tensor& t : in_) shapes.emplace_back(t.shape());
    return Products(g_, n_, std::move(shapes), PartialShape());
  }

  double MatrixWork() const {
    double work = ElementsOf(in_[0]) * std::max(Dim(in_[0], -1), Dim(in_[0], -2));
    if (in_.size() > 1) work += ElementsOf(in_[1]) * Dim(in_[0], -1);  // right-hand sides
    return work;
  }

  // Each element, or each group of channels, with the window that a filter is. The filter has the
  // window first, then channels; of a gradient the element that comes in counts.
  double WindowProducts() const {
    const size_t at = FilterInput(g_, n_);
    if (in_.size() <= at) return 0;
    const bool of_input = cost_.rule == CostRule::kWindowOfInput;
    const bool of_filter = cost_.rule == CostRule::kWindowOfFilter;
    const Tensor& data = in_[(of_input || of_filter) && in_.size() > 2 ? 2 : 0];
    double filter = ElementsOf(in_[at]);
    const double channels =
        of_input || of_filter ? Dim(data, ChannelsDim(g_, n_)) : Dim(in_[at], -2);
    if (of_filter) {
      filter = 1;
      const Tensor& sizes = in_[at];
      for (int64_t i = 0; i < std::min<int64_t>(sizes.num_elements(), 8); ++i) {
        const bool is_int = sizes.dtype() == DataType::kInt32 || sizes.dtype() == DataType::kInt64;
        const double size = is_int ? static_cast<double>(sizes.IntAt(i)) : 1;
        filter *= std::max(size, 1.0);
      }
    }
    const double strides = of_input || of_filter ? 1 : WindowOf(g_, n_, "strides");
    return ElementsOf(data) / std::max(channels, 1.0) * filter / std::max(strides, 1.0);
  }

  // Four times the binary logarithm of the length: lengths that are no powers of two take longer.
  double FourierLength() const {
    double length = 1;
    for (int i = 1; i <= static_cast<int>(cost_.scale); ++i) length *= Dim(in_[0], -i);
    return std::log2(std::max(length, 2.0)) * 4;
  }

  const Graph& g_;
  const NodeId n_;
  const absl::Span<const Tensor> in_;
  const double elements_;
  const Cost cost_;
};

// Of unknown rank where there is no such operand.
PartialShape At(const std::vector<PartialShape>& in, size_t i) {
  return i < in.size() ? in[i] : PartialShape();
}

std::optional<double> ElementFlops(const PartialShape& shape, Products& products) {
  return shape.known_rank() ? std::optional(products.Elements(shape)) : std::nullopt;
}

// Each element of the output takes a window of the filter over all input channels, or over one.
std::optional<double> FilterFlops(const PartialShape& filter, const PartialShape& data,
                                  bool one_channel, Products& products) {
  if (filter.rank() < 3 || !data.known_rank()) return std::nullopt;
  double window = products.Elements(filter) / std::max(1.0, products.Dim(filter, -1));
  if (one_channel) window /= std::max(1.0, products.Dim(filter, -2));
  return 2 * products.Elements(data) * window;
}

// Of a gradient, each element of `data`, which comes in, meets the part of the filter that made its
// channel: over all input channels, or over one.
std::optional<double> FilterGradientFlops(const PartialShape& filter, const PartialShape& data,
                                          int channels_dim, Products& products) {
  if (filter.rank() < 3 || !data.known_rank()) return std::nullopt;
  const double channels = std::max(1.0, products.Dim(data, channels_dim));
  return 2 * products.Elements(data) * products.Elements(filter) / channels;
}

// Nothing where shapes do not tell.
std::optional<double> FlopsOf(const Graph& g, NodeId n, const std::vector<PartialShape>& in,
                              const PartialShape& out, Products& products) {
  const CostRule rule = g.facts(n).cost.rule;
  switch (rule) {
    case CostRule::kMove:
      return 0;
    case CostRule::kReduce:
    case CostRule::kPool:
      return ElementFlops(At(in, 0), products);
    case CostRule::kProduct:
      if (At(in, 0).rank() < 2 || !out.known_rank()) return std::nullopt;
      return 2 * products.OfMatrices();
    case CostRule::kEinsum:
      if (!std::ranges::all_of(in, &PartialShape::known_rank)) return std::nullopt;
      return 2 * products.OfEinsum();
    case CostRule::kWindow:
    case CostRule::kChannelWindow:
      return FilterFlops(At(in, FilterInput(g, n)), out, rule == CostRule::kChannelWindow,
                         products);
    case CostRule::kWindowOfInput:
      return FilterGradientFlops(At(in, 1), At(in, 2), ChannelsDim(g, n), products);
    case CostRule::kWindowOfFilter:
      return FilterGradientFlops(out, At(in, 2), ChannelsDim(g, n), products);
    default:
      return ElementFlops(out, products);
  }
}

}  // namespace

int64_t EstimateWork(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs,
                     int64_t elements) {
  const double work = WorkEstimator(graph, n, inputs, static_cast<double>(elements)).Work();
  return work < kMost ? static_cast<int64_t>(work) : static_cast<int64_t>(kMost);
}

std::optional<double> EstimateNodeFlops(const Graph& graph, NodeId n,
                                        const std::vector<PartialShape>& inputs,
                                        const PartialShape& output) {
  Products products(graph, n, inputs, output);
  return FlopsOf(graph, n, inputs, output, products);
}

FlopEstimate EstimateFlops(const Graph& graph, const GraphShapes& shapes) {
  FlopEstimate estimate;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || graph.num_outputs(n) == 0) continue;
    std::vector<PartialShape> in;
    for (const Output& from : graph.data_inputs(n)) in.push_back(shapes.shape(from));
    const PartialShape& out = shapes.shape({n, 0});
    Products products(graph, n, in, out);
    if (const std::optional<double> flops = FlopsOf(graph, n, in, out, products)) {
      estimate.flops += *flops;
      estimate.assumed |= products.assumed();
    } else {
      ++estimate.unknown_nodes;
    }
  }
  return estimate;
}

}  // namespace tenon
