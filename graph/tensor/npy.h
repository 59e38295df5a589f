// NumPy files: .npy arrays and .npz archives of them, to and from host tensors.
//
// Read: versions 1.0, 2.0 and 3.0, C and Fortran order, little- and big-endian; bool, integers,
// floats, complex, |S<n> and <U<n> (as UTF-8). Written: 1.0, C order, little-endian; strings as
// |S<n>. Types that NumPy lacks (bfloat16, 8-bit floats, int4 …) are their raw bits: <u2 or |u1,
// or <V2 or |V1 where read.
// Errors: INVALID_ARGUMENT for malformed files, UNIMPLEMENTED for arrays of objects or records,
// NOT_FOUND for a missing file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/base/file_bytes.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// `wanted` says the element type where the caller knows it (kInvalid: whatever the file says): raw
// bits become that type, anything else that does not fit is INVALID_ARGUMENT naming both; elements
// are never converted.
absl::StatusOr<Tensor> NpyFromBytes(std::string_view bytes, DataType wanted = DataType::kInvalid);
absl::StatusOr<std::string> NpyToBytes(const Tensor& tensor);

// Error messages start with the path.
absl::StatusOr<Tensor> ReadNpy(const std::string& path, DataType wanted = DataType::kInvalid);
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);

// A zip archive of stored or deflated .npy files; keys are the names without ".npy".
class NpzReader {
 public:
  static absl::StatusOr<NpzReader> Open(const std::string& path);
  static absl::StatusOr<NpzReader> FromBytes(FileBytes bytes);
  std::vector<std::string> Keys() const;
  // NOT_FOUND lists the keys.
  absl::StatusOr<Tensor> Read(std::string_view key, DataType wanted = DataType::kInvalid) const;

 private:
  struct Entry {
    std::string name;
    uint64_t place = 0, number = 0;  // in the archive's directory
  };
  absl::Status ReadDirectory();
  absl::StatusOr<FileBytes> Extract(const Entry& entry) const;

  std::string path_;  // for messages
  FileBytes bytes_;
  std::vector<Entry> entries_;
};

using NamedArrays = std::vector<std::pair<std::string, Tensor>>;
absl::StatusOr<std::string> NpzToBytes(const NamedArrays& arrays);
absl::Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace tenon
