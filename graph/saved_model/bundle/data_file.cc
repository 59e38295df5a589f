// Reads with pread at given places, piece by piece, and computes the checksum of each piece while
// it is in the cache.

#include "graph/saved_model/bundle/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/crc32c.h"

namespace tenon {

absl::StatusOr<DataFile> DataFile::Open(const std::string& path) {
  // O_NONBLOCK: opening a pipe would otherwise wait for its other end.
  DataFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (file.fd_ < 0 || ::fstat(file.fd_, &info) != 0) return absl::ErrnoToStatus(errno, path);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no regular file"));
  file.size_ = info.st_size;
  return file;
}

DataFile::DataFile(DataFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
DataFile& DataFile::operator=(DataFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}
DataFile::~DataFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::Status DataFile::Read(int64_t offset, int64_t n, void* to, uint32_t* crc) const {
  constexpr int64_t kPiece = int64_t{1} << 18;  // still in the cache when its checksum is made
  for (char* at = static_cast<char*>(to); n > 0;) {
    const ssize_t got = ::pread(fd_, at, static_cast<size_t>(std::min(n, kPiece)), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, path_);
    if (got == 0) return absl::DataLossError(absl::StrCat(path_, ": ends before byte ", offset));
    if (crc != nullptr) *crc = ExtendCrc32c(*crc, {at, static_cast<size_t>(got)});
    at += got;
    offset += got;
    n -= got;
  }
  return absl::OkStatus();
}

}  // namespace tenon
