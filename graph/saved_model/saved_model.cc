// Reads the fields of a SavedModel in place, without parsing the file into protobuf objects: the
// graph may be larger than protobuf's limit of 2 GiB, and stays a view of the file. Only the small
// rest of each MetaGraphDef goes through protobuf.

#include "graph/saved_model/saved_model.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/annotate.h"
#include "graph/base/at_byte.h"
#include "graph/base/file_bytes.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/io/graph_reader.h"
#include "graph/io/text_import.h"
#include "graph/ir/nodes.h"
#include "graph/tensor/shape_wire.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/verify/verifier.h"
#include "graph/wire/wire.h"
#include "proto/saved_model.pb.h"

namespace tenon {
namespace {

// Fields of SavedModel, MetaGraphDef and MetaInfoDef that are read in place.
constexpr uint32_t kMetaGraphs = 2;
constexpr uint32_t kMetaInfo = 1, kGraphDef = 2, kObjectGraph = 7;
constexpr uint32_t kTags = 4;

constexpr char kServe[] = "serve";
constexpr char kInitSignature[] = "__saved_model_init_op";
// Where older files name the initializer, newest first.
constexpr const char* kInitCollections[] = {"saved_model_main_op", "legacy_init_op"};
constexpr char kAssetCollection[] = "saved_model_assets";

// saved_model.pb as bytes. If the file is text: the bytes made from it, and the positions.
struct ModelBytes {
  std::string name;
  FileBytes file;
  std::vector<TextPositions> text;
};

// A MetaGraphDef in parts.
struct MetaBytes {
  std::string_view whole;
  std::vector<std::string_view> graphs, objects;  // pieces of one message each
  std::string rest;                               // all other fields
};

std::string PathOf(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

// The file of the SavedModel in this folder; empty if there is none.
std::string ModelFileIn(const std::string& folder) {
  for (const std::string_view name : {"saved_model.pb", "saved_model.pbtxt"}) {
    std::string path = PathOf(folder, name);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return path;
  }
  return "";
}

// What a folder without such a file holds instead, and what to do; empty for anything else.
std::string WhatFolderHolds(const std::string& folder) {
  std::error_code error;
  std::string inner, graph, values;  // the last of each in the order of names
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!ModelFileIn(path).empty()) inner = std::max(inner, path);
    const std::string file = entry->path().filename().string();
    if (file.ends_with(".meta")) graph = std::max(graph, file);
    if (file.ends_with(".index")) values = std::max(values, file);
  }
  if (!inner.empty()) return absl::StrCat("; name the folder ", inner, ", which holds one");
  if (values.empty()) return "";
  return absl::StrCat("; it holds a checkpoint (", values, "), which has values only: ",
                      graph.empty()
                          ? "write a SavedModel from the program that made it"
                          : absl::StrCat("write a SavedModel from ", graph,
                                         " (tf.compat.v1.train.import_meta_graph and restore, then "
                                         "tf.compat.v1.saved_model.simple_save)"));
}

absl::StatusOr<ModelBytes> ReadModelFile(const std::string& folder, const ImportLimits& limits) {
  ModelBytes model;
  model.name = ModelFileIn(folder);
  if (model.name.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder, ": is no SavedModel: there is neither saved_model.pb nor saved_model.pbtxt in it",
        WhatFolderHolds(folder)));
  }
  const auto max_bytes = static_cast<size_t>(std::max<int64_t>(limits.max_file_bytes, 0));
  TENON_ASSIGN_OR_RETURN(model.file, ReadRegularFile(model.name, max_bytes));
  if (!LooksLikeText(model.file.bytes)) return model;
  absl::StatusOr<TextSavedModel> text =
      ParseSavedModelText(model.file.bytes, model.name, limits.max_depth);
  if (!text.ok()) {
    if (model.name.ends_with(".pb")) return text.status();
    return NoteAnswer(
        text.status(), absl::StatusCode::kDataLoss,
        absl::StrCat("Can't parse ", model.name, " as text proto: ", text.status().message()));
  }
  model.file = BytesOf(std::move(text->wire));
  model.text = std::move(text->graphs);
  return model;
}

