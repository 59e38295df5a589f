// What readers and writers of checkpoints share: the names of the files, and how strings lie in the
// files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

inline constexpr std::string_view kHeaderKey = "";  // the key of BundleHeaderProto in the index
inline constexpr int kBundleVersion = 1;

// The path of the index, and of data file `shard` (from 0) of `num_shards`, of the checkpoint
// `prefix`.
std::string IndexPath(std::string_view prefix);
std::string ShardPath(std::string_view prefix, int shard, int num_shards);

// Extends a CRC-32C by the length of a string: four bytes up to 2^32-1, else eight.
uint32_t ExtendWithLength(uint32_t crc, uint64_t length);
// The four bytes of `word` as they lie in a data file; a view of `word`.
std::string_view BytesOfWord(const uint32_t& word);

}  // namespace tenon
