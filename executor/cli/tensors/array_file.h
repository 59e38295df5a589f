// Tensors in files as SPECs and SINKs name them: NumPy arrays and archives, raw bytes. Errors name
// the file and exit with kInvalidInput when reading, kRunFailed when writing.
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

// An .npy file, or one key of an .npz archive. `as` (kInvalid: what the file says) names types that
// NumPy lacks; a type that does not fit is an error that names both.
absl::StatusOr<Tensor> LoadArray(const std::string& path, const std::string& key, DataType as);

// Every array of an .npz. `type_of` tells the element type that a key should have, or refuses it.
using ArchiveTypes = std::function<absl::StatusOr<DataType>(const std::string& key)>;
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> LoadArchive(
    const std::string& path, const ArchiveTypes& type_of);

// A file of exactly as many bytes as the tensor has. Not for strings.
absl::StatusOr<Tensor> LoadRaw(const std::string& path, DataType dtype, const Shape& shape);

// Whether the file starts as an .npy or .npz does. False for a file that cannot be read.
bool LooksLikeNumPy(const std::string& path);

absl::Status SaveArray(const std::string& path, const Tensor& tensor);
absl::Status SaveArchive(const std::string& path,
                         const std::vector<std::pair<std::string, Tensor>>& arrays);
absl::Status SaveRaw(const std::string& path, const Tensor& tensor);

}  // namespace tenon::cli
