// NumPy files: .npy arrays and .npz archives of them, to and from host tensors.
//
// Read: versions 1.0, 2.0 and 3.0, C and Fortran order, little- and big-endian; bool, integers,
// floats, complex, |S<n> and <U<n> (as UTF-8; n from 1 on). Zeros at the end of a string are lost,
// as in NumPy. Bytes behind the last element are ignored.
// Written: version 1.0, C order, little-endian; strings as |S<n>, where n is the longest,
// at least 1.
// Types that NumPy lacks (bfloat16, 8-bit floats, int4 …) are written as raw bits, <u2 or |u1; <V2
// and |V1 are read as such bits too. Quantized types are written as their integers.
// Errors:
// INVALID_ARGUMENT: a malformed file, a bool that is neither 0 nor 1, a character without a UTF-8
// form, sizes that the file does not hold, or a deflated array of more than half of the machine's
// memory. Memory is allocated only after sizes are compared with the file.
// UNIMPLEMENTED: arrays of objects, records or times, elements of other sizes, encrypted archives,
// packing other than stored and deflated; in writing, resources, variants, reference types, shapes
// too long for the header and archives above 4 GiB.
// NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT: the file cannot be read. Errors of writing files
// are those of FileWriter (graph/base/file_writer.h).
// RESOURCE_EXHAUSTED: no memory for a tensor, or to begin an archive. Functions that copy a file or
// make its bytes throw bad_alloc where memory is short.
// INTERNAL: the zip library fails.
// All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/base/file_bytes.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Returns the array. `wanted` is the element type where the caller knows it; kInvalid takes the
// type that the file says. If `wanted` is a type that NumPy lacks, elements of the type that it is
// written as are taken as `wanted`, bit by bit. Elements are never converted: for another type
// INVALID_ARGUMENT names both.
absl::StatusOr<Tensor> NpyFromBytes(std::string_view bytes, DataType wanted = DataType::kInvalid);
// The tensor must be initialized and in host memory.
absl::StatusOr<std::string> NpyToBytes(const Tensor& tensor);

// ReadNpy and NpzReader::Open read standard input for "-". Messages start with the path, but for
// tensors that have no NumPy form. WriteNpy writes the file as a whole or not at all.
absl::StatusOr<Tensor> ReadNpy(const std::string& path, DataType wanted = DataType::kInvalid);
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);

// A zip archive of stored or deflated .npy files. Keys are the names of all files, without ".npy"
// where a name ends so, in the order of the archive. Keys lists equal ones as often as they are
// there; Read takes the first. Open reads the directory; Read unpacks one file and compares its
// checksum. Large files stay mapped for as long as the reader lives. Reading is thread-safe.
class NpzReader {
 public:
  static absl::StatusOr<NpzReader> Open(const std::string& path);
  static absl::StatusOr<NpzReader> FromBytes(FileBytes bytes);
  std::vector<std::string> Keys() const;
  // Returns a tensor in memory of its own; `wanted` is that of NpyFromBytes. NOT_FOUND lists the
  // keys; other messages start with "path[key]", after FromBytes with "[key]".
  absl::StatusOr<Tensor> Read(std::string_view key, DataType wanted = DataType::kInvalid) const;

 private:
  struct Entry {
    std::string name;
    uint64_t place = 0, number = 0;  // byte offset in the archive's directory, and index in it
  };
  absl::Status ReadDirectory();
  absl::StatusOr<FileBytes> Extract(const Entry& entry) const;

  std::string path_;  // for messages
  FileBytes bytes_;
  std::vector<Entry> entries_;
};

using NamedArrays = std::vector<std::pair<std::string, Tensor>>;
// Make an archive of stored files, in the order of `arrays`; equal arrays give equal bytes. Keys
// are not compared: NumPy reads the last of equal ones. WriteNpz writes the file as a whole or not
// at all.
absl::StatusOr<std::string> NpzToBytes(const NamedArrays& arrays);
absl::Status WriteNpz(const std::string& path, const NamedArrays& arrays);

}  // namespace tenon
