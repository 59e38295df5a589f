// Walks the nodes in the order of the schedule and hands each to the part that knows its kind. An
// attempt assumes that loop variables keep their shapes, and is repeated where one does not.

#include "executor/plan/steps/translator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/place/placer.h"
#include "executor/plan/steps/compute_streams.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/callback_scope.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
absl::StatusOr<StepGraph> MakeSteps(const PlanInput& input) {
  // A variable that changes may be the first value of another one, which then shows in the next
  // attempt. The last attempt takes no variable to keep its shape, so that it finds none.
  constexpr int kMaxAttempts = 6;
  LooseVariables loose;
  const std::vector<uint8_t> streams = ChooseComputeStreams(input);
  for (int attempt = 1;; ++attempt) {
    if (attempt == kMaxAttempts) {
      for (NodeId n : input.schedule.order) {
        if (IsMerge(input.graph.facts(n))) loose.insert(n);
      }
    }
    StepGraph graph(input.graph, input.schedule.order);
    Translator translator(input, loose, streams, graph);
    // An error is void, too, if shapes were wrong.
    const absl::Status status = translator.Run();
    if (translator.newly_loose().empty()) {
      TENON_RETURN_IF_ERROR(status);
      return graph;
    }
    loose.insert(translator.newly_loose().begin(), translator.newly_loose().end());
  }
}

Translator::Translator(const PlanInput& input, const LooseVariables& loose,
                       const std::vector<uint8_t>& streams, StepGraph& graph)
    : in_(input),
      graph_(graph),
      steps_(input.graph, input.constants, graph),
      liveness_(input.graph, steps_),
      copies_(input, steps_),
      operands_(input, steps_, liveness_, copies_),
      branches_(input, steps_, liveness_, operands_),
      loops_(input, loose, steps_, liveness_, copies_, operands_),
      cpu_(input, steps_, copies_, operands_),
      plugins_(input, streams, steps_, copies_, operands_) {}

absl::Status Translator::Run() {
  TENON_RETURN_IF_ERROR(AddFeeds());
  TENON_RETURN_IF_ERROR(loops_.Find());
  const std::vector<NodeId>& order = in_.schedule.order;
  for (size_t i = 0; i < order.size(); ++i) {
    TENON_RETURN_IF_ERROR(loops_.OpenAt(i));
    if (!in_.fed_only[order[i]]) TENON_RETURN_IF_ERROR(AddUnlessFed(order[i]));
    TENON_RETURN_IF_ERROR(loops_.CloseAt(i + 1));
  }
  for (const Output& fetch : in_.fetches) TENON_RETURN_IF_ERROR(AddFetch(fetch));
  copies_.HoldUnawaited();
  return absl::OkStatus();
}

absl::Status Translator::AddFeeds() {
  for (size_t i = 0; i < in_.feeds.size(); ++i) {
    if (graph_.first_value[in_.feeds[i].node] < 0) continue;  // no fetch needs it
    PlanValue& v = steps_.value(graph_.ValueOf(in_.feeds[i]));
    v.shape = steps_.Known(in_.feed_specs[i].shape);
    v.reference = false;
    v.dtype = in_.feed_specs[i].dtype;
    v.fed = true;
    TENON_ASSIGN_OR_RETURN(const size_t bytes, TensorBytes(v.dtype, *v.shape));
    v.storage = steps_.NewStorage(Where::kFeed, bytes, static_cast<int32_t>(i));
  }
  return absl::OkStatus();
}

// Adds node n. If some of its outputs are fed, the node runs for the others, and the fed values are
// put back over what it has made of them.
absl::Status Translator::AddUnlessFed(NodeId n) {
  const std::string_view name = in_.graph.name(n);
  const WorkScope work([](const void* node) { return *static_cast<const std::string_view*>(node); },
                       &name);
  const int32_t first = graph_.first_value[n];
  std::vector<std::pair<int32_t, PlanValue>> fed;
  for (int32_t id = first; id < first + in_.graph.num_outputs(n); ++id) {
    if (steps_.value(id).fed) fed.emplace_back(id, steps_.value(id));
  }
  steps_.BeginNode(n);
  const int32_t steps = graph_.num_steps();
  const absl::Status status = WithinMemory([&] { return AddNode(n); });
  steps_.EndNode(n);
  plugins_.EndNode(n, graph_.num_steps() == steps);
  if (!status.ok()) return NodeError(in_.graph, in_.calls, n, status);
  for (auto& [id, before] : fed) steps_.value(id) = std::move(before);
  return absl::OkStatus();
}

