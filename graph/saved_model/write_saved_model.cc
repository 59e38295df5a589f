#include "graph/saved_model/write_saved_model.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// Fields of SavedModel, MetaGraphDef, GraphDef, FunctionDefLibrary, FunctionDef and OpDef.
constexpr uint32_t kMetaGraph = 2;
constexpr uint32_t kGraphOfMeta = 2, kCollection = 4;
constexpr uint32_t kLibrary = 2;
constexpr uint32_t kFunction = 1;
constexpr uint32_t kFunctionSignature = 1, kOpName = 1;
constexpr uint32_t kMapKey = 1;

bool IsMessage(const WireField& field, uint32_t number) {
  return field.number == number && field.type == WireType::kBytes;
}

// The last field of this number, as protobuf reads a field that comes twice.
std::string_view BytesIn(std::string_view message, uint32_t number) {
  std::string_view found;
  WireReader reader(message);
  for (WireField f; reader.Next(&f);) {
    if (IsMessage(f, number)) found = f.bytes;
  }
  return found;
}

// The contexts of TensorFlow 1's conditionals and loops, by which its Python library makes
// gradients, name nodes of the graph that was saved.
bool IsContext(std::string_view collection) {
  const std::string_view key = BytesIn(collection, kMapKey);
  return key == "cond_context" || key == "while_context";
}

// A library of the functions of `graph_def` that `graph` lacks, as a field of a GraphDef. Empty if
// it has them all.
std::string MissingFunctions(std::string_view graph_def, const Graph& graph) {
  std::set<std::string_view> known;
  for (const FunctionEntry& function : graph.functions()) known.insert(function.name);
  std::string library;
  WireWriter functions(&library);
  WireReader reader(graph_def);
  for (WireField f; reader.Next(&f);) {
    if (!IsMessage(f, kLibrary)) continue;
    WireReader entries(f.bytes);
    for (WireField entry; entries.Next(&entry);) {
      if (!IsMessage(entry, kFunction)) continue;
      const std::string_view name = BytesIn(BytesIn(entry.bytes, kFunctionSignature), kOpName);
      if (known.insert(name).second) functions.Bytes(kFunction, entry.bytes);
    }
  }
  std::string field;
  if (!library.empty()) WireWriter(&field).Bytes(kLibrary, library);
  return field;
}

// The MetaGraphDef with `graph_def` in the place of its graph.
std::string WithGraph(std::string_view meta_graph, std::string_view graph_def) {
  std::string result;
  WireReader reader(meta_graph);
  for (WireField f; reader.Next(&f);) {
    const bool goes =
        IsMessage(f, kGraphOfMeta) || (IsMessage(f, kCollection) && IsContext(f.bytes));
    if (!goes) result.append(f.raw);
  }
  WireWriter(&result).Bytes(kGraphOfMeta, graph_def);
  return result;
}

absl::Status TooLarge(const std::string& folder) {
  return absl::UnimplementedError(
      absl::StrCat(folder, ": the graph is larger than 2 GiB, which protobuf does not read"));
}

// The bytes of saved_model.pb.
absl::StatusOr<std::string> ModelBytesWith(const SavedModel& model, const Graph& graph,
                                           const std::string& folder) {
  TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadSavedModelFile(model.folder));
  std::string result;
  size_t number = 0;
  WireReader reader(file.bytes);
  for (WireField f; reader.Next(&f);) {
    if (!IsMessage(f, kMetaGraph) || number++ != model.chosen) {
      result.append(f.raw);
      continue;
    }
    std::string graph_def = ExportBinary(graph);
    WireReader fields(f.bytes);
    for (WireField part; fields.Next(&part);) {
      if (IsMessage(part, kGraphOfMeta)) graph_def.append(MissingFunctions(part.bytes, graph));
    }
    const std::string meta_graph = WithGraph(f.bytes, graph_def);
    if (meta_graph.size() > INT_MAX) return TooLarge(folder);
    WireWriter(&result).Bytes(kMetaGraph, meta_graph);
  }
  if (!reader.ok()) return absl::InvalidArgumentError(absl::StrCat(model.file, ": malformed"));
  if (result.size() > INT_MAX) return TooLarge(folder);
  return result;
}

