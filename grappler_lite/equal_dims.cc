#include "grappler_lite/equal_dims.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "graph/nodes.h"
#include "grappler_lite/cannot_fail.h"
#include "grappler_lite/node_queries.h"
#include "grappler_lite/rewriter.h"

namespace tenon {
namespace {

// What gives output 0 the shape of input 0.
constexpr std::string_view kLikeFirst =
    "Identity StopGradient Snapshot PreventGradient Cast Abs Neg Exp Log Log1p Expm1 Sqrt Rsqrt "
    "Square Sign Floor Ceil Round Rint Sin Cos Erf Erfc Relu Relu6 Elu Selu LeakyRelu Sigmoid Tanh "
    "Softplus Softsign Reciprocal ZerosLike OnesLike BiasAdd FusedBatchNorm FusedBatchNormV2 "
    "FusedBatchNormV3 _FusedBatchNormEx Softmax LogSoftmax _MklSwish _MklFusedMish "
    "_UnaryOpsComposition ReluGrad Relu6Grad SigmoidGrad TanhGrad AddN";
constexpr std::string_view kBroadcasting =
    "Add AddV2 Sub Mul RealDiv DivNoNan Maximum Minimum SquaredDifference Pow SelectV2";
// Dimension 0 is that of input 0.
constexpr std::string_view kKeepsBatch =
    "Conv2D Conv3D DepthwiseConv2dNative _FusedConv2D _FusedConv3D _FusedDepthwiseConv2dNative "
    "MaxPool AvgPool";
constexpr std::string_view kProducts = "MatMul _FusedMatMul BatchMatMul BatchMatMulV2";
constexpr std::string_view kReductions = "Sum Mean Max Min Prod All Any";

std::vector<int64_t> IntsOf(const Tensor& t) {
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < t.num_elements(); ++i) ints.push_back(t.IntAt(i));
  return ints;
}

}  // namespace

EqualDims::EqualDims(const Graph& graph, const absl::flat_hash_set<NodeId>& feeds,
                     const KnownTensors& known)
    : g_(graph), feeds_(feeds), known_(known) {
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(g_);
  if (!order.ok()) return;
  for (NodeId n : *order) {
    for (int port = 0; port < g_.num_outputs(n); ++port) {
      const PartialShape& shape = known_.shape({n, port});
      if (!shape.known_rank() || shape.fully_defined()) continue;
      Symbols symbols;
      if (port == 0 && !feeds_.contains(n)) symbols = SymbolsOf(n);
      symbols.resize(shape.rank(), 0);
      for (int d = 0; d < shape.rank(); ++d) {
        if (shape.dim(d) >= 0) {
          symbols[d] = 0;
        } else if (symbols[d] == 0) {
          symbols[d] = ++last_;
        }
      }
      symbols_.emplace(Output{n, port}, std::move(symbols));
    }
  }
}

bool EqualDims::SameShape(Output a, Output b) const {
  const PartialShape &x = known_.shape(a), &y = known_.shape(b);
  if (!x.known_rank() || !y.known_rank() || x.rank() != y.rank()) return false;
  for (int d = 0; d < x.rank(); ++d) {
    if (x.dim(d) != y.dim(d)) return false;
    if (x.dim(d) < 0 && (SymbolAt(a, d) == 0 || SymbolAt(a, d) != SymbolAt(b, d))) return false;
  }
  return true;
}

// Dimensions that it does not tell are 0, or left out.
EqualDims::Symbols EqualDims::SymbolsOf(NodeId n) {
  const std::string_view op = g_.op_name(n);
  const std::span<const Output> in = g_.data_inputs(n);
  if (in.empty() || ReadsReference(g_, n)) return {};
  const int rank = known_.shape({n, 0}).rank();
  if (ListsOp(kLikeFirst, op)) {
    const auto found = symbols_.find(in[0]);
    return found != symbols_.end() && static_cast<int>(found->second.size()) == rank ? found->second
                                                                                     : Symbols();
  }
  if (ListsOp(kBroadcasting, op)) return Broadcast(n, in);
  if (ListsOp(kKeepsBatch, op)) return {SymbolAt(in[0], 0)};
  if (ListsOp(kProducts, op)) return Product(n);
  if (ListsOp(kReductions, op)) return Reduced(n);
  if (op == "Transpose" || op == "ConcatV2") return Moved(n);
  if (op == "Reshape" || op == "Squeeze" || op == "ExpandDims") return Reshaped(n);
  if (op == "StridedSlice") return Sliced(n);
  if (op == "Fill") return ByVector(in[0]);
  return {};
}

