// Objects that cross the C interface are noted with the call that made them, and taken off the list
// when they are deleted. What is deleted twice is not on the list, and what is left at the end is a
// leak.

#include "graph/c_api/abi_watch.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "graph/base/one_line.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/static_data.h"
#include "graph/c_api/tensor_guards.h"

namespace tenon {
namespace {

// Both bound the memory of a process whose plug-in errs in every step.
constexpr size_t kMaxViolations = 1000;
constexpr size_t kMaxBuried = 100'000;
constexpr char kOwnThread[] = "a thread of its own";

// A violation by the call in progress on this thread. On a thread without a mark and without a
// call, a plug-in runs code of its own.
AbiViolation ByCurrentCall(std::string_view rule, std::string detail) {
  AbiViolation violation;
  violation.rule = rule;
  violation.detail = std::move(detail);
  if (const CallbackInfo* call = CurrentCallback()) {
    violation.plugin = call->plugin;
    violation.callback = call->callback;
    violation.node = call->node;
  } else if (!IsHostThread()) {
    violation.callback = kOwnThread;
  }
  return violation;
}

bool ByHost(const AbiViolation& v) { return v.plugin.empty() && v.callback.empty(); }

std::string LineOf(const AbiViolation& v) {
  const std::string who = ByHost(v)          ? "the host"
                          : v.plugin.empty() ? "a plug-in"
                                             : absl::StrCat("plug-in ", v.plugin);
  return absl::StrCat("abi-check: ", v.rule, ": ", who, v.callback.empty() ? "" : ": ", v.callback,
                      v.node.empty() ? "" : absl::StrCat(" of node '", v.node, "'"), ": ",
                      v.detail);
}

}  // namespace

std::atomic<AbiWatch*> AbiWatch::active{nullptr};

struct AbiWatch::Impl {
  struct Object {
    const char* type;
    AbiViolation maker;
  };

  mutable absl::Mutex mutex;
  std::vector<AbiViolation> violations ABSL_GUARDED_BY(mutex);
  absl::flat_hash_set<std::string> told ABSL_GUARDED_BY(mutex);  // lines that were reported
  absl::flat_hash_map<const void*, Object> objects ABSL_GUARDED_BY(mutex);
  std::deque<void*> buried ABSL_GUARDED_BY(mutex);  // memory to free later, the oldest first
  bool silent ABSL_GUARDED_BY(mutex) = false;

  ~Impl() {
    for (void* memory : buried) ::operator delete(memory);
  }
};

AbiWatch::AbiWatch() : impl_(new Impl) {}
AbiWatch::~AbiWatch() { delete impl_; }

void AbiWatch::SwitchOn() {
  if (Active() == nullptr) active.store(new AbiWatch, std::memory_order_release);
}

void AbiWatch::SwitchOff() { delete active.exchange(nullptr); }

void AbiWatch::Report(std::string_view rule, std::string detail) {
  Report(ByCurrentCall(rule, std::move(detail)));
}

// Each text once: a kernel that errs does so in every step. The line is written under the lock, so
// that lines of several threads do not mix.
void AbiWatch::Report(AbiViolation violation) {
  const std::string line = OneLine(LineOf(violation));
  absl::MutexLock lock(&impl_->mutex);
  if (impl_->violations.size() >= kMaxViolations || !impl_->told.insert(line).second) return;
  if (!impl_->silent) std::fprintf(stderr, "%s\n", line.c_str());
  impl_->violations.push_back(std::move(violation));
}

void AbiWatch::BeSilent() {
  absl::MutexLock lock(&impl_->mutex);
  impl_->silent = true;
}

std::vector<AbiViolation> AbiWatch::violations() const {
  absl::MutexLock lock(&impl_->mutex);
  return impl_->violations;
}

void AbiWatch::Made(const void* object, const char* type) {
  AbiViolation maker = ByCurrentCall("leak", "");
  absl::MutexLock lock(&impl_->mutex);
  impl_->objects[object] = {type, std::move(maker)};
}

bool AbiWatch::TakeBack(const void* object, const char* type) {
  {
    absl::MutexLock lock(&impl_->mutex);
    const auto found = impl_->objects.find(object);
    // Compared as text: each source has its own constant for a type's name.
    if (found != impl_->objects.end() && std::strcmp(found->second.type, type) == 0) {
      impl_->objects.erase(found);
      return true;
    }
  }
  Report("double_free",
         absl::StrCat("it deletes a ", type, " that is not there: deleted before, or never made"));
  return false;
}

void AbiWatch::Bury(void* memory) {
  absl::MutexLock lock(&impl_->mutex);
  impl_->buried.push_back(memory);
  if (impl_->buried.size() <= kMaxBuried) return;
  ::operator delete(impl_->buried.front());
  impl_->buried.pop_front();
}

void AbiWatch::ReportWhatIsLeft() {
  TensorGuards::Get().CheckAll();
  // By callback and type, so that a thousand leaked tensors are one line; ordered, so that two runs
  // report alike.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, int> left;
  {
    absl::MutexLock lock(&impl_->mutex);
    absl::flat_hash_set<const void*> objects;
    for (const auto& [object, made] : impl_->objects) {
      if (!ByHost(made.maker)) objects.insert(object);  // the host's own are no plug-in's leak
    }
    // An object that a static variable points to may be deleted when the process ends: no leak.
    const absl::flat_hash_set<const void*> held = HeldInStaticData(objects);
    for (const void* object : objects) {
      if (held.contains(object)) continue;
      const auto& [type, by] = impl_->objects.at(object);
      ++left[{by.plugin, by.callback, by.node, type}];
    }
  }
  // Outside of the lock: Report takes the same mutex.
  for (const auto& [key, count] : left) {
    const auto& [plugin, callback, node, type] = key;
    Report({plugin, callback, node, "leak",
            absl::StrCat("it never deletes ", count, " ", type, count == 1 ? "" : "s",
                         " that it got there")});
  }
}

}  // namespace tenon
