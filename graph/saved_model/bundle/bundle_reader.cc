// Everything in a checkpoint is checked against the sizes of its files before memory is allocated
// for it. A tensor may be stored in parts (slices), which are read into their places.

#include "graph/saved_model/bundle/bundle_reader.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/crc32c.h"
#include "graph/base/status_macros.h"
#include "graph/saved_model/bundle/bundle_format.h"
#include "graph/wire/wire.h"
#include "proto/tensor_bundle.pb.h"

namespace tenon {
namespace {

absl::Status Damaged(std::string_view path, std::string_view name, std::string_view why) {
  return absl::DataLossError(
      absl::StrCat(path, ": tensor '", absl::Utf8SafeCHexEscape(name), "' ", why));
}

TensorSlice SliceOf(const pb::TensorSliceProto& proto) {
  TensorSlice slice;
  for (const auto& e : proto.extent())
    slice.extents.push_back({e.start(), e.has_length() ? e.length() : TensorSlice::kToTheEnd});
  return slice;
}

absl::StatusOr<Shape> ShapeOf(const pb::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return absl::InvalidArgumentError("the rank is unknown");
  Dims dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return Shape::Make(dims);
}

}  // namespace

struct BundleReader::Stored {
  std::string name;  // of the tensor, for messages
  DataType dtype;
  Shape shape;
  int shard;
  int64_t offset, size;
  uint32_t crc;
  std::vector<TensorSlice> slices;

  int64_t count() const { return shape.num_elements(); }
};

struct BundleReader::Piece {
  Region part;       // of the tensor
  Region stored_at;  // the region of the whole entry; contains `part`
  Stored stored;
};

absl::StatusOr<BundleReader> BundleReader::Open(std::string prefix, ResolvePath resolve) {
  TENON_ASSIGN_OR_RETURN(const std::string path, resolve(IndexPath(prefix)));
  TENON_ASSIGN_OR_RETURN(IndexTable index, IndexTable::Open(path));
  BundleReader reader(std::move(prefix), std::move(resolve), std::move(index));
  TENON_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, reader.index_.Find(kHeaderKey));
  pb::BundleHeaderProto header;
  if (!bytes.has_value() || !header.ParseFromString(*bytes) || header.num_shards() < 0)
    return absl::DataLossError(absl::StrCat(path, ": the checkpoint's header is missing or bad"));
  if (header.endianness() != pb::BundleHeaderProto::LITTLE)
    return absl::UnimplementedError(absl::StrCat(path, ": the checkpoint is not little-endian"));
  if (header.version().min_consumer() > kBundleVersion) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": the checkpoint asks for readers of version ",
                     header.version().min_consumer(), ", this is ", kBundleVersion));
  }
  reader.num_shards_ = header.num_shards();
  return reader;
}

absl::StatusOr<std::optional<BundleReader::Stored>> BundleReader::Lookup(
    const std::string& key, std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, index_.Find(key));
  if (!bytes.has_value()) return std::nullopt;
  pb::BundleEntryProto entry;
  if (!entry.ParseFromString(*bytes))
    return Damaged(index_.path(), name, "has an entry that cannot be read");
  Stored stored{std::string(name), static_cast<DataType>(entry.dtype()),
                Shape(),           entry.shard_id(),
                entry.offset(),    entry.size(),
                entry.crc32c(),    {}};
  if (!IsKnownDataType(entry.dtype()) || IsRef(stored.dtype) || DataTypeSize(stored.dtype) == 0)
    return Damaged(index_.path(), name, absl::StrCat("has no known type: ", entry.dtype()));
  if (!IsMemcpyable(stored.dtype) && stored.dtype != DataType::kString) {
    return absl::UnimplementedError(absl::StrCat(index_.path(), ": tensor '", name, "' of type ",
                                                 DataTypeName(stored.dtype), " is stored there"));
  }
  absl::StatusOr<Shape> shape = ShapeOf(entry.shape());
  if (!shape.ok())
    return Damaged(index_.path(), name,
                   absl::StrCat("has a bad shape: ", shape.status().message()));
  stored.shape = *std::move(shape);
  for (const pb::TensorSliceProto& slice : entry.slices()) stored.slices.push_back(SliceOf(slice));
  return stored;
}

absl::StatusOr<BundleReader::Stored> BundleReader::LookupTensor(std::string_view name) const {
  std::optional<Stored> stored;
  if (name != kHeaderKey) {
    TENON_ASSIGN_OR_RETURN(stored, Lookup(std::string(name), name));
  }
  if (stored.has_value()) return *std::move(stored);
  return absl::NotFoundError(absl::StrCat(index_.path(), ": there is no tensor '",
                                          absl::Utf8SafeCHexEscape(name), "' in the checkpoint"));
}

