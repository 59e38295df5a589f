#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/graph/edits.h"
#include "executor/api/session/tf_session.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/ir/new_attrs.h"
#include "graph/verify/verifier.h"

namespace tenon::api {
namespace {

// The names that ResolveRequest reads. The port is always there: a node's name may have a colon.
absl::Status NameOutputs(const TF_Graph& graph, absl::Span<const TF_Output> outputs,
                         std::vector<std::string>* names) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  for (const TF_Output& output : outputs) {
    if (output.index < 0)
      return absl::InvalidArgumentError(absl::StrCat("there is no output ", output.index));
    TENON_ASSIGN_OR_RETURN(const Output o, OutputOf(graph, output));
    names->push_back(absl::StrCat(graph.graph.name(o.node), ":", o.port));
  }
  return absl::OkStatus();
}

absl::Status NameTargets(const TF_Graph& graph, absl::Span<const TF_Operation* const> targets,
                         std::vector<std::string>* names) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  for (const TF_Operation* target : targets) {
    if (target == nullptr || target->graph != &graph)
      return absl::InvalidArgumentError("a target is no operation of the session's graph");
    names->push_back(absl::StrCat("^", graph.graph.name(target->node)));
  }
  return absl::OkStatus();
}

// Gives node n of `graph` what the node of this id is in `before`.
void TakeNode(Graph& graph, NodeId n, const Graph& before) {
  graph.SetKind(n, before.op_name(n), AllAttrs(before, n));
  graph.SetInputs(n, before.data_inputs(n), before.control_inputs(n));
  graph.SetDevice(n, before.device(n));
}

}  // namespace

GraphSession::GraphSession(TF_Graph* graph, std::unique_ptr<SessionCore> core)
    : graph_(graph), core_(std::move(core)), partial_runs_(*core_) {
  AddSession(graph);
}

GraphSession::~GraphSession() { DropSession(graph_); }

absl::Status GraphSession::Update() {
  absl::MutexLock lock(&mutex_);
  return UpdateLocked();
}

// TF_FinishOperation takes any name; a session does not, and then takes none of the new nodes.
absl::Status GraphSession::CheckNames(const Graph& graph) const {
  for (NodeId n = core_->session().graph().num_node_ids(); n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || IsNodeName(graph.name(n), /*from_file=*/true)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("Node '", graph.name(n), "': Node name contains invalid characters"));
  }
  return absl::OkStatus();
}

absl::Status GraphSession::UpdateLocked() {
  absl::ReaderMutexLock lock(&graph_->mutex);
  if (version_ == graph_->version) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckNames(graph_->graph));
  FreezeChanged();
  Graph snapshot = graph_->graph.Snapshot();
  for (const NodeId n : frozen_) TakeNode(snapshot, n, core_->session().graph());
  // A node that stays as it was need not fit what has been added since.
  std::vector<NodeId> edited = graph_->edited;
  edited.insert(edited.end(), frozen_.begin(), frozen_.end());
  TENON_RETURN_IF_ERROR(CheckEdits(snapshot, edited));
  core_->SetGraph(std::move(snapshot));
  version_ = graph_->version;
  return absl::OkStatus();
}

void GraphSession::FreezeChanged() {
  const Graph& taken = core_->session().graph();
  for (; changes_seen_ < graph_->changed.size(); ++changes_seen_) {
    const NodeId n = graph_->changed[changes_seen_];
    if (n >= taken.num_node_ids()) continue;
    frozen_.push_back(n);
    WarnOf(absl::FailedPreconditionError(absl::StrCat(
        "Operation '", taken.name(n),
        "' was changed after it was run by a session. This mutation has no effect there: change "
        "operations before they run, or make a new session.")));
  }
}

absl::StatusOr<EndNames> GraphSession::NamesOf(const RunEnds& ends) const {
  EndNames names;
  absl::ReaderMutexLock lock(&graph_->mutex);
  TENON_RETURN_IF_ERROR(NameOutputs(*graph_, ends.inputs, &names.feeds));
  TENON_RETURN_IF_ERROR(NameOutputs(*graph_, ends.outputs, &names.fetches));
  TENON_RETURN_IF_ERROR(NameTargets(*graph_, ends.targets, &names.fetches));
  return names;
}

absl::StatusOr<Executable*> GraphSession::Prepare(const RunEnds& ends, RunKey key) {
  absl::MutexLock lock(&mutex_);
  if (Executable* made = runs_.Find(key)) return made;
  TENON_ASSIGN_OR_RETURN(const EndNames names, NamesOf(ends));
  TENON_RETURN_IF_ERROR(UpdateLocked());
  TENON_ASSIGN_OR_RETURN(Executable* const executable, core_->Prepare(names.feeds, names.fetches));
  runs_.Add(std::move(key), executable);
  return executable;
}

absl::Status GraphSession::Run(const RunEnds& ends, const RunArguments& arguments) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  Executable* executable = runs_.FindLast(ends);
  if (executable == nullptr) {
    RunKey key(ends);
    executable = runs_.Find(key);
    if (executable == nullptr) {
      TENON_ASSIGN_OR_RETURN(executable, Prepare(ends, std::move(key)));
    }
  }
  return core_->Run(executable, arguments);
}

absl::StatusOr<std::string> GraphSession::SetUpPartialRun(const RunEnds& ends) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  absl::MutexLock lock(&mutex_);
  TENON_ASSIGN_OR_RETURN(const EndNames names, NamesOf(ends));
  TENON_RETURN_IF_ERROR(UpdateLocked());
  return partial_runs_.SetUp(names);
}

// Targets were named by the setup: TensorFlow does not look at those of later calls.
absl::Status GraphSession::ContinuePartialRun(const std::string& handle, const RunEnds& ends,
                                              const RunArguments& arguments) {
  TENON_RETURN_IF_ERROR(core_->CheckOpen());
  TENON_ASSIGN_OR_RETURN(const EndNames names, NamesOf({ends.inputs, ends.outputs, {}}));
  return partial_runs_.Continue(handle, names, arguments.inputs, arguments.outputs);
}

bool RefuseSession(bool is_null, TF_Status* status) {
  StatusToC(absl::InvalidArgumentError(is_null ? "argument 'session' is NULL"
                                               : "the session was deleted"),
            status);
  return false;
}

}  // namespace tenon::api
