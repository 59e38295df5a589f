// SavedModel folders: a graph, and what the folder says about it. Restoring what the graph's
// variables hold is the executor's business.
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

// An argument or a result of a signature. A sparse one is three: name/values, name/indices,
// name/dense_shape; another composite one name/0, name/1 ….
struct SignatureTensor {
  std::string name;
  std::string tensor;  // of the graph: "node:0"
  DataType dtype = DataType::kInvalid;
  PartialShape shape;
  Tensor default_value;  // of an argument that may be left out; uninitialized: none
};

// An argument or a result that is several tensors.
struct CompositeTensor {
  std::string name, spec;  // spec: "RaggedTensorSpec"
  DataType dtype = DataType::kInvalid;
  PartialShape shape;
};

struct Signature {
  std::string name, method;
  // Sorted by name. Of composites the parts.
  std::vector<SignatureTensor> inputs, outputs;
  std::vector<CompositeTensor> composite_inputs, composite_outputs;
};

struct AssetFile {
  std::string tensor;    // takes the file's path
  std::string filename;  // within FOLDER/assets
  friend bool operator==(const AssetFile&, const AssetFile&) = default;
};

// A graph of the folder, as its MetaGraphDef describes it.
struct MetaGraph {
  std::vector<std::string> tags;
  std::vector<Signature> signatures;  // sorted by name
  std::string filename_tensor;        // takes the path of the variables; empty: none
  std::string restore_op;             // restores them; empty: none
  std::string init_op;                // to be run once after that; empty: none
  std::vector<AssetFile> assets;
  FileBytes objects;  // what the graph was made of: graph/saved_model/saved_objects.h; may be empty

  const Signature* FindSignature(std::string_view name) const;
};

struct SavedModel {
  std::string folder;
  std::string file;  // saved_model.pb, with the folder
  std::vector<MetaGraph> meta_graphs;
  size_t chosen = 0;  // whose graph is imported

  const MetaGraph& meta() const { return meta_graphs[chosen]; }
};

struct ImportedSavedModel {
  SavedModel model;
  Imported imported;  // positions are those in saved_model.pb
};

// Whether a folder holds saved_model.pb or saved_model.pbtxt.
bool IsSavedModel(const std::string& folder);

// Reads FOLDER/saved_model.pb, or saved_model.pbtxt, and the graph that is tagged `serve`, or else
// the only one. Errors as of ImportFile; INVALID_ARGUMENT lists the tags where none can be chosen.
absl::StatusOr<ImportedSavedModel> ImportSavedModel(const std::string& folder,
                                                    const ImportLimits& limits = {});

}  // namespace tenon