uint64_t OffsetIn(const ModelBytes& model, const char* at) {
  return model.text.empty() ? static_cast<uint64_t>(at - model.file.bytes.data()) : 0;
}

// The file and, if it is binary, the byte: what stands where in text is told by protobuf's parser.
std::string Locate(const ModelBytes& model, const char* at) {
  return model.text.empty() ? AtByte(model.name, OffsetIn(model, at)) : model.name;
}

absl::Status Malformed(const ModelBytes& model, const char* at, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(Locate(model, at), ": malformed ", what));
}

// Joins pieces of a message as protobuf does: one piece, the usual case, stays a view of the file.
FileBytes Joined(const ModelBytes& model, const std::vector<std::string_view>& pieces) {
  if (pieces.size() != 1) return BytesOf(absl::StrJoin(pieces, ""));
  return {pieces.front(), model.file.owner, model.file.mapped};
}

absl::StatusOr<MetaBytes> SplitMetaGraph(const ModelBytes& model, std::string_view wire,
                                         std::vector<std::string>& tags) {
  MetaBytes parts;
  parts.whole = wire;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    const bool message = f.type == WireType::kBytes;
    if (message && f.number == kGraphDef) {
      parts.graphs.push_back(f.bytes);
    } else if (message && f.number == kMetaInfo) {
      WireReader info(f.bytes);
      WireField tag;
      while (info.Next(&tag)) {
        if (tag.number == kTags && tag.type == WireType::kBytes) tags.emplace_back(tag.bytes);
      }
      if (!info.ok()) return Malformed(model, f.bytes.data() + info.offset(), "MetaInfoDef");
    } else if (message && f.number == kObjectGraph) {
      parts.objects.push_back(f.bytes);
    } else {
      parts.rest.append(f.raw);
    }
  }
  if (!reader.ok()) return Malformed(model, wire.data() + reader.offset(), "MetaGraphDef");
  return parts;
}

// Reads signatures, saver, initializer and assets. The graph and the objects are not parsed with
// the rest: they may be large, and the graph stays a view of the file. Messages do not name the
// file.
class MetaGraphReader {
 public:
  explicit MetaGraphReader(MetaGraph& meta) : meta_(meta) {}

