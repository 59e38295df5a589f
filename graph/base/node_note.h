// What the client C API says of an error, beside the message that the command line prints: the node
// at fault, and code and words as TensorFlow has them.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// Notes `node` on an error whose message has no words about the place yet. An error that has a note
// with a node keeps it. OK stays OK.
absl::Status NoteNode(absl::Status status, std::string_view node);

// Notes that TensorFlow answers this error with another code and message. OK stays OK.
absl::Status NoteAnswer(absl::Status status, absl::StatusCode code, std::string_view message);

// The error as TensorFlow's clients see it: the code and the message that are noted, and after it
// "[[{{node NAME}}]]" on a line of its own. The result has no notes. An error without a note stays
// as it is. `within` is left out in front of the node's name.
absl::Status AsNoted(const absl::Status& status, std::string_view within = {});

// Whether a payload of a status is one of Tenon's own, which no client is to see.
bool IsOwnPayload(std::string_view key);

}  // namespace tenon
