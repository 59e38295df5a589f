// What readers and writers of checkpoints agree on: the names of the files, and how strings lie in
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

inline constexpr std::string_view kHeaderKey = "";  // of BundleHeaderProto in the index
inline constexpr int kBundleVersion = 1;

std::string IndexPath(std::string_view prefix);
std::string ShardPath(std::string_view prefix, int shard, int num_shards);

// The checksum of a string's length. Lengths beyond 32 bits count as 64.
uint32_t ExtendWithLength(uint32_t crc, uint64_t length);
// The four bytes of a number in a data file.
std::string_view BytesOfWord(const uint32_t& word);

}  // namespace tenon
