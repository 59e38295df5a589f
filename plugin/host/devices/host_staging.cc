#include "plugin/host/devices/host_staging.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "graph/base/status_macros.h"
#include "plugin/device/copy_scope.h"
#include "plugin/host/devices/pluggable_device_impl.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

// A block is small enough that the device begins soon after the host, and large enough that a call
// of the plug-in costs little beside it: an H200 copies 4 MiB in 80 us.
constexpr size_t kBlockBytes = size_t{4} << 20;
constexpr size_t kLeastPiece = size_t{512} << 10;
constexpr size_t kPieceUnit = size_t{64} << 10;
// 128 MiB: enough for 16 threads that fill one block each while the device copies another.
constexpr size_t kMostBlocks = 32;
// More threads than this do not fill the pieces of a smaller copy: memcpy of 8 cores is faster than
// the device, and each piece costs calls of the plug-in, one after the other.
constexpr int kMostFillers = 8;
// Filling a block costs the host time: the device must win at least this factor by it.
constexpr double kWorthwhile = 1.5;
constexpr int kTimings = 3;

// Each thread that may help gets a piece; large copies are cut into blocks.
size_t PieceBytes(size_t bytes, int threads) {
  const size_t even = bytes / static_cast<size_t>(std::clamp(threads, 1, kMostFillers));
  const size_t rounded = (even + kPieceUnit - 1) / kPieceUnit * kPieceUnit;
  return std::clamp(rounded, kLeastPiece, kBlockBytes);
}

double GigabytesPerSecond(size_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

}  // namespace

HostStaging::HostStaging(PluggableDevice& device, std::shared_ptr<HostPool> pool)
    : device_(device), pool_(std::move(pool)), mode_(Mode::kUndecided) {
  const char* const wish = std::getenv("TENON_HOST_STAGING");
  const std::string_view text = wish == nullptr ? "" : wish;
  if (text == "on") mode_ = Mode::kOn;
  if (text == "off") mode_ = Mode::kOff;
  facts_.why = text == "on" || text == "off" ? "TENON_HOST_STAGING says so" : "no large copy yet";
}

HostStaging::~HostStaging() {
  absl::MutexLock lock(&mutex_);
  for (const auto* blocks : {&blocks_, &lost_}) {
    for (const std::unique_ptr<Block>& block : *blocks) {
      if (block->event != nullptr) device_.ReleaseEvent(block->event);
    }
  }
}

HostStagingFacts HostStaging::facts() const {
  const HostPool::Stats pool = pool_->stats();
  absl::MutexLock lock(&mutex_);
  HostStagingFacts facts = facts_;
  switch (mode_.load()) {
    case Mode::kUndecided:
      facts.mode = "undecided";
      break;
    case Mode::kOn:
      facts.mode = "on";
      break;
    case Mode::kDirect:
    case Mode::kOff:
      facts.mode = "off";
  }
  facts.regions = pool.regions;
  facts.pool_bytes = pool.bytes;
  if (!pool.refused.empty()) facts.why = pool.refused;
  return facts;
}

// After the pool gave nothing: whether it ever will.
void HostStaging::NoteEmptyPool() {
  if (pool_->stats().regions == 0) pool_is_empty_ = true;
}

BufferRef HostStaging::AllocateTarget(size_t bytes) {
  if (!wants_target(bytes)) return BufferRef();
  absl::StatusOr<BufferRef> buffer = pool_->Allocate(bytes);
  if (!buffer.ok()) NoteEmptyPool();
  absl::MutexLock lock(&mutex_);
  ++(buffer.ok() ? facts_.pool_targets : facts_.other_targets);
  return buffer.ok() ? *std::move(buffer) : BufferRef();
}

// Others take the block's place. A device that fails so often gets no more of them.
void HostStaging::Lose(Block* block) {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                  [block](const auto& other) { return other.get() == block; });
  lost_.push_back(std::move(*found));
  blocks_.erase(found);
  if (lost_.size() < kMostBlocks) return;
  mode_ = Mode::kDirect;
  facts_.why = "too many copies failed";
}

