// Marks errors by which a graph turns out to be invalid only when it is about to run. The command
// line (graph_run) then ends with the exit code of an invalid graph, not with that of a failed run.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace tenon {

inline constexpr char kInvalidGraphKey[] = "tenon/invalid_graph";

// Marks an INVALID_ARGUMENT; returns other statuses unchanged.
inline absl::Status InvalidGraph(absl::Status status) {
  if (absl::IsInvalidArgument(status)) status.SetPayload(kInvalidGraphKey, absl::Cord());
  return status;
}
// Whether InvalidGraph has marked `status`.
inline bool IsInvalidGraph(const absl::Status& status) {
  return status.GetPayload(kInvalidGraphKey).has_value();
}

}  // namespace tenon
