// SINK: where a fetched tensor goes: "-" (printed), "@y.npy", "@all.npz", "@y.bin".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

struct NamedSink {
  std::string name;
  std::string sink = "-";
};
// "NAME" or "NAME=SINK". kUsage for a sink of unknown form.
absl::StatusOr<NamedSink> ParseSink(std::string_view text);

struct SinkTensor {
  NamedSink target;
  Tensor value;
};
// Writes the files; those that name one .npz become one archive. Errors name the file.
absl::Status WriteSinks(const std::vector<SinkTensor>& tensors);

}  // namespace tenon::cli
