// CRC-32C, the checksum of LevelDB tables, TFRecord files and checkpoints.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon {

// The checksum of what `crc` is the checksum of, followed by `bytes`. Begins with 0.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

// As files hold it, so that a checksum of data with checksums inside stays a good one.
constexpr uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8; }

}  // namespace tenon
