// A message is its size and its fields; a field is its size and its bytes. Sizes are 32-bit
// integers.

#include "executor/cli/check/check_protocol.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "executor/cli/check/check_run.h"

namespace tenon::cli {
namespace {

// Sizes are in the byte order of the machine, on which both ends run.
void AppendSize(std::string& out, size_t size) {
  const uint32_t value = static_cast<uint32_t>(size);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

uint32_t SizeAt(std::string_view bytes) {
  uint32_t value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// The fields of a kind, a letter for each: t is any text, n a number, s a status. Those of `again`
// follow any number of times.
struct Form {
  std::string_view kind, once, again;
};
constexpr Form kForms[] = {
    {kCaseBegins, "nnt", ""}, {kCaseEnded, "nntst", ""}, {kKernelsRan, "", "tt"},
    {kPassesRan, "t", "t"},   {kFileBegins, "n", ""},    {kFileEnded, "n", ""},
    {kNoHost, "nnt", ""},     {kPlugins, "", "tn"},      {kViolation, "ttttt", ""}};

bool IsNumber(const std::string& field) {
  int32_t number;
  return std::all_of(field.begin(), field.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(field, &number);
}

bool IsStatus(const std::string& field) {
  for (const CaseStatus sent :
       {CaseStatus::kPassed, CaseStatus::kFailed, CaseStatus::kUnimplemented}) {
    if (field == std::string(1, static_cast<char>(sent))) return true;
  }
  return false;
}

bool HasForm(const Message& message, const Form& form) {
  const size_t once = form.once.size(), fields = message.size() - 1;
  if (fields < once || (fields > once && form.again.empty())) return false;
  if (fields > once && (fields - once) % form.again.size() != 0) return false;
  for (size_t i = 0; i < fields; ++i) {
    const char letter = i < once ? form.once[i] : form.again[(i - once) % form.again.size()];
    if (letter == 'n' && !IsNumber(message[i + 1])) return false;
    if (letter == 's' && !IsStatus(message[i + 1])) return false;
  }
  return true;
}

bool IsWellFormed(const Message& message) {
  if (message.empty()) return false;
  return std::any_of(std::begin(kForms), std::end(kForms), [&](const Form& form) {
    return message[0] == form.kind && HasForm(message, form);
  });
}

// Nothing if a field reaches beyond the end.
std::optional<Message> SplitFields(std::string_view bytes) {
  Message message;
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(uint32_t)) return std::nullopt;
    const size_t size = SizeAt(bytes);
    bytes.remove_prefix(sizeof(uint32_t));
    if (size > bytes.size()) return std::nullopt;
    message.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return message;
}

}  // namespace

bool SendMessage(int fd, const Message& message) {
  std::string fields;
  for (const std::string& field : message) {
    AppendSize(fields, field.size());
    fields += field;
  }
  if (fields.size() > kMaxMessageBytes) {
    errno = EMSGSIZE;
    return false;
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

size_t NumberIn(const std::string& field) {
  uint32_t number = 0;
  return absl::SimpleAtoi(field, &number) ? number : 0;
}

absl::StatusOr<std::optional<Message>> MessageReader::Next() {
  if (buffer_.size() < sizeof(uint32_t)) return std::nullopt;
  const size_t size = SizeAt(buffer_);
  if (size > kMaxMessageBytes) return absl::DataLossError("a message is too long");
  if (buffer_.size() - sizeof(uint32_t) < size) return std::nullopt;
  std::optional<Message> message =
      SplitFields(std::string_view(buffer_).substr(sizeof(uint32_t), size));
  if (!message.has_value() || !IsWellFormed(*message))
    return absl::DataLossError("a message has other fields than its kind");
  buffer_.erase(0, sizeof(uint32_t) + size);
  return message;
}

}  // namespace tenon::cli
