// The sweep does not touch the users of a replaced node at once. It notes the replacement and lets
// each user follow it (ForwardInputs) when the sweep comes to that user, so that a node of many
// users costs no more than one of few. users_ is a reference count: an edge of a node that nobody
// reads any more does not count, though the node is still there.

#include "grappler_lite/pipeline/rewriter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/node_places.h"
#include "graph/op_defs/op_facts.h"
#include "graph/tensor/small_float.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {

namespace {

// A sweep keeps the values of constants of at most so many elements, and at most so many of them:
// rewrites ask for the same scalars again and again.
constexpr int64_t kFewElements = 16;
constexpr size_t kMostKept = 4096;

}  // namespace

bool ListsOp(std::string_view ops, std::string_view op) {
  for (size_t at = ops.find(op); at != ops.npos; at = ops.find(op, at + 1)) {
    const size_t end = at + op.size();
    if ((at == 0 || ops[at - 1] == ' ') && (end == ops.size() || ops[end] == ' ')) return true;
  }
  return false;
}

std::vector<RewriteInfo> InfosOf(std::span<const Rewrite> rewrites) {
  std::vector<RewriteInfo> infos;
  for (const Rewrite& rewrite : rewrites) infos.push_back({rewrite.name, rewrite.exactness});
  return infos;
}

Sweep::Sweep(PassContext& context, const GraphShapes* shapes)
    : context_(context),
      shapes_(shapes),
      written_memory_(context.graph),
      known_nodes_(context.graph.num_node_ids()),
      fanouts_(context.graph),
      users_(known_nodes_),
      replaced_by_(known_nodes_) {
  for (NodeId n = 0; n < known_nodes_; ++n) users_[n] = static_cast<int32_t>(fanouts_.of(n).size());
  // A preserved node has a reader outside of the graph.
  for (NodeId n : context.preserve) ++users_[n];
}

absl::StatusOr<bool> Sweep::Run(std::span<const Rewrite> rewrites) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph()));
  rewrites_ = rewrites;
  for (NodeId n : order) has_loops_ |= IsEnter(graph().facts(n));
  for (NodeId n : order) {
    if (graph().alive(n) && !IsReplaced(n)) Show(n);
    if (!status_.ok()) return status_;
  }
  for (NodeId n = 0; changed_ && n < graph().num_node_ids(); ++n) {
    if (graph().alive(n)) ForwardInputs(n);  // uses over back edges
  }
  for (NodeId n : replaced_) graph().RemoveNode(n);
  return changed_;
}

// Shows n to the rewrites until none applies, and what they make.
void Sweep::Show(NodeId n) {
  // Far more than any chain of rewrites that leads somewhere.
  constexpr int kMostRewrites = 1000;
  int rewrites = 0;
  origin_ = n;
  pending_.push_back(n);
  while (!pending_.empty() && status_.ok()) {
    const NodeId m = pending_.back();
    pending_.pop_back();
    ForwardInputs(m);
    const size_t before = pending_.size();
    if (rewrites >= kMostRewrites || !ApplyOne(m)) continue;
    ++rewrites;
    changed_ = true;
    if (!IsReplaced(m)) pending_.push_back(m);
    // pending_ is a stack. Reversed, it gives the new nodes in the order of making, and m after
    // them.
    std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(before), pending_.end());
  }
}

bool Sweep::ApplyOne(NodeId n) {
  if (graph().op(n) == nullptr || fed(n) || !context_.Visit()) return false;
  node_ = n;
  for (const Rewrite* rewrite : Candidates(graph().op(n))) {
    rewrite_ = rewrite;
    if (rewrite->apply(*this, n)) {
      Grow();
      return true;
    }
  }
  return false;
}

std::span<const Rewrite* const> Sweep::Candidates(const OpDef* op) {
  const auto [it, is_new] = candidates_.try_emplace(op);
  if (!is_new) return it->second;
  for (const Rewrite& rewrite : rewrites_) {
    if (rewrite.exactness == Exactness::kFastMath && !context_.fast_math) continue;
    if (rewrite.ops.empty() || ListsOp(rewrite.ops, op->name)) it->second.push_back(&rewrite);
  }
  return it->second;
}

Output Sweep::Resolve(Output o) const {
  // What replaced a node may have been replaced since. A node whose outputs went to several places
  // names itself.
  while (IsReplaced(o.node)) {
    Output by = replaced_by_[o.node];
    if (by.node == o.node) by = outputs_replaced_by_.at(o);
    o = o.is_control() ? Output{by.node, kControlPort} : by;
  }
  return o;
}

void Sweep::ForwardInputs(NodeId n) {
  for (int i = 0; i < static_cast<int>(graph().inputs(n).size()); ++i) {
    const Output in = graph().inputs(n)[i];
    const Output now = Resolve(in);
    if (now != in) graph().SetInput(n, i, now);
  }
}

