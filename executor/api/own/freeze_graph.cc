// TENON_FreezeGraph.
#include <string>
#include <utility>
#include <vector>

#include "executor/api/base/arguments.h"
#include "executor/api/base/process.h"
#include "executor/freeze/freeze.h"
#include "executor/session/session.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/verify/defect.h"
#include "plugin/device/device.h"
#include "tenon/tenon_c.h"

namespace tenon::api {
namespace {

// What the function was given, without nulls.
struct FreezeRequest {
  std::string graph_def, init;
  std::vector<std::string> feeds, keep;
};

absl::StatusOr<std::string> FreezeGraph(FreezeRequest request) {
  TENON_ASSIGN_OR_RETURN(const Imported imported,
                         ImportBinary(std::move(request.graph_def), "the GraphDef"));
  for (const Defect& defect : imported.defects) {
    if (!MayBeUnused(defect)) return absl::InvalidArgumentError(defect.ToString());
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Device*> devices, ProcessDevices());
  SavedModel no_folder;
  no_folder.meta_graphs.emplace_back();
  Signature signature;
  for (const std::string& feed : request.feeds) {
    SignatureTensor& input = signature.inputs.emplace_back();
    input.name = feed;
    input.tensor = feed + ":0";
  }
  FreezeOptions options;
  options.keep_state = true;
  options.inits = {request.init};
  options.keep = std::move(request.keep);
  TENON_ASSIGN_OR_RETURN(FrozenModel frozen, Freeze(no_folder, imported.graph, signature, options,
                                                    std::move(devices), SessionOptions()));
  if (!frozen.init.empty() && frozen.init != request.init) {
    const Output fills{frozen.graph.FindNode(frozen.init), kControlPort};
    TENON_RETURN_IF_ERROR(frozen.graph.AddNode(request.init, "NoOp", {&fills, 1}, {}).status());
  }
  return ExportBinary(frozen.graph);
}

}  // namespace
}  // namespace tenon::api

extern "C" TF_Buffer* TENON_FreezeGraph(const void* graph_def, size_t length,
                                        const char* const* feeds, int num_feeds,
                                        const char* const* keep, int num_keep, const char* init,
                                        TF_Status* status) try {
  using namespace tenon;  // NOLINT
  if (!api::IsBytes("graph_def", graph_def, length, status) ||
      !api::IsArray("feeds", feeds, num_feeds, status) ||
      !api::IsArray("keep", keep, num_keep, status))
    return nullptr;
  api::FreezeRequest request;
  request.graph_def.assign(static_cast<const char*>(graph_def), length);
  for (int i = 0; i < num_feeds; ++i)
    request.feeds.emplace_back(absl::NullSafeStringView(feeds[i]));
  for (int i = 0; i < num_keep; ++i) request.keep.emplace_back(absl::NullSafeStringView(keep[i]));
  request.init = absl::NullSafeStringView(init);
  const absl::StatusOr<std::string> frozen = api::FreezeGraph(std::move(request));
  StatusToC(frozen.status(), status);
  return frozen.ok() ? NewBuffer(*frozen) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}
