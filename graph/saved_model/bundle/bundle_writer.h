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

// Entries of an index by key: bytes of BundleEntryProto.
using BundleEntries = std::map<std::string, std::string>;

// Writes `prefix.index`, with a header in front of the entries. The file is there whole or not at
// all.
absl::Status WriteBundleIndex(const std::string& prefix, int num_shards, BundleEntries entries);

// The files appear under their names in Finish; a writer that is dropped before leaves none.
// Messages name the file or the tensor. Not thread-safe.
class BundleWriter {
 public:
  // Makes the folder if need be.
  static absl::StatusOr<BundleWriter> Create(std::string prefix);
  BundleWriter(BundleWriter&&) noexcept = default;

  // INVALID_ARGUMENT for a name that is empty or was there before; UNIMPLEMENTED for a type that is
  // neither plain nor string.
  absl::Status Add(std::string_view name, const Tensor& tensor);
  // The part of a tensor of this shape. All parts of one tensor have one shape and type to name.
  absl::Status AddPart(std::string_view name, const ShapeAndSlice& whole, const Tensor& part);
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
  FileWriter file_;  // of the data
  int64_t size_ = 0;
  BundleEntries entries_;
  std::map<std::string, Whole, std::less<>> wholes_;  // tensors in parts
};

}  // namespace tenon
