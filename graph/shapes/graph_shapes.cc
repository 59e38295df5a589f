// The forward sweep of shape functions over a graph.
#include <algorithm>

#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/ir/nodes.h"
#include "graph/shapes/old_producers.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {
namespace {

// Bounds the memory: graphs repeat few questions often.
constexpr size_t kMostQuestions = 1 << 16;

// Whether the shape function may run: it relies on the op's number of inputs.
bool CanInfer(const Graph& graph, NodeId n) {
  return graph.op(n) != nullptr && graph.kind(n).types_status.ok() &&
         graph.kind(n).types.inputs.size() == static_cast<size_t>(graph.num_inputs(n));
}

// A hash of the data inputs; Refresh compares it instead of the inputs.
uint64_t MarkOf(std::span<const Output> inputs) {
  uint64_t mark = inputs.size();
  for (const Output& in : inputs) {
    mark ^= uint64_t{static_cast<uint32_t>(in.node)} << 32 | static_cast<uint32_t>(in.port);
    // 2^64 divided by the golden ratio: spreads neighbouring ids over all bits.
    mark *= 0x9e3779b97f4a7c15;
    mark ^= mark >> 29;
  }
  return mark;
}

bool Same(const TensorInfo& a, const TensorInfo& b) {
  return a.shape == b.shape && a.value == b.value && a.partial_value == b.partial_value &&
         a.handle_shape == b.handle_shape && a.handle_type == b.handle_type;
}

// What is known of an output that is fed; null if it is not.
const TensorInfo* FeedOf(const ShapeOptions& options, NodeId n, uint32_t port) {
  if (options.feeds.empty()) return nullptr;
  const auto feed = options.feeds.find(Output{n, static_cast<int32_t>(port)});
  return feed == options.feeds.end() ? nullptr : &feed->second;
}

uint32_t CountFeeds(const ShapeOptions& options, NodeId n, uint32_t outputs) {
  if (options.feeds.empty()) return 0;
  uint32_t fed = 0;
  for (uint32_t i = 0; i < outputs; ++i) fed += FeedOf(options, n, i) != nullptr;
  return fed;
}

}  // namespace

absl::StatusOr<GraphShapes> GraphShapes::Infer(const Graph& graph, const ShapeOptions& options) {
  GraphShapes shapes;
  TENON_RETURN_IF_ERROR(shapes.Refresh(graph, options));
  return shapes;
}

// What node n reads of `in`. The order of the sweep does not matter for a loop's edge: nothing is
// known of it, whether the NextIteration comes before the Merge or behind.
GraphShapes::InfoId GraphShapes::IdOfInput(const Graph& graph, NodeId n, Output in) const {
  return in.node == kNoNode || IsLoopEdge(graph, in.node, n) ? kUnknown : IdOf(in);
}

void GraphShapes::Grow(Range& range, uint32_t count) {
  const auto first = static_cast<uint32_t>(ids_.size());
  for (uint32_t i = 0; i < count; ++i)
    ids_.push_back(i < range.count ? ids_[range.first + i] : kUnknown);
  range.first = first;
}

void GraphShapes::Set(Output o, TensorInfo info) {
  Range& range = ranges_[o.node];
  const auto port = static_cast<uint32_t>(o.port);
  if (port >= range.count) {
    Grow(range, port + 1);
    range.count = port + 1;
  }
  Store(range.first + port, std::move(info));
}

// Gives each live node as many infos as it has outputs. Returns whether any node has changed; marks
// in `changed` nodes that have lost outputs, of which readers may still know something. Ranges that
// grow move to the end of ids_; the old place stays unused. What is known moves along, so that
// InferNode sees what changes.
bool GraphShapes::UpdateRanges(const Graph& graph, std::vector<bool>& changed) {
  bool any = false;
  ranges_.resize(graph.num_node_ids());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    Range& range = ranges_[n];
    if (!graph.alive(n)) {
      range = Range();
      continue;
    }
    const uint64_t inputs = MarkOf(graph.data_inputs(n));
    if (range.kind == &graph.kind(n) && range.inputs == inputs) continue;
    any = true;
    const auto count = static_cast<uint32_t>(graph.num_outputs(n));
    if (range.count > count) changed[n] = true;
    if (range.count < count) Grow(range, count);
    range = {range.first, count, nullptr, inputs};  // to be inferred
  }
  return any;
}

absl::Status GraphShapes::Refresh(const Graph& graph, const ShapeOptions& options) {
  absl::Status status = Sweep(graph, options);
  // Which nodes the broken sweep had changed is forgotten, so that the next one begins anew.
  if (!status.ok()) *this = GraphShapes();
  return status;
}

absl::Status GraphShapes::Sweep(const Graph& graph, const ShapeOptions& options) {
  std::vector<bool> changed(graph.num_node_ids(), false);
  if (!UpdateRanges(graph, changed)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(graph));
  for (NodeId n : order) {
    bool stale = ranges_[n].kind == nullptr;
    for (const Output& in : graph.data_inputs(n)) stale |= in.node != kNoNode && changed[in.node];
    if (!stale) continue;
    TENON_ASSIGN_OR_RETURN(const bool is_changed, InferNode(graph, options, n));
    if (is_changed) changed[n] = true;
  }
  return absl::OkStatus();
}