absl::StatusOr<BundleReader::TensorInfo> BundleReader::Find(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(Stored stored, LookupTensor(name));
  return TensorInfo{stored.dtype, std::move(stored.shape)};
}

absl::StatusOr<const DataFile*> BundleReader::Shard(int shard) {
  const auto known = shards_.find(shard);
  if (known != shards_.end()) return &known->second;
  TENON_ASSIGN_OR_RETURN(const std::string path, resolve_(ShardPath(prefix_, shard, num_shards_)));
  TENON_ASSIGN_OR_RETURN(DataFile file, DataFile::Open(path));
  return &shards_.emplace(shard, std::move(file)).first->second;
}

// Returns the data file after comparing place and size of `s` with the file's size and the tensor's
// type: memory for the tensor is allocated only afterwards.
absl::StatusOr<const DataFile*> BundleReader::CheckedShard(const Stored& s) {
  if (s.shard < 0 || s.shard >= num_shards_) {
    return Damaged(index_.path(), s.name,
                   absl::StrCat("is in data file ", s.shard, " of ", num_shards_));
  }
  absl::StatusOr<const DataFile*> file = Shard(s.shard);
  if (!file.ok()) {
    return Annotate(file.status(), "",
                    absl::StrCat(", which tensor '", absl::Utf8SafeCHexEscape(s.name), "' is in"));
  }
  const int64_t file_size = (*file)->size();
  if (s.offset < 0 || s.size < 0 || s.size > file_size || s.offset > file_size - s.size) {
    return Damaged((*file)->path(), s.name,
                   absl::StrCat("has ", s.size, " bytes from byte ", s.offset, " on, the file has ",
                                file_size));
  }
  const int64_t size = static_cast<int64_t>(DataTypeSize(s.dtype));
  if (IsMemcpyable(s.dtype) && (s.size % size != 0 || s.count() != s.size / size)) {
    return Damaged(index_.path(), s.name,
                   absl::StrCat("has ", s.size, " bytes, which do not make ", DataTypeName(s.dtype),
                                s.shape.ToString()));
  }
  // Each string has a length of at least one byte, and the lengths have a checksum of four bytes.
  if (!IsMemcpyable(s.dtype) && (s.size < 4 || s.count() > s.size - 4))
    return Damaged(index_.path(), s.name,
                   absl::StrCat("has ", s.size, " bytes for ", s.count(), " strings"));
  return file;
}

absl::Status BundleReader::ReadPlain(const Stored& s, void* to) {
  TENON_ASSIGN_OR_RETURN(const DataFile* file, CheckedShard(s));
  uint32_t crc = 0;
  TENON_RETURN_IF_ERROR(file->Read(s.offset, s.size, to, &crc));
  return MaskCrc32c(crc) == s.crc ? absl::OkStatus()
                                  : Damaged(file->path(), s.name, "has a wrong checksum");
}

absl::StatusOr<Tensor> BundleReader::ReadStrings(const Stored& s) {
  TENON_ASSIGN_OR_RETURN(const DataFile* file, CheckedShard(s));
  std::string bytes(static_cast<size_t>(s.size), '\0');
  // The checksum covers the lengths as words, where the file has varints, so it is not of these
  // bytes.
  TENON_RETURN_IF_ERROR(file->Read(s.offset, s.size, bytes.data(), nullptr));
  const auto damaged = [&](std::string_view why) { return Damaged(file->path(), s.name, why); };
  const char *at = bytes.data(), *const end = at + bytes.size();
  uint32_t crc = 0;
  std::vector<uint64_t> lengths(static_cast<size_t>(s.count()));
  for (uint64_t& length : lengths) {
    if (!WireReader::ReadVarint(&at, end, &length))
      return damaged("has lengths that cannot be read");
    crc = ExtendWithLength(crc, length);
  }
  uint32_t lengths_crc = MaskCrc32c(crc);
  if (end - at < 4 || std::memcmp(at, &lengths_crc, 4) != 0)
    return damaged("has lengths with a wrong checksum");
  at += 4;
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(s.dtype, s.shape));
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > static_cast<uint64_t>(end - at)) return damaged("has strings beyond its end");
    tensor.SetString(static_cast<int64_t>(i), {at, lengths[i]});
    at += lengths[i];
  }
  crc = ExtendCrc32c(crc, BytesOfWord(lengths_crc));
  const size_t text = std::accumulate(lengths.begin(), lengths.end(), size_t{0});
  crc = ExtendCrc32c(crc, {at - text, text});
  if (at != end) return damaged("has bytes behind its strings");
  return MaskCrc32c(crc) == s.crc ? absl::StatusOr<Tensor>(std::move(tensor))
                                  : damaged("has a wrong checksum");
}

