// Writes checkpoints in TensorFlow's second format, with one data file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/base/file_writer.h"
#include "graph/saved_model/bundle/tensor_slice.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Entries of an index, BundleEntryProto bytes by key.
using BundleEntries = std::map<std::string, std::string>;

// Writes `prefix.index` from a header and the entries, as a whole or not at all (file_writer.h).
// `entries` need no header: the function adds the header's entry. Errors are those of
// IndexTableBytes and WriteFile.
absl::Status WriteBundleIndex(const std::string& prefix, int num_shards, BundleEntries entries);

// Writes one checkpoint. The files appear under their names in Finish, each as a whole; an error in
// Finish may leave the new data file beside the old index. Without Finish no file is left. A tensor
// that is refused (INVALID_ARGUMENT or UNIMPLEMENTED from Add or AddPart) leaves the writer as it
// was. After another error the writer may only be destroyed. Errors of writing are those of
// FileWriter. Messages name the file or the tensor. Not thread-safe.
class BundleWriter {
 public:
  // Opens a temporary data file. Makes the folder of `prefix` if it does not exist. Errors as of
  // FileWriter::Create.
  static absl::StatusOr<BundleWriter> Create(std::string prefix);
  BundleWriter(BundleWriter&&) noexcept = default;

  // Adds a tensor, whose bytes are written before the call returns. INVALID_ARGUMENT for a name
  // that is empty or was added before; UNIMPLEMENTED for resources and variants. The tensor must be
  // initialized and in host memory.
  absl::Status Add(std::string_view name, const Tensor& tensor);
  // Adds the part `whole.slice` of a tensor of shape `whole.shape`. All parts of one tensor have
  // the same type and the same whole shape. INVALID_ARGUMENT if they do not, if the slice does not
  // lie in the whole, if `part` has another shape than the slice, or if this slice or the whole
  // tensor was added before; other errors are those of Add. Parts that overlap or leave elements
  // out are not found here, but when read.
  absl::Status AddPart(std::string_view name, const ShapeAndSlice& whole, const Tensor& part);
  // Puts the data file and then the index (WriteBundleIndex) under their names. Call it once, as
  // the last call.
  absl::Status Finish();

 private:
  struct Whole {
    Shape shape;
    DataType dtype = DataType::kInvalid;
    std::vector<TensorSlice> slices;
  };

  BundleWriter(std::string prefix, FileWriter file)
      : prefix_(std::move(prefix)), file_(std::move(file)) {}
  absl::Status AddEntry(std::string key, std::string_view name, const Tensor& tensor);
  absl::Status Write(std::string_view bytes, uint32_t* crc);
  absl::Status WriteStrings(const Tensor& tensor, uint32_t* crc);

  std::string prefix_;
  FileWriter file_;  // the data file
  int64_t size_ = 0;
  BundleEntries entries_;
  std::map<std::string, Whole, std::less<>> wholes_;  // tensors that are added in parts, by name
};

}  // namespace tenon
