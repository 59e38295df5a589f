// A message is its size and its fields; a field is its size and its bytes. Sizes are 32-bit
// integers.

#include "executor/cli/check/check_protocol.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tenon::cli {
namespace {

// Sizes are in the byte order of the machine, on which both ends run.
void AppendSize(std::string& out, size_t size) {
  const uint32_t value = static_cast<uint32_t>(size);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

uint32_t SizeAt(const std::string& buffer, size_t pos) {
  uint32_t value;
  std::memcpy(&value, buffer.data() + pos, sizeof(value));
  return value;
}

}  // namespace

bool SendMessage(int fd, const Message& message) {
  std::string fields;
  for (const std::string& field : message) {
    AppendSize(fields, field.size());
    fields += field;
  }
  // One buffer and few writes: a message in parts would cost the worker a call for each field.
  std::string bytes;
  AppendSize(bytes, fields.size());
  bytes += fields;
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + sent, bytes.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

std::optional<Message> MessageReader::Next() {
  if (buffer_.size() < sizeof(uint32_t)) return std::nullopt;
  const size_t end = sizeof(uint32_t) + SizeAt(buffer_, 0);
  if (buffer_.size() < end) return std::nullopt;
  Message message;
  for (size_t pos = sizeof(uint32_t); pos < end;) {
    const size_t size = SizeAt(buffer_, pos);
    message.push_back(buffer_.substr(pos + sizeof(uint32_t), size));
    pos += sizeof(uint32_t) + size;
  }
  buffer_.erase(0, end);
  return message;
}

}  // namespace tenon::cli
