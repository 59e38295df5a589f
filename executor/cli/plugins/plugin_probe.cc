// Loads the plug-in in a forked child, so that a crash or an endless wait ends only the child. The
// child answers through a pipe in JSON.

#include "executor/cli/plugins/plugin_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/guard.h"
#include "executor/cli/plugins/host.h"
#include "executor/cli/plugins/kernel_table.h"
#include "executor/cli/plugins/pjrt_report.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxOutput = 64 << 10;
constexpr size_t kMaxAnswer = 256 << 20;
constexpr double kGraceSeconds = 2;  // for the child's own watchdog, which can name the callback
constexpr int kPollMs = 20;

// --- The child's side.

Json StructsJson(const std::vector<StructSize>& structs) {
  Json array = Json::Array();
  for (const StructSize& s : structs) {
    Json json = Json::Object();
    json.Set("name", s.name).Set("size", s.size).Set("host_size", s.host_size);
    array.Push(std::move(json));
  }
  return array;
}

Json Facts(const PluginInfo& info) {
  std::vector<KernelRow> rows = KernelRows();
  std::erase_if(rows, [&](const KernelRow& row) { return row.plugin != info.path; });
  Json facts = Json::Object();
  facts.Set("status", Json::OfStatus(info.status))
      .Set("device_type", info.device_type)
      .Set("devices", info.device_count)
      .Set("structs", StructsJson(info.structs))
      .Set("ops", Json::ArrayOf(info.ops))
      .Set("kernels", KernelsJson(rows))
      .Set("pass", info.pass)
      .Set("profiler", info.profiler)
      .Set("warnings", Json::ArrayOf(info.warnings))
      .Set("doubts", Json::ArrayOf(info.doubts))
      .Set("kind", DeviceKindName(info.kind));
  if (info.next) facts.Set("next_pluggable", NextPluggableJson(*info.next));
  if (info.pjrt) facts.Set("pjrt", PjrtJson(*info.pjrt));
  return facts;
}

bool IsArray(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.Find(key);
  return value.has_value() && value->is_array();
}

bool HasNumber(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.Find(key);
  return value.has_value() && value->AsNumber().has_value();
}

// Whether a text is what Facts makes. A plug-in shares the child's process, and may write into the
// pipe of the answer.
bool LooksLikeFacts(const Json& json) {
  const std::optional<Json> status = json.Find("status");
  if (!status.has_value() || !status->is_object() || !HasNumber(json, "devices")) return false;
  for (const std::string_view key : {"structs", "ops", "kernels", "warnings", "doubts"}) {
    if (!IsArray(json, key)) return false;
  }
  const Json structs = *json.Find("structs"), kernels = *json.Find("kernels");
  for (size_t i = 0; i < structs.size(); ++i) {
    if (!HasNumber(structs.At(i), "size") || !HasNumber(structs.At(i), "host_size")) return false;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!IsArray(kernels.At(i), "types") || !IsArray(kernels.At(i), "notes")) return false;
  }
  return true;
}

// The error that Host::Open has for a plug-in that closes an output.
absl::Status CheckOutputs(const std::string& plugin) {
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) return ClosedByPlugin("standard output", plugin);
  if (fcntl(STDERR_FILENO, F_GETFD) < 0) return ClosedByPlugin("standard error", plugin);
  return absl::OkStatus();
}

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// A plug-in that --plugin names must have its devices. A client of PJRT may take a device's memory,
// and waits for the caller to ask.
absl::Status LoadWithDevices(const std::string& path, bool clients) {
  const absl::StatusOr<PluginInfo> info = LoadPlugin(path);
  NotePluginCode(path);
  if (!info.ok()) return info.status();
  if (info->kind == DeviceKind::kPjrt && !clients) return absl::OkStatus();
  return PluginDevices().status();
}

// noexcept: an exception must not reach the parent's frames, of which this process has a copy.
[[noreturn]] void BeChild(const std::string& path, int answer, int output, double timeout_s,
                          bool clients, pid_t parent) noexcept {
  // A group of its own, so that processes that the plug-in starts can be ended with it.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before the line above had an effect.
  if (getppid() != parent) _exit(1);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // A plug-in that closes files by number closes low ones.
  constexpr int kHighNumber = 600;
  if (const int high = fcntl(answer, F_DUPFD_CLOEXEC, kHighNumber); high >= 0) answer = high;
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  BecomeWorker();
  StartWatchdog(timeout_s, std::nullopt);
  const std::string canonical = CanonicalPath(path);
  const absl::Status status = LoadWithDevices(canonical, clients);
  // The list says more than the error: how far the load came, and how many devices there are. It
  // also has plug-ins that this one has loaded.
  for (PluginInfo& info : Plugins()) {
    if (info.path != canonical) continue;
    info.status.Update(CheckOutputs(canonical));
    WriteAll(answer, Facts(info).Dump());
  }
  _exit(status.ok() ? 0 : 1);  // destructors of the plug-in are not what is tested
}

