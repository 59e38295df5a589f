// Reads SavedModel folders: a graph, and what the folder says of the graph. Reads no values of
// variables; the executor restores them from the checkpoint in the folder. All functions are
// thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/base/file_bytes.h"
#include "graph/io/io.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// An argument or a result of a signature. A sparse tensor is three of them: name/values,
// name/indices and name/dense_shape. Another composite tensor is name/0, name/1 …, one for each
// component.
struct SignatureTensor {
  std::string name;
  std::string tensor;                   // the tensor of the graph, "node:0"
  DataType dtype = DataType::kInvalid;  // kInvalid: the folder does not say
  PartialShape shape;
  Tensor default_value;  // of an argument that may be left out; else uninitialized
};

// An argument or a result that is several tensors. Signature::inputs or outputs has its parts.
struct CompositeTensor {
  std::string name, spec;  // spec: "RaggedTensorSpec"
  DataType dtype = DataType::kInvalid;
  PartialShape shape;
};

struct Signature {
  std::string name, method;  // method: "tensorflow/serving/predict", as the model says
  // Sorted by name. Instead of a composite tensor they have its parts.
  std::vector<SignatureTensor> inputs, outputs;
  // In no fixed order.
  std::vector<CompositeTensor> composite_inputs, composite_outputs;
};

struct AssetFile {
  std::string tensor;    // the tensor that takes the file's path
  std::string filename;  // relative to FOLDER/assets
  friend bool operator==(const AssetFile&, const AssetFile&) = default;
};

// A graph of the folder, as its MetaGraphDef describes it.
struct MetaGraph {
  std::vector<std::string> tags;
  std::vector<Signature> signatures;  // sorted by name
  std::string filename_tensor;        // tensor that takes the path of the variables; or empty
  std::string restore_op;             // node that restores variables; or empty
  // The node, or an output of the node, to run after restore_op; or empty.
  std::string init_op;
  std::vector<AssetFile> assets;
  // What TensorFlow's loaders look up by name besides all that: what saves, and what collections
  // tell of variables and queues. Nodes and tensors of the graph, and texts that are neither.
  std::vector<std::string> other_names;
  FileBytes objects;  // SavedObjectGraph bytes (saved_objects.h); may be empty

  // Null if no signature has the name. The pointer lives as long as this object and its list of
  // signatures.
  const Signature* FindSignature(std::string_view name) const;
};

struct SavedModel {
  std::string folder;
  std::string file;  // the path of saved_model.pb or saved_model.pbtxt
  std::vector<MetaGraph> meta_graphs;
  size_t chosen = 0;  // the index of the imported graph in meta_graphs

  const MetaGraph& meta() const { return meta_graphs[chosen]; }
};

struct ImportedSavedModel {
  SavedModel model;
  Imported imported;  // positions are those in model.file
};

// Whether a folder holds saved_model.pb or saved_model.pbtxt.
bool IsSavedModel(const std::string& folder);

// Reads FOLDER/saved_model.pb, or else saved_model.pbtxt; either may hold bytes or text. Imports
// the only graph. Of several graphs imports the only one that is tagged `serve` and nothing else,
// or else the only one that has this tag at all. Where the signatures, saver, initializer or assets
// of the imported graph name neither a tensor nor a node of it, that is a defect; so is an asset
// outside of FOLDER/assets. These defects come behind those of the graph.
// NOT_FOUND: the folder has neither file.
// INVALID_ARGUMENT: malformed content; no graph; or several of which none can be chosen, and then
// the message lists their tags. Other errors are those of ImportFile.
absl::StatusOr<ImportedSavedModel> ImportSavedModel(const std::string& folder,
                                                    const ImportLimits& limits = {});

// A SavedModel whose graph is still bytes: views of the file, or of memory that they own.
struct SavedModelBytes {
  SavedModel model;
  FileBytes meta_graph;  // the MetaGraphDef that was chosen
  FileBytes graph;       // its GraphDef
};

// Reads the same files, imports nothing, and chooses the first graph that has all of `tags` and no
// other tag; the order and repetitions of tags do not count. NOT_FOUND, with TensorFlow's message
// and the tags of each graph, if no graph has these tags. Names of tensors and nodes are not
// checked. Other errors are those of ImportSavedModel for files that are missing, cannot be read or
// are malformed.
absl::StatusOr<SavedModelBytes> ReadSavedModel(const std::string& folder,
                                               const std::vector<std::string>& tags,
                                               const ImportLimits& limits = {});

// The bytes of a SavedModel from the same files; if the file is text, made of it. Bytes are not
// checked. Errors are those of ImportSavedModel for files that are missing or cannot be read, and
// for malformed text.
absl::StatusOr<FileBytes> ReadSavedModelFile(const std::string& folder,
                                             const ImportLimits& limits = {});

}  // namespace tenon
