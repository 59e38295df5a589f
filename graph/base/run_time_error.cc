#include "graph/base/run_time_error.h"

#include "absl/strings/cord.h"

namespace tenon {
namespace {

constexpr char kPayload[] = "tenon/at_run_time";

}  // namespace

absl::Status AtRunTime(absl::Status status) {
  if (!status.ok()) status.SetPayload(kPayload, absl::Cord());
  return status;
}

bool IsAtRunTime(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

}  // namespace tenon
