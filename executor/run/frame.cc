// The pointer table has an entry for each argument of each step. Entries of the arena and of
// constants are set once. Begin and SetSlot patch the entries of feeds, fetches and slots, by the
// lists that the plan has for them.

#include "executor/run/frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/arena_pool.h"
#include "executor/run/device_steps.h"
#include "executor/run/plan.h"
#include "executor/run/tasks.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/callback_scope.h"
#include "graph/ir/nodes.h"
#include "graph/tensor/kept_buffers.h"
#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

constexpr size_t kMaxElementAlignment = 16;  // complex128

bool IsAligned(const void* data, DataType dtype) {
  const size_t size = IsMemcpyable(dtype) ? DataTypeSize(dtype) : alignof(void*);
  return reinterpret_cast<uintptr_t>(data) % std::min(size, kMaxElementAlignment) == 0;
}

absl::Span<const uint32_t> Row(const PatchList& list, int32_t i) {
  return absl::MakeConstSpan(list.args).subspan(list.begin[i], list.begin[i + 1] - list.begin[i]);
}

}  // namespace

Frame::Frame(const Plan& plan, std::shared_ptr<Values> values)
    : plan_(plan),
      values_(std::move(values)),
      table_(values_->table.data()),
      alive_(values_->alive.data()),
      slots_(values_->slots.data()),
      feeds_(values_->feeds.data()),
      fetch_buffers_(values_->fetch_buffers.data()),
      events_(values_->events.data()),
      last_preparations_(values_->last_preparations.data()) {}

Frame::~Frame() = default;

absl::StatusOr<std::unique_ptr<Frame>> Frame::Create(const Plan& plan) {
  auto values = std::make_shared<Values>();
  // The constants never move: their entries are set once. SetArena, Begin and SetSlot set the
  // others.
  values->table.resize(plan.args.size(), nullptr);
  for (size_t i = 0; i < plan.args.size(); ++i) {
    if (plan.args[i] < 0) continue;
    const Storage& s = plan.storages[plan.args[i]];
    if (s.where == Where::kConst) values->table[i] = s.address;
  }
  values->alive.resize(plan.num_alive, 0);
  // Flag 0 is FlagTree::kAlways.
  values->alive[0] = 1;
  values->slots.resize(plan.num_slots);
  values->feeds.resize(plan.feeds.size());
  values->fetch_buffers.resize(plan.fetch_buffers.size());
  values->events.resize(plan.num_events);
  values->last_preparations.resize(plan.num_late);
  auto frame = std::unique_ptr<Frame>(new Frame(plan, std::move(values)));
  if (!frame->borrows_arena()) {
    TENON_RETURN_IF_ERROR(frame->SetArena(BufferRef::Adopt(
        Buffer::Allocate(std::max<uint64_t>(plan.arena_bytes, kTensorAlignment)))));
  }
  frame->feed_pointers_.resize(plan.feeds.size(), nullptr);
  frame->calls_.resize(plan.num_calls);
  if (!plan.tasks.empty()) frame->tasks_ = std::make_unique<TaskState>(plan);
  return frame;
}

std::unique_ptr<Frame> Frame::Lane(Frame& frame, int number) {
  auto lane = std::unique_ptr<Frame>(new Frame(frame.plan_, frame.values_));
  lane->number_ = number;
  return lane;
}

void Frame::Join(const Frame& frame) {
  context_ = frame.context_;
  arena_base_ = frame.arena_base_;
  pass_ = Pass();
}

std::string_view Frame::NameOfNode(const void* frame) {
  const Frame& f = *static_cast<const Frame*>(frame);
  return f.node_ == kNoNode ? "" : f.plan_.graph->name(f.node_);
}

bool Frame::TakePass() {
  // Loops of several lanes count together.
  const int64_t passes =
      plan_.tasks.empty() ? ++passes_ : values_->passes.fetch_add(1, std::memory_order_relaxed) + 1;
  return passes <= context_.max_loop_passes;
}

bool Frame::borrows_arena() const { return plan_.arena_bytes > ArenaPool::kOwnBytes; }

absl::Status Frame::SetArena(BufferRef arena) {
  if (!arena)
    return NodeError(*plan_.graph, *plan_.calls, plan_.arena_largest,
                     absl::ResourceExhaustedError(
                         absl::StrCat("no memory for an arena of ", plan_.arena_bytes,
                                      " bytes, in which this node's part is the largest")));
  arena_ = std::move(arena);
  char* const base = static_cast<char*>(arena_->data());
  // Mostly a frame gets the arena of its last run again: then the table is right already.
  if (std::exchange(arena_base_, base) == base) return absl::OkStatus();
  for (size_t i = 0; i < plan_.args.size(); ++i) {
    if (plan_.args[i] < 0) continue;
    const Storage& s = plan_.storages[plan_.args[i]];
    if (s.where == Where::kArena) table_[i] = base + s.offset;
  }
  return absl::OkStatus();
}

