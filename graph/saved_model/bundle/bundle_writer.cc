// Writes a checkpoint with one data file: tensors as they come, and the index at the end.

#include "graph/saved_model/bundle/bundle_writer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/base/crc32c.h"
#include "graph/base/status_macros.h"
#include "graph/saved_model/bundle/bundle_format.h"
#include "graph/saved_model/bundle/index_table.h"
#include "graph/wire/wire.h"
#include "proto/tensor_bundle.pb.h"

namespace tenon {
namespace {

void SetShape(const Shape& shape, pb::TensorShapeProto* proto) {
  for (const int64_t size : shape.dims()) proto->add_dim()->set_size(size);
}

absl::Status Invalid(std::string_view name, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", absl::Utf8SafeCHexEscape(name), "' ", why));
}

}  // namespace

absl::Status WriteBundleIndex(const std::string& prefix, int num_shards, BundleEntries entries) {
  pb::BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.mutable_version()->set_producer(kBundleVersion);
  // The header's key is empty, so it sorts before all tensors.
  entries[std::string(kHeaderKey)] = header.SerializeAsString();
  TENON_ASSIGN_OR_RETURN(const std::string bytes, IndexTableBytes(entries));
  return WriteFile(IndexPath(prefix), bytes);
}

absl::StatusOr<BundleWriter> BundleWriter::Create(std::string prefix) {
  std::error_code error;  // shows when the file is opened
  std::filesystem::create_directories(std::filesystem::path(prefix).parent_path(), error);
  TENON_ASSIGN_OR_RETURN(FileWriter file, FileWriter::Create(ShardPath(prefix, 0, 1)));
  return BundleWriter(std::move(prefix), std::move(file));
}

absl::Status BundleWriter::Write(std::string_view bytes, uint32_t* crc) {
  TENON_RETURN_IF_ERROR(file_.Write(bytes));
  if (crc != nullptr) *crc = ExtendCrc32c(*crc, bytes);
  size_ += static_cast<int64_t>(bytes.size());
  return absl::OkStatus();
}

// Lengths as varints, a checksum of the lengths, then the text. The entry's checksum takes the
// lengths as words, not as the varints of the file.
absl::Status BundleWriter::WriteStrings(const Tensor& tensor, uint32_t* crc) {
  std::string lengths;
  WireWriter writer(&lengths);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const uint64_t length = tensor.StringAt(i).size();
    writer.RawVarint(length);
    *crc = ExtendWithLength(*crc, length);
  }
  TENON_RETURN_IF_ERROR(Write(lengths, nullptr));
  const uint32_t lengths_crc = MaskCrc32c(*crc);
  TENON_RETURN_IF_ERROR(Write(BytesOfWord(lengths_crc), crc));
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    TENON_RETURN_IF_ERROR(Write(tensor.StringAt(i), crc));
  return absl::OkStatus();
}

absl::Status BundleWriter::AddEntry(std::string key, std::string_view name, const Tensor& tensor) {
  const bool strings = tensor.dtype() == DataType::kString;
  if (!strings && !IsMemcpyable(tensor.dtype())) {
    return absl::UnimplementedError(absl::StrCat("tensor '", name, "' of type ",
                                                 DataTypeName(tensor.dtype()), " in a checkpoint"));
  }
  if (name == kHeaderKey) return Invalid(name, "must have a name");
  if (entries_.contains(key) || wholes_.contains(key)) return Invalid(name, "is saved twice");
  pb::BundleEntryProto entry;
  entry.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  SetShape(tensor.shape(), entry.mutable_shape());
  entry.set_offset(size_);
  uint32_t crc = 0;
  TENON_RETURN_IF_ERROR(
      strings ? WriteStrings(tensor, &crc)
              : Write({static_cast<const char*>(tensor.data()), tensor.bytes()}, &crc));
  entry.set_size(size_ - entry.offset());
  entry.set_crc32c(MaskCrc32c(crc));
  entries_.emplace(std::move(key), entry.SerializeAsString());
  return absl::OkStatus();
}

absl::Status BundleWriter::Add(std::string_view name, const Tensor& tensor) {
  return AddEntry(std::string(name), name, tensor);
}

absl::Status BundleWriter::AddPart(std::string_view name, const ShapeAndSlice& whole,
                                   const Tensor& part) {
  const absl::StatusOr<Region> region = whole.slice.In(whole.shape);
  if (!region.ok()) return Invalid(name, absl::StrCat(": ", region.status().message()));
  if (!(region->shape == part.shape())) {
    return Invalid(
        name, absl::StrCat("has a part '", whole.slice.ToString(), "' of shape ",
                           region->shape.ToString(), ", the value's is ", part.shape().ToString()));
  }
  // A slice that is the whole tensor is stored as a plain tensor, as TensorFlow does.
  if (*region == Region::All(whole.shape)) return Add(name, part);
  if (entries_.contains(std::string(name))) return Invalid(name, "is saved twice");
  const auto known = wholes_.find(name);
  if (known != wholes_.end() &&
      (!(known->second.shape == whole.shape) || known->second.dtype != part.dtype())) {
    return Invalid(name, "has parts that differ in the type or in the shape of the whole");
  }
  TENON_RETURN_IF_ERROR(AddEntry(SliceKey(name, whole.slice), name, part));
  Whole& w = known != wholes_.end() ? known->second : wholes_[std::string(name)];
  w.shape = whole.shape;
  w.dtype = part.dtype();
  w.slices.push_back(whole.slice);
  return absl::OkStatus();
}

absl::Status BundleWriter::Finish() {
  // The entry of a tensor in parts has no data of its own: it lists the slices.
  for (const auto& [name, whole] : wholes_) {
    pb::BundleEntryProto entry;
    entry.set_dtype(static_cast<pb::DataType>(whole.dtype));
    SetShape(whole.shape, entry.mutable_shape());
    for (const TensorSlice& slice : whole.slices) {
      pb::TensorSliceProto* const proto = entry.add_slices();
      for (const TensorSlice::Extent& e : slice.extents) {
        auto* const extent = proto->add_extent();
        extent->set_start(e.start);
        if (e.length != TensorSlice::kToTheEnd) extent->set_length(e.length);
      }
    }
    entries_.emplace(name, entry.SerializeAsString());
  }
  // The data file first: an index must not name data that is not there.
  TENON_RETURN_IF_ERROR(file_.Finish());
  return WriteBundleIndex(prefix_, 1, std::move(entries_));
}

}  // namespace tenon