  absl::Status Read(std::string_view bytes) {
    const google::protobuf::LogSilencer silence;
    pb::MetaGraphDef def;
    if (bytes.size() > INT_MAX || !def.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      return absl::InvalidArgumentError("malformed MetaGraphDef: saver, signatures or assets");
    meta_.filename_tensor = def.saver_def().filename_tensor_name();
    meta_.restore_op = def.saver_def().restore_op_name();
    for (const auto& [name, signature] : def.signature_def())
      TENON_RETURN_IF_ERROR(ReadSignature(name, signature));
    // Maps of protobuf have no order of their own.
    std::sort(meta_.signatures.begin(), meta_.signatures.end(),
              [](const Signature& a, const Signature& b) { return a.name < b.name; });
    ReadInitOp(def);
    ReadOtherNames(def);
    return ReadAssets(def);
  }

 private:
  absl::Status ReadSignature(const std::string& name, const pb::SignatureDef& def) {
    Signature signature{name, def.method_name(), {}, {}, {}, {}};
    for (const auto& [arg, info] : def.inputs())
      TENON_RETURN_IF_ERROR(
          AddTensor(name, arg, info, {signature.inputs, signature.composite_inputs}));
    for (const auto& [result, info] : def.outputs())
      TENON_RETURN_IF_ERROR(
          AddTensor(name, result, info, {signature.outputs, signature.composite_outputs}));
    for (auto* tensors : {&signature.inputs, &signature.outputs}) {
      std::sort(tensors->begin(), tensors->end(),
                [](const SignatureTensor& a, const SignatureTensor& b) { return a.name < b.name; });
    }
    for (SignatureTensor& input : signature.inputs) {
      const auto it = def.defaults().find(input.name);
      if (it == def.defaults().end()) continue;
      absl::StatusOr<Tensor> value = TensorFromWire(it->second.SerializeAsString());
      if (!value.ok()) {
        return Annotate(value.status(), absl::StrCat("the default of argument '", input.name,
                                                     "' of signature '", name, "': "));
      }
      input.default_value = *std::move(value);
    }
    meta_.signatures.push_back(std::move(signature));
    return absl::OkStatus();
  }

  // The arguments or the results.
  struct Side {
    std::vector<SignatureTensor>& tensors;
    std::vector<CompositeTensor>& composites;
  };

  absl::Status AddTensor(const std::string& signature, const std::string& name,
                         const pb::TensorInfo& info, const Side& out) {
    absl::StatusOr<PartialShape> shape = ShapeFromWire(info.tensor_shape().SerializeAsString());
    const bool known = info.dtype() == 0 || IsKnownDataType(info.dtype());
    if (!shape.ok() || !known) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", name, "' of signature '", signature, "': ",
          shape.ok() ? absl::StrCat(info.dtype(), " is no DataType") : shape.status().message()));
    }
    const auto dtype = static_cast<DataType>(info.dtype());
    if (info.has_coo_sparse()) {
      out.composites.push_back({name, "SparseTensorSpec", dtype, *shape});
      const auto part = [&](std::string_view suffix, const std::string& tensor, DataType type) {
        out.tensors.push_back(
            {absl::StrCat(name, "/", suffix), tensor, type, PartialShape(), Tensor()});
      };
      part("values", info.coo_sparse().values_tensor_name(), dtype);
      part("indices", info.coo_sparse().indices_tensor_name(), DataType::kInt64);
      part("dense_shape", info.coo_sparse().dense_shape_tensor_name(), DataType::kInt64);
      return absl::OkStatus();
    }
    if (info.has_composite_tensor()) {
      out.composites.push_back({name, info.composite_tensor().type_spec().type_spec_class_name(),
                                dtype, *std::move(shape)});
      for (int i = 0; i < info.composite_tensor().components_size(); ++i) {
        TENON_RETURN_IF_ERROR(AddTensor(signature, absl::StrCat(name, "/", i),
                                        info.composite_tensor().components(i), out));
      }
      return absl::OkStatus();
    }
    out.tensors.push_back({name, info.name(), dtype, *std::move(shape), Tensor()});
    return absl::OkStatus();
  }

  void ReadInitOp(const pb::MetaGraphDef& def) {
    if (const Signature* init = meta_.FindSignature(kInitSignature);
        init != nullptr && !init->outputs.empty()) {
      meta_.init_op = init->outputs.front().tensor;
      return;
    }
    for (const char* name : kInitCollections) {
      const auto it = def.collection_def().find(name);
      if (it == def.collection_def().end() || it->second.node_list().value().empty()) continue;
      meta_.init_op = it->second.node_list().value(0);
      return;
    }
  }

  // VariableDef and QueueRunnerDef, which collections hold as bytes, name nodes in fields of texts.
  void ReadOtherNames(const pb::MetaGraphDef& def) {
    std::vector<std::string>& names = meta_.other_names;
    if (!def.saver_def().save_tensor_name().empty())
      names.push_back(def.saver_def().save_tensor_name());
    for (const auto& [name, collection] : def.collection_def()) {
      const auto& nodes = collection.node_list().value();
      names.insert(names.end(), nodes.begin(), nodes.end());
      for (const std::string& value : collection.bytes_list().value()) {
        WireReader reader(value);
        for (WireField f; reader.Next(&f);) {
          if (f.type == WireType::kBytes && !f.bytes.empty()) names.emplace_back(f.bytes);
        }
      }
    }
    std::sort(names.begin(), names.end());  // maps of protobuf have no order of their own
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }

  // Adds an asset unless it is there: old files name some twice.
  void AddAsset(const pb::AssetFileDef& def) {
    AssetFile asset{def.tensor_info().name(), def.filename()};
    if (std::find(meta_.assets.begin(), meta_.assets.end(), asset) == meta_.assets.end())
      meta_.assets.push_back(std::move(asset));
  }

  // Files from before asset_file_def have the assets in a collection.
  absl::Status ReadAssets(const pb::MetaGraphDef& def) {
    for (const pb::AssetFileDef& asset : def.asset_file_def()) AddAsset(asset);
    const auto it = def.collection_def().find(kAssetCollection);
    if (!meta_.assets.empty() || it == def.collection_def().end()) return absl::OkStatus();
    for (const google::protobuf::Any& any : it->second.any_list().value()) {
      pb::AssetFileDef asset;
      if (!asset.ParseFromString(any.value()))
        return absl::InvalidArgumentError("malformed AssetFileDef");
      AddAsset(asset);
    }
    return absl::OkStatus();
  }

  MetaGraph& meta_;
};

