// VersionDef: which GraphDefs this host reads.
#pragma once

#include <string_view>
#include <vector>

namespace tenon {

// The GraphDef version that Tenon speaks: that of TensorFlow 2.21.
inline constexpr int kGraphDefVersion = 2474;

struct Versions {
  int producer = 0;
  int min_consumer = 0;
  std::vector<int> bad_consumers;
  bool ok = true;  // the bytes are well-formed
};
Versions ParseVersions(std::string_view wire);

}  // namespace tenon
