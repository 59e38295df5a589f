// Cases run in forked workers, since a plug-in may crash or hang. A worker tells which case it
// begins, so that the parent knows the case in which a worker died, and another worker goes on
// behind it.

#include "executor/cli/check/check_workers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <set>

#include "absl/strings/str_cat.h"
#include "executor/cli/check/check_protocol.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/faults/guard.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Where a worker starts: in a file if an earlier worker died in it.
struct StartAt {
  size_t file = SIZE_MAX;  // SIZE_MAX: take the next free one
  size_t index = 0;
};

CaseResult WithStatus(CaseResult result, CaseStatus status, std::string detail) {
  result.status = status;
  result.detail = std::move(detail);
  return result;
}

// --- The worker's side.

class Worker {
 public:
  // Warnings of plug-ins are the same in each worker, so one worker prints them.
  Worker(const std::vector<std::string>& files, CheckKind kind, const CompileFlags& flags,
         std::atomic<size_t>& next_file, int fd, bool warns)
      : files_(files), kind_(kind), flags_(flags), next_file_(next_file), fd_(fd) {
    flags_.quiet |= !warns;
  }

  // noexcept: an exception must not reach the parent's frames, of which this process has a copy.
  int Run(StartAt start) noexcept {
    BecomeWorker();
    if (AbiWatch* const watch = AbiWatch::Active()) watch->BeSilent();
    absl::StatusOr<std::unique_ptr<Host>> host = Host::Open(flags_);
    absl::StatusOr<SessionOptions> session = SessionOptionsFrom(flags_);
    const absl::Status status = !host.ok() ? host.status() : session.status();
    if (!status.ok()) {
      Send({std::string(kNoHost), absl::StrCat(static_cast<int>(ExitOf(status))),
            absl::StrCat(static_cast<int>(status.code())), std::string(status.message())});
      return 0;
    }
    // A pool of threads for each case would cost more than the case.
    if (flags_.threads == 0) session->threads = 1;
    const CaseOptions cases = OptionsOfCases(*std::move(session));
    if (start.file != SIZE_MAX) RunFile(start, **host, cases);
    for (size_t file = next_file_.fetch_add(1); file < files_.size();
         file = next_file_.fetch_add(1))
      RunFile({file, 0}, **host, cases);
    // Plug-ins are shut down first: what is left then is what they forgot.
    host->reset();
    if (AbiWatch* const watch = AbiWatch::Active()) watch->ReportWhatIsLeft();
    SendViolations();
    return 0;
  }

 private:
  // Ends the process if the parent cannot be told: it must not take silence for a good end.
  void Send(const Message& message) {
    if (SendMessage(fd_, message)) return;
    if (errno == EBADF) {
      ReopenOutput();
      FaultLine line;
      line.Add("plug-in ").Add(NamesOfPlugins()).Add(" closed the pipe to which results go");
      line.Write("FAILED_PRECONDITION");
    } else if (errno == EMSGSIZE) {
      FaultLine line;
      line.Add("what a case or a plug-in says is too long to be told: more than 64 MiB");
      line.Write("RESOURCE_EXHAUSTED");
    }
    EndProcess(Exit::kPluginFault);
  }

  // Gives plug-ins something to do: their passes run, since most of their kernels are for ops that
  // only these passes make. Built-in passes do not run, as they would fold or change what the
  // kernel has to compute.
  CaseOptions OptionsOfCases(SessionOptions session) {
    Message plugins = {std::string(kPlugins)};
    for (const PluginInfo& plugin : Plugins()) {
      if (plugin.status.ok())
        plugins.insert(plugins.end(), {plugin.path, absl::StrCat(plugin.kernels)});
    }
    Send(plugins);
    CaseOptions options{std::move(session), plugins.size() > 1};
    if (!options.feed_constants || flags_.opt_level >= 0) return options;
    options.session.opt_level = 1;
    PipelineOptions& pipeline = options.session.pipeline;
    if (pipeline.passes.empty()) pipeline.passes.push_back({"plugin:*", {}});
    // Most cases are smaller than the limit.
    if (flags_.config.empty()) pipeline.min_graph_nodes = -1;
    return options;
  }

  // Sends the violations that the parent does not know yet.
  void SendViolations() {
    if (AbiWatch::Active() == nullptr) return;
    const std::vector<AbiViolation> all = AbiWatch::Active()->violations();
    for (; violations_sent_ < all.size(); ++violations_sent_) {
      const AbiViolation& v = all[violations_sent_];
      Send({std::string(kViolation), v.rule, v.plugin, v.callback, v.node, v.detail});
    }
  }

