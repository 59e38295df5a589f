// What handlers of signals call uses buffers of fixed size and system calls: it allocates no
// memory. The text of the document is put together before.

#include "executor/cli/faults/fault_line.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/guard.h"
#include "graph/base/version.h"
#include "graph/wire/wire_check.h"

namespace tenon::cli {
namespace {

char document_head[256];
std::atomic<bool> document_due{false};
int output_fd = STDOUT_FILENO;

// Copies of the two files that the command writes to, in case a plug-in closes them. High numbers,
// since a plug-in that closes files by number closes low ones. -1: was closed from the start.
constexpr int kHighNumber = 600;
int spare_output = -1, spare_errors = -1;

int SpareOf(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, kHighNumber);
  return high >= 0 ? high : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

// Opens `fd` again from its copy. Returns whether it was closed.
bool Reopen(int fd, int spare) {
  if (spare < 0 || fcntl(fd, F_GETFD) >= 0 || errno != EBADF) return false;
  dup2(spare, fd);
  return true;
}

// Gives stdout to plug-ins and keeps a copy for the document: what a plug-in prints must not stand
// within the document.
void SetStdoutAside() {
  fflush(stdout);
  const int aside = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (aside < 0) return;
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  output_fd = aside;
}

void WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written <= 0) return;
    data += written;
    size -= static_cast<size_t>(written);
  }
}

// The bytes of the UTF-8 character at the begin of the text; 0 if there is none.
size_t CharacterSize(const char* text, size_t size) {
  for (size_t bytes = 1; bytes <= std::min<size_t>(size, 4); ++bytes) {
    if (IsUtf8({text, bytes})) return bytes;
  }
  return 0;
}

// Control characters become blanks: paths and node names that are worth printing have none. A byte
// that is no UTF-8 becomes U+FFFD, as in Json::Dump.
void WriteJsonString(const char* text, size_t size) {
  constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";
  char out[3 * 2048];
  size_t n = 0;
  for (size_t i = 0; i < size;) {
    const size_t bytes = CharacterSize(text + i, size - i);
    if (bytes == 0) {
      n += kNoCharacter.copy(out + n, kNoCharacter.size());
      ++i;
      continue;
    }
    if (text[i] == '"' || text[i] == '\\') out[n++] = '\\';
    for (const size_t end = i + bytes; i < end; ++i)
      out[n++] = static_cast<uint8_t>(text[i]) < 0x20 ? ' ' : text[i];
  }
  WriteAll(output_fd, out, n);
}

// Returns `size` without the bytes of a last UTF-8 character of which the end is missing.
size_t WholeCharacters(const char* text, size_t size) {
  size_t rest = 0;  // bytes behind the first byte of the last character
  while (rest < 3 && rest < size && (static_cast<uint8_t>(text[size - 1 - rest]) & 0xc0) == 0x80)
    ++rest;
  if (rest == size) return size;
  const auto first = static_cast<uint8_t>(text[size - 1 - rest]);
  const size_t wanted = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  return rest < wanted ? size - 1 - rest : size;
}

void WriteText(int fd, const char* text) { WriteAll(fd, text, std::strlen(text)); }

}  // namespace

FaultLine& FaultLine::Add(std::string_view text) {
  for (size_t i = 0; i < text.size() && size_ < sizeof(text_); ++i)
    text_[size_++] = text[i] == '\n' ? ' ' : text[i];
  return *this;
}

void FaultLine::Write(const char* code) {
  if (size_ == sizeof(text_)) size_ = WholeCharacters(text_, size_);
  WriteText(STDERR_FILENO, "graph_run: ");
  WriteAll(STDERR_FILENO, text_, size_);
  WriteText(STDERR_FILENO, "\n");
  if (!document_due.exchange(false)) return;
  WriteText(output_fd, document_head);
  WriteText(output_fd, code);
  WriteText(output_fd, "\",\"message\":\"");
  WriteJsonString(text_, size_);
  WriteText(output_fd, "\"}}\n");
}

void PrepareFaultDocument(std::string_view command, bool json) {
  const std::string head =
      absl::StrCat("{\"schema\":\"graph_run/1\",\"command\":\"", command, "\",\"version\":\"",
                   Version(), "\",\"status\":{\"code\":\"");
  // Made now, as a handler may not allocate memory.
  std::strncpy(document_head, head.c_str(), sizeof(document_head) - 1);
  document_due.store(json);
  if (json && output_fd == STDOUT_FILENO) SetStdoutAside();
  spare_output = SpareOf(output_fd);
  spare_errors = SpareOf(STDERR_FILENO);
}

const char* ReopenOutput() {
  const bool errors = Reopen(STDERR_FILENO, spare_errors);
  bool output = Reopen(output_fd, spare_output);
  if (output_fd != STDOUT_FILENO) output |= Reopen(STDOUT_FILENO, spare_errors);
  if (errors && output) return "standard output and standard error";
  return errors ? "standard error" : output ? "standard output" : nullptr;
}

void EndProcess(Exit exit) {
  // Runs no exit handlers: one of them may be the caller.
  for (;;) syscall(SYS_exit_group, static_cast<int>(exit));
}

int OutputFd() { return output_fd; }

void DocumentWritten() { document_due.store(false); }

}  // namespace tenon::cli
