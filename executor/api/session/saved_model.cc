// TF_LoadSessionFromSavedModel.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/graph_mark.h"
#include "executor/api/graph/import/graph_import.h"
#include "executor/api/session/run_options.h"
#include "executor/api/session/tf_session.h"
#include "executor/session/saved_model.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/saved_model/saved_model.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// What the function was given, without nulls.
struct LoadCall {
  const TF_SessionOptions& options;
  const TF_Buffer* run_options;
  std::string folder;
  std::vector<std::string> tags;
  TF_Graph* graph;
  TF_Buffer* meta_graph_def;  // null: not wanted
};

absl::Status CheckIsEmpty(const TF_Graph& graph) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex) {
  if (graph.graph.num_node_ids() == 0 && graph.graph.functions().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("Graph is non-empty.");
}

absl::StatusOr<SavedModelBytes> ReadModel(const LoadCall& call) {
  if (!IsSavedModel(call.folder)) {
    return absl::NotFoundError(absl::StrCat(
        "Could not find SavedModel .pb or .pbtxt at supplied export directory path: ", call.folder,
        ". Check that the directory exists and that you have the right permissions for accessing "
        "it."));
  }
  absl::StatusOr<SavedModelBytes> model = ReadSavedModel(call.folder, call.tags);
  if (model.ok()) return model;
  const absl::Status noted = AsNoted(model.status());
  // TensorFlow's code for a binary file that is no SavedModel.
  return absl::IsInvalidArgument(noted) ? absl::OutOfRangeError(noted.message()) : noted;
}

// Takes the graph's nodes out again unless the load succeeds.
class GraphOfModel {
 public:
  explicit GraphOfModel(TF_Graph& graph) : graph_(graph) {}
  ~GraphOfModel() {
    if (mark_ == nullptr) return;
    absl::MutexLock lock(&graph_.mutex);
    mark_ = nullptr;
    ++graph_.version;
  }

  absl::Status Import(std::string_view graph_def) {
    absl::MutexLock lock(&graph_.mutex);
    TENON_RETURN_IF_ERROR(CheckIsEmpty(graph_));
    auto mark = std::make_unique<GraphMark>(graph_);
    TENON_RETURN_IF_ERROR(ImportGraphDef(graph_, graph_def));
    mark_ = std::move(mark);
    return absl::OkStatus();
  }
  void Keep() {
    absl::MutexLock lock(&graph_.mutex);
    mark_->Keep();
    mark_ = nullptr;
  }

 private:
  TF_Graph& graph_;
  std::unique_ptr<GraphMark> mark_;
};

absl::StatusOr<std::unique_ptr<GraphSession>> Load(const LoadCall& call) {
  TENON_ASSIGN_OR_RETURN(const RunWishes wishes,
                         ReadRunOptions(call.run_options, call.options.config));
  if (call.meta_graph_def != nullptr && call.meta_graph_def->data != nullptr)
    return absl::InvalidArgumentError("Passing non-empty TF_Buffer is invalid.");
  TENON_ASSIGN_OR_RETURN(const SavedModelBytes model, ReadModel(call));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<SessionCore> core, SessionCore::Make(call.options));
  GraphOfModel graph(*call.graph);
  TENON_RETURN_IF_ERROR(graph.Import(model.graph.bytes));
  auto session = std::make_unique<GraphSession>(call.graph, std::move(core));
  TENON_RETURN_IF_ERROR(session->Update());
  const RunLimits limits = session->core().LimitsOf(wishes.timeout);
  TENON_RETURN_IF_ERROR(RestoreState(session->core().session(), model.model, {.limits = &limits}));
  if (call.meta_graph_def != nullptr)
    TENON_RETURN_IF_ERROR(FillBuffer(model.meta_graph.bytes, call.meta_graph_def));
  graph.Keep();
  return session;
}

}  // namespace
}  // namespace tenon::api

extern "C" {

TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* session_options,
                                         const TF_Buffer* run_options, const char* export_dir,
                                         const char* const* tags, int tags_len, TF_Graph* graph,
                                         TF_Buffer* meta_graph_def, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"export_dir", export_dir}, {"graph", graph}}, status) ||
      !tenon::api::NoneDeleted({{"session_options", session_options},
                                {"run_options", run_options},
                                {"meta_graph_def", meta_graph_def}},
                               status) ||
      !tenon::api::IsArray("tags", tags, tags_len, status))
    return nullptr;
  const TF_SessionOptions defaults;
  tenon::api::LoadCall call{session_options == nullptr ? defaults : *session_options,
                            run_options,
                            export_dir,
                            {},
                            graph,
                            meta_graph_def};
  for (int i = 0; i < tags_len; ++i) {
    if (!tenon::api::AllGiven({{"tags", tags[i]}}, status)) return nullptr;
    call.tags.emplace_back(tags[i]);
  }
  absl::StatusOr<std::unique_ptr<tenon::api::GraphSession>> session = tenon::api::Load(call);
  tenon::StatusToC(tenon::AsNoted(session.status()), status);
  return session.ok() ? TF_Session::Pool::New(*std::move(session)) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
