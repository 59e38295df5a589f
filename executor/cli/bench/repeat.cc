#include "executor/cli/bench/repeat.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <latch>
#include <thread>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/interrupt.h"
#include "executor/cli/options/ticker.h"
#include "executor/values/text.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/callback_scope.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Runs of a thread, where only time says when to stop. Room for the times is made before the clock
// starts.
constexpr int64_t kMaxTimedRuns = int64_t{1} << 20;

double Seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// The runs of one thread.
struct Lane {
  int64_t runs = 0;
  double seconds = 0;
  RunRecorder* recorder = nullptr;
  std::atomic<int64_t>* finished = nullptr;
  std::vector<double> run_us;
  std::vector<Tensor> values;
  absl::Status status;
  Clock::time_point begin, end;  // of its runs

  absl::Status Run(Session& session, Executable* executable, const std::vector<Tensor>& feeds) {
    begin = end = Clock::now();
    for (int64_t i = 0; i < runs; ++i) {
      const Clock::time_point start = Clock::now();
      // The last values go first, so that the run can use their memory again.
      values.clear();
      TENON_ASSIGN_OR_RETURN(values, session.Run(executable, feeds, recorder));
      end = Clock::now();
      run_us.push_back(Seconds(end - start) * 1e6);
      if (finished != nullptr) finished->store(i + 1, std::memory_order_relaxed);
      if (seconds > 0 && Seconds(end - begin) >= seconds) break;
      if (Interrupted()) break;
    }
    return absl::OkStatus();
  }
};

// Feeds of one thread alone, as requests have them: threads that count the references to one buffer
// wait for each other.
absl::StatusOr<std::vector<Tensor>> OwnFeeds(const std::vector<Tensor>& feeds) {
  std::vector<Tensor> own;
  for (const Tensor& feed : feeds) {
    own.push_back(feed);
    if (!IsMemcpyable(feed.dtype())) continue;
    TENON_ASSIGN_OR_RETURN(own.back(), feed.Copy());
  }
  return own;
}

// From the begin of the first thread to the end of the last: a thread may be done before another
// one wakes up.
double WallSeconds(const std::vector<Lane>& lanes) {
  Clock::time_point begin = lanes[0].begin, end = lanes[0].end;
  for (const Lane& lane : lanes) {
    begin = std::min(begin, lane.begin);
    end = std::max(end, lane.end);
  }
  return Seconds(end - begin);
}

}  // namespace

Repetition RepetitionFrom(const RepeatFlags& flags, Repetition fallback) {
  Repetition repetition = flags.runs > 0 || flags.seconds > 0 ? Repetition{} : fallback;
  repetition.threads = flags.concurrency;
  if (flags.seconds > 0) repetition.seconds = flags.seconds;
  if (flags.runs > 0) {
    repetition.runs = flags.runs;
  } else if (repetition.seconds > 0) {
    repetition.runs = kMaxTimedRuns * repetition.threads;
  }
  return repetition;
}

absl::Status Warm(Session& session, Executable* executable, const std::vector<Tensor>& feeds,
                  int64_t runs) {
  for (int64_t i = 0; i < runs; ++i) TENON_RETURN_IF_ERROR(session.Run(executable, feeds).status());
  return absl::OkStatus();
}

std::string RepetitionText(std::string_view what, const Repetition& repetition, double seconds,
                           int64_t finished) {
  const double by_time = repetition.seconds > 0 ? seconds / repetition.seconds : 0;
  const double by_runs =
      static_cast<double>(finished) * repetition.threads / static_cast<double>(repetition.runs);
  return absl::StrCat(what, " ", BarText(std::max(by_time, by_runs)), ", ",
                      Plural(finished * repetition.threads, "run"));
}

absl::StatusOr<Repeated> Repeat(Session& session, Executable* executable,
                                const std::vector<Tensor>& feeds, const Repetition& repetition,
                                AllocationCounter allocations) {
  const int64_t count = std::min<int64_t>(repetition.threads, repetition.runs);
  std::vector<Lane> lanes(count);
  for (int64_t t = 0; t < count; ++t) {
    lanes[t].runs = repetition.runs / count + (t < repetition.runs % count ? 1 : 0);
    lanes[t].seconds = repetition.seconds;
    lanes[t].recorder = repetition.recorder;
    lanes[t].run_us.reserve(lanes[t].runs);
  }
  lanes[0].finished = repetition.finished;
  std::vector<std::vector<Tensor>> own(count, feeds);
  for (int64_t t = 1; t < count; ++t) {
    TENON_ASSIGN_OR_RETURN(own[t], OwnFeeds(feeds));
  }
  std::latch ready(count), done(count);
  const auto run = [&](int64_t t) {
    lanes[t].status = WithinMemory([&] { return lanes[t].Run(session, executable, own[t]); });
  };
  std::vector<std::jthread> others;
  try {
    for (int64_t t = 1; t < count; ++t) {
      others.emplace_back([&, t] {
        // A fault in this thread is no plug-in's.
        MarkHostThread();
        ready.arrive_and_wait();
        run(t);
        done.count_down();
      });
    }
  } catch (const std::exception& e) {
    const auto started = static_cast<int64_t>(others.size());
    for (Lane& lane : lanes) lane.runs = 0;
    // Lets the threads that were started run through, with nothing to do.
    ready.count_down(count - started);
    return absl::ResourceExhaustedError(absl::StrCat("the system has threads for ", started + 1,
                                                     " runs at a time, not for ", count, ": ",
                                                     e.what()));
  }
  Repeated repeated;
  const int64_t before = allocations == nullptr ? -1 : allocations(true);
  ready.arrive_and_wait();
  run(0);
  done.arrive_and_wait();
  const int64_t after = allocations == nullptr ? -1 : allocations(false);
  if (before >= 0) repeated.allocations = after - before;
  others.clear();  // waits for their end
  for (Lane& lane : lanes) {
    TENON_RETURN_IF_ERROR(lane.status);
    repeated.run_us.insert(repeated.run_us.end(), lane.run_us.begin(), lane.run_us.end());
  }
  repeated.wall_s = WallSeconds(lanes);
  repeated.values = std::move(lanes[0].values);
  return repeated;
}

}  // namespace tenon::cli
