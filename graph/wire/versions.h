// Parses VersionDef, the message that says which readers may read a GraphDef: min_consumer and
// above, but none of bad_consumers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The GraphDef version that this reader is of: that of TensorFlow 2.21. Written graphs keep the
// versions that they were read with.
inline constexpr int kGraphDefVersion = 2474;

struct Versions {
  int producer = 0;  // the version of the writer
  int min_consumer = 0;
  std::vector<int> bad_consumers;
  bool ok = true;  // whether the bytes are well-formed
};
// Parses VersionDef bytes. Never fails: malformed bytes give `ok` false and what can be read. A
// field that is missing is 0.
Versions ParseVersions(std::string_view wire);
// Returns VersionDef bytes.
std::string VersionsToWire(const Versions& versions);

}  // namespace tenon
