// The functions of c_api_experimental.h that read checkpoints.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "tensorflow/c/c_api_experimental.h"

struct TF_CheckpointReader {
  using Pool = tenon::Handles<TF_CheckpointReader>;
  tenon::BundleReader bundle;
  std::vector<std::string> names;  // sorted
};

namespace tenon::api {
namespace {

// The names of the tensors. Other keys are that of the header, "", and those of slices, which begin
// with a zero.
absl::StatusOr<std::vector<std::string>> NamesIn(const BundleReader& bundle) {
  std::vector<std::string> names;
  TENON_RETURN_IF_ERROR(bundle.index().ForEach([&](std::string_view key, std::string_view) {
    if (!key.empty() && key[0] != '\0') names.emplace_back(key);
    return absl::OkStatus();
  }));
  return names;
}

absl::StatusOr<TF_CheckpointReader*> OpenCheckpoint(const char* prefix) {
  absl::StatusOr<BundleReader> bundle =
      BundleReader::Open(prefix, [](std::string_view path) { return std::string(path); });
  if (absl::IsNotFound(bundle.status())) {
    return absl::NotFoundError(absl::StrCat(
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ",
        prefix, " (", bundle.status().message(), ")"));
  }
  TENON_RETURN_IF_ERROR(bundle.status());
  TENON_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(*bundle));
  return TF_CheckpointReader::Pool::New(*std::move(bundle), std::move(names));
}

// What is known of a tensor of this name; NOT_FOUND for none.
absl::StatusOr<BundleReader::TensorInfo> InfoOf(const TF_CheckpointReader* reader,
                                                const char* name) {
  if (name == nullptr || !std::binary_search(reader->names.begin(), reader->names.end(), name)) {
    return absl::NotFoundError(
        absl::StrCat("Key ", absl::NullSafeStringView(name), " not found in checkpoint"));
  }
  return reader->bundle.Find(name);
}

absl::Status CopyDims(const BundleReader::TensorInfo& info, int64_t* dims, int num_dims) {
  if (info.shape.rank() != num_dims) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected rank is ", num_dims, " but actual rank is ", info.shape.rank()));
  }
  std::copy(info.shape.dims().begin(), info.shape.dims().end(), dims);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::IsThere;
using tenon::api::AllGiven;
using tenon::api::InfoOf;

extern "C" {

TF_CheckpointReader* TF_NewCheckpointReader(const char* filename, TF_Status* status) try {
  if (!AllGiven({{"filename", filename}}, status)) return nullptr;
  const absl::StatusOr<TF_CheckpointReader*> reader = tenon::api::OpenCheckpoint(filename);
  tenon::StatusToC(reader.status(), status);
  return reader.value_or(nullptr);
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_DeleteCheckpointReader(TF_CheckpointReader* reader) { tenon::DeleteHandle(reader); }

int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, const char* name) try {
  return IsThere(reader) && InfoOf(reader, name).ok();
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_CheckpointReaderSize(TF_CheckpointReader* reader) {
  return IsThere(reader) ? static_cast<int>(reader->names.size()) : 0;
}

const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index) {
  if (!IsThere(reader) || index < 0 || static_cast<size_t>(index) >= reader->names.size())
    return nullptr;
  return reader->names[index].c_str();
}

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader,
                                                   const char* name) try {
  if (!IsThere(reader)) return static_cast<TF_DataType>(0);
  const absl::StatusOr<tenon::BundleReader::TensorInfo> info = InfoOf(reader, name);
  return static_cast<TF_DataType>(info.ok() ? static_cast<int>(info->dtype) : 0);
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, const char* name) try {
  if (!IsThere(reader)) return -1;
  const absl::StatusOr<tenon::BundleReader::TensorInfo> info = InfoOf(reader, name);
  return info.ok() ? info->shape.rank() : -1;
} catch (...) {
  tenon::WithoutMemory();
  return -1;
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, const char* name,
                                         int64_t* dims, int num_dims, TF_Status* status) try {
  if (!AllGiven({{"reader", reader}, {"name", name}}, status) ||
      !tenon::api::IsArray("dims", dims, num_dims, status))
    return;
  const absl::StatusOr<tenon::BundleReader::TensorInfo> info = InfoOf(reader, name);
  tenon::StatusToC(info.ok() ? tenon::api::CopyDims(*info, dims, num_dims) : info.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, const char* name,
                                        TF_Status* status) try {
  if (!AllGiven({{"reader", reader}, {"name", name}}, status)) return nullptr;
  const absl::Status known = InfoOf(reader, name).status();
  absl::StatusOr<tenon::Tensor> tensor =
      known.ok() ? reader->bundle.Read(name) : absl::StatusOr<tenon::Tensor>(known);
  tenon::StatusToC(tensor.status(), status);
  return tensor.ok() ? tenon::NewTensorHandle(*std::move(tensor)) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