void Frame::Patch(absl::Span<const uint32_t> args, void* data) {
  for (uint32_t arg : args) table_[arg] = data;
}

void Frame::SetSlot(int32_t i, Tensor value) {
  slots_[i] = std::move(value);
  SlotFilled(i);
}

void Frame::SlotFilled(int32_t i) {
  const PatchList& uses = plan_.slot_uses;
  for (uint32_t k = uses.begin[i]; k < uses.begin[i + 1]; ++k)
    table_[uses.args[k]] = slots_[i].data();
}

absl::Status Frame::Begin(absl::Span<const Tensor> feeds, const RunContext& context) {
  context_ = context;
  for (Device* device : plan_.devices) device->BeginRun();
  values_->has_empty_copy.store(false, std::memory_order_relaxed);
  values_->may_be_in_use.store(false, std::memory_order_relaxed);
  pass_ = Pass();
  passes_ = 0;
  values_->passes.store(0, std::memory_order_relaxed);
  if (borrows_arena())
    TENON_RETURN_IF_ERROR(SetArena(context.arenas->Take(plan_.arena_bytes, arena_base_)));
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (IsAligned(feeds[i].data(), feeds[i].dtype())) {
      feeds_[i] = feeds[i];
    } else {
      TENON_ASSIGN_OR_RETURN(feeds_[i], Tensor::Allocate(feeds[i].dtype(), feeds[i].shape()));
      std::memcpy(feeds_[i].data(), feeds[i].data(), feeds[i].bytes());
    }
    // A caller mostly feeds the same buffer again: then the table is right already.
    if (feed_pointers_[i] == feeds_[i].data()) continue;
    feed_pointers_[i] = feeds_[i].data();
    Patch(Row(plan_.feed_uses, static_cast<int32_t>(i)), feed_pointers_[i]);
  }
  // New buffers for each run: the caller keeps the fetched tensors.
  for (size_t i = 0; i < plan_.fetch_buffers.size(); ++i) {
    const auto& [spec, node] = plan_.fetch_buffers[i];
    absl::StatusOr<Tensor> buffer = Tensor::Allocate(spec.dtype, spec.shape);
    if (!buffer.ok()) return NodeError(*plan_.graph, *plan_.calls, node, buffer.status());
    fetch_buffers_[i] = *std::move(buffer);
    Patch(Row(plan_.fetch_uses, static_cast<int32_t>(i)), fetch_buffers_[i].data());
  }
  return absl::OkStatus();
}

absl::Status Frame::CheckLimits() const {
  return context_.limits == nullptr ? absl::OkStatus() : context_.limits->Check();
}

absl::Status Frame::Synchronize() {
  absl::Status status;
  // All devices, whatever one of them says: each may still write to the run's memory.
  for (Device* device : plan_.devices) status.Update(device->SynchronizeAllActivity());
  return status;
}

// As in TensorFlow a device is synchronized at the end of a run. Where other runs keep it busy,
// that would make each run wait for the others.
absl::Status Frame::SynchronizeAtEnd(const absl::Status& run) {
  absl::Status status;
  const bool may_be_settled =
      run.ok() && context_.recording == nullptr && !values_->has_empty_copy.load();
  for (size_t i = 0; i < plan_.devices.size(); ++i) {
    Device& device = *plan_.devices[i];
    if (may_be_settled && plan_.settled[i] && device.has_several_runs()) continue;
    const absl::Status done = device.SynchronizeAllActivity();
    NoteError(done);
    status.Update(done);
  }
  return status;
}

// A limit of the run itself (RunLimits::Check) is no fault of a plug-in.
void Frame::NoteError(const absl::Status& status) {
  if (absl::IsDeadlineExceeded(status) && IsPluginFault(status))
    values_->may_be_in_use.store(true, std::memory_order_relaxed);
}

void Frame::BeginCall(int32_t number, const AsyncStep* step, ContextPtr call) {
  calls_[number] = {step, std::move(call), node_};
}

absl::Status Frame::EndCall(int32_t number) {
  Call& call = calls_[number];
  if (call.step == nullptr) return absl::OkStatus();
  const AsyncStep* const step = std::exchange(call.step, nullptr);
  const int32_t waiting = std::exchange(node_, call.node);
  absl::Status status = step->End(*this, std::move(call.context));
  if (status.ok()) {
    node_ = waiting;
  } else {
    NoteError(status);
    failed_call_ = number;
  }
  return status;
}

