#include "plugin/host/loading/profiler_session.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/wire/wire.h"
#include "proto/xspace.pb.h"

namespace tenon {
namespace {

// Bounds of a profile. Messages are bounded too, since one of two bytes becomes an object of a
// hundred.
constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr int64_t kMaxMessages = int64_t{1} << 22;
constexpr int kDepth = 5;  // a stat of an event of a line of a plane of the space
// How far from the profile's own time an event may lie and still be on that clock.
constexpr double kSlackNs = 10e9;

// `size` bytes for a plug-in to write to. Behind them lies a fence, up to the end of the page,
// which shows whether the plug-in writes more; then pages without access, on which a longer write
// faults.
class FencedBuffer {
 public:
  explicit FencedBuffer(size_t size) : size_(size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    writable_ = (size + page) / page * page;
    void* memory = mmap(nullptr, writable_ + kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    data_ = static_cast<uint8_t*>(memory);
    if (mprotect(data_, writable_, PROT_READ | PROT_WRITE) == 0)
      std::fill(data_ + size_, data_ + writable_, kFence);
    else
      Free();
  }
  ~FencedBuffer() { Free(); }
  FencedBuffer(const FencedBuffer&) = delete;
  FencedBuffer& operator=(const FencedBuffer&) = delete;

  uint8_t* data() { return data_; }  // null: no memory
  bool Overrun() const {
    return std::any_of(data_ + size_, data_ + writable_, [](uint8_t b) { return b != kFence; });
  }

 private:
  static constexpr uint8_t kFence = 0xa5;
  static constexpr size_t kGuard = size_t{1} << 20;

  void Free() {
    if (data_ != nullptr) munmap(data_, writable_ + kGuard);
    data_ = nullptr;
  }

  size_t size_, writable_;
  uint8_t* data_ = nullptr;
};

template <typename Fn>
absl::Status Call(const PluginProfiler& profiler, const char* callback, Fn&& fn) {
  CStatus status;
  absl::Status called = CallPlugin(profiler.plugin().c_str(), callback, "",
                                   [&] { fn(profiler.profiler(), status.get()); });
  return Attribute(called.ok() ? status.ToStatus() : called, callback, profiler.plugin());
}

absl::Status Bad(const PluginProfiler& profiler, std::string message) {
  return Attribute(absl::DataLossError(std::move(message)), "collect_data_xspace",
                   profiler.plugin());
}

// The number of messages in the bytes, or more: text that looks like a message counts as one.
int64_t CountMessages(std::string_view bytes, int depth) {
  int64_t count = 0;
  WireReader reader(bytes);
  for (WireField field; depth > 0 && reader.Next(&field);) {
    if (field.type == WireType::kBytes) count += 1 + CountMessages(field.bytes, depth - 1);
  }
  return count;
}

// Calls collect_data_xspace twice, as TensorFlow does: for the size, and for the data.
absl::Status Collect(const PluginProfiler& profiler, pb::XSpace& space) {
  const auto collect = [&](uint8_t* buffer, size_t* size) {
    return Call(profiler, "collect_data_xspace", [&](const TP_Profiler* p, TF_Status* s) {
      profiler.fns().collect_data_xspace(p, buffer, size, s);
    });
  };
  size_t size = 0;
  TENON_RETURN_IF_ERROR(collect(nullptr, &size));
  if (size == 0) return absl::OkStatus();
  if (size > kMaxBytes) {
    return Bad(profiler, absl::StrCat("it has ", size, " bytes of data; ", kMaxBytes,
                                      " are the most that a profile may have"));
  }
  FencedBuffer buffer(size);
  if (buffer.data() == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", size, " bytes of a profile"));
  }
  size_t written = size;
  TENON_RETURN_IF_ERROR(collect(buffer.data(), &written));
  const bool overrun = buffer.Overrun();
  if (overrun || written > size) {
    return Bad(profiler, absl::StrCat("it said that its data takes ", size, " bytes, and then ",
                                      overrun ? "wrote more" : absl::StrCat("had ", written)));
  }
  const std::string_view bytes(reinterpret_cast<const char*>(buffer.data()), written);
  if (const int64_t count = CountMessages(bytes, kDepth); count > kMaxMessages) {
    return Bad(profiler, absl::StrCat("its data holds ", count, " messages; ", kMaxMessages,
                                      " are the most that a profile may have"));
  }
  // protobuf would write its own lines to standard error; the status says all.
  const google::protobuf::LogSilencer silence;
  if (!space.ParseFromArray(buffer.data(), static_cast<int>(written)))
    return Bad(profiler, absl::StrCat("its ", written,
                                      " bytes are not an XSpace, or a name in it is not UTF-8"));
  return absl::OkStatus();
}

// The time from the first event of a plane to the last, in nanoseconds of the plug-in's clock. In
// doubles, since a plug-in may write any numbers and sums of integers would overflow.
struct Span {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
};

Span SpanOf(const pb::XPlane& plane) {
  Span span;
  for (const pb::XLine& line : plane.lines()) {
    for (const pb::XEvent& event : line.events()) {
      if (event.data_case() == pb::XEvent::kNumOccurrences) continue;  // has no time
      const double at =
          static_cast<double>(line.timestamp_ns()) + static_cast<double>(event.offset_ps()) / 1000;
      span.first = std::min(span.first, at);
      span.last = std::max(span.last, at);
    }
  }
  return span;
}

// A line that would leave the range of 64 bits goes to 0.
void Shift(int64_t by, pb::XPlane& plane) {
  for (pb::XLine& line : *plane.mutable_lines()) {
    int64_t moved;
    if (__builtin_sub_overflow(line.timestamp_ns(), by, &moved)) moved = 0;
    line.set_timestamp_ns(moved);
  }
}

int64_t Nanos(std::chrono::nanoseconds since) { return since.count(); }

int64_t ToInteger(double ns) {
  constexpr double kMost = 9.2e18;
  return static_cast<int64_t>(std::clamp(ns, -kMost, kMost));
}

}  // namespace

ProfilerSession::ProfilerSession(std::vector<std::shared_ptr<PluginProfiler>> profilers) {
  for (auto& profiler : profilers) running_.push_back({std::move(profiler), {}});
}

void ProfilerSession::Start() {
  for (Running& one : running_) {
    one.started = std::chrono::steady_clock::now();
    one.status = Call(*one.profiler, "start",
                      [&](const TP_Profiler* p, TF_Status* s) { one.profiler->fns().start(p, s); });
  }
}

std::vector<PluginProfile> ProfilerSession::Finish() {
  for (Running& one : running_) {
    if (!one.status.ok()) continue;
    one.status = Call(*one.profiler, "stop",
                      [&](const TP_Profiler* p, TF_Status* s) { one.profiler->fns().stop(p, s); });
  }
  std::vector<PluginProfile> profiles;
  for (Running& one : running_) {
    PluginProfile profile{one.profiler->plugin(), one.profiler->device_type(), one.started,
                          one.status, std::make_shared<pb::XSpace>()};
    if (profile.status.ok()) profile.status = Collect(*one.profiler, *profile.space);
    if (!profile.status.ok()) profile.space->Clear();
    profiles.push_back(std::move(profile));
  }
  running_.clear();
  return profiles;
}

std::vector<std::string_view> AlignClocks(const ProfileTime& time, PluginProfile& profile) {
  struct Clock {
    std::string_view name;
    int64_t begin;  // of the time, by this clock
  };
  const Clock clocks[] = {{"unix", Nanos(time.system.time_since_epoch())},
                          {"monotonic", Nanos(time.steady.time_since_epoch())},
                          {"relative", Nanos(time.steady - profile.started)}};
  const auto& relative = clocks[2];
  std::vector<std::string_view> names;
  for (pb::XPlane& plane : *profile.space->mutable_planes()) {
    const Span span = SpanOf(plane);
    const auto fits = [&](const Clock& clock) {
      const double begin = static_cast<double>(clock.begin);
      return span.first >= begin - kSlackNs &&
             span.last <= begin + static_cast<double>(time.length.count()) + kSlackNs;
    };
    const bool empty = span.first > span.last;
    const auto* found = std::find_if(std::begin(clocks), std::end(clocks), fits);
    const Clock first_event{"unknown", ToInteger(span.first)};
    const Clock& clock = empty ? relative : found == std::end(clocks) ? first_event : *found;
    names.push_back(clock.name);
    Shift(clock.begin, plane);
  }
  return names;
}

}  // namespace tenon
