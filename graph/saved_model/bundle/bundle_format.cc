// Names and checksums of TensorFlow's checkpoints (tensor bundles): an index of the tensors, and
// data files with their bytes.

#include "graph/saved_model/bundle/bundle_format.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/base/crc32c.h"

namespace tenon {

std::string IndexPath(std::string_view prefix) { return absl::StrCat(prefix, ".index"); }

std::string ShardPath(std::string_view prefix, int shard, int num_shards) {
  return absl::StrFormat("%s.data-%05d-of-%05d", prefix, shard, num_shards);
}

uint32_t ExtendWithLength(uint32_t crc, uint64_t length) {
  // TensorFlow's rule: a length goes into the checksum as a word of 4 bytes where it fits.
  const size_t bytes = length > std::numeric_limits<uint32_t>::max() ? 8 : 4;
  return ExtendCrc32c(crc, {reinterpret_cast<const char*>(&length), bytes});
}

std::string_view BytesOfWord(const uint32_t& word) {
  return {reinterpret_cast<const char*>(&word), sizeof(word)};
}

}  // namespace tenon
