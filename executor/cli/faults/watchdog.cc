#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/faults/fault_line.h"
#include "executor/cli/faults/guard.h"
#include "executor/cli/faults/interrupt.h"
#include "executor/cli/faults/reproducer.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The time that plug-ins have when the process ends.
constexpr double kSecondsToEnd = 5;

[[noreturn]] void TimeOut(FaultLine& line) {
  line.Write("DEADLINE_EXCEEDED");
  EndProcess(Exit::kTimeout);
}

class Watchdog {
 public:
  Watchdog(double callback_s, std::optional<double> total_s)
      : callback_s_(callback_s), total_s_(total_s) {}

  [[noreturn]] void Run() {
    const double shortest = total_s_ ? std::min(*total_s_, callback_s_) : callback_s_;
    // A twentieth of the limit is precise enough, and half a second costs nothing.
    const std::chrono::duration<double> period(std::clamp(shortest / 20, 0.0001, 0.5));
    for (;;) {
      std::this_thread::sleep_for(period);
      if (const int code = CodeOfWorkDone(); code >= 0) {
        LookAtEnd(code);
        continue;
      }
      EndOverdueWork();
      LookAtCalls();
      LookAtProcess();
    }
  }

 private:
  struct Seen {
    uint64_t serial;
    Clock::time_point since;
  };

  static double SecondsSince(Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  }

  // A call is late if the same call is seen in a thread for so long. Samples cost the calls
  // themselves only two stores.
  void LookAtCalls() {
    for (const ActiveCall& active : ActiveCalls()) {
      const auto [it, fresh] = seen_.try_emplace(active.thread, Seen{active.serial, Clock::now()});
      if (!fresh && it->second.serial != active.serial) it->second = {active.serial, Clock::now()};
      if (SecondsSince(it->second.since) >= callback_s_) ReportHang(*active.call, callback_s_);
    }
  }

  // Ends the process if static destructors and exit handlers of plug-ins take too long. The work is
  // done, so its exit code stays.
  void LookAtEnd(int code) {
    if (!end_) end_ = Clock::now();
    if (SecondsSince(*end_) < kSecondsToEnd || *NamesOfPlugins() == '\0') return;
    FaultLine line;
    line.Add("plug-in ").Add(NamesOfPlugins()).Add(": what it does when the process ends");
    line.Add(" has not ended within ").Add(absl::StrCat(kSecondsToEnd)).Add(" s");
    line.Write("DEADLINE_EXCEEDED");
    EndProcess(static_cast<Exit>(code));
  }

  void LookAtProcess() {
    if (!total_s_ || SecondsSince(start_) < *total_s_) return;
    // A call that took more than half of the time is the one to name.
    for (const ActiveCall& active : ActiveCalls()) {
      const auto it = seen_.find(active.thread);
      const bool same = it != seen_.end() && it->second.serial == active.serial;
      if (same && SecondsSince(it->second.since) > *total_s_ / 2)
        ReportHang(*active.call, *total_s_);
    }
    FaultLine line;
    line.Add("the work is not done after ").Add(absl::StrCat(*total_s_)).Add(" s (--timeout)");
    TimeOut(line);
  }

  [[noreturn]] static void ReportHang(const CallbackInfo& call, double limit_s) {
    FaultLine line;
    line.Add("plug-in ").Add(call.plugin).Add(": ").Add(call.callback);
    if (!call.node.empty()) line.Add(" of node '").Add(call.node).Add("'");
    line.Add(" has not ended within ").Add(absl::StrCat(limit_s)).Add(" s (--timeout)");
    AddFaultReproducer(line);
    TimeOut(line);
  }

  const double callback_s_;
  const std::optional<double> total_s_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> end_;
  absl::flat_hash_map<const void*, Seen> seen_;
};

}  // namespace

void StartWatchdog(double callback_s, std::optional<double> total_s) {
  std::thread([callback_s, total_s] {
    // A fault in this thread is no plug-in's.
    MarkHostThread();
    Watchdog(callback_s, total_s).Run();
  }).detach();
}

}  // namespace tenon::cli