std::string TagText(const MetaGraph& meta) {
  return absl::StrCat("{", absl::StrJoin(meta.tags, ", "), "}");
}

absl::StatusOr<size_t> ChooseGraph(const std::string& file, const std::vector<MetaGraph>& graphs) {
  if (graphs.empty()) return absl::InvalidArgumentError(absl::StrCat(file, ": holds no graph"));
  if (graphs.size() == 1) return 0;
  std::vector<size_t> exact, among;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const std::vector<std::string>& tags = graphs[i].tags;
    const bool serves = std::find(tags.begin(), tags.end(), kServe) != tags.end();
    if (serves && tags.size() == 1) exact.push_back(i);
    if (serves) among.push_back(i);
  }
  // A graph tagged `serve` alone is meant for the CPU: others add tags such as `gpu` or `tpu`.
  if (exact.size() == 1) return exact.front();
  if (among.size() == 1) return among.front();
  return absl::InvalidArgumentError(Printable(absl::StrCat(
      file, ": holds ", graphs.size(), " graphs, and not one alone is tagged '", kServe,
      "'; the tags are ", absl::StrJoin(graphs, ", ", [](std::string* out, const MetaGraph& meta) {
        out->append(TagText(meta));
      }))));
}

// Reports names of signatures, savers and assets that are no tensor of the graph.
class ReferenceChecker {
 public:
  ReferenceChecker(const std::string& file, const MetaGraph& meta, Imported& imported)
      : file_(file), meta_(meta), imported_(imported) {}

  void Run() {
    for (const Signature& signature : meta_.signatures) {
      for (const SignatureTensor& t : signature.inputs)
        Check(absl::StrCat("argument '", t.name, "' of signature '", signature.name, "'"),
              t.tensor);
      for (const SignatureTensor& t : signature.outputs)
        Check(absl::StrCat("result '", t.name, "' of signature '", signature.name, "'"), t.tensor);
    }
    if (!meta_.filename_tensor.empty())
      Check("'filename_tensor_name' of the saver", meta_.filename_tensor);
    if (!meta_.restore_op.empty()) Check("'restore_op_name' of the saver", meta_.restore_op);
    if (!meta_.init_op.empty()) Check("the initializer", meta_.init_op);
    for (const AssetFile& asset : meta_.assets) {
      const std::string what = absl::StrCat("asset '", asset.filename, "'");
      Check(what, asset.tensor);
      if (!IsInFolder(asset.filename)) Add(what, "lies outside of the folder 'assets'");
    }
  }

 private:
  static bool IsInFolder(const std::filesystem::path& name) {
    const std::filesystem::path path = name.lexically_normal();
    return !path.empty() && path.is_relative() && *path.begin() != ".." && *path.begin() != ".";
  }

  void Check(std::string_view what, const std::string& tensor) {
    const Graph& graph = imported_.graph;
    // A node's name alone may stand for a node without outputs, which is run, not fetched. The
    // outputs of an unknown op are not known.
    const NodeId n = NodeOfOutput(graph, tensor);
    if (n != kNoNode && (graph.name(n) == tensor || graph.op(n) == nullptr)) return;
    const absl::Status status = graph.ParseOutput(tensor).status();
    if (!status.ok()) Add(what, status.message());
  }

  void Add(std::string_view what, std::string_view message) {
    imported_.defects.push_back(
        {DefectCode::kSignature, file_, "", Printable(absl::StrCat(what, ": ", message))});
  }

  const std::string& file_;
  const MetaGraph& meta_;
  Imported& imported_;
};

absl::StatusOr<Imported> ImportGraph(const ModelBytes& model, const MetaBytes& parts, size_t index,
                                     const ImportLimits& limits) {
  ReadSource source;
  source.name = model.name;
  if (index < model.text.size()) source.text = model.text[index];
  FileBytes graph = Joined(model, parts.graphs);
  source.wire = graph.bytes;
  source.owner = std::move(graph.owner);
  source.mapped = graph.mapped;
  if (parts.graphs.size() == 1) source.offset = OffsetIn(model, source.wire.data());
  return ImportSource(std::move(source), limits);
}