// A block whose copy is done.
HostStaging::Block* HostStaging::FindIdle() {
  if (idle_.empty() && !queued_.empty()) {
    Block* const oldest = queued_.front();
    const absl::StatusOr<bool> done = device_.IsComplete(oldest->event);
    if (!done.ok() || *done) queued_.pop_front();
    if (!done.ok()) Lose(oldest);
    if (done.ok() && *done) {
      device_.ReleaseEvent(std::exchange(oldest->event, nullptr));
      idle_.push_back(oldest);
    }
  }
  if (idle_.empty()) return nullptr;
  Block* const block = idle_.back();
  idle_.pop_back();
  return block;
}

// Null at the limit, and if the plug-in gives no memory.
HostStaging::Block* HostStaging::AddBlock() {
  if (blocks_.size() >= kMostBlocks) return nullptr;
  absl::StatusOr<BufferRef> memory = pool_->Allocate(kBlockBytes);
  if (!memory.ok()) return nullptr;
  blocks_.push_back(std::make_unique<Block>(Block{*std::move(memory)}));
  return blocks_.back().get();
}

bool HostStaging::HasBlocks() {
  if (!blocks_.empty()) return true;
  Block* const first = AddBlock();
  if (first == nullptr) {
    NoteEmptyPool();
  } else {
    idle_.push_back(first);
  }
  return first != nullptr;
}

// Null if the plug-in gives no memory for a single block.
absl::StatusOr<HostStaging::Block*> HostStaging::TakeBlock(double timeout_s) {
  Block* oldest = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    if (Block* const idle = FindIdle()) return idle;
    if (Block* const added = AddBlock()) return added;
    if (blocks_.empty()) return nullptr;
    const auto some = [this] {
      mutex_.AssertReaderHeld();
      return !queued_.empty() || !idle_.empty() || blocks_.empty();
    };
    if (!mutex_.AwaitWithTimeout(absl::Condition(&some), absl::Seconds(timeout_s)))
      return absl::DeadlineExceededError("no block of host memory became free");
    if (blocks_.empty()) return nullptr;  // copies failed, and their blocks are lost
    if (!idle_.empty()) return FindIdle();
    oldest = queued_.front();
    queued_.pop_front();
  }
  absl::Status done = device_.BlockUntilComplete(oldest->event, timeout_s);
  if (done.ok()) {
    device_.ReleaseEvent(std::exchange(oldest->event, nullptr));
    return oldest;
  }
  absl::MutexLock lock(&mutex_);
  queued_.push_front(oldest);
  return done;
}

absl::Status HostStaging::QueueBlock(StreamHandle stream, Block* block, char* device,
                                     size_t bytes) {
  TENON_RETURN_IF_ERROR(device_.QueueToDevice(stream, block->memory->data(), device, bytes));
  TENON_ASSIGN_OR_RETURN(block->event, device_.AcquireEvent());
  return device_.RecordEvent(stream, block->event);
}

absl::Status HostStaging::CopyPiece(StreamHandle stream, const char* host, char* device,
                                    size_t bytes, double timeout_s) {
  TENON_ASSIGN_OR_RETURN(Block* const block, TakeBlock(timeout_s));
  // Others have lost all blocks since: this copy must be done before the caller changes `host`.
  if (block == nullptr) return TimeOf(stream, host, device, bytes).status();
  std::memcpy(block->memory->data(), host, bytes);
  const absl::Status queued = QueueBlock(stream, block, device, bytes);
  absl::MutexLock lock(&mutex_);
  if (queued.ok()) {
    queued_.push_back(block);
  } else {
    Lose(block);
  }
  return queued;
}

