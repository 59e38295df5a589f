// Reads and writes tensors in files, as SPECs and SINKs name them: NumPy arrays and archives, raw
// bytes. Errors of a file's content and of the system name the file; that of a key that the archive
// lacks lists its keys instead. A program that ends with an error of reading exits with
// kInvalidInput, with one of writing kRunFailed, where a function does not say otherwise.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Reads an .npy file if `key` is empty, otherwise the array `key` of an .npz archive. `as` is the
// wanted type; it also names types that NumPy lacks. kInvalid: the type that the file has. A file
// of another type is an error that names both types; nothing is converted.
absl::StatusOr<Tensor> LoadArray(const std::string& path, const std::string& key, DataType as);

// For `refused`, the error of reading an array as type `as`: with `hint` behind its text if
// `as_is`, the same array in its own type, could be converted (cast.h). Otherwise `refused`.
absl::Status HintAtCast(const absl::Status& refused, const absl::StatusOr<Tensor>& as_is,
                        DataType as, std::string_view hint);

// Reads every array of an .npz archive, in the archive's order. `type_of` returns the type that a
// key should have (kInvalid: any), or the error that ends the reading and is returned as it is. The
// error of an array of another type says by which --input it would be converted, if it could be.
using ArchiveTypes = std::function<absl::StatusOr<DataType>(const std::string& key)>;
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> LoadArchive(
    const std::string& path, const ArchiveTypes& type_of);

// Reads a file that must have exactly as many bytes as the tensor. Strings and other types without
// raw bytes are an error that exits with kUsage. An error of a tensor that is too large does not
// name the file.
absl::StatusOr<Tensor> LoadRaw(const std::string& path, DataType dtype, const Shape& shape);

// Whether the file starts as an .npy file or as a ZIP archive, which an .npz file is. False if it
// cannot be read.
bool LooksLikeNumPy(const std::string& path);

// The Save functions replace a file that is there. SaveRaw is INVALID_ARGUMENT for types without
// raw bytes.
absl::Status SaveArray(const std::string& path, const Tensor& tensor);
absl::Status SaveArchive(const std::string& path,
                         const std::vector<std::pair<std::string, Tensor>>& arrays);
absl::Status SaveRaw(const std::string& path, const Tensor& tensor);

}  // namespace tenon::cli
