#include "executor/saved_model.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<Tensor> PathTensor(const fs::path& path) {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DataType::kString, Shape()));
  tensor.SetString(0, path.string());
  return tensor;
}

// Runs a node for what it does.
absl::Status RunNode(Session& session, std::string_view what, const std::string& node,
                     const std::vector<Session::NamedTensor>& feeds) {
  const NodeId n = NodeOfOutput(session.graph(), node);
  if (n == kNoNode)
    return absl::NotFoundError(absl::StrCat(what, ": no node is named '", node, "'"));
  const absl::Status status =
      session.Run(feeds, {absl::StrCat("^", session.graph().name(n))}).status();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

}  // namespace

absl::StatusOr<FileAccess> FilesOf(const SavedModel& model) {
  std::vector<std::string> assets;
  for (const AssetFile& asset : model.meta().assets) assets.push_back(asset.filename);
  return FileAccess::SavedModel(model.folder, assets);
}

absl::Status RestoreState(Session& session, const SavedModel& model) {
  const MetaGraph& meta = model.meta();
  const fs::path folder(model.folder);
  std::error_code error;
  if (!meta.restore_op.empty() && fs::exists(folder / "variables", error)) {
    TENON_ASSIGN_OR_RETURN(Tensor path, PathTensor(folder / "variables" / "variables"));
    TENON_RETURN_IF_ERROR(RunNode(session, "restoring the variables", meta.restore_op,
                                  {{meta.filename_tensor, std::move(path)}}));
  }
  if (meta.init_op.empty()) return absl::OkStatus();
  std::vector<Session::NamedTensor> assets;
  for (const AssetFile& asset : meta.assets) {
    TENON_ASSIGN_OR_RETURN(Tensor path, PathTensor(folder / "assets" / asset.filename));
    assets.emplace_back(asset.tensor, std::move(path));
  }
  return RunNode(session, "running the initializer", meta.init_op, assets);
}

}  // namespace tenon