// --- The parent's side.

class Parent {
 public:
  Parent(pid_t child, int answer, int output, double timeout_s)
      : child_(child), fds_{{answer, POLLIN, 0}, {output, POLLIN, 0}} {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(timeout_s + kGraceSeconds));
  }
  ~Parent() {
    kill(-child_, SIGKILL);
    if (!reaped_) waitpid(child_, nullptr, 0);
    for (const pollfd& fd : fds_) {
      if (fd.fd >= 0) close(fd.fd);
    }
  }

  PluginProbe Watch() {
    while (!reaped_ && Clock::now() < deadline_) {
      Read(kPollMs);
      reaped_ = waitpid(child_, &status_, WNOHANG) == child_;
    }
    // What is left in the pipes. A grandchild may hold these open, or write without end.
    const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
    while (Clock::now() < end && Read(0)) {
    }
    return Judge();
  }

 private:
  // Reads from both pipes. Returns whether anything came.
  bool Read(int timeout_ms) {
    if (poll(fds_, 2, timeout_ms) <= 0) return false;
    bool came = false;
    for (size_t i = 0; i < 2; ++i) {
      if (fds_[i].fd < 0 || fds_[i].revents == 0) continue;
      char buffer[1 << 16];
      const ssize_t n = read(fds_[i].fd, buffer, sizeof(buffer));
      if (n <= 0) {
        close(fds_[i].fd);
        fds_[i].fd = -1;
        continue;
      }
      std::string& text = i == 0 ? answer_ : output_;
      const size_t room = (i == 0 ? kMaxAnswer : kMaxOutput) - text.size();
      text.append(buffer, std::min(room, static_cast<size_t>(n)));
      // Once the child has ended, output without room for it must not keep the parent here.
      came = reaped_ ? room > 0 : true;
    }
    return came;
  }

  PluginProbe Judge() {
    PluginProbe probe;
    probe.output = output_;
    absl::StatusOr<Json> facts = Json::Parse(answer_);
    if (facts.ok() && LooksLikeFacts(*facts)) {
      probe.facts = *std::move(facts);
      return probe;
    }
    probe.end = PluginProbe::End::kCrashed;
    if (!reaped_ || (WIFEXITED(status_) && WEXITSTATUS(status_) == int(Exit::kTimeout)))
      probe.end = PluginProbe::End::kHung;
    probe.death = LastWords();
    if (!probe.death.empty()) return probe;
    if (!reaped_) {
      probe.death = "it did not end in time";
    } else if (WIFSIGNALED(status_)) {
      probe.death = absl::StrCat("killed by SIG", sigabbrev_np(WTERMSIG(status_)));
    } else if (!answer_.empty() && WEXITSTATUS(status_) == 0) {
      probe.death = "something other than its answer came through the pipe to which that goes";
    } else {
      probe.death = absl::StrCat("the process left with code ", WEXITSTATUS(status_));
    }
    return probe;
  }

  // The line that the fault handlers wrote: "graph_run: plug-in …".
  std::string LastWords() const {
    constexpr std::string_view kMark = "graph_run: plug-in ";
    const size_t at = output_.rfind(kMark);
    if (at == std::string::npos) return "";
    const size_t begin = at + kMark.size();
    return output_.substr(begin, output_.find('\n', begin) - begin);
  }

  const pid_t child_;
  pollfd fds_[2];
  Clock::time_point deadline_;
  std::string answer_, output_;
  bool reaped_ = false;
  int status_ = 0;
};

}  // namespace

absl::StatusOr<PluginProbe> ProbePlugin(const std::string& path, double timeout_s, bool clients) {
  int answer[2], output[2];
  if (pipe2(answer, O_CLOEXEC) != 0)
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", std::strerror(errno)));
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(answer[0]);
    close(answer[1]);
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  // Otherwise the child would write the buffered text once more.
  fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BeChild(path, answer[1], output[1], timeout_s, clients, parent);
  close(answer[1]);
  close(output[1]);
  if (pid < 0) {
    close(answer[0]);
    close(output[0]);
    return absl::ResourceExhaustedError(absl::StrCat("fork: ", std::strerror(errno)));
  }
  // The child does so too; the first of the two counts, so that a kill of the group finds it.
  setpgid(pid, pid);
  return Parent(pid, answer[0], output[0], timeout_s).Watch();
}

}  // namespace tenon::cli
