#include "graph/base/crc32c.h"

#include <boost/crc.hpp>
#include <cstring>

namespace tenon {
namespace {

// The processor's own instruction: 8 bytes in 3 cycles.
__attribute__((target("sse4.2"))) uint32_t ExtendWithSse42(uint32_t crc, std::string_view bytes) {
  uint64_t state = ~crc;
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  for (; end - p >= 8; p += 8) {
    uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    state = __builtin_ia32_crc32di(state, word);
  }
  for (; p < end; ++p) {
    state = __builtin_ia32_crc32qi(static_cast<uint32_t>(state), static_cast<unsigned char>(*p));
  }
  return ~static_cast<uint32_t>(state);
}

// Boost keeps the register with its bits in the polynomial's order.
uint32_t Reversed(uint32_t bits) {
  bits = (bits >> 1 & 0x55555555) | (bits & 0x55555555) << 1;
  bits = (bits >> 2 & 0x33333333) | (bits & 0x33333333) << 2;
  bits = (bits >> 4 & 0x0f0f0f0f) | (bits & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(bits);
}

}  // namespace

uint32_t ExtendCrc32cByTable(uint32_t crc, std::string_view bytes) {
  boost::crc_optimal<32, 0x1edc6f41, 0, 0xffffffff, true, true> sum(Reversed(~crc));
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2");
  return has_sse42 ? ExtendWithSse42(crc, bytes) : ExtendCrc32cByTable(crc, bytes);
}

}  // namespace tenon
