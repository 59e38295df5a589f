// Data files of the parts are renamed and their entries renumbered; no tensor is read. Nothing is
// moved before all indexes have been read and found to fit together.

#include "graph/saved_model/bundle/bundle_merge.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/saved_model/bundle/bundle_format.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "graph/saved_model/bundle/bundle_writer.h"
#include "graph/saved_model/bundle/tensor_slice.h"
#include "proto/tensor_bundle.pb.h"

namespace tenon {
namespace {

// A bound against damaged headers: the sum over all checkpoints stays an int.
constexpr int kMostShards = 1 << 20;

// The first byte of a key that SliceKey returns. It stands before all that names begin with.
constexpr char kSliceKeyStart = '\0';

struct Merged {
  pb::BundleEntryProto entry;
  std::set<std::string> slices;  // of a tensor in parts: SliceText of each
};
using Entries = std::map<std::string, Merged>;

bool SameTensor(const pb::BundleEntryProto& a, const pb::BundleEntryProto& b) {
  return a.dtype() == b.dtype() && a.shape().SerializeAsString() == b.shape().SerializeAsString();
}

// A slice in numbers: a whole dimension may be written with its size or without.
std::string SliceText(const pb::TensorSliceProto& slice, const pb::TensorShapeProto& shape) {
  std::string text;
  for (int i = 0; i < slice.extent_size(); ++i) {
    const auto& e = slice.extent(i);
    const int64_t size = i < shape.dim_size() ? shape.dim(i).size() : TensorSlice::kToTheEnd;
    absl::StrAppend(&text, i == 0 ? "" : ":", e.start(), ",", e.has_length() ? e.length() : size);
  }
  return text;
}

// Adds an entry of one more checkpoint; `name` stands for the tensor in messages.
absl::Status Merge(const pb::BundleEntryProto& entry, std::string_view name, bool is_new,
                   Merged& merged) {
  // Only parts of one tensor may come from several checkpoints.
  if (!is_new && (merged.entry.slices().empty() || entry.slices().empty() ||
                  !SameTensor(merged.entry, entry))) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is in another one of the checkpoints too"));
  }
  for (const pb::TensorSliceProto& slice : entry.slices()) {
    const std::string text = SliceText(slice, entry.shape());
    if (!merged.slices.insert(text).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has its part '", text, "' in another one of the checkpoints too"));
    }
  }
  if (is_new) {
    merged.entry = entry;
  } else {
    merged.entry.mutable_slices()->MergeFrom(entry.slices());
  }
  return absl::OkStatus();
}

// Adds the entries of one index, whose data files come behind `first_shard` others.
absl::Status AddEntries(const BundleReader& reader, int first_shard, Entries& entries) {
  const IndexTable& index = reader.index();
  absl::Status twice;  // the first part that two checkpoints have
  TENON_RETURN_IF_ERROR(index.ForEach([&](std::string_view key, std::string_view value) {
    if (key == kHeaderKey) return absl::OkStatus();
    pb::BundleEntryProto entry;
    const auto name = [&] {
      return absl::StrCat(index.path(), ": tensor '", absl::Utf8SafeCHexEscape(key), "'");
    };
    if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size())) ||
        entry.shard_id() < 0 || entry.shard_id() >= reader.num_shards()) {
      return absl::DataLossError(absl::StrCat(name(), " has no good entry"));
    }
    entry.set_shard_id(entry.shard_id() + first_shard);
    const auto [known, is_new] = entries.try_emplace(std::string(key));
    absl::Status status = Merge(entry, name(), is_new, known->second);
    // The entry of the whole tensor comes behind those of its parts, and names the part.
    if (!key.starts_with(kSliceKeyStart)) return status;
    twice.Update(status);
    return absl::OkStatus();
  }));
  return twice;
}

}  // namespace

absl::Status MergeBundles(absl::Span<const std::string> prefixes, const std::string& destination,
                          bool allow_missing) {
  struct Part {
    std::string prefix;
    int shards;
  };
  std::vector<Part> parts;
  Entries entries;
  int num_shards = 0;
  for (const std::string& prefix : prefixes) {
    absl::StatusOr<BundleReader> reader =
        BundleReader::Open(prefix, [](std::string_view path) { return std::string(path); });
    if (absl::IsNotFound(reader.status()) && allow_missing) continue;
    if (!reader.ok()) return reader.status();
    if (reader->num_shards() > kMostShards - num_shards)
      return absl::DataLossError(absl::StrCat(prefix, ": has more data files than there can be"));
    TENON_RETURN_IF_ERROR(AddEntries(*reader, num_shards, entries));
    parts.push_back({prefix, reader->num_shards()});
    num_shards += reader->num_shards();
  }
  if (parts.empty()) return absl::InvalidArgumentError("there is no checkpoint to merge");
  std::error_code error;  // shows when a file is moved
  std::filesystem::create_directories(std::filesystem::path(destination).parent_path(), error);
  int shard = 0;
  for (const Part& part : parts) {
    for (int i = 0; i < part.shards; ++i, ++shard) {
      const std::string from = ShardPath(part.prefix, i, part.shards);
      if (std::rename(from.c_str(), ShardPath(destination, shard, num_shards).c_str()) != 0)
        return absl::ErrnoToStatus(errno, from);
    }
  }
  BundleEntries bytes;
  for (const auto& [key, merged] : entries) bytes.emplace(key, merged.entry.SerializeAsString());
  TENON_RETURN_IF_ERROR(WriteBundleIndex(destination, num_shards, std::move(bytes)));
  for (const Part& part : parts) {
    const std::string index = IndexPath(part.prefix);
    // By the file: two texts may name one folder. A false answer stands for an index that is gone.
    if (!std::filesystem::equivalent(index, IndexPath(destination), error))
      std::remove(index.c_str());
  }
  return absl::OkStatus();
}

}  // namespace tenon