absl::Status OfFile(const fs::path& path, const std::error_code& error) {
  return absl::Status(absl::ErrnoToStatusCode(error.value()),
                      absl::StrCat(path.string(), ": cannot be written: ", error.message()));
}

// Copies what the folder holds into folder `to`, which is made if it is missing, but for entries of
// these names. Of a symbolic link the copy is what it names.
absl::Status CopyFolder(const fs::path& from, const fs::path& to,
                        const std::set<std::string_view>& left_out) {
  std::error_code error;
  fs::create_directory(to, error);
  if (error) return OfFile(to, error);
  for (fs::directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    if (left_out.contains(name)) continue;
    if (fs::is_directory(path, error)) {
      TENON_RETURN_IF_ERROR(CopyFolder(path, to / name, {}));
    } else {
      // Not fs::copy, which says "Input/output error" on a full disk.
      TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadRegularFile(path.string(), SIZE_MAX));
      TENON_RETURN_IF_ERROR(WriteFile((to / name).string(), file.bytes));
    }
  }
  return error ? OfFile(from, error) : absl::OkStatus();
}

// A folder that is removed unless it got its final name.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(fs::path path) : path_(std::move(path)) {}
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;
  ~UnfinishedFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  // Replaces `folder`, which is empty or does not exist.
  absl::Status Rename(const fs::path& folder) {
    std::error_code error;
    fs::rename(path_, folder, error);
    if (error) return OfFile(folder, error);
    path_.clear();
    return absl::OkStatus();
  }

 private:
  fs::path path_;
};

// Makes a new folder beside `target`, and the folders around it that are missing.
absl::StatusOr<fs::path> MakeFolderBeside(const fs::path& target) {
  static std::atomic<unsigned> count{0};
  std::error_code error;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  while (!error) {
    fs::path path = target.parent_path() / absl::StrCat(".", target.filename().string(), ".",
                                                        getpid(), "-", count++, ".unfinished");
    if (fs::create_directory(path, error)) return path;
    if (error == std::errc::file_exists) error.clear();
  }
  return OfFile(target, error);
}

absl::Status CheckFolder(const SavedModel& model, const fs::path& folder) {
  std::error_code error;
  const fs::path within = fs::weakly_canonical(folder, error);
  const fs::path original = fs::weakly_canonical(model.folder, error);
  const auto [in_original, in_within] =
      std::mismatch(original.begin(), original.end(), within.begin(), within.end());
  if (in_original == original.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder.string(), ": is the folder of the model, or lies within it; choose another one"));
  }
  if (!fs::exists(folder, error)) return absl::OkStatus();
  if (fs::is_directory(folder, error) && fs::is_empty(folder, error)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(folder.string(), ": exists already, and is no empty folder"));
}

}  // namespace

absl::Status WriteSavedModel(const SavedModel& model, const Graph& graph,
                             const std::string& folder) {
  // Without the slash at the end of "DIR/".
  fs::path target = fs::path(folder).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  TENON_RETURN_IF_ERROR(CheckFolder(model, target));
  TENON_ASSIGN_OR_RETURN(const std::string bytes, ModelBytesWith(model, graph, folder));
  TENON_ASSIGN_OR_RETURN(fs::path made, MakeFolderBeside(target));
  UnfinishedFolder unfinished(std::move(made));
  // What the folder holds besides the graph.
  TENON_RETURN_IF_ERROR(CopyFolder(model.folder, unfinished.path(),
                                   {"saved_model.pb", "saved_model.pbtxt", "fingerprint.pb"}));
  TENON_RETURN_IF_ERROR(WriteFile((unfinished.path() / "saved_model.pb").string(), bytes));
  return unfinished.Rename(target);
}

}  // namespace tenon
