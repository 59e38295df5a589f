// One data file of a checkpoint, read in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon {

class DataFile {
 public:
  // Messages start with the path. NOT_FOUND if it is not there, INVALID_ARGUMENT if it is no file.
  static absl::StatusOr<DataFile> Open(const std::string& path);
  DataFile(DataFile&& other) noexcept;
  DataFile& operator=(DataFile&& other) noexcept;
  ~DataFile();

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }
  // `n` bytes from `offset` on. Adds them to the CRC-32C if there is one. DATA_LOSS where the file
  // ends before.
  absl::Status Read(int64_t offset, int64_t n, void* to, uint32_t* crc) const;

 private:
  DataFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
  int64_t size_ = 0;
};

}  // namespace tenon