bool Sweep::IsFree(Output o) const {
  const Graph& g = context_.graph;
  return fed(o.node) || (g.op_name(o.node) == "Const" && g.control_inputs(o.node).empty());
}

bool Sweep::MayReplace(NodeId n, Output by) const {
  return !context_.preserve.contains(n) && LosesNothing(n, by);
}

bool Sweep::LosesNothing(NodeId n, Output by) const {
  const Graph& g = context_.graph;
  if (IsReplaced(n) || !g.control_inputs(n).empty() || g.device(n) != g.device(by.node) ||
      by.node == n || IsRef(g.output_type(by)) ||
      // Users of an Identity read the memory of the variable anyway. Users of another n would come
      // to read it, and perhaps later than n did.
      (written_memory_.IsIn(by.node) && !g.facts(n).identity))
    return false;
  if (has_control_uses(n) && IsAwaitedByValueOnly(g, by.node)) return false;
  // Every input of n but `by` must be free, or be made of `by` and free inputs alone (as
  // ones_like(x) is): what uses of `by` no longer wait for is then sure to come when `by` does.
  const auto kept_or_free = [&](const Output& o) { return o == by || IsFree(o); };
  NodeId looked_at = kNoNode;  // all outputs of one node wait for the same
  for (const Output& in : g.data_inputs(n)) {
    if (in.node == looked_at || kept_or_free(in)) continue;
    looked_at = in.node;
    const std::span<const Output> beyond = g.data_inputs(in.node);
    if (!g.control_inputs(in.node).empty() || beyond.empty() ||
        !std::all_of(beyond.begin(), beyond.end(), kept_or_free))
      return false;
  }
  return true;
}

bool Sweep::ReplaceBy(NodeId n, Output by) {
  if (context_.preserve.contains(n)) return BecomeIdentity(n, by);
  if (!LosesNothing(n, by) || !Allow()) return false;
  Bypass(n, by);
  return true;
}

bool Sweep::BecomeIdentity(NodeId n, Output by) {
  const Graph& g = graph();
  Attrs attrs{{"T", attr::Type(g.output_type(by))}};
  if (g.num_outputs(n) != 1 || !LosesNothing(n, by) || !HasKernel(n, "Identity", attrs) || !Allow())
    return false;
  Become(n, "Identity", {&by, 1}, std::move(attrs));
  return true;
}

void Sweep::Bypass(NodeId n, Output by) {
  replaced_by_[n] = by;
  replaced_.push_back(n);
  Grow();
  // n's readers are by's now, and what n read has one reader less.
  users_[by.node] += std::exchange(users_[n], 0);
  Discount(graph().inputs(n));
}

bool Sweep::ReplaceOutputs(NodeId n, std::span<const Output> by) {
  const Graph& g = graph();
  const auto fits = [&](Output o) {
    return g.device(o.node) == g.device(n) && !IsRef(g.output_type(o)) &&
           !written_memory_.IsIn(o.node);
  };
  if (!MayReplaceOutputs(n) || !std::all_of(by.begin(), by.end(), fits) || !Allow()) return false;
  BypassOutputs(n, by);
  return true;
}

bool Sweep::MayReplaceOutputs(NodeId n) const {
  return !context_.preserve.contains(n) && !has_control_uses(n) &&
         graph().control_inputs(n).empty();
}

void Sweep::BypassOutputs(NodeId n, std::span<const Output> by) {
  const Graph& g = graph();
  replaced_by_[n] = {n, 0};
  for (int i = 0; i < g.num_outputs(n); ++i) outputs_replaced_by_[{n, i}] = by[i];
  replaced_.push_back(n);
  // Which of n's users read which output is not asked: too many users only keep OnlyUse from
  // allowing a rewrite.
  for (const Output& o : by) users_[o.node] += users_[n];
  users_[n] = 0;
  Discount(g.inputs(n));
}

void Sweep::Become(NodeId n, std::string_view op, std::span<const Output> inputs, Attrs attrs) {
  Graph& g = graph();
  const std::vector<Output> before(g.data_inputs(n).begin(), g.data_inputs(n).end());
  const std::vector<Output> data(inputs.begin(), inputs.end());
  const std::vector<Output> controls(g.control_inputs(n).begin(), g.control_inputs(n).end());
  g.BecomeOp(n, op, std::move(attrs));
  g.SetInputs(n, data, controls);
  Count(data);
  Discount(before);
}

void Sweep::SetInput(NodeId n, int i, Output from) {
  const Output before = graph().inputs(n)[i];
  graph().SetInput(n, i, from);
  Count({&from, 1});
  Discount({&before, 1});
}