// Reads all MetaGraphDefs into `saved`, and returns their parts.
absl::StatusOr<std::vector<MetaBytes>> ReadMetaGraphs(const ModelBytes& model,
                                                      const std::string& folder,
                                                      SavedModel& saved) {
  saved.folder = folder;
  saved.file = model.name;
  std::vector<MetaBytes> parts;
  WireReader reader(model.file.bytes);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number != kMetaGraphs || f.type != WireType::kBytes) continue;
    MetaGraph& meta = saved.meta_graphs.emplace_back();
    TENON_ASSIGN_OR_RETURN(MetaBytes split, SplitMetaGraph(model, f.bytes, meta.tags));
    const absl::Status read = MetaGraphReader(meta).Read(split.rest);
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          Printable(absl::StrCat(Locate(model, f.bytes.data()), ": ", read.message())));
    }
    meta.objects = Joined(model, split.objects);
    parts.push_back(std::move(split));
  }
  if (!reader.ok())
    return Malformed(model, model.file.bytes.data() + reader.offset(), "SavedModel");
  return parts;
}

std::string SpacedTags(const std::set<std::string>& tags) {
  return absl::StrCat("{ ", absl::StrJoin(tags, " "), " }");
}

absl::StatusOr<size_t> FindTags(const std::vector<MetaGraph>& graphs,
                                const std::vector<std::string>& tags) {
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::vector<std::string> there;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const std::set<std::string> has(graphs[i].tags.begin(), graphs[i].tags.end());
    if (has == wanted) return i;
    there.push_back(SpacedTags(has));
  }
  return absl::NotFoundError(Printable(
      absl::StrCat("Could not find meta graph def matching supplied tags: ", SpacedTags(wanted),
                   ". The SavedModel has the tag-sets ", absl::StrJoin(there, ", "), ".")));
}

}  // namespace

const Signature* MetaGraph::FindSignature(std::string_view name) const {
  const auto it = std::find_if(signatures.begin(), signatures.end(),
                               [&](const Signature& s) { return s.name == name; });
  return it == signatures.end() ? nullptr : &*it;
}

bool IsSavedModel(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathOf(folder, "saved_model.pb"), error) ||
         std::filesystem::exists(PathOf(folder, "saved_model.pbtxt"), error);
}

absl::StatusOr<ImportedSavedModel> ImportSavedModel(const std::string& folder,
                                                    const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(const ModelBytes model, ReadModelFile(folder, limits));
  ImportedSavedModel result;
  TENON_ASSIGN_OR_RETURN(const std::vector<MetaBytes> parts,
                         ReadMetaGraphs(model, folder, result.model));
  TENON_ASSIGN_OR_RETURN(result.model.chosen, ChooseGraph(model.name, result.model.meta_graphs));
  TENON_ASSIGN_OR_RETURN(
      result.imported, ImportGraph(model, parts[result.model.chosen], result.model.chosen, limits));
  ReferenceChecker(model.name, result.model.meta(), result.imported).Run();
  return result;
}

absl::StatusOr<FileBytes> ReadSavedModelFile(const std::string& folder,
                                             const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(ModelBytes model, ReadModelFile(folder, limits));
  return std::move(model.file);
}

absl::StatusOr<SavedModelBytes> ReadSavedModel(const std::string& folder,
                                               const std::vector<std::string>& tags,
                                               const ImportLimits& limits) {
  TENON_ASSIGN_OR_RETURN(const ModelBytes model, ReadModelFile(folder, limits));
  SavedModelBytes result;
  TENON_ASSIGN_OR_RETURN(const std::vector<MetaBytes> parts,
                         ReadMetaGraphs(model, folder, result.model));
  TENON_ASSIGN_OR_RETURN(result.model.chosen, FindTags(result.model.meta_graphs, tags));
  const MetaBytes& chosen = parts[result.model.chosen];
  result.meta_graph = Joined(model, {chosen.whole});
  result.graph = Joined(model, chosen.graphs);
  return result;
}

}  // namespace tenon
