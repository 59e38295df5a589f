// Restores a model: the restore node, then values by the object graph for variables that are still
// empty, then the initializer with the paths of assets.

#include "executor/session/saved_model.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/ir/nodes.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "graph/saved_model/saved_objects.h"
#include "plugin/kernels/variable.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<Tensor> PathTensor(const fs::path& path) {
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DataType::kString, Shape()));
  tensor.SetString(0, path.string());
  return tensor;
}

absl::StatusOr<std::vector<Tensor>> Run(Session& session,
                                        const std::vector<Session::NamedTensor>& feeds,
                                        const std::vector<std::string>& fetches,
                                        const RestoreRuns& runs) {
  std::vector<std::string> names;
  std::vector<Tensor> values;
  for (const auto& [name, value] : feeds) {
    names.push_back(name);
    values.push_back(value);
  }
  TENON_ASSIGN_OR_RETURN(Executable * executable, session.Prepare(names, fetches));
  if (runs.before_run) TENON_RETURN_IF_ERROR(runs.before_run(*executable));
  return session.Run(executable, values, nullptr, runs.limits);
}

// Runs a node for its effects. `what` names the step in errors.
absl::Status RunNode(Session& session, std::string_view what, const std::string& node,
                     const std::vector<Session::NamedTensor>& feeds, const RestoreRuns& runs) {
  const NodeId n = NodeOfOutput(session.graph(), node);
  if (n == kNoNode)
    return absl::NotFoundError(absl::StrCat(what, ": no node is named '", node, "'"));
  const absl::Status status =
      Run(session, feeds, {absl::StrCat("^", session.graph().name(n))}, runs).status();
  return Annotate(status, absl::StrCat(what, ": "));
}

// A variable of the session that has no value yet.
struct EmptyVariable {
  CapturedVariable captured;
  Tensor handle;  // shares the ownership of the variable

  Variable* variable() const { return ObjectAs<Variable>(handle.ObjectAt(0)); }
};

absl::StatusOr<std::vector<EmptyVariable>> FindEmptyVariables(Session& session,
                                                              const SavedModel& model,
                                                              const RestoreRuns& runs) {
  absl::StatusOr<std::vector<CapturedVariable>> captured =
      CapturedVariables(session.graph(), model.meta().objects.bytes);
  if (!captured.ok()) return WithPath(model.file, captured.status());
  std::vector<std::string> fetches;
  for (const CapturedVariable& variable : *captured)
    fetches.emplace_back(session.graph().name(variable.handle));
  std::vector<EmptyVariable> empty;
  if (fetches.empty()) return empty;
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> handles, Run(session, {}, fetches, runs));
  for (size_t i = 0; i < handles.size(); ++i) {
    const auto* variable = ObjectAs<Variable>(handles[i].ObjectAt(0));
    if (variable != nullptr && !variable->Peek().initialized())
      empty.push_back({std::move((*captured)[i]), std::move(handles[i])});
  }
  return empty;
}

absl::Status Restore(const EmptyVariable& empty, const std::string& key, BundleReader& reader,
                     const std::string& file) {
  const CapturedVariable& captured = empty.captured;
  if (key.empty()) {
    return absl::NotFoundError(absl::StrCat(reader.index().path(), ": has no value for variable '",
                                            captured.name, "', which is object ", captured.object,
                                            " of ", file));
  }
  TENON_ASSIGN_OR_RETURN(const BundleReader::TensorInfo info, reader.Find(key));
  if (info.dtype != captured.dtype || !captured.shape.CompatibleWith(info.shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.index().path(), ": tensor '", key, "' is ", DataTypeName(info.dtype),
                     info.shape.ToString(), ", variable '", captured.name, "' of ", file, " is ",
                     DataTypeName(captured.dtype), captured.shape.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(Tensor value, reader.Read(key));
  return empty.variable()->Update([&](Tensor& held) {
    held = std::move(value);
    return absl::OkStatus();
  });
}

// Gives each variable that is still empty the value that the object graph names. Keras saves values
// under other objects than the variables that its functions read, so the restore node of the graph
// does not reach all of them.
absl::Status RestoreByObjects(Session& session, const SavedModel& model, const RestoreRuns& runs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<EmptyVariable> empty,
                         FindEmptyVariables(session, model, runs));
  if (empty.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(
      BundleReader reader,
      BundleReader::Open(
          (fs::path(model.folder) / "variables" / "variables").string(),
          [&session](std::string_view path) { return session.files().ForReading(path); }));
  TENON_ASSIGN_OR_RETURN(const Tensor objects, reader.Read(kCheckpointObjects));
  if (objects.dtype() != DataType::kString || objects.num_elements() != 1) {
    return absl::DataLossError(absl::StrCat(reader.index().path(), ": tensor '", kCheckpointObjects,
                                            "' is no single string"));
  }
  std::vector<CapturedVariable> captured;
  for (const EmptyVariable& e : empty) captured.push_back(e.captured);
  const absl::StatusOr<std::vector<std::string>> keys =
      CheckpointKeys(captured, model.meta().objects.bytes, objects.StringAt(0));
  if (!keys.ok()) return WithPath(reader.index().path(), keys.status());
  for (size_t i = 0; i < empty.size(); ++i)
    TENON_RETURN_IF_ERROR(Restore(empty[i], (*keys)[i], reader, model.file));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FileAccess> FilesOf(const SavedModel& model) {
  std::vector<std::string> assets;
  for (const AssetFile& asset : model.meta().assets) assets.push_back(asset.filename);
  return FileAccess::SavedModel(model.folder, assets);
}

absl::StatusOr<std::vector<Session::NamedTensor>> AssetPaths(const SavedModel& model) {
  std::vector<Session::NamedTensor> paths;
  std::error_code error;
  fs::path folder = fs::absolute(model.folder, error).lexically_normal();
  if (error) folder = model.folder;  // the current folder is gone
  for (const AssetFile& asset : model.meta().assets) {
    TENON_ASSIGN_OR_RETURN(Tensor path, PathTensor(folder / "assets" / asset.filename));
    paths.emplace_back(asset.tensor, std::move(path));
  }
  return paths;
}

absl::Status RunInitializer(Session& session, const SavedModel& model, const std::string& node,
                            const RestoreRuns& runs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Session::NamedTensor> paths, AssetPaths(model));
  return RunNode(session, "running the initializer", node, paths, runs);
}

absl::Status RestoreState(Session& session, const SavedModel& model, const RestoreRuns& runs) {
  const MetaGraph& meta = model.meta();
  const fs::path folder(model.folder);
  std::error_code error;
  // A model without variables has a restore node too, but no folder that the node could read.
  if (!meta.restore_op.empty() && fs::exists(folder / "variables", error)) {
    TENON_ASSIGN_OR_RETURN(Tensor path, PathTensor(folder / "variables" / "variables"));
    TENON_RETURN_IF_ERROR(RunNode(session, "restoring the variables", meta.restore_op,
                                  {{meta.filename_tensor, std::move(path)}}, runs));
  }
  // The checkpoint says how large tensors are: too large is an error, not the end of the process.
  TENON_RETURN_IF_ERROR(WithinMemory([&] { return RestoreByObjects(session, model, runs); }));
  return meta.init_op.empty() ? absl::OkStatus()
                              : RunInitializer(session, model, meta.init_op, runs);
}

}  // namespace tenon
