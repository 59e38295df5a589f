#include "executor/cli/faults/exit_code.h"

#include <optional>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/base/invalid_graph.h"

namespace tenon::cli {
namespace {

// Payloads of a status. They stay when a message gets a prefix.
constexpr std::string_view kExitKey = "tenon/exit";
constexpr std::string_view kPrintedKey = "tenon/printed";

}  // namespace

absl::Status WithExit(Exit exit, absl::Status status) {
  status.SetPayload(kExitKey, absl::Cord(absl::StrCat(static_cast<int>(exit))));
  return status;
}

absl::Status AlreadyPrinted(absl::Status status) {
  status.SetPayload(kPrintedKey, absl::Cord("1"));
  return status;
}

bool WasPrinted(const absl::Status& status) { return status.GetPayload(kPrintedKey).has_value(); }

absl::Status UsageError(std::string_view message) {
  return WithExit(Exit::kUsage, absl::InvalidArgumentError(message));
}

Exit ExitOf(const absl::Status& status) {
  if (status.ok()) return Exit::kOk;
  const std::optional<absl::Cord> code = status.GetPayload(kExitKey);
  int number;
  if (code.has_value() && absl::SimpleAtoi(std::string(*code), &number))
    return static_cast<Exit>(number);
  if (IsInvalidGraph(status)) return Exit::kInvalidInput;
  return absl::IsDeadlineExceeded(status) ? Exit::kTimeout : Exit::kRunFailed;
}

}  // namespace tenon::cli
