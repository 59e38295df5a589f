#include "executor/cli/tensors/array_file.h"

#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/tensors/cast.h"
#include "executor/values/tensor_text.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/npy.h"

namespace tenon::cli {
namespace {

// A failed read of an input file.
template <typename T>
absl::StatusOr<T> Read(absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return WithExit(Exit::kInvalidInput, value.status());
}

absl::Status NoBytes(std::string_view path, DataType dtype) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", DataTypeShortName(dtype), " has no raw bytes; use .npy"));
}

}  // namespace

absl::Status HintAtCast(const absl::Status& refused, const absl::StatusOr<Tensor>& as_is,
                        DataType as, std::string_view hint) {
  if (!as_is.ok() || !Cast(*as_is, as).ok()) return refused;
  return WithExit(Exit::kInvalidInput,
                  absl::InvalidArgumentError(absl::StrCat(refused.message(), "; ", hint)));
}

absl::StatusOr<Tensor> LoadArray(const std::string& path, const std::string& key, DataType as) {
  if (key.empty()) {
    absl::StatusOr<Tensor> array = ReadNpy(path, as);
    return Read(std::move(array));
  }
  TENON_ASSIGN_OR_RETURN(const NpzReader archive, Read(NpzReader::Open(path)));
  return Read(archive.Read(key, as));
}

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> LoadArchive(
    const std::string& path, const ArchiveTypes& type_of) {
  TENON_ASSIGN_OR_RETURN(const NpzReader archive, Read(NpzReader::Open(path)));
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const std::string& key : archive.Keys()) {
    TENON_ASSIGN_OR_RETURN(const DataType dtype, type_of(key));
    absl::StatusOr<Tensor> array = Read(archive.Read(key, dtype));
    if (!array.ok() && dtype != DataType::kInvalid) {
      return HintAtCast(array.status(), archive.Read(key, DataType::kInvalid), dtype,
                        absl::StrCat("--input '", key, "=", DataTypeShortName(dtype), "(@", path,
                                     "[", key, "])' converts it: feed each array so"));
    }
    TENON_RETURN_IF_ERROR(array.status());
    arrays.emplace_back(key, *std::move(array));
  }
  return arrays;
}

absl::StatusOr<Tensor> LoadRaw(const std::string& path, DataType dtype, const Shape& shape) {
  if (!IsMemcpyable(dtype)) return WithExit(Exit::kUsage, NoBytes(path, dtype));
  TENON_ASSIGN_OR_RETURN(const FileBytes file, Read(ReadFile(path, SIZE_MAX)));
  TENON_ASSIGN_OR_RETURN(const size_t wanted, Read(TensorBytes(dtype, shape)));
  if (file.bytes.size() != wanted) {
    return WithExit(Exit::kInvalidInput, absl::InvalidArgumentError(absl::StrCat(
                                             path, ": has ", file.bytes.size(), " bytes where ",
                                             TypeText(dtype, shape), " takes ", wanted)));
  }
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Read(Tensor::Allocate(dtype, shape)));
  if (wanted > 0) std::memcpy(tensor.data(), file.bytes.data(), wanted);
  return tensor;
}

bool LooksLikeNumPy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[6] = {};
  file.read(magic, sizeof(magic));
  // An .npz file is a ZIP archive.
  return std::memcmp(magic, "\x93NUMPY", 6) == 0 || std::memcmp(magic, "PK\x03\x04", 4) == 0;
}

absl::Status SaveArray(const std::string& path, const Tensor& tensor) {
  return WriteNpy(path, tensor);
}

absl::Status SaveArchive(const std::string& path,
                         const std::vector<std::pair<std::string, Tensor>>& arrays) {
  return WriteNpz(path, arrays);
}

absl::Status SaveRaw(const std::string& path, const Tensor& tensor) {
  if (!IsMemcpyable(tensor.dtype())) return NoBytes(path, tensor.dtype());
  return WriteFile(path, {static_cast<const char*>(tensor.data()), tensor.bytes()});
}

}  // namespace tenon::cli
