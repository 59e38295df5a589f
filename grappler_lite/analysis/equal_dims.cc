// Value numbering of dimensions. Unknown sizes get numbers (symbols) in topological order, by one
// rule for each class of ops (OpFacts::dims). A size that a Reshape computes is numbered by its
// formula, a reduced fraction of a constant times a product of symbols, so that equal formulas get
// one symbol.

#include "grappler_lite/analysis/equal_dims.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/cannot_fail.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

// Reshapes of Reshapes would make the formulas grow without end.
constexpr size_t kMostFactors = 16;  // of one product

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
      // The rules describe output 0. All outputs of a Split have one shape.
      const bool is_told = port == 0 || g_.facts(n).dims == DimRule::kSplit;
      if (is_told && !feeds_.contains(n)) symbols = SymbolsOf(n);
      symbols.resize(shape.rank(), 0);
      for (int d = 0; d < shape.rank(); ++d) {
        if (shape.dim(d) >= 0) {
          symbols[d] = 0;
        } else if (symbols[d] == 0) {
          symbols[d] = ++last_;  // equal to nothing yet
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
  const std::span<const Output> in = g_.data_inputs(n);
  const DimRule rule = g_.facts(n).dims;
  if (rule == DimRule::kNone || in.empty() || ReadsReference(g_, n)) return {};
  switch (rule) {
    case DimRule::kNone:
      break;
    case DimRule::kLikeFirst: {
      const auto found = symbols_.find(in[0]);
      const size_t rank = known_.shape({n, 0}).rank();
      return found != symbols_.end() && found->second.size() == rank ? found->second : Symbols();
    }
    case DimRule::kBroadcasting:
      return Broadcast(n, in);
    case DimRule::kKeepsBatch:
      return {SymbolAt(in[0], 0)};
    case DimRule::kProduct:
      return Product(n);
    case DimRule::kReduction:
      return Reduced(n);
    case DimRule::kMoved:
      return Moved(n);
    case DimRule::kReshaped:
      return Reshaped(n);
    case DimRule::kSliced:
      return Sliced(n);
    case DimRule::kGathered:
      return Gathered(n);
    case DimRule::kSummed:
      return Summed(n);
    case DimRule::kByFirst:
      return ByVector(in[0]);
    case DimRule::kByThird:
      return ByVector(in[2]);
    case DimRule::kSplit:
      return Split(n);
  }
  return {};
}

int32_t EqualDims::SymbolAt(Output o, int dim) const {
  const auto found = symbols_.find(o);
  return found != symbols_.end() && dim >= 0 && dim < static_cast<int>(found->second.size())
             ? found->second[dim]
             : 0;
}

// The symbol of the dimension that far from the end of what the inputs are broadcast to: the one
// that all inputs have there, but for those where the dimension is 1. 0 where two differ: either
// may turn out to be 1.
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
  const bool plain = !absl::StrContains(g_.op_name(n), "BatchMatMul");
  const int a = known_.shape(in[0]).rank(), b = known_.shape(in[1]).rank();
  if (a < 2 || b < 2) return {};
  Symbols symbols = Broadcast(n, in.first(2));
  const size_t rank = symbols.size();
  if (rank < 2) return {};
  const bool turn_a = BoolAttr(g_, n, plain ? "transpose_a" : "adj_x");
  const bool turn_b = BoolAttr(g_, n, plain ? "transpose_b" : "adj_y");
  // Broadcast has compared the last two dimensions as well. Those of a product are the rows of the
  // first and the columns of the second matrix.
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

EqualDims::Symbols EqualDims::Split(NodeId n) const {
  const std::span<const Output> in = g_.data_inputs(n);
  const int rank = known_.shape(in[1]).rank();
  const std::optional<Tensor> axis = known_.constant(in[0]);
  if (rank < 0 || !axis || axis->num_elements() != 1) return {};
  const int64_t split = axis->IntAt(0) < 0 ? axis->IntAt(0) + rank : axis->IntAt(0);
  Symbols symbols;
  for (int d = 0; d < rank; ++d) symbols.push_back(d == split ? 0 : SymbolAt(in[1], d));
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

// The symbol of a dimension that is as large as that.
int32_t EqualDims::SymbolFor(Volume volume) {
  Normalize(volume);
  if (volume.known == 1 && volume.over == 1 && volume.symbols.size() == 1) return volume.symbols[0];
  const auto [found, is_new] = products_.try_emplace(volume, last_ + 1);
  if (is_new) product_of_.emplace(++last_, std::move(volume));
  return found->second;
}

// Slices that are whole in a dimension keep it.
EqualDims::Symbols EqualDims::Sliced(NodeId n) const {
  const Output x = g_.data_inputs(n)[0];
  const std::optional<Tensor> by = known_.constant(g_.data_inputs(n)[3]);
  constexpr int kMostMasked = 31;
  // Both masks left out here shift the dimensions behind their entry. A mask has 32 bits.
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

Output EqualDims::ShapeSource(Output vector) const {
  const NodeId v = vector.node;
  if (feeds_.contains(v) || ReadsReference(g_, v)) return {kNoNode, 0};
  if (g_.op_name(v) == "Shape") return g_.data_inputs(v)[0];
  if (g_.op_name(v) == "ShapeN") return g_.data_inputs(v)[vector.port];
  return {kNoNode, 0};
}

// x and d where `size` is the scalar Shape(x)[d]; node kNoNode where it is not. Computing it from x
// cannot fail.
EqualDims::Dim EqualDims::DimOf(Output size) const {
  constexpr Dim kNone = {{kNoNode, 0}, 0};
  const NodeId part = size.node;
  if (g_.op_name(part) != "StridedSlice" || feeds_.contains(part) ||
      IntAttr(g_, part, "shrink_axis_mask") != 1)
    return kNone;
  for (std::string_view mask : {"begin_mask", "new_axis_mask", "ellipsis_mask"}) {
    if (IntAttr(g_, part, mask) != 0) return kNone;
  }
  const std::span<const Output> in = g_.data_inputs(part);
  // The end is not looked at: an index that shrinks its dimension takes one element.
  const Output x = ShapeSource(in[0]);
  const std::optional<Tensor> at = known_.constant(in[1]), step = known_.constant(in[3]);
  if (x.node == kNoNode || !at || at->num_elements() != 1 || !step || step->num_elements() != 1 ||
      step->IntAt(0) != 1)
    return kNone;
  const int rank = known_.shape(x).rank();
  const int64_t d = at->IntAt(0) < 0 ? at->IntAt(0) + rank : at->IntAt(0);
  return d >= 0 && d < rank ? Dim{x, static_cast<int>(d)} : kNone;
}

// The indices' dimensions stand where one of the table was.
EqualDims::Symbols EqualDims::Gathered(NodeId n) const {
  const std::span<const Output> in = g_.data_inputs(n);
  const int table = known_.shape(in[0]).rank(), indices = known_.shape(in[1]).rank();
  const std::optional<Tensor> value = known_.constant(in[2]);
  if (table < 1 || indices < 0 || !value || value->num_elements() != 1 ||
      IntAttr(g_, n, "batch_dims") != 0)
    return {};
  const int64_t axis = value->IntAt(0) < 0 ? value->IntAt(0) + table : value->IntAt(0);
  Symbols symbols;
  for (int d = 0; d < table; ++d) {
    for (int i = 0; d == axis && i < indices; ++i) symbols.push_back(SymbolAt(in[1], i));
    if (d != axis) symbols.push_back(SymbolAt(in[0], d));
  }
  return symbols;
}

// A label that the operands share names one size.
EqualDims::Symbols EqualDims::Summed(NodeId n) const {
  const AttrValue* equation = g_.attr(n, "equation");
  const std::string_view text = equation != nullptr ? equation->AsString().value_or("") : "";
  const size_t arrow = text.find("->");
  if (arrow == text.npos || text.find_first_of(". ") != text.npos) return {};
  Symbols symbols;
  for (const char label : text.substr(arrow + 2)) {
    int32_t symbol = 0;
    size_t operand = 0;
    int d = 0;
    for (const char c : text.substr(0, arrow)) {
      if (c == ',') {
        ++operand;
        d = 0;
        continue;
      }
      if (operand >= g_.data_inputs(n).size()) return {};
      if (c == label && symbol == 0) symbol = SymbolAt(g_.data_inputs(n)[operand], d);
      ++d;
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

// Of a tensor with these dimensions: a Shape, or a Pack of parts of Shapes.
EqualDims::Symbols EqualDims::ByVector(Output vector) const {
  if (const Output x = ShapeSource(vector); x.node != kNoNode) {
    const auto found = symbols_.find(x);
    return found != symbols_.end() ? found->second : Symbols();
  }
  if (feeds_.contains(vector.node) || g_.op_name(vector.node) != "Pack") return {};
  Symbols symbols;
  for (const Output& size : g_.data_inputs(vector.node)) {
    const Dim dim = DimOf(size);
    symbols.push_back(dim.of.node == kNoNode ? 0 : SymbolAt(dim.of, dim.index));
  }
  return symbols;
}

// Takes a dimension into the product.
bool EqualDims::Multiply(Volume& volume, int64_t size, int32_t symbol) const {
  if (size >= 0) return !__builtin_mul_overflow(volume.known, size, &volume.known);
  if (symbol == 0) return false;
  const auto found = product_of_.find(symbol);
  if (found == product_of_.end()) {
    volume.symbols.push_back(symbol);
    return true;
  }
  const Volume& by = found->second;
  volume.symbols.insert(volume.symbols.end(), by.symbols.begin(), by.symbols.end());
  return volume.symbols.size() <= kMostFactors &&
         !__builtin_mul_overflow(volume.known, by.known, &volume.known) &&
         !__builtin_mul_overflow(volume.over, by.over, &volume.over);
}

// Makes equal volumes the same: symbols in order, the fraction in lowest terms.
void EqualDims::Normalize(Volume& volume) {
  std::ranges::sort(volume.symbols);
  const int64_t common = std::gcd(volume.known, volume.over);
  volume.known /= common;
  volume.over /= common;
}

std::optional<EqualDims::Volume> EqualDims::VolumeOf(Output x) const {
  const PartialShape& shape = known_.shape(x);
  if (!shape.known_rank()) return std::nullopt;
  Volume volume;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!Multiply(volume, shape.dim(d), SymbolAt(x, d))) return std::nullopt;
  }
  Normalize(volume);
  return volume;
}

std::optional<EqualDims::Volume> EqualDims::VolumeAsked(Output vector,
                                                        std::vector<Output>& told_by) const {
  const NodeId v = vector.node;
  const auto waits = [&](NodeId n) { return !g_.control_inputs(n).empty(); };
  if (waits(v)) return std::nullopt;
  if (const Output x = ShapeSource(vector); x.node != kNoNode) {
    told_by.push_back(x);
    return VolumeOf(x);
  }
  if (feeds_.contains(v) || g_.op_name(v) != "Pack") return std::nullopt;
  Volume volume;
  for (const Output& size : g_.data_inputs(v)) {
    if (const std::optional<Tensor> value = known_.constant(size)) {
      if (value->shape().rank() != 0 || value->IntAt(0) < 0 ||
          !Multiply(volume, value->IntAt(0), 0))
        return std::nullopt;
      continue;
    }
    const Dim dim = DimOf(size);
    if (dim.of.node == kNoNode || waits(size.node) || waits(g_.data_inputs(size.node)[0].node) ||
        // DimOf ignores the end, but the node that computes it may fail. A constant cannot.
        !known_.constant(g_.data_inputs(size.node)[2]) ||
        !Multiply(volume, known_.shape(dim.of).dim(dim.index), SymbolAt(dim.of, dim.index)))
      return std::nullopt;
    told_by.push_back(dim.of);
  }
  Normalize(volume);
  return volume;
}

std::optional<std::vector<Output>> EqualDims::ReshapeFits(NodeId n) const {
  std::vector<Output> told_by;
  const std::optional<Volume> in = VolumeOf(g_.data_inputs(n)[0]),
                              asked = VolumeAsked(g_.data_inputs(n)[1], told_by);
  if (!in || !asked || !(*in == *asked)) return std::nullopt;
  return told_by;
}

// What comes and goes are dimensions of size 1: those that are unknown stay in their order.
EqualDims::Symbols EqualDims::Unsqueezed(NodeId n) const {
  const Output x = g_.data_inputs(n)[0];
  const PartialShape &from = known_.shape(x), &to = known_.shape({n, 0});
  if (!from.known_rank() || !to.known_rank() ||
      std::ranges::count(from.dims(), kUnknownDim) != std::ranges::count(to.dims(), kUnknownDim))
    return {};
  Symbols symbols(to.rank(), 0);
  int at = 0;
  for (int d = 0; d < to.rank(); ++d) {
    if (to.dim(d) >= 0) continue;
    while (from.dim(at) >= 0) ++at;
    symbols[d] = SymbolAt(x, at++);
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
  } else if (Symbols kept = Unsqueezed(n); !kept.empty()) {
    return kept;
  }
  const PartialShape& to = known_.shape({n, 0});
  const std::optional<ElementCount> after = CountElements(to.dims());
  std::optional<Volume> volume = VolumeOf(in[0]);
  // The unknown size is the volume divided by the known sizes. With no elements at all, or with a
  // known size of 0, the quotient is not defined.
  if (!volume || !after || after->unknown != 1 || volume->known == 0 || after->known == 0 ||
      volume->symbols.empty() || __builtin_mul_overflow(volume->over, after->known, &volume->over))
    return {};
  Symbols symbols(to.rank(), 0);
  int unknown = 0;
  while (to.dim(unknown) >= 0) ++unknown;
  symbols[unknown] = SymbolFor(*std::move(volume));
  return symbols;
}

}  // namespace tenon
