// What tapes keep of ops and calls of functions. Used by the library's own headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/backward.h"

namespace tenon::inline v0::internal {

// Numbers of tensors, by their addresses. A table that is cheaper to fill than a standard map. The
// tensors must live as long as it does.
class TensorNumbers {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // kNone for a tensor that has no number.
  uint32_t Find(const TensorRep* tensor) const {
    if (slots_.empty()) return kNone;
    for (size_t i = Begin(tensor);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].tensor == tensor) return slots_[i].number;
      if (slots_[i].tensor == nullptr) return kNone;
    }
  }
  // Makes room for so many more.
  void Reserve(size_t count) {
    while (slots_.size() < 2 * (count_ + count) + 2) Grow();
  }
  bool Contains(const TensorRep* tensor) const { return Find(tensor) != kNone; }
  // Gives the tensor the number, unless it has one. Returns what it has.
  uint32_t Add(const TensorRep* tensor, uint32_t number) {
    if (2 * count_ >= slots_.size()) Grow();
    size_t i = Begin(tensor);
    for (; slots_[i].tensor != nullptr; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].tensor == tensor) return slots_[i].number;
    }
    slots_[i] = {tensor, number};
    ++count_;
    return number;
  }

 private:
  struct Slot {
    const TensorRep* tensor = nullptr;
    uint32_t number = kNone;
  };
  size_t Begin(const TensorRep* tensor) const {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(tensor) * uint64_t{0x9e3779b97f4a7c15};
    return static_cast<size_t>(mixed >> 32) & (slots_.size() - 1);
  }
  void Grow() {
    std::vector<Slot> before(std::max<size_t>(16, 2 * slots_.size()));
    before.swap(slots_);
    count_ = 0;
    for (const Slot& slot : before) {
      if (slot.tensor != nullptr) Add(slot.tensor, slot.number);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  size_t count_ = 0;
};

// One step forth, as a tape keeps it: an op, a call of a function, or a call of a CustomGradient.
// One of the first three members is set.
struct TapeRecord {
  OpCall call;                               // of an op
  std::shared_ptr<const Backward> function;  // of a call of a function
  CustomBackward custom;                     // of a CustomGradient; else throws: no way back
  // `given`: the inputs of a function, captures included, or of a CustomGradient. `extra`: the
  // extra outputs of Backward::forward.
  std::vector<Tensor> given, outputs, extra;
  // The way back through the forward function of `function`, and what it needs beside `extra`. Of a
  // persistent tape, for a function that may give something else when it runs again.
  std::shared_ptr<const Backward> second;
  std::vector<Tensor> second_extra;
  std::string wanted;  // for each input a byte, 1 if its gradient is wanted
  Where where;         // the place in the program

  // Of an op the call has them.
  const std::vector<Tensor>& inputs() const { return given.empty() ? call.tensors : given; }
};

// While it lives, no tape of this thread records.
class PauseTapes {
 public:
  PauseTapes() : tape_(std::exchange(scopes.tape, nullptr)) {}
  PauseTapes(const PauseTapes&) = delete;
  PauseTapes& operator=(const PauseTapes&) = delete;
  ~PauseTapes() { scopes.tape = tape_; }

 private:
  TapeRep* const tape_;
};

class TapeRep {
 public:
  TapeRep* outer = nullptr;
  TensorNumbers watched;  // each with the number 0
  std::vector<std::shared_ptr<const TapeRecord>> records;
  bool recording = true;
  bool persistent = false;

  bool Watches(const Tensor& tensor) const {
    return tensor.get()->is_trainable || watched.Contains(tensor.get());
  }
  // Keeps the record if it leads from a watched tensor. From then on its outputs are watched, and
  // so is what its way back keeps (`extra`), so that a derivative by it is not lost. Only tensors
  // of types that have gradients are (IsDifferentiable). Does nothing unless `recording`.
  void Keep(const std::shared_ptr<const TapeRecord>& record) {
    if (!recording) return;
    const bool leads = std::any_of(record->inputs().begin(), record->inputs().end(),
                                   [this](const Tensor& input) { return Watches(input); });
    if (!leads) return;
    for (const Tensor& output : record->outputs) {
      if (IsDifferentiable(output.dtype())) watched.Add(output.get(), 0);
    }
    for (const Tensor& extra : record->extra) {
      if (IsDifferentiable(extra.dtype())) watched.Add(extra.get(), 0);
    }
    records.push_back(record);
  }
};

// Sets *wanted to a byte for each tensor, 1 if its type can have a gradient and a tape of this
// thread that records watches it. Returns whether there is such a tensor.
inline bool WantedBy(const std::vector<Tensor>& tensors, std::string* wanted) {
  bool any = false;
  wanted->assign(tensors.size(), '\0');
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!IsDifferentiable(tensors[i].dtype())) continue;
    for (const TapeRep* tape = scopes.tape; tape != nullptr; tape = tape->outer) {
      if (!tape->recording || !tape->Watches(tensors[i])) continue;
      (*wanted)[i] = '\1';
      any = true;
      break;
    }
  }
  return any;
}

// Offers the record to all tapes of this thread (TapeRep::Keep).
inline void KeepOnTapes(const std::shared_ptr<const TapeRecord>& record) {
  for (TapeRep* tape = scopes.tape; tape != nullptr; tape = tape->outer) tape->Keep(record);
}

// Keeps a call of an op that has run, with its outputs, on the tapes of this thread that watch an
// input. Does nothing if none does.
inline void RecordOnTapes(OpCall&& call, std::span<const Tensor> outputs) {
  std::string wanted;
  if (!WantedBy(call.tensors, &wanted)) return;
  auto record = std::make_shared<TapeRecord>();
  record->outputs.assign(outputs.begin(), outputs.end());
  record->wanted = std::move(wanted);
  record->where = call.where;
  record->call = std::move(call);
  KeepOnTapes(record);
}

// Sums of gradients by tensor, in the order in which the tensors came. The tensors must live as
// long as it does.
class GradientSums {
 public:
  struct Sum {
    const TensorRep* of;
    Tensor value;
  };
  // Adds `gradient` to the sum of `of`; nothing for an empty Tensor. Set replaces the sum. Find
  // gives an empty Tensor where nothing was added.
  void Add(const Tensor& of, const Tensor& gradient, Where where) {
    if (!gradient.defined()) return;
    Tensor& sum = Of(of);
    sum = sum.defined() ? SumOf(sum, gradient, where) : gradient;
  }
  void Set(const Tensor& of, Tensor sum) { Of(of) = std::move(sum); }
  Tensor Find(const Tensor& of) const {
    const uint32_t number = numbers_.Find(of.get());
    return number == TensorNumbers::kNone ? Tensor() : sums_[number].value;
  }
  const std::vector<Sum>& all() const { return sums_; }

 private:
  Tensor& Of(const Tensor& tensor) {
    const uint32_t number = numbers_.Add(tensor.get(), static_cast<uint32_t>(sums_.size()));
    if (number == sums_.size()) sums_.push_back({tensor.get(), {}});
    return sums_[number].value;
  }

  TensorNumbers numbers_;
  std::vector<Sum> sums_;
};

// A tensor like another, of ones or zeros: a constant, which tapes do not record.
inline Tensor LikeOf(const char* type, const Tensor& tensor, Where where) {
  const PauseTapes pause;
  return Op(type, where).Input(tensor).RunOne();
}

}  // namespace tenon::inline v0::internal
