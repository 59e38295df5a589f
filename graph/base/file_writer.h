// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// Writes to a file beside the one that is meant and puts it in its place in Finish, so that a full
// disk, an error or the end of the process leaves what was there. A link stays: the file that it
// leads to is replaced. That file keeps its permissions and, where the process may do so, its
// owner. What is no regular file (a pipe, a device, /dev/stdout) is written directly, as bytes
// come. Messages are "path: cannot be written: the reason". Not thread-safe.
class FileWriter {
 public:
  // Also an error: a file that is there and may not be written.
  static absl::StatusOr<FileWriter> Create(std::string path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  // What is not finished is gone.
  ~FileWriter();

  // After an error nothing more is written, and all calls have the same answer.
  absl::Status Write(std::string_view bytes);
  // Once, as the last call.
  absl::Status Finish();

 private:
  FileWriter(std::string path, std::string target, std::string unfinished, int fd);
  absl::Status Flush(std::string_view bytes);
  absl::Status Fail(int error);

  std::string path_;        // as the caller has it
  std::string target_;      // what it leads to
  std::string unfinished_;  // the file beside it; empty: written directly
  int fd_;
  std::string buffer_;
  absl::Status status_;
};

// A whole file at once.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace tenon
