// A data file of a checkpoint, read in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

// Owns the open file. Reading is thread-safe.
class DataFile {
 public:
  // Opens the file. Messages start with the path. NOT_FOUND if it does not exist, INVALID_ARGUMENT
  // if it is no regular file; other codes follow from errno.
  static absl::StatusOr<DataFile> Open(const std::string& path);
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&& other) noexcept;
  ~DataFile();

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }  // in bytes, when the file was opened
  // Reads `n` bytes from byte `offset` on into `to`, which has room for them. Extends `*crc`, a
  // CRC-32C, by the bytes unless `crc` is null. DATA_LOSS where the file ends before; other codes
  // follow from errno. After an error `to` and `*crc` may be changed.
  absl::Status Read(int64_t offset, int64_t n, void* to, uint32_t* crc) const;

 private:
  DataFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
  int64_t size_ = 0;
};

}  // namespace tenon
