// CRC-32C, the checksum of LevelDB tables, TFRecord files and checkpoints.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon {

// Returns the checksum of a text that consists of the bytes with checksum `crc`, followed by
// `bytes`. The checksum of no bytes is 0. Thread-safe.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

// Returns `crc` in the masked form in which files hold it. A checksum over data that itself holds
// checksums finds faults badly unless those are masked. Rotation and constant are those of
// LevelDB's format.
constexpr uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

}  // namespace tenon
