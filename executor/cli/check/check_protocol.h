// What a worker of `check` tells its parent: messages of a few fields over a pipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon::cli {

// The first field is the kind.
inline constexpr std::string_view kCaseBegins = "begin";  // file, case, name
// file, case, name, status, detail
inline constexpr std::string_view kCaseEnded = "result";
// Of the case whose result is sent next: plug-in and op of each kernel of a plug-in that ran; the
// pass that failed or nothing, then those that changed the graph.
inline constexpr std::string_view kKernelsRan = "kernels";
inline constexpr std::string_view kPassesRan = "passes";
inline constexpr std::string_view kFileBegins = "file";  // file
inline constexpr std::string_view kFileEnded = "done";   // file
inline constexpr std::string_view kNoHost = "nohost";    // exit code, status code, message
inline constexpr std::string_view kPlugins = "plugins";  // path and number of kernels of each

// rule, plug-in, callback, node, detail
inline constexpr std::string_view kViolation = "violation";

using Message = std::vector<std::string>;

// Writes one message whole. False when the reader is gone.
bool SendMessage(int fd, const Message& message);

// Collects bytes and gives back whole messages.
class MessageReader {
 public:
  void Append(const char* data, size_t size) { buffer_.append(data, size); }
  std::optional<Message> Next();

 private:
  std::string buffer_;
};

}  // namespace tenon::cli
