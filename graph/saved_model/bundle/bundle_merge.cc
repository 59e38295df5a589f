#include "graph/saved_model/bundle/bundle_merge.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/saved_model/bundle/bundle_format.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "graph/saved_model/bundle/bundle_writer.h"
#include "proto/tensor_bundle.pb.h"

namespace tenon {
namespace {

// A bound against damaged headers: the sum over all checkpoints stays an int.
constexpr int kMostShards = 1 << 20;

using Entries = std::map<std::string, pb::BundleEntryProto>;

bool SameTensor(const pb::BundleEntryProto& a, const pb::BundleEntryProto& b) {
  return a.dtype() == b.dtype() && a.shape().SerializeAsString() == b.shape().SerializeAsString();
}

// Adds the entries of one index, whose data files come behind `first_shard` others.
absl::Status AddEntries(const BundleReader& reader, int first_shard, Entries& entries) {
  const IndexTable& index = reader.index();
  return index.ForEach([&](std::string_view key, std::string_view value) -> absl::Status {
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
    const auto [known, is_new] = entries.try_emplace(std::string(key), entry);
    if (is_new) return absl::OkStatus();
    pb::BundleEntryProto& merged = known->second;
    // Only parts of one tensor may come from several checkpoints.
    if (merged.slices().empty() || entry.slices().empty() || !SameTensor(merged, entry)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name(), " is in another one of the checkpoints too"));
    }
    merged.mutable_slices()->MergeFrom(entry.slices());
    return absl::OkStatus();
  });
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
  for (const auto& [key, entry] : entries) bytes.emplace(key, entry.SerializeAsString());
  TENON_RETURN_IF_ERROR(WriteBundleIndex(destination, num_shards, std::move(bytes)));
  for (const Part& part : parts)
    if (part.prefix != destination) std::remove(IndexPath(part.prefix).c_str());
  return absl::OkStatus();
}

}  // namespace tenon
