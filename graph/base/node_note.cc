#include "graph/base/node_note.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tenon {
namespace {

constexpr std::string_view kOwn = "tenon/";
constexpr char kNode[] = "tenon/node", kMessage[] = "tenon/message", kCode[] = "tenon/code";

}  // namespace

absl::Status NoteNode(absl::Status status, std::string_view node) {
  if (status.ok() || node.empty() || status.GetPayload(kNode).has_value()) return status;
  if (!status.GetPayload(kMessage).has_value())
    status.SetPayload(kMessage, absl::Cord(status.message()));
  status.SetPayload(kNode, absl::Cord(node));
  return status;
}

absl::Status NoteAnswer(absl::Status status, absl::StatusCode code, std::string_view message) {
  if (status.ok()) return status;
  status.SetPayload(kMessage, absl::Cord(message));
  status.SetPayload(kCode, absl::Cord(std::string(1, static_cast<char>(code))));
  return status;
}

absl::Status NoteAnswerAlone(absl::Status status, absl::StatusCode code, std::string_view message) {
  status = NoteAnswer(std::move(status), code, message);
  if (!status.ok()) status.SetPayload(kNode, absl::Cord());
  return status;
}

absl::Status AsNoted(const absl::Status& status, std::string_view within) {
  const std::optional<absl::Cord> node = status.GetPayload(kNode),
                                  message = status.GetPayload(kMessage),
                                  code = status.GetPayload(kCode);
  if (!message.has_value()) return status;
  std::string text(*message);
  if (node.has_value() && !node->empty()) {
    const std::string name(*node);
    absl::StrAppend(&text, "\n\t [[{{node ", absl::StripPrefix(name, within), "}}]]");
  }
  absl::Status noted(
      code.has_value() ? static_cast<absl::StatusCode>(std::string(*code)[0]) : status.code(),
      text);
  status.ForEachPayload([&noted](std::string_view key, const absl::Cord& value) {
    if (!IsOwnPayload(key)) noted.SetPayload(key, value);
  });
  return noted;
}

bool IsOwnPayload(std::string_view key) { return absl::StartsWith(key, kOwn); }

}  // namespace tenon
