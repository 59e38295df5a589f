// What readers and writers of checkpoints share: the names of the files, and how strings lie in the
// files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

inline constexpr std::string_view kHeaderKey = "";  // the key of BundleHeaderProto in the index
// The version of the format that is written. Files that ask for readers of a later one are refused.
inline constexpr int kBundleVersion = 1;

// Return the path of the index, and of data file `shard` (from 0) of `num_shards`, of the
// checkpoint `prefix`: a path without its ending.
std::string IndexPath(std::string_view prefix);
std::string ShardPath(std::string_view prefix, int shard, int num_shards);

// Returns CRC-32C `crc` extended by the length of a string: as four bytes up to 2^32-1, else as
// eight, little-endian. The data file has the length as a varint, the checksum does not.
uint32_t ExtendWithLength(uint32_t crc, uint64_t length);
// The four bytes of `word` as they lie in a data file; a view of `word`.
std::string_view BytesOfWord(const uint32_t& word);

}  // namespace tenon