  void SendResult(const std::string& file, size_t index, const std::string& name,
                  const CaseResult& result) {
    if (!result.plugin_kernels.empty()) {
      Message kernels = {std::string(kKernelsRan)};
      for (const auto& [plugin, op] : result.plugin_kernels)
        kernels.insert(kernels.end(), {plugin, op});
      Send(kernels);
    }
    if (!result.failed_pass.empty() || !result.changing_passes.empty()) {
      Message passes = {std::string(kPassesRan), result.failed_pass};
      passes.insert(passes.end(), result.changing_passes.begin(), result.changing_passes.end());
      Send(passes);
    }
    Send({std::string(kCaseEnded), file, absl::StrCat(index), name,
          std::string(1, static_cast<char>(result.status)), result.detail});
  }

  void RunFile(StartAt at, const Host& host, const CaseOptions& options) {
    const std::string id = absl::StrCat(at.file);
    Send({std::string(kFileBegins), id});
    const absl::StatusOr<CheckFile> file = ReadCheckFile(files_[at.file], flags_.limits, kind_);
    if (!file.ok()) {
      SendResult(id, 0, "",
                 WithStatus({}, CaseStatus::kFailed, std::string(file.status().message())));
    } else {
      for (size_t i = at.index; i < file->cases.size(); ++i) {
        const CheckCase& c = file->cases[i];
        // Before the case: if it ends the process, the parent knows which one it was.
        Send({std::string(kCaseBegins), id, absl::StrCat(i), c.name});
        const CaseResult result = RunCase(*file, c, host, options);
        SendViolations();
        SendResult(id, i, c.name, result);
      }
    }
    Send({std::string(kFileEnded), id});
  }

  const std::vector<std::string>& files_;
  CheckKind kind_;
  CompileFlags flags_;
  std::atomic<size_t>& next_file_;
  int fd_;
  size_t violations_sent_ = 0;
};

// --- The parent's side.

// The number of the next file, in memory that the workers share: each takes a file when it is free.
struct Unmap {
  void operator()(std::atomic<size_t>* counter) const { munmap(counter, sizeof(*counter)); }
};
using SharedCounter = std::unique_ptr<std::atomic<size_t>, Unmap>;