absl::Status Translator::AddNode(NodeId n) {
  const std::string_view op = in_.graph.op_name(n);
  const OpFacts& facts = in_.graph.facts(n);
  if (IsMerge(facts)) return loops_.IsVariable(n) ? absl::OkStatus() : branches_.AddMerge(n);
  if (IsExit(facts)) return loops_.AddExit(n);
  // A loop runs as a whole, so an Enter is alive in every pass. A ControlTrigger lives even if what
  // it waits for is dead: that is its meaning in TensorFlow.
  const bool lives = IsEnter(facts) || op == "ControlTrigger";
  const int32_t alive = graph_.node_alive[n] = lives ? FlagTree::kAlways : liveness_.OfNode(n);
  for (int port = 0; port < in_.graph.num_outputs(n); ++port)
    steps_.value(graph_.first_value[n] + port).alive = alive;
  if (IsSwitch(facts)) return branches_.AddSwitch(n);
  if (op == "Const") return AddConst(n);
  if (op == "NoOp" || op == "ControlTrigger") return absl::OkStatus();
  if (facts.renames) return Rename(n);
  Device* const device = in_.devices[n];
  TENON_ASSIGN_OR_RETURN(const KernelDef* kernel, in_.kernels.Find(in_.graph, n, *device));
  if (kernel->cpu != nullptr) return cpu_.Add(n, *kernel->cpu);
  return plugins_.Add(n, *kernel, device);
}

absl::Status Translator::AddConst(NodeId n) {
  const int32_t id = graph_.first_value[n];
  TENON_ASSIGN_OR_RETURN(const Tensor* tensor, in_.constants.ValueOf(n));
  if (tensor->dtype() != steps_.value(id).dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'value' is ", DataTypeName(tensor->dtype()), " where 'dtype' says ",
                     DataTypeName(steps_.value(id).dtype)));
  }
  steps_.SetConstant(id, tensor, true);
  return absl::OkStatus();
}

absl::Status Translator::Rename(NodeId n) {
  if (in_.graph.num_inputs(n) == 0)
    return absl::FailedPreconditionError("the placeholder is needed and nothing is fed to it");
  const int32_t id = graph_.first_value[n];
  const int32_t from = graph_.ValueOf(in_.graph.data_inputs(n)[0]);
  if (steps_.value(from).reference) {
    // As in TensorFlow, a reader of an identity of a variable reads the variable itself, at the
    // time of the reader. The variable must have a value now, unless the identity passes the
    // reference on.
    if (!IsRef(in_.graph.kind(n).types.inputs[0]))
      TENON_RETURN_IF_ERROR(operands_.ReadVariable(n, from).status());
    steps_.value(id).dtype = steps_.value(from).dtype;
    steps_.value(id).reference = true;
  }
  steps_.Share(id, from);
  return absl::OkStatus();
}

absl::Status Translator::AddFetch(const Output& fetch) {
  FetchSpec spec;
  int32_t id = -1;
  // As in TensorFlow, a run succeeds whether or not a node that is only to run lies in the branch
  // that was taken.
  if (!fetch.is_control()) {
    id = graph_.ValueOf(fetch);
    if (steps_.value(id).reference) {
      TENON_ASSIGN_OR_RETURN(id, operands_.ReadVariable(fetch.node, id));
    }
    TENON_ASSIGN_OR_RETURN(id, copies_.OnHost(fetch.node, id));
    const PlanValue& v = steps_.value(id);
    spec.dtype = v.dtype;
    spec.shape = steps_.InputOf(id).shape;
    spec.alive = v.alive;
    if (v.constant != nullptr) {
      spec.where = Where::kConst;
      TENON_ASSIGN_OR_RETURN(spec.constant, in_.constants.Aligned(*v.constant));
      id = -1;
    }
  }
  graph_.fetches.push_back(std::move(spec));
  graph_.fetch_values.push_back(id);
  return absl::OkStatus();
}

}  // namespace tenon
