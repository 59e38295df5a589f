// What the client C API says of an error, beside the message that the command line prints: the node
// at fault, and code and words as TensorFlow has them.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// Notes `node` and the present message on an error: call it before words about the place are added.
// A node or a message that was noted before stays. Does nothing for OK or an empty `node`.
absl::Status NoteNode(absl::Status status, std::string_view node);

// Notes that TensorFlow answers this error with another code and message, in the place of those
// that were noted before. OK stays OK.
absl::Status NoteAnswer(absl::Status status, absl::StatusCode code, std::string_view message);
// The same for an answer behind which TensorFlow names no node, as for a fault that it finds before
// the node runs. NoteNode does nothing afterwards.
absl::Status NoteAnswerAlone(absl::Status status, absl::StatusCode code, std::string_view message);

// The error as TensorFlow's clients see it: the code and the message that are noted. If a node is
// noted, "[[{{node NAME}}]]" follows the message, on a line of its own; `within` is left out in
// front of NAME. An error that was noted loses the payloads of Tenon's own (IsOwnPayload). An error
// without a note stays as it is, with all of its payloads.
absl::Status AsNoted(const absl::Status& status, std::string_view within = {});

// Whether a payload of a status is one of Tenon's own, which no client is to see.
bool IsOwnPayload(std::string_view key);

}  // namespace tenon
