// Writes regular files as a whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// Writes to a temporary file in the folder of `path`; Finish renames it to `path`. So a full disk,
// an error or the end of the process leaves the old file as it was. The temporary file has no name
// until Finish has written all, and disappears when the process ends. Where the file system has no
// nameless files (O_TMPFILE), the temporary file has the name ".NAME.PID-N.unfinished" from the
// start, and a process that is killed leaves the file behind.
// - Where `path` is a symbolic link, the link stays and its target is replaced; the temporary file
//   is then in the folder of the target and has the target's NAME.
// - The new file has the permissions of the old one (not setuid, setgid, sticky) and, where the
//   process may set both, the owner and the group. Without an old file the umask decides.
// - Other hard links to the old file keep the old content.
// - A pipe, a device or another special file (/dev/stdout) is written directly, through a buffer of
//   64 KiB; what was written stays after an error.
// Messages are "path: cannot be written: the reason". The code follows from errno. Not thread-safe.
class FileWriter {
 public:
  // Opens the temporary file, or the special file. Fails also where `path` is a file that the
  // process may not write.
  static absl::StatusOr<FileWriter> Create(std::string path);
  // `other` may then only be destroyed.
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  // Removes the temporary file if Finish has not succeeded. Of a special file only what was still
  // in the buffer is then lost.
  ~FileWriter();

  // Appends `bytes`, which are copied or written before the call returns. After an error nothing
  // more is written, and each call returns the first error.
  absl::Status Write(std::string_view bytes);
  // Writes the rest, syncs a temporary file to the disk and renames it to `path`. The folder is not
  // synced: after a crash of the machine `path` may be the old file. Call Finish once, as the last
  // call. After an error the destructor removes the temporary file.
  absl::Status Finish();

 private:
  FileWriter(std::string path, std::string target, std::string unfinished, int fd, bool replaces);
  bool TakeName();  // false: errno says why
  absl::Status Flush(std::string_view bytes);
  absl::Status Fail(int error);

  std::string path_;        // as the caller gave it
  std::string target_;      // the file at the end of the links
  std::string unfinished_;  // the name of the temporary file; empty: it has none
  int fd_;
  bool replaces_;  // fd_ is a temporary file; else target_ is written directly
  std::string buffer_;
  absl::Status status_;
};

// Writes a file of these bytes, with the guarantees of FileWriter.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace tenon
