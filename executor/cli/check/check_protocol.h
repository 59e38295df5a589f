// Messages from a worker of `check` to its parent, over a pipe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::cli {

// The kinds of messages: the first field. The comments name the fields after it. `file` and `case`
// are indices in decimal digits; `status` is the one character of a CaseStatus.
inline constexpr std::string_view kCaseBegins = "begin";  // file, case, name
// file, case, name, status, detail; with an empty name the result is of the file as a whole, and
// no kCaseBegins came before
inline constexpr std::string_view kCaseEnded = "result";
// These two come before the result of their case; each is left out if it would have nothing to say.
// kKernelsRan: two fields, plug-in and op, for each entry of CaseResult::plugin_kernels.
// kPassesRan: CaseResult::failed_pass, which may be empty, then each of
// CaseResult::changing_passes.
inline constexpr std::string_view kKernelsRan = "kernels";
inline constexpr std::string_view kPassesRan = "passes";
inline constexpr std::string_view kFileBegins = "file";  // file
inline constexpr std::string_view kFileEnded = "done";   // file
inline constexpr std::string_view kNoHost = "nohost";    // exit code, status code, message
// Two fields, path and number of kernels, for each plug-in that was loaded.
inline constexpr std::string_view kPlugins = "plugins";

// rule, plug-in, callback, node, detail
inline constexpr std::string_view kViolation = "violation";

using Message = std::vector<std::string>;

// The most bytes of a message, with the sizes of its fields and without its own.
inline constexpr size_t kMaxMessageBytes = size_t{1} << 26;

// Writes one message whole, and blocks while the pipe is full. False, with errno set, if writing
// fails, as when the reader is gone: part of the message may have been sent. EMSGSIZE: the message
// is longer than kMaxMessageBytes, and nothing was sent. SIGPIPE must be ignored. Several writers
// of one pipe would mix their messages.
bool SendMessage(int fd, const Message& message);

// The number in a field of decimal digits, as messages of MessageReader have them.
size_t NumberIn(const std::string& field);

// Collects bytes and splits them into messages. Trusts no byte: a plug-in shares the process of the
// writer, and may write into the pipe.
class MessageReader {
 public:
  void Append(const char* data, size_t size) { buffer_.append(data, size); }
  // The next whole message; nothing if there is none yet. It is of a known kind and has the fields
  // of its kind: their number is right, numbers are below 2^31, and the status is a letter that a
  // worker sends. DATA_LOSS: the bytes are no such message. So is every later call then.
  absl::StatusOr<std::optional<Message>> Next();
  // Whether bytes are left that Next did not return: part of a message, or no message at all.
  bool HasRest() const { return !buffer_.empty(); }

 private:
  std::string buffer_;
};

}  // namespace tenon::cli