absl::StatusOr<Tensor> BundleReader::ReadStored(const Stored& s) {
  if (s.dtype == DataType::kString) return ReadStrings(s);
  TENON_RETURN_IF_ERROR(CheckedShard(s).status());
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(s.dtype, s.shape));
  TENON_RETURN_IF_ERROR(ReadPlain(s, tensor.data()));
  return tensor;
}

absl::StatusOr<std::vector<BundleReader::Piece>> BundleReader::PiecesOf(const Stored& whole,
                                                                        const Region& wanted) {
  if (whole.slices.empty()) {
    TENON_RETURN_IF_ERROR(CheckedShard(whole).status());
    return std::vector<Piece>{{wanted, Region::All(whole.shape), whole}};
  }
  std::vector<Piece> pieces;
  int64_t missing = wanted.shape.num_elements();
  for (const TensorSlice& slice : whole.slices) {
    const auto damaged = [&](std::string_view why) {
      return Damaged(index_.path(), whole.name,
                     absl::StrCat("has a part '", slice.ToString(), "' ", why));
    };
    const absl::StatusOr<Region> in = slice.In(whole.shape);
    if (!in.ok()) return damaged(absl::StrCat(": ", in.status().message()));
    const std::optional<Region> both = Intersect(*in, wanted);
    if (!both.has_value()) continue;
    TENON_ASSIGN_OR_RETURN(std::optional<Stored> stored,
                           Lookup(SliceKey(whole.name, slice), whole.name));
    if (!stored.has_value()) return damaged("that has no entry");
    if (stored->dtype != whole.dtype || !(stored->shape == in->shape) || !stored->slices.empty())
      return damaged("whose entry is of another type or shape");
    TENON_RETURN_IF_ERROR(CheckedShard(*stored).status());
    // Counts alone do not find two parts that overlap beside a gap; `there` of ReadRegion does.
    missing -= both->shape.num_elements();
    if (missing < 0) return damaged("that was there before");
    pieces.push_back({*both, *in, *std::move(stored)});
  }
  if (missing == 0) return pieces;
  return Damaged(index_.path(), whole.name, absl::StrCat("lacks ", missing, " elements"));
}

absl::StatusOr<Tensor> BundleReader::ReadRegion(std::string_view name, const Region& region) {
  TENON_ASSIGN_OR_RETURN(const Stored whole, LookupTensor(name));
  if (whole.slices.empty() && region == Region::All(whole.shape)) return ReadStored(whole);
  TENON_ASSIGN_OR_RETURN(const std::vector<Piece> pieces, PiecesOf(whole, region));
  TENON_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(whole.dtype, region.shape));
  // By element of the result: parts may overlap and leave a gap of the same size.
  std::vector<bool> there(static_cast<size_t>(tensor.num_elements()));
  for (const Piece& piece : pieces) TENON_RETURN_IF_ERROR(Place(piece, region, tensor, there));
  if (std::find(there.begin(), there.end(), false) == there.end()) return tensor;
  return Damaged(index_.path(), name, "has parts that overlap");
}

absl::Status BundleReader::Place(const Piece& piece, const Region& region, const Tensor& tensor,
                                 std::vector<bool>& there) {
  const int64_t count = piece.part.shape.num_elements();
  std::optional<int64_t> at;  // where all of it lies in one run
  ForEachRun(piece.part, piece.stored_at, region, [&](int64_t, int64_t to, int64_t n) {
    std::fill_n(there.begin() + to, n, true);
    if (n == count) at = to;
  });
  const bool plain = IsMemcpyable(tensor.dtype());
  const size_t size = DataTypeSize(tensor.dtype());
  // A whole entry that is one run of the result is read in place, without a copy.
  if (plain && at.has_value() && piece.part == piece.stored_at)
    return ReadPlain(piece.stored, tensor.flat<char>() + *at * size);
  TENON_ASSIGN_OR_RETURN(const Tensor stored, ReadStored(piece.stored));
  ForEachRun(piece.part, piece.stored_at, region, [&](int64_t from, int64_t to, int64_t n) {
    if (plain) {
      std::memcpy(tensor.flat<char>() + to * size, stored.flat<char>() + from * size, n * size);
    } else {
      for (int64_t i = 0; i < n; ++i) tensor.SetString(to + i, stored.StringAt(from + i));
    }
  });
  return absl::OkStatus();
}

absl::StatusOr<Tensor> BundleReader::Read(std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const TensorInfo info, Find(name));
  return ReadRegion(name, Region::All(info.shape));
}

}  // namespace tenon