absl::Status GraphShapes::Append(const Graph& graph, const ShapeOptions& options) {
  const NodeId n = num_nodes();
  Range& range = ranges_.emplace_back();
  if (!graph.alive(n)) return absl::OkStatus();
  range = {static_cast<uint32_t>(ids_.size()), static_cast<uint32_t>(graph.num_outputs(n)), nullptr,
           MarkOf(graph.data_inputs(n))};
  ids_.resize(ids_.size() + range.count, kUnknown);
  if (IsLate(graph, options, n)) {
    range.kind = &graph.kind(n);
    ids_[range.first] = kLate | range.kind->index;
    return absl::OkStatus();
  }
  return InferNode(graph, options, n).status();
}

bool GraphShapes::IsLate(const Graph& graph, const ShapeOptions& options, NodeId n) {
  return options.late_constants && options.feeds.empty() && options.skip == nullptr &&
         !options.refine && CanInfer(graph, n) && late_.Add(graph.kind(n));
}

absl::Status GraphShapes::Update(const Graph& graph, const ShapeOptions& options, NodeId n) {
  Range& range = ranges_[n];
  const auto count = static_cast<uint32_t>(graph.num_outputs(n));
  if (range.count < count) Grow(range, count);
  range = {range.first, count, nullptr, MarkOf(graph.data_inputs(n))};
  return InferNode(graph, options, n).status();
}

GraphShapes::Question GraphShapes::QuestionOf(const Graph& graph, NodeId n) const {
  Question q = {&graph.kind(n), {}};
  for (const Output& in : graph.data_inputs(n)) q.inputs.push_back(IdOfInput(graph, n, in));
  return q;
}

absl::StatusOr<bool> GraphShapes::InferNode(const Graph& graph, const ShapeOptions& options,
                                            NodeId n) {
  Range& range = ranges_[n];
  range.kind = &graph.kind(n);
  const uint32_t fed = CountFeeds(options, n, range.count);
  if ((fed > 0 && fed == range.count) || !CanInfer(graph, n) ||
      (options.skip != nullptr && options.skip->contains(n)))
    return Forget(options, n);
  // Where an output is fed, the answer holds for this node alone.
  if (fed > 0) return AskShapeFn(graph, options, n);
  Question question = QuestionOf(graph, n);
  const auto known = questions_.find(question);
  if (known != questions_.end()) {
    const auto answer = answers_.begin() + known->second;
    const auto ids = ids_.begin() + range.first;
    const bool changed = !std::equal(ids, ids + range.count, answer);
    std::copy_n(answer, range.count, ids);
    return changed;
  }
  const size_t errors = options.errors == nullptr ? 0 : options.errors->size();
  TENON_ASSIGN_OR_RETURN(const bool changed, AskShapeFn(graph, options, n));
  const bool failed = options.errors != nullptr && options.errors->size() != errors;
  // A failure is not kept: each node that asks the same is to report its own error.
  if (!failed && questions_.size() < kMostQuestions) {
    questions_.emplace(std::move(question), answers_.size());
    const auto ids = ids_.begin() + range.first;
    answers_.insert(answers_.end(), ids, ids + range.count);
  }
  return changed;
}

absl::StatusOr<bool> GraphShapes::AskShapeFn(const Graph& graph, const ShapeOptions& options,
                                             NodeId n) {
  InferenceContext::Infos inputs;
  for (const Output& from : graph.data_inputs(n))
    inputs.push_back(&InfoOf(IdOfInput(graph, n, from)));
  InferenceContext context(*graph.op(n), graph.attrs(n), graph.kind(n).types, std::move(inputs));
  context.set_node(graph.name(n));
  if (options.assume_valid_feeds || !IsPlaceholder(graph, n)) {
    const std::string_view name = options.errors == nullptr ? graph.name(n) : std::string_view();
    absl::Status status = options.describe ? CallShapeFn(context) : RunShapeFn(context, name);
    if (!status.ok()) {
      if (options.describe) status = options.describe(n, context, status);
      if (options.errors == nullptr) return status;
      options.errors->emplace_back(n, std::move(status));
      return Forget(options, n);
    }
  }
  if (options.refine) options.refine(n, context);
  if (StandsForAnyShape(graph, n, context.output(0).shape)) context.set_output(0, PartialShape());
  const Range& range = ranges_[n];
  bool changed = false;
  for (uint32_t i = 0; i < range.count; ++i) {
    const TensorInfo* const feed = FeedOf(options, n, i);
    changed |=
        Store(range.first + i,
              feed != nullptr ? TensorInfo(*feed) : std::move(context.output(static_cast<int>(i))));
  }
  return changed;
}

// Leaves what feeds say.
bool GraphShapes::Forget(const ShapeOptions& options, NodeId n) {
  bool changed = false;
  for (uint32_t i = 0; i < ranges_[n].count; ++i) {
    const TensorInfo* const feed = FeedOf(options, n, i);
    changed |= Store(ranges_[n].first + i, feed != nullptr ? *feed : TensorInfo());
  }
  return changed;
}

bool GraphShapes::Store(size_t at, TensorInfo info) {
  InfoId& id = ids_[at];
  if (Same(InfoOf(id), info)) return false;
  if (!IsPlain(info)) {
    id = static_cast<InfoId>(infos_.size());
    infos_.push_back(std::move(info));
    return true;
  }
  if (!info.shape.known_rank()) {
    id = kUnknown;
    return true;
  }
  const absl::Span<const int64_t> dims = info.shape.dims();
  const auto [known, added] =
      plain_.try_emplace(Dims(dims.begin(), dims.end()), static_cast<InfoId>(infos_.size()));
  if (added) infos_.push_back(std::move(info));
  id = known->second;
  return true;
}

}  // namespace tenon
