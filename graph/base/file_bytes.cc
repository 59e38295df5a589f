// Large regular files are mapped, so that only pages that are read take memory. All else is read
// into a buffer.

#include "graph/base/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/machine_memory.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// Below this size, reading costs less than mapping.
constexpr size_t kMapFrom = size_t{1} << 18;

absl::Status FileError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(message);
    default:
      return absl::InvalidArgumentError(message);
  }
}

// /dev/null is empty, and a terminal ends where its user says so. Other devices may have no end.
bool IsOtherDevice(int fd, const struct stat& info) {
  if (S_ISBLK(info.st_mode)) return true;
  return S_ISCHR(info.st_mode) && info.st_rdev != makedev(1, 3) && ::isatty(fd) == 0;
}

absl::Status TooLarge(const std::string& path, size_t max_bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": the file is larger than the limit of ", max_bytes, " bytes"));
}

struct Descriptor {
  int fd;
  bool close;
  ~Descriptor() {
    if (close && fd >= 0) ::close(fd);
  }
};

struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Block = std::unique_ptr<void, Free>;

// Moves the block's bytes to one of another size. A large block is not copied, and takes no memory
// for bytes that nobody has written.
Block Resized(Block block, size_t size) {
  void* const before = block.release();
  void* const moved = std::realloc(before, size);
  if (moved == nullptr) {
    std::free(before);
    throw std::bad_alloc();
  }
  return Block(moved);
}

absl::StatusOr<FileBytes> ReadAll(int fd, const std::string& path, size_t max_bytes) {
  Block block;
  size_t size = 0;
  while (true) {
    // Doubling: the size of a pipe is not known, and that of a file may change.
    const size_t room = std::max<size_t>(size_t{1} << 16, size * 2);
    block = Resized(std::move(block), room);
    while (size < room) {
      const ssize_t n = ::read(fd, static_cast<char*>(block.get()) + size, room - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return FileError(path, errno);
      if (n == 0) {
        const std::shared_ptr<const void> owner =
            Resized(std::move(block), std::max<size_t>(size, 1));
        return FileBytes{{static_cast<const char*>(owner.get()), size}, owner};
      }
      size += static_cast<size_t>(n);
      if (size > max_bytes) return TooLarge(path, max_bytes);
    }
  }
}

absl::StatusOr<FileBytes> Map(int fd, const std::string& path, size_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return FileError(path, errno);
  std::shared_ptr<const void> owner(
      data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return FileBytes{{static_cast<const char*>(data), size}, std::move(owner), true};
}

absl::StatusOr<struct stat> InfoOf(int fd, const std::string& path) {
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) return FileError(path, errno);
  if (S_ISDIR(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is a folder, not a file"));
  return info;
}

}  // namespace

FileBytes BytesOf(std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {*owner, owner};
}

absl::StatusOr<FileBytes> ReadFile(const std::string& path, size_t max_bytes) {
  const bool is_stdin = path == "-";
  const Descriptor file{is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
                        !is_stdin};
  TENON_ASSIGN_OR_RETURN(const struct stat info, InfoOf(file.fd, path));
  const std::string name = is_stdin ? "<stdin>" : path;
  if (IsOtherDevice(file.fd, info))
    return absl::InvalidArgumentError(absl::StrCat(name, ": is a device, not a file or a pipe"));
  const auto size = static_cast<size_t>(info.st_size);
  // A pipe may have no end either.
  if (!S_ISREG(info.st_mode))
    return ReadAll(file.fd, name, std::min(max_bytes, MachineMemoryBytes() / 2));
  if (size > max_bytes) return TooLarge(path, max_bytes);
  // Standard input may be a file that another process reads on from: only what is read moves its
  // offset.
  if (!is_stdin && size >= kMapFrom) return Map(file.fd, path, size);
  return ReadAll(file.fd, name, max_bytes);
}

absl::StatusOr<FileBytes> ReadRegularFile(const std::string& path, size_t max_bytes) {
  // Opening a pipe would wait for somebody at its other end.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), true};
  TENON_ASSIGN_OR_RETURN(const struct stat info, InfoOf(file.fd, path));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no regular file"));
  const auto size = static_cast<size_t>(info.st_size);
  if (size > max_bytes) return TooLarge(path, max_bytes);
  return size >= kMapFrom ? Map(file.fd, path, size) : ReadAll(file.fd, path, max_bytes);
}

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return status.ok() ? status : Annotate(status, absl::StrCat(path, ": "));
}

}  // namespace tenon