// The position of a call's node in the order of the graph; with call -1, that of the step that
// failed. If steps run in the order of the graph, calls are numbered in that order, and a step that
// fails stands behind all calls that are under way.
int64_t Frame::PlaceOf(int32_t call, int32_t node) const {
  if (!plan_.places.empty()) return node == kNoNode ? -1 : plan_.places[node];
  return call < 0 ? plan_.num_calls : call;
}

absl::Status Frame::EndCalls(absl::Status status) {
  int64_t first = status.ok() ? std::numeric_limits<int64_t>::max() : PlaceOf(failed_call_, node_);
  int32_t node = node_;
  for (int32_t i = 0; i < plan_.num_calls; ++i) {
    absl::Status ended = WithinMemory([&] { return EndCall(i); });
    if (ended.ok() || PlaceOf(i, node_) >= first) continue;
    first = PlaceOf(i, node_);
    node = node_;
    status = std::move(ended);
  }
  node_ = node;
  failed_call_ = -1;
  return status;
}

void Frame::Abandon() {
  for (const std::vector<Tensor>* held :
       {&values_->slots, &values_->feeds, &values_->fetch_buffers}) {
    for (const Tensor& t : *held) KeepForEver(t.buffer());
  }
  if (!arena_) return;
  KeepForEver(arena_);
  if (borrows_arena()) {
    arena_ = BufferRef();
  } else {
    // Without memory for another one the next run has this one, as before.
    SetArena(BufferRef::Adopt(Buffer::Allocate(arena_->bytes()))).IgnoreError();
  }
}

void Frame::End() {
  if (values_->may_be_in_use.load()) Abandon();
  for (Device* device : plan_.devices) device->EndRun();
  for (Event& e : values_->events) {
    if (e.handle != nullptr) e.device->ReleaseEvent(e.handle);
    e = Event();
  }
  for (std::vector<Tensor>* held : {&values_->slots, &values_->feeds, &values_->fetch_buffers}) {
    for (Tensor& t : *held) t.Clear();
  }
  if (tasks_ != nullptr) reused_ += tasks_->TakeReused();
  if (borrows_arena() && arena_) context_.arenas->Return(std::move(arena_));
  if (reused_ > 0)
    plan_.late->reused.fetch_add(std::exchange(reused_, 0), std::memory_order_relaxed);
}

const Shape& Frame::ShapeOf(const StepInput& input) const {
  return input.shape.has_value() ? *input.shape
                                 : slots_[plan_.storages[input.storage].index].shape();
}

Tensor Frame::View(const StepInput& input) const {
  const Storage& s = plan_.storages[input.storage];
  auto with = [&](const Tensor& t) { return Tensor(input.dtype, ShapeOf(input), t.buffer()); };
  auto wrap = [&](void* data) {
    return Tensor(input.dtype, ShapeOf(input),
                  BufferRef::Adopt(Buffer::Wrap(data, s.bytes, nullptr, nullptr)));
  };
  switch (s.where) {
    case Where::kArena:
      return wrap(arena() + s.offset);
    case Where::kConst:
      return wrap(s.address);
    case Where::kFeed:
      return with(feeds_[s.index]);
    case Where::kFetch:
      return with(fetch_buffers_[s.index]);
    case Where::kSlot:
      return with(slots_[s.index]);
    case Where::kNone:
      break;
  }
  return Tensor();
}

void Frame::ReleaseView(const StepInput& input) {
  if (input.storage < 0) return;
  const Storage& s = plan_.storages[input.storage];
  if (s.where == Where::kSlot) ReleaseSlot(s.index);
}

const Tensor& Frame::SlotOf(const StepInput& input) const {
  return slots_[plan_.storages[input.storage].index];
}

Tensor Frame::TakeSlot(const StepInput& input) {
  Tensor taken = std::exchange(slots_[plan_.storages[input.storage].index], Tensor());
  Shape shape = input.shape.has_value() ? *input.shape : taken.shape();
  return Tensor(input.dtype, std::move(shape), std::move(taken).TakeBuffer());
}

absl::StatusOr<Tensor> Frame::Keep(const StepInput& input) const {
  Tensor view = View(input);
  const Where where = plan_.storages[input.storage].where;
  // Slots and feeds are counted references. A constant lives only as long as the session's
  // executable. Planned memory is overwritten, and so may the buffer of a fetch be: in a later pass
  // of a loop.
  if (where == Where::kSlot || where == Where::kFeed) return view;
  return view.Copy();
}

absl::StatusOr<Tensor> Frame::TakeInput(int i) {
  return absl::InternalError(
      absl::StrCat("the kernel takes input ", i, " as a tensor, which its spec does not say"));
}

absl::StatusOr<void*> Frame::AllocateOutput(int i, const Shape&) {
  return absl::InternalError(absl::StrCat(
      "output ", i, " was planned with a fixed shape; the kernel may not allocate it"));
}

}  // namespace tenon