Output Sweep::Add(NodeId n, std::string_view suffix, std::string_view op,
                  std::span<const Output> inputs, Attrs attrs, PartialShape shape) {
  Graph& g = graph();
  const std::vector<Output> data(inputs.begin(), inputs.end());
  const absl::StatusOr<NodeId> made =
      g.AddNode(g.UniqueName(absl::StrCat(g.name(origin_), "/", suffix)), op, data,
                std::move(attrs), g.device(n), g.pos(n));
  if (!made.ok()) {
    status_ = made.status();
    return {n, 0};
  }
  CopyDebugInfo(g, origin_, g, *made);
  Grow();
  // Grow has made room for one node, the new one, which is the last.
  made_shapes_.back() = std::move(shape);
  Count(data);
  pending_.push_back(*made);
  return {*made, 0};
}

Output Sweep::AddConst(NodeId n, std::string_view suffix, const Tensor& value) {
  absl::StatusOr<Attrs> attrs = ConstAttrs(value);
  if (!attrs.ok()) {
    status_ = attrs.status();
    return {n, 0};
  }
  // In a loop, what waits for nothing is outside of it.
  std::vector<Output> inputs;
  if (has_loops_) inputs.push_back({graph().data_inputs(n)[0].node, kControlPort});
  return Add(n, suffix, "Const", inputs, *std::move(attrs), value.shape());
}

void Sweep::Grow() {
  const size_t nodes = graph().num_node_ids();
  made_shapes_.resize(nodes - known_nodes_);
  users_.resize(nodes);
  replaced_by_.resize(nodes);
}

void Sweep::Count(std::span<const Output> inputs) {
  for (const Output& in : inputs) ++users_[in.node];
}

// Takes back these uses, and those of nodes that have none left.
void Sweep::Discount(std::span<const Output> inputs) {
  std::vector<NodeId> unused;
  const auto drop = [&](std::span<const Output> edges) {
    for (const Output& in : edges) {
      if (--users_[in.node] == 0) unused.push_back(in.node);
    }
  };
  drop(inputs);
  while (!unused.empty()) {
    const NodeId n = unused.back();
    unused.pop_back();
    drop(graph().inputs(n));
  }
}

int Sweep::CountUses(Output o) const {
  constexpr size_t kFew = 16;
  const std::span<const Fanouts::Use> uses = fanouts_.of(o.node);
  // A node of many uses is counted once for all of its outputs: each of its users may ask again.
  if (uses.size() <= kFew) return fanouts_.count(o);
  if (counted_.insert(o.node).second) {
    for (const Fanouts::Use& use : uses) ++counts_[{o.node, use.port}];
  }
  const auto it = counts_.find(o);
  return it == counts_.end() ? 0 : it->second;
}

int Sweep::uses(Output o) const { return o.node < known_nodes_ ? CountUses(o) : 1; }

bool Sweep::has_control_uses(NodeId n) const {
  return n < known_nodes_ && CountUses({n, kControlPort}) > 0;
}

// Rewrites bring no references, so what was said of a long list stays true.
bool Sweep::ReadsReference(NodeId n) const {
  constexpr int kFew = 16;
  const auto reads = [&] {
    return tenon::ReadsReference(graph(), n) || written_memory_.IsReadBy(graph(), n);
  };
  if (graph().num_inputs(n) <= kFew) return reads();
  const auto [it, is_new] = reads_reference_.try_emplace(n);
  if (is_new) it->second = reads();
  return it->second;
}

const PartialShape& Sweep::shape(Output o) const {
  static const PartialShape* const kUnknown = new PartialShape;
  if (o.node >= known_nodes_) return o.port == 0 ? made_shapes_[o.node - known_nodes_] : *kUnknown;
  return shapes_ != nullptr ? shapes_->shape(o) : *kUnknown;
}

bool Sweep::SameShape(Output a, Output b) const {
  const PartialShape &x = shape(a), &y = shape(b);
  // Known sizes need no proof; symbols are made, in a sweep over the graph, where some are unknown.
  if (x.fully_defined() || !x.known_rank() || x.rank() != y.rank())
    return x.fully_defined() && x == y;
  return equal_dims().SameShape(a, b);
}

bool Sweep::SameDim(Output a, int i, Output b, int j) const {
  const int64_t x = shape(a).dim(i), y = shape(b).dim(j);
  return x >= 0 || y >= 0 ? x == y : equal_dims().SameDim(a, i, b, j);
}

std::optional<std::vector<Output>> Sweep::ReshapeFits(NodeId n) const {
  return equal_dims().ReshapeFits(n);
}

const EqualDims& Sweep::equal_dims() const {
  if (!equal_dims_) {
    equal_dims_.emplace(graph(), context_.feeds,
                        KnownTensors{[this](Output o) -> const PartialShape& { return shape(o); },
                                     [this](Output o) { return ConstOf(o, kMaxRank); }});
  }
  return *equal_dims_;
}

