// TF_SessionRun. A repeated run finds its compiled form by addresses alone; the names of nodes are
// made once, when the run is prepared.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/session/tf_session.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_handles.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// The names that ResolveRequest reads. The port is always there: a node's name may have a colon.
absl::Status NameOutputs(const TF_Graph& graph, absl::Span<const TF_Output> outputs,
                         std::vector<std::string>* names) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  for (const TF_Output& output : outputs) {
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

absl::StatusOr<Executable*> PrepareRun(TF_Session& session, const RunEnds& ends, RunKey key) {
  absl::MutexLock lock(&session.mutex);
  if (Executable* made = session.runs.Find(key)) return made;
  std::vector<std::string> feeds, fetches;
  {
    absl::ReaderMutexLock graph_lock(&session.graph->mutex);
    TENON_RETURN_IF_ERROR(NameOutputs(*session.graph, ends.inputs, &feeds));
    TENON_RETURN_IF_ERROR(NameOutputs(*session.graph, ends.outputs, &fetches));
    TENON_RETURN_IF_ERROR(NameTargets(*session.graph, ends.targets, &fetches));
    if (session.version != session.graph->version) {
      session.session->SetGraph(session.graph->graph.Snapshot());
      session.version = session.graph->version;
    }
  }
  TENON_ASSIGN_OR_RETURN(Executable* const executable, session.session->Prepare(feeds, fetches));
  session.runs.Add(std::move(key), executable);
  return executable;
}

absl::Status Run(TF_Session& session, const RunEnds& ends, TF_Tensor* const* input_values,
                 TF_Tensor** output_values) {
  if (session.closed) return absl::CancelledError("Session has been closed.");
  RunKey key(ends);
  Executable* executable = session.runs.Find(key);
  if (executable == nullptr) {
    TENON_ASSIGN_OR_RETURN(executable, PrepareRun(session, ends, std::move(key)));
  }
  std::vector<Tensor> feeds;
  feeds.reserve(ends.inputs.size());
  for (size_t i = 0; i < ends.inputs.size(); ++i) feeds.push_back(input_values[i]->value());
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> values, session.session->Run(executable, feeds));
  for (size_t i = 0; i < ends.outputs.size(); ++i)
    output_values[i] = NewTensorHandle(std::move(values[i]));
  return absl::OkStatus();
}

bool IsArrayOfGiven(const char* name, TF_Tensor* const* values, int count, TF_Status* status) {
  if (!IsArray(name, values, count, status)) return false;
  for (int i = 0; i < count; ++i) {
    if (values[i] == nullptr) return AllGiven({{name, nullptr}}, status);
  }
  return true;
}

}  // namespace
}  // namespace tenon::api

using tenon::api::IsArray;

extern "C" {

void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs,
                   TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs,
                   TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers,
                   int ntargets, TF_Buffer* run_metadata, TF_Status* status) {
  if (output_values != nullptr) std::fill_n(output_values, std::max(noutputs, 0), nullptr);
  if (!tenon::api::AllGiven({{"session", session}}, status) ||
      !IsArray("inputs", inputs, ninputs, status) ||
      !tenon::api::IsArrayOfGiven("input_values", input_values, ninputs, status) ||
      !IsArray("outputs", outputs, noutputs, status) ||
      !IsArray("output_values", output_values, noutputs, status) ||
      !IsArray("target_opers", target_opers, ntargets, status))
    return;
  if (run_options != nullptr || run_metadata != nullptr) {
    return tenon::StatusToC(absl::UnimplementedError("RunOptions and RunMetadata are not read yet"),
                            status);
  }
  const tenon::api::RunEnds ends{absl::MakeConstSpan(inputs, ninputs),
                                 absl::MakeConstSpan(outputs, noutputs),
                                 absl::MakeConstSpan(target_opers, ntargets)};
  const absl::Status run = tenon::api::Run(*session, ends, input_values, output_values);
  if (!run.ok()) tenon::StatusToC(run, status);
}

}  // extern "C"