int32_t EqualDims::SymbolAt(Output o, int dim) const {
  const auto found = symbols_.find(o);
  return found != symbols_.end() && dim >= 0 && dim < static_cast<int>(found->second.size())
             ? found->second[dim]
             : 0;
}

// Of the dimension that far from the end of what the inputs are broadcast to: that of all inputs
// that have it, but for those where it is 1.
int32_t EqualDims::BroadcastSymbol(std::span<const Output> inputs, int from_end) const {
  int32_t symbol = 0;
  for (const Output& o : inputs) {
    const PartialShape& shape = known_.shape(o);
    if (!shape.known_rank()) return 0;
    if (from_end > shape.rank() || shape.dim(-from_end) == 1) continue;
    const int32_t here = SymbolAt(o, shape.rank() - from_end);
    if (here == 0 || (symbol != 0 && symbol != here)) return 0;
    symbol = here;
  }
  return symbol;
}

EqualDims::Symbols EqualDims::Broadcast(NodeId n, std::span<const Output> inputs) const {
  Symbols symbols;
  for (int from_end = known_.shape({n, 0}).rank(); from_end > 0; --from_end)
    symbols.push_back(BroadcastSymbol(inputs, from_end));
  return symbols;
}

EqualDims::Symbols EqualDims::Product(NodeId n) const {
  const std::span<const Output> in = g_.data_inputs(n);
  const bool plain = !g_.op_name(n).starts_with("Batch");
  const int a = known_.shape(in[0]).rank(), b = known_.shape(in[1]).rank();
  if (a < 2 || b < 2) return {};
  Symbols symbols = Broadcast(n, in.first(2));
  const size_t rank = symbols.size();
  if (rank < 2) return {};
  const bool turn_a = BoolAttr(g_, n, plain ? "transpose_a" : "adj_x");
  const bool turn_b = BoolAttr(g_, n, plain ? "transpose_b" : "adj_y");
  symbols[rank - 2] = SymbolAt(in[0], turn_a ? a - 1 : a - 2);
  symbols[rank - 1] = SymbolAt(in[1], turn_b ? b - 2 : b - 1);
  return symbols;
}

EqualDims::Symbols EqualDims::Moved(NodeId n) const {
  const std::span<const Output> in = g_.data_inputs(n);
  const int rank = known_.shape({n, 0}).rank();
  const std::optional<Tensor> value = known_.constant(in.back());
  if (!value || known_.shape(in[0]).rank() != rank) return {};
  const std::vector<int64_t> list = IntsOf(*value);
  Symbols symbols;
  if (g_.op_name(n) == "Transpose") {
    for (int64_t from : list) symbols.push_back(SymbolAt(in[0], from < 0 ? from + rank : from));
  } else if (list.size() == 1) {
    const int64_t axis = list[0] < 0 ? list[0] + rank : list[0];
    for (int d = 0; d < rank; ++d) symbols.push_back(d == axis ? 0 : SymbolAt(in[0], d));
  }
  return symbols;
}

EqualDims::Symbols EqualDims::Reduced(NodeId n) const {
  const std::span<const Output> in = g_.data_inputs(n);
  const int rank = known_.shape(in[0]).rank();
  const std::optional<Tensor> value = known_.constant(in[1]);
  if (!value || rank < 0) return {};
  std::vector<bool> reduced(rank, false);
  for (int64_t axis : IntsOf(*value)) {
    if (axis < -rank || axis >= rank) return {};
    reduced[axis < 0 ? axis + rank : axis] = true;
  }
  const bool keeps = BoolAttr(g_, n, "keep_dims");
  Symbols symbols;
  for (int d = 0; d < rank; ++d) {
    if (!reduced[d]) {
      symbols.push_back(SymbolAt(in[0], d));
    } else if (keeps) {
      symbols.push_back(0);
    }
  }
  return symbols;
}

