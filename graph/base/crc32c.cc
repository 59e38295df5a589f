#include "graph/base/crc32c.h"

#include <isa-l/crc.h>

#include <cstddef>

namespace tenon {

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // the library counts bytes in an int
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMostAtOnce);
    // The library reads only, though its type does not say so; it neither inverts what goes in nor
    // what comes out.
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    crc = ~crc32_iscsi(data, static_cast<int>(piece.size()), ~crc);
    bytes.remove_prefix(piece.size());
  }
  return crc;
}

}  // namespace tenon
