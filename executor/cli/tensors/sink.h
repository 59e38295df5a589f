// Parses SINKs and writes tensors to them: "-" (printed), "@y.npy", "@all.npz", "@y.bin".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// An output and its SINK.
struct NamedSink {
  std::string name;
  std::string sink = "-";
};
// Parses "NAME" or "NAME=SINK". kUsage for an empty name or a sink of unknown form.
absl::StatusOr<NamedSink> ParseSink(std::string_view text);

// A tensor to write. `target` is of ParseSink. An uninitialized `value` is that of a node without
// outputs.
struct SinkTensor {
  NamedSink target;
  Tensor value;
};
// Writes the files, archives last; each replaces a file that is there. Tensors for one .npz file
// become one archive, with the names of the outputs as keys. Of several tensors for another file
// the last one stays. Tensors for "-" are left to the caller. Ends at the first error, which names
// the file or the output; files that were written before it stay. kUsage: a file for a node without
// outputs. Other errors are those of the Save functions (array_file.h).
absl::Status WriteSinks(const std::vector<SinkTensor>& tensors);

}  // namespace tenon::cli