bool Sweep::IsPlainConst(Output o, int64_t max_elements) const {
  const Graph& g = context_.graph;
  return g.op_name(o.node) == "Const" && !fed(o.node) && g.control_inputs(o.node).empty() &&
         shape(o).num_elements() <= max_elements;
}

std::optional<Tensor> Sweep::ConstOf(Output o, int64_t max_elements) const {
  if (!IsPlainConst(o, max_elements)) return std::nullopt;
  const bool is_short = shape(o).num_elements() <= kFewElements;
  if (is_short) {
    const auto known = values_.find(&graph().kind(o.node));
    if (known != values_.end()) {
      if (known->second.num_elements() > max_elements) return std::nullopt;
      return known->second;
    }
  }
  absl::StatusOr<Tensor> value = graph().ConstValue(o.node);
  if (!value.ok() || value->num_elements() > max_elements) return std::nullopt;
  if (is_short && value->num_elements() <= kFewElements) {
    if (values_.size() >= kMostKept) values_.clear();
    values_.emplace(&graph().kind(o.node), *value);
  }
  return *std::move(value);
}

std::optional<Output> TransposeArgument(const Sweep& s, Output o,
                                        const std::array<int64_t, 4>& by) {
  const Graph& g = s.graph();
  if (g.op_name(o.node) != "Transpose" || s.fed(o.node) || !g.control_inputs(o.node).empty())
    return std::nullopt;
  const std::optional<Tensor> perm = s.ConstOf(g.data_inputs(o.node)[1], 4);
  if (!perm || perm->num_elements() != 4 || !IsInteger(perm->dtype())) return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    if (perm->IntAt(i) != by[i]) return std::nullopt;
  }
  return g.data_inputs(o.node)[0];
}

std::optional<double> NumberAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DataType::kFloat:
      return ElementAt<float>(t, i);
    case DataType::kDouble:
      return ElementAt<double>(t, i);
    case DataType::kHalf:
    case DataType::kBfloat16:
      return SmallFloatOf(t.dtype())->Decode(ElementAt<uint16_t>(t, i));
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kInt32:
    case DataType::kInt64:
      return static_cast<double>(t.IntAt(i));
    case DataType::kUint32:
      return ElementAt<uint32_t>(t, i);
    case DataType::kUint64:
      return static_cast<double>(ElementAt<uint64_t>(t, i));
    default:
      return std::nullopt;
  }
}

bool Sweep::IsSplat(Output o, double v) const { return SplatOf(o) == v; }

namespace {

std::optional<Sweep::Splat> SplatIn(const Tensor& t) {
  if (t.num_elements() == 0) return std::nullopt;
  const std::optional<double> v = NumberAt(t, 0);
  if (!v) return std::nullopt;
  const auto* bytes = static_cast<const char*>(t.data());
  const size_t element = t.bytes() / static_cast<size_t>(t.num_elements());
  // All elements have the same bits if the data equals itself shifted by one element.
  const bool same_bits = std::memcmp(bytes, bytes + element, t.bytes() - element) == 0;
  if (t.num_elements() == 1) return Sweep::Splat{*v, true};
  // A NaN equals nothing, whatever its bits are.
  if (same_bits) return *v == *v ? std::optional<Sweep::Splat>({*v, true}) : std::nullopt;
  for (int64_t i = 1; i < t.num_elements(); ++i) {
    if (NumberAt(t, i) != v) return std::nullopt;
  }
  return Sweep::Splat{*v, false};
}

}  // namespace

std::optional<Sweep::Splat> Sweep::FindSplat(Output o) const {
  constexpr int64_t kMostElements = 1 << 20;
  const bool is_long = shape(o).num_elements() > kFewElements;
  if (is_long) {
    if (!IsPlainConst(o, kMostElements)) return std::nullopt;
    const auto known = splats_.find(&graph().kind(o.node));
    if (known != splats_.end()) return known->second;
  }
  const std::optional<Tensor> value = ConstOf(o, kMostElements);
  const std::optional<Splat> splat = value ? SplatIn(*value) : std::nullopt;
  if (is_long) {
    if (splats_.size() >= kMostKept) splats_.clear();
    splats_.emplace(&graph().kind(o.node), splat);
  }
  return splat;
}

std::optional<double> Sweep::SplatOf(Output o) const {
  const std::optional<Splat> splat = FindSplat(o);
  return splat ? std::optional<double>(splat->value) : std::nullopt;
}

const GraphShapes* InferShapes(PassContext& context) {
  const Graph& g = context.graph;
  ShapeOptions options;
  for (NodeId n : context.feeds) {
    for (int i = 0; i < g.num_outputs(n); ++i) {
      if (g.op_name(n) != "Placeholder") options.feeds[{n, i}] = TensorInfo();
    }
  }
  return context.shapes.Refresh(g, options).ok() ? &context.shapes : nullptr;
}

}  // namespace tenon