absl::StatusOr<double> HostStaging::TimeOf(StreamHandle stream, const void* host, void* device,
                                           size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  if (bytes > 0) TENON_RETURN_IF_ERROR(device_.QueueToDevice(stream, host, device, bytes));
  TENON_ASSIGN_OR_RETURN(const EventHandle event, device_.AcquireEvent());
  absl::Status done = device_.RecordEvent(stream, event);
  if (done.ok()) done = device_.BlockUntilComplete(event, CopyScope::timeout_s());
  device_.ReleaseEvent(event);
  TENON_RETURN_IF_ERROR(done);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Copies the first piece several times in both ways, to the same place: the copy itself is made
// again afterwards.
absl::Status HostStaging::Decide(StreamHandle stream, const void* host, void* device,
                                 size_t bytes) {
  TENON_ASSIGN_OR_RETURN(Block* const block, TakeBlock(CopyScope::timeout_s()));
  if (block == nullptr) {
    NoteEmptyPool();
    if (pool_is_empty_) mode_ = Mode::kDirect;
    return absl::OkStatus();
  }
  bytes = std::min(bytes, kBlockBytes);
  void* const pinned = block->memory->data();
  std::memcpy(pinned, host, bytes);
  double plain_s = std::numeric_limits<double>::infinity(), pinned_s = plain_s;
  absl::Status status = TimeOf(stream, nullptr, nullptr, 0).status();  // what is queued goes first
  for (int i = 0; i < kTimings && status.ok(); ++i) {
    const absl::StatusOr<double> plain = TimeOf(stream, host, device, bytes);
    const absl::StatusOr<double> own =
        plain.ok() ? TimeOf(stream, pinned, device, bytes) : plain.status();
    status = own.status();
    if (!status.ok()) break;
    plain_s = std::min(plain_s, *plain);
    pinned_s = std::min(pinned_s, *own);
  }
  absl::MutexLock lock(&mutex_);
  if (!status.ok()) {
    Lose(block);
    return status;
  }
  mode_ = pinned_s * kWorthwhile <= plain_s ? Mode::kOn : Mode::kDirect;
  idle_.push_back(block);
  facts_.why = absl::StrFormat(
      "the device copies %.3g GB/s from the plug-in's host memory, %.3g from other memory",
      GigabytesPerSecond(bytes, pinned_s), GigabytesPerSecond(bytes, plain_s));
  return absl::OkStatus();
}

absl::StatusOr<bool> HostStaging::Wanted(StreamHandle stream, const void* host, void* device,
                                         size_t bytes) {
  if (pool_->Contains(host, bytes)) {
    absl::MutexLock lock(&mutex_);
    ++facts_.straight;
    return false;
  }
  // Others copy as ever while one finds out.
  if (mode_ == Mode::kUndecided && deciding_.TryLock()) {
    const absl::Status status =
        mode_ == Mode::kUndecided ? Decide(stream, host, device, bytes) : absl::OkStatus();
    deciding_.Unlock();
    TENON_RETURN_IF_ERROR(status);
  }
  absl::MutexLock lock(&mutex_);
  const bool wanted = mode_ == Mode::kOn && HasBlocks();
  ++(wanted ? facts_.staged : facts_.unstaged);
  return wanted;
}

absl::StatusOr<bool> HostStaging::CopyIn(StreamHandle stream, const void* host, void* device,
                                         size_t bytes) {
  if (bytes < kLeastBytes) return false;
  TENON_ASSIGN_OR_RETURN(const bool wanted, Wanted(stream, host, device, bytes));
  if (!wanted) return false;
  const size_t piece = PieceBytes(bytes, CopyScope::threads());
  const double timeout_s = CopyScope::timeout_s();
  const RunLimits* const limits = LimitsOfThread();
  absl::Mutex mutex;
  absl::Status status;  // the first error
  std::atomic<bool> failed{false};
  CopyScope::Loop(static_cast<int64_t>((bytes + piece - 1) / piece), [&](int64_t i) {
    if (failed.load(std::memory_order_relaxed)) return;
    const LimitsScope of_run(limits);
    const size_t begin = static_cast<size_t>(i) * piece;
    absl::Status copied =
        CopyPiece(stream, static_cast<const char*>(host) + begin,
                  static_cast<char*>(device) + begin, std::min(piece, bytes - begin), timeout_s);
    if (copied.ok()) return;
    failed = true;
    absl::MutexLock lock(&mutex);
    status.Update(std::move(copied));
  });
  TENON_RETURN_IF_ERROR(status);
  return true;
}

}  // namespace tenon