// The symbol of what is `times` / `over` as large.
int32_t EqualDims::Scaled(int32_t symbol, int64_t times, int64_t over) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (symbol == 0) return 0;
  const auto known = multiple_of_.find(symbol);
  Multiple m = known != multiple_of_.end() ? known->second : Multiple{symbol};
  if (times > kMost || over > kMost || m.times > kMost || m.over > kMost) return 0;
  m.times *= times;
  m.over *= over;
  const int64_t common = std::gcd(m.times, m.over);
  m.times /= common;
  m.over /= common;
  if (m.times == 1 && m.over == 1) return m.of;
  const auto [found, is_new] = multiples_.try_emplace(m, last_ + 1);
  if (is_new) multiple_of_.emplace(++last_, m);
  return found->second;
}

// Slices that are whole in a dimension keep it.
EqualDims::Symbols EqualDims::Sliced(NodeId n) const {
  const Output x = g_.data_inputs(n)[0];
  const std::optional<Tensor> by = known_.constant(g_.data_inputs(n)[3]);
  constexpr int kMostMasked = 31;
  if (!by || by->num_elements() > kMostMasked || IntAttr(g_, n, "ellipsis_mask") != 0 ||
      IntAttr(g_, n, "new_axis_mask") != 0)
    return {};
  const int64_t whole = IntAttr(g_, n, "begin_mask") & IntAttr(g_, n, "end_mask");
  const int64_t gone = IntAttr(g_, n, "shrink_axis_mask");
  Symbols symbols;
  for (int d = 0; d < known_.shape(x).rank(); ++d) {
    const bool named = d < by->num_elements();
    if (named && (gone >> d & 1) != 0) continue;
    const bool kept = !named || ((whole >> d & 1) != 0 && by->IntAt(d) == 1);
    symbols.push_back(kept ? SymbolAt(x, d) : 0);
  }
  return symbols;
}

// Of a tensor with these dimensions: a Shape, or a Pack of parts of Shapes.
EqualDims::Symbols EqualDims::ByVector(Output vector) const {
  const NodeId v = vector.node;
  if (feeds_.contains(v)) return {};
  if (g_.op_name(v) == "Shape") {
    const auto found = symbols_.find(g_.data_inputs(v)[0]);
    return found != symbols_.end() ? found->second : Symbols();
  }
  if (g_.op_name(v) != "Pack") return {};
  Symbols symbols;
  for (const Output& size : g_.data_inputs(v)) {
    const NodeId part = size.node;
    int32_t symbol = 0;
    if (g_.op_name(part) == "StridedSlice" && !feeds_.contains(part) &&
        IntAttr(g_, part, "shrink_axis_mask") == 1 && IntAttr(g_, part, "new_axis_mask") == 0) {
      const std::span<const Output> in = g_.data_inputs(part);
      const std::optional<Tensor> at = known_.constant(in[1]);
      const bool of_shape = g_.op_name(in[0].node) == "Shape" && !feeds_.contains(in[0].node);
      if (of_shape && at && at->num_elements() == 1 && IntAttr(g_, part, "begin_mask") == 0) {
        const Output x = g_.data_inputs(in[0].node)[0];
        const int64_t d = at->IntAt(0) < 0 ? at->IntAt(0) + known_.shape(x).rank() : at->IntAt(0);
        symbol = SymbolAt(x, static_cast<int>(d));
      }
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

// The one unknown dimension grows as the others shrink; what gets the shape of another tensor has
// it.
EqualDims::Symbols EqualDims::Reshaped(NodeId n) {
  const std::span<const Output> in = g_.data_inputs(n);
  if (g_.op_name(n) == "Reshape") {
    Symbols symbols = ByVector(in[1]);
    if (!symbols.empty()) return symbols;
  }
  const PartialShape &from = known_.shape(in[0]), &to = known_.shape({n, 0});
  if (!from.known_rank()) return {};
  const std::optional<ElementCount> before = CountElements(from.dims());
  const std::optional<ElementCount> after = CountElements(to.dims());
  if (!before || !after || before->unknown != 1 || after->unknown != 1 || before->known == 0 ||
      after->known == 0)
    return {};
  const auto unknown = [](const PartialShape& shape) {
    int d = 0;
    while (shape.dim(d) >= 0) ++d;
    return d;
  };
  Symbols symbols(to.rank(), 0);
  symbols[unknown(to)] = Scaled(SymbolAt(in[0], unknown(from)), before->known, after->known);
  return symbols;
}

}  // namespace tenon