absl::StatusOr<SharedCounter> MakeSharedCounter() {
  void* const memory = mmap(nullptr, sizeof(std::atomic<size_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return absl::ResourceExhaustedError("no memory to share with the workers");
  return SharedCounter(new (memory) std::atomic<size_t>(0));
}

constexpr std::string_view kGarbled =
    "something other than results came through the pipe to which they go; a plug-in may have "
    "written into it";

struct Child {
  pid_t pid = -1;
  int fd = -1;
  MessageReader reader;
  size_t file = SIZE_MAX;             // in progress; SIZE_MAX: none
  std::optional<CaseRecord> running;  // the case in progress
  CaseResult plugins;                 // what plug-ins did in the case
  size_t next_index = 0;              // the case behind the last one that was begun
  Clock::time_point since = Clock::now();
  bool timed_out = false;
  bool garbled = false;  // what it sent is not what a worker sends
};

class Parent {
 public:
  Parent(const std::vector<std::string>& files, CheckKind kind, const CompileFlags& flags,
         const std::function<void(size_t)>& done)
      : files_(files),
        kind_(kind),
        flags_(flags),
        done_(done),
        timeout_s_(flags.timeout_s.value_or(kDefaultCallbackTimeout)) {}

  absl::StatusOr<CheckedCases> Run() {
    TENON_ASSIGN_OR_RETURN(next_file_, MakeSharedCounter());
    const size_t workers = std::clamp(DefaultThreads(), 2, 16);
    for (size_t i = 0; i < std::min(workers, files_.size()); ++i) TENON_RETURN_IF_ERROR(Fork({}));
    while (!children_.empty()) TENON_RETURN_IF_ERROR(Step());
    for (size_t lost = NextLostFile(); lost != SIZE_MAX; lost = NextLostFile()) {
      TENON_RETURN_IF_ERROR(Fork({lost, 0}));
      while (!children_.empty()) TENON_RETURN_IF_ERROR(Step());
    }
    AddLostFiles();
    std::vector<CaseRecord>& records = cases_.records;
    std::sort(records.begin(), records.end(), [](const CaseRecord& a, const CaseRecord& b) {
      return std::pair(a.file, a.index) < std::pair(b.file, b.index);
    });
    return std::move(cases_);
  }

  ~Parent() {
    for (const auto& child : children_) {
      kill(child->pid, SIGKILL);
      waitpid(child->pid, nullptr, 0);
      close(child->fd);
    }
  }

 private:
  absl::Status Fork(StartAt start) {
    int ends[2];
    // A program that a plug-in starts must not hold the end that the parent reads up to.
    if (pipe2(ends, O_CLOEXEC) != 0)
      return absl::ResourceExhaustedError(absl::StrCat("pipe: ", std::strerror(errno)));
    // Otherwise the child would write the buffered text once more.
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid < 0) return absl::ResourceExhaustedError(absl::StrCat("fork: ", std::strerror(errno)));
    if (pid == 0) {
      close(ends[0]);
      // _exit: the parent's destructors and exit handlers are not for the child.
      _exit(Worker(files_, kind_, flags_, *next_file_, ends[1], !has_forked_).Run(start));
    }
    has_forked_ = true;
    close(ends[1]);
    auto child = std::make_unique<Child>();
    child->pid = pid;
    child->fd = ends[0];
    children_.push_back(std::move(child));
    return absl::OkStatus();
  }

  absl::Status Step() {
    std::vector<pollfd> fds;
    for (const auto& child : children_) fds.push_back({child->fd, POLLIN, 0});
    poll(fds.data(), fds.size(), poll_ms_);
    // From the end: a worker that has ended is erased, and its successor is appended.
    for (size_t i = fds.size(); i-- > 0;) {
      if (fds[i].revents != 0) TENON_RETURN_IF_ERROR(ReadFrom(i));
    }
    for (size_t i = children_.size(); i-- > 0;) TENON_RETURN_IF_ERROR(EndIfLate(i));
    return absl::OkStatus();
  }

  absl::Status ReadFrom(size_t i) {
    Child& child = *children_[i];
    char buffer[1 << 16];
    const ssize_t n = read(child.fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) return absl::OkStatus();
    if (n > 0) child.reader.Append(buffer, static_cast<size_t>(n));
    for (;;) {
      const absl::StatusOr<std::optional<Message>> message = child.reader.Next();
      if (!message.ok() || (message->has_value() && !IsTimely(child, **message)))
        return EndGarbled(i);
      if (!message->has_value()) break;
      TENON_RETURN_IF_ERROR(Handle(child, **message));
    }
    return n > 0 ? absl::OkStatus() : Ended(i);
  }

  // Whether a worker in the state of `child` sends this message.
  bool IsTimely(const Child& child, const Message& m) const {
    const std::string_view kind = m[0];
    if (kind == kNoHost) {
      const size_t exit = NumberIn(m[1]), code = NumberIn(m[2]);
      return child.file == SIZE_MAX && exit > 0 && exit <= 0xff && code > 0 &&
             code <= static_cast<size_t>(absl::StatusCode::kUnauthenticated);
    }
    if (kind == kFileBegins) return child.file == SIZE_MAX && NumberIn(m[1]) < files_.size();
    if (kind != kFileEnded && kind != kCaseBegins && kind != kCaseEnded) return true;
    if (child.file == SIZE_MAX || NumberIn(m[1]) != child.file) return false;
    if (kind != kCaseEnded) return !child.running;
    if (!child.running) return m[3].empty();  // of the file as a whole
    return child.running->index == NumberIn(m[2]) && child.running->name == m[3];
  }

  absl::Status EndGarbled(size_t i) {
    children_[i]->garbled = true;
    kill(children_[i]->pid, SIGKILL);
    return Ended(i);
  }

  absl::Status Handle(Child& child, const Message& m) {
    const std::string_view kind = m[0];
    if (kind == kNoHost) {
      return WithExit(static_cast<Exit>(NumberIn(m[1])),
                      absl::Status(static_cast<absl::StatusCode>(NumberIn(m[2])), m[3]));
    }
    if (kind == kViolation) {
      if (AbiWatch* const watch = AbiWatch::Active())
        watch->Report(
            {.plugin = m[2], .callback = m[3], .node = m[4], .rule = m[1], .detail = m[5]});
      return absl::OkStatus();
    }
    child.since = Clock::now();
    if (HandlePlugins(child, m)) return absl::OkStatus();
    child.file = NumberIn(m[1]);
    if (kind == kFileBegins) {
      child.next_index = 0;
    } else if (kind == kCaseBegins) {
      child.running = CaseRecord{child.file, NumberIn(m[2]), m[3], {}};
      child.next_index = child.running->index + 1;
    } else if (kind == kCaseEnded) {
      cases_.records.push_back(
          {child.file, NumberIn(m[2]), m[3],
           WithStatus(std::exchange(child.plugins, {}), static_cast<CaseStatus>(m[4][0]), m[5])});
      child.running.reset();
    } else if (kind == kFileEnded) {
      Finish(std::exchange(child.file, SIZE_MAX));
    }
    return absl::OkStatus();
  }

  void Finish(size_t file) {
    if (finished_.insert(file).second) done_(finished_.size());
  }

  // A worker takes files by itself: if what it sent is garbled, the parent may not know of them.
  // Each gets a worker of its own, once. SIZE_MAX: there is none.
  size_t NextLostFile() {
    for (size_t file = 0; file < files_.size(); ++file) {
      if (!finished_.contains(file) && retried_.insert(file).second) return file;
    }
    return SIZE_MAX;
  }

  void AddLostFiles() {
    for (size_t file = 0; file < files_.size(); ++file) {
      if (finished_.contains(file)) continue;
      cases_.records.push_back(
          {file, SIZE_MAX, "",
           WithStatus({}, CaseStatus::kCrashed,
                      "no results came: a plug-in may have ended the process, or written into the "
                      "pipe to which they go")});
      Finish(file);
    }
  }

  // Handles messages about plug-ins. Returns whether it was one.
  bool HandlePlugins(Child& child, const Message& m) {
    if (m[0] == kPlugins) {
      cases_.plugins.clear();
      for (size_t i = 1; i + 1 < m.size(); i += 2)
        cases_.plugins.push_back({m[i], static_cast<int>(NumberIn(m[i + 1]))});
    } else if (m[0] == kKernelsRan) {
      for (size_t i = 1; i + 1 < m.size(); i += 2)
        child.plugins.plugin_kernels.emplace_back(m[i], m[i + 1]);
    } else if (m[0] == kPassesRan) {
      child.plugins.failed_pass = m[1];
      child.plugins.changing_passes.assign(m.begin() + 2, m.end());
    } else {
      return false;
    }
    return true;
  }

  // A worker that ended within a file has crashed in the case that ran. A new worker goes on behind
  // it.
  absl::Status Ended(size_t i) {
    const std::unique_ptr<Child> child = std::move(children_[i]);
    children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
    close(child->fd);
    int status = 0;
    waitpid(child->pid, &status, 0);
    // A process that dies may leave half a message, a worker that is done does not.
    child->garbled |= status == 0 && child->reader.HasRest();
    if (child->file == SIZE_MAX) return EndBetweenFiles(*child, status);
    CaseRecord record = child->running.value_or(CaseRecord{child->file, child->next_index, "", {}});
    record.result = WithStatus({}, CaseStatus::kCrashed, HowItDied(*child, status));
    cases_.records.push_back(record);
    if (child->running) return Fork({child->file, child->next_index});
    Finish(child->file);
    return Fork({});
  }

  // A worker that ended between files was done, or a plug-in ended it while it was loaded or
  // unloaded.
  absl::Status EndBetweenFiles(const Child& child, int status) const {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0 && !child.garbled) return absl::OkStatus();
    const absl::Status died = absl::InternalError(
        absl::StrCat("a process for cases ended outside of them: ", HowItDied(child, status)));
    if (child.timed_out) return WithExit(Exit::kTimeout, died);
    if (child.garbled) return WithExit(Exit::kPluginFault, died);
    return code == static_cast<int>(Exit::kPluginFault) ? WithExit(Exit::kPluginFault, died) : died;
  }

  std::string HowItDied(const Child& child, int status) const {
    if (child.timed_out) return absl::StrCat("not done after ", timeout_s_, " s (--timeout)");
    if (child.garbled) return std::string(kGarbled);
    if (WIFSIGNALED(status)) return absl::StrCat("killed by SIG", sigabbrev_np(WTERMSIG(status)));
    const int code = WEXITSTATUS(status);
    return code == static_cast<int>(Exit::kPluginFault)
               ? "a plug-in's fault, see the line on stderr"
               : absl::StrCat("the process left with code ", code);
  }

  // Does not wait for the pipe's end: a process that a plug-in forked may hold it.
  absl::Status EndIfLate(size_t i) {
    Child& child = *children_[i];
    const double waited = std::chrono::duration<double>(Clock::now() - child.since).count();
    if (waited < timeout_s_) return absl::OkStatus();
    child.timed_out = true;
    kill(child.pid, SIGKILL);
    return Ended(i);
  }

  const std::vector<std::string>& files_;
  const CheckKind kind_;
  const CompileFlags& flags_;
  const std::function<void(size_t)>& done_;
  const double timeout_s_;
  const int poll_ms_ = static_cast<int>(std::clamp(timeout_s_ * 1000 / 20, 1.0, 200.0));
  SharedCounter next_file_;
  std::vector<std::unique_ptr<Child>> children_;
  CheckedCases cases_;
  std::set<size_t> finished_, retried_;  // files
  bool has_forked_ = false;
};

}  // namespace

absl::StatusOr<CheckedCases> RunInWorkers(const std::vector<std::string>& files, CheckKind kind,
                                          const CompileFlags& flags,
                                          const std::function<void(size_t)>& done) {
  return Parent(files, kind, flags, done).Run();
}

}  // namespace tenon::cli
