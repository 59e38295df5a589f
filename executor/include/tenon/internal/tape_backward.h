// How tapes go back through many ops at once: a run of ops of one structure (ops, attributes, types
// and shapes, which tensor goes where, the places in the program) gets one backward function, which
// is built and planned once. Used by the library's own headers.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenon/gradients.h"
#include "tenon/internal/backward.h"
#include "tenon/internal/tape.h"

namespace tenon::inline v0::internal {

using TapeRecords = std::span<const std::shared_ptr<const TapeRecord>>;

// The way back through a run. Tensors are named by their numbers in it. The function takes the
// gradients of `dys`, then `needs`, and gives the gradients of `results`.
struct RunBackward {
  std::shared_ptr<FunctionRep> function;  // null if none of the wanted tensors has a gradient
  std::vector<uint32_t> dys, needs, results;
};

// Whether the record is of an op of which attributes, types and shapes say everything: a call of an
// op without a tensor or a function among its attributes.
inline bool IsPlainOp(const TapeRecord& record) {
  using Kind = NamedAttr::Kind;
  if (record.function != nullptr || record.custom) return false;
  return std::none_of(record.call.attrs.begin(), record.call.attrs.end(),
                      [](const NamedAttr& attr) {
                        return attr.kind == Kind::kTensor || attr.kind == Kind::kFunction ||
                               attr.kind == Kind::kFunctions;
                      });
}

// A run of ops as a tape keeps it, its tensors numbered in the order in which they come.
class TapeRun {
 public:
  // `sums`: the gradients that what follows the run has brought; those of tensors of the run are
  // where the way back begins. The gradients of `xs` are wanted. With `wants_all`, so are those of
  // all tensors that the run takes: ops before the run need them. The records must outlive the
  // object.
  TapeRun(TapeRecords records, const GradientSums& sums, const std::vector<GradientSource>& xs,
          bool wants_all)
      : records_(records) {
    tensors_.reserve(2 * records.size() + 8);
    numbers_.Reserve(2 * records.size());
    key_.reserve(96 * records.size() + 64);
    for (const auto& record : records) {
      const OpCall& call = record->call;
      PutText(key_, call.type);
      PutNumber(key_, record->where.line());
      PutNumber(key_, reinterpret_cast<intptr_t>(record->where.file_name()));
      PutNumber(key_, static_cast<int64_t>(call.attrs.size()));
      for (const NamedAttr& attr : call.attrs) PutAttr(key_, attr);
      PutNumber(key_, static_cast<int64_t>(call.lists.size()));
      for (const ListInput& list : call.lists) {
        PutNumber(key_, static_cast<int64_t>(list.first));
        PutNumber(key_, static_cast<int64_t>(list.count));
      }
      PutText(key_, record->wanted);
      PutTensors(call.tensors, false);
      PutTensors(record->outputs, true);
    }
    PutNumber(key_, -1);
    for (const GradientSums::Sum& sum : sums.all()) {
      const uint32_t number = numbers_.Find(sum.of);
      if (number == TensorNumbers::kNone || !sum.value.defined()) continue;
      dys_.push_back(number);
      dy_values_.push_back(sum.value);
      PutNumber(key_, number);
      PutType(sum.value);
    }
    PutNumber(key_, -1);
    if (wants_all) {
      for (uint32_t number = 0; number < tensors_.size(); ++number) {
        if (!is_output_[number]) wanted_.push_back(number);
      }
    }
    for (const GradientSource& x : xs) {
      const uint32_t number = numbers_.Find(x.tensor().get());
      if (number == TensorNumbers::kNone || (wants_all && !is_output_[number])) continue;
      wanted_.push_back(number);
    }
    for (const uint32_t number : wanted_) PutNumber(key_, number);
  }

  // Equal for two runs of one structure.
  const std::string& key() const { return key_; }
  TapeRecords records() const { return records_; }
  const Tensor& tensor(uint32_t number) const { return *tensors_[number]; }
  size_t tensor_count() const { return tensors_.size(); }
  uint32_t NumberOf(const Tensor& tensor) const { return numbers_.Find(tensor.get()); }
  const std::vector<uint32_t>& dys() const { return dys_; }
  const std::vector<Tensor>& dy_values() const { return dy_values_; }
  const std::vector<uint32_t>& wanted() const { return wanted_; }

 private:
  void PutTensors(const std::vector<Tensor>& tensors, bool are_outputs) {
    PutNumber(key_, static_cast<int64_t>(tensors.size()));
    for (const Tensor& tensor : tensors) {
      const auto next = static_cast<uint32_t>(tensors_.size());
      const uint32_t number = numbers_.Add(tensor.get(), next);
      PutNumber(key_, number);
      if (number != next) continue;
      tensors_.push_back(&tensor);
      is_output_.push_back(are_outputs);
      PutType(tensor);
    }
  }
  // Type and shape; of a resource also those of what it holds.
  void PutType(const Tensor& tensor) {
    const TensorRep& rep = *tensor.get();
    TF_Status* const status = ThreadStatus();
    const int rank = TFE_TensorHandleNumDims(rep.handle, status);
    PutNumber(key_, static_cast<int64_t>(rep.dtype) << 32 | rank);
    for (int i = 0; i < rank; ++i) PutNumber(key_, TFE_TensorHandleDim(rep.handle, i, status));
    if (rep.handle_data != nullptr) PutText(key_, *rep.handle_data);
    Check(status);
  }

  const TapeRecords records_;
  std::string key_;
  TensorNumbers numbers_;
  std::vector<const Tensor*> tensors_;
  std::vector<bool> is_output_;
  std::vector<uint32_t> dys_, wanted_;
  std::vector<Tensor> dy_values_;
};

// Builds the way back through the run: one function that calls the way back of each op, last op
// first, and sums the gradients. Takes TraceMutex().
inline std::shared_ptr<const RunBackward> BuildRunBackward(const TapeRun& run, Where where) {
  auto result = std::make_shared<RunBackward>();
  const std::lock_guard lock(TraceMutex());
  const auto graph = std::make_shared<TraceGraph>(nullptr);
  const TraceScope scope(graph.get(), nullptr);
  std::vector<Tensor> symbols(run.tensor_count()), sums(run.tensor_count());
  result->dys = run.dys();
  for (size_t i = 0; i < result->dys.size(); ++i) {
    const Tensor& dy = run.dy_values()[i];
    sums[result->dys[i]] = graph->AddInput(dy.dtype(), dy.shape(), "dy", where);
  }
  // What the way back needs of the way forth becomes an input when it is asked for.
  const auto symbol_of = [&](const Tensor& tensor) {
    const uint32_t number = run.NumberOf(tensor);
    if (!symbols[number].defined()) {
      symbols[number] = graph->AddInput(tensor.dtype(), tensor.shape(), "in", where);
      graph->CopyHandleData(tensor, symbols[number].output());
      result->needs.push_back(number);
    }
    return symbols[number];
  };
  for (size_t i = run.records().size(); i-- > 0;) {
    const TapeRecord& record = *run.records()[i];
    std::vector<Tensor> gradients;
    std::vector<bool> reached;
    for (const Tensor& output : record.outputs) {
      gradients.push_back(sums[run.NumberOf(output)]);
      reached.push_back(gradients.back().defined());
    }
    if (std::find(reached.begin(), reached.end(), true) == reached.end()) continue;
    const std::shared_ptr<const Backward> way = BackwardOf(record.call, record.wanted, reached);
    if (way->function == nullptr) continue;
    std::vector<Tensor> inputs;
    for (const Backward::Need& need : way->needs) {
      const bool is_input = need.kind == Backward::Need::Kind::kInput;
      inputs.push_back(symbol_of((is_input ? record.call.tensors : record.outputs)[need.index]));
    }
    for (const size_t k : way->dys) {
      inputs.push_back(gradients[k].defined()
                           ? gradients[k]
                           : LikeOf("ZerosLike", symbol_of(record.outputs[k]), record.where));
    }
    const std::vector<Tensor> given = way->function->Run(std::move(inputs), record.where);
    for (size_t k = 0; k < record.call.tensors.size(); ++k) {
      if (way->results[k] < 0) continue;
      const Tensor& gradient = given[static_cast<size_t>(way->results[k])];
      Tensor& sum = sums[run.NumberOf(record.call.tensors[k])];
      sum = sum.defined() ? SumOf(sum, gradient, where) : gradient;
    }
  }
  std::vector<TF_Output> outputs;
  for (const uint32_t number : run.wanted()) {
    if (!sums[number].defined()) continue;
    result->results.push_back(number);
    outputs.push_back(sums[number].output());
  }
  if (outputs.empty()) return result;
  result->function = FunctionRep::Finish("tape_backward_" + std::to_string(NextNumber()), graph,
                                         std::move(outputs), where);
  return result;
}

// The ways back that the process knows, by structure. Bounded: a structure is kept when it is met
// for the second time, in the place of one that was not used for long. Any thread may use it.
class RunBackwardTable {
 public:
  static constexpr size_t kMostRuns = 128;
  static constexpr size_t kMostOps = 8192;  // of all runs together
  static constexpr size_t kMostOpsOfRun = 2048;

  static RunBackwardTable& Get() {
    static RunBackwardTable* const table = new RunBackwardTable;
    return *table;
  }

  // Returns the way back of the run's structure; builds it when the structure is met for the second
  // time. Null where the tape is to go back op by op: a structure that is new, that has no room, or
  // that has the hash of another one. A structure counts as new again once another one has taken
  // its place among 1,024 hashes.
  std::shared_ptr<const RunBackward> Find(const TapeRun& run, Where where) {
    const uint64_t hash = HashOf(run.key());
    {
      const std::lock_guard lock(mutex_);
      ++clock_;
      if (const size_t i = IndexOf(hash); i < entries_.size()) {
        if (entries_[i].key != run.key()) return nullptr;
        entries_[i].last_use = clock_;
        return entries_[i].way;
      }
      uint64_t& seen = seen_[hash % std::size(seen_)];
      if (std::exchange(seen, hash) != hash || !MakeRoom(run.records().size())) return nullptr;
    }
    std::shared_ptr<const RunBackward> way = BuildRunBackward(run, where);
    const std::lock_guard lock(mutex_);
    if (IndexOf(hash) == entries_.size() && MakeRoom(run.records().size())) {
      ops_ += run.records().size();
      hashes_.push_back(hash);
      entries_.push_back({run.key(), way, run.records().size(), clock_});
    }
    return way;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  // A run that was not used while this many others were asked for makes room for a new one.
  static constexpr uint64_t kLong = 1024;

  struct Entry {
    std::string key;
    std::shared_ptr<const RunBackward> way;
    size_t ops;
    uint64_t last_use;
  };

  static uint64_t HashOf(const std::string& key) {
    uint64_t hash = key.size();
    const auto mix = [&](const char* bytes, size_t size) {
      uint64_t word = 0;
      std::memcpy(&word, bytes, size);
      hash = (hash ^ word) * uint64_t{0x9e3779b97f4a7c15};
      hash ^= hash >> 29;
    };
    size_t i = 0;
    for (; i + 8 <= key.size(); i += 8) mix(key.data() + i, 8);
    mix(key.data() + i, key.size() - i);
    return hash;
  }
  size_t IndexOf(uint64_t hash) const {
    return static_cast<size_t>(std::find(hashes_.begin(), hashes_.end(), hash) - hashes_.begin());
  }
  // Removes runs that were not used for long until one of so many ops fits. False if it does not.
  bool MakeRoom(size_t ops) {
    if (ops > kMostOpsOfRun) return false;
    while (entries_.size() >= kMostRuns || ops_ + ops > kMostOps) {
      size_t oldest = 0;
      for (size_t i = 1; i < entries_.size(); ++i) {
        if (entries_[i].last_use < entries_[oldest].last_use) oldest = i;
      }
      if (clock_ - entries_[oldest].last_use < kLong) return false;
      ops_ -= entries_[oldest].ops;
      std::swap(entries_[oldest], entries_.back());
      std::swap(hashes_[oldest], hashes_.back());
      entries_.pop_back();
      hashes_.pop_back();
    }
    return true;
  }

  mutable std::mutex mutex_;
  std::vector<uint64_t> hashes_;  // of the entries
  std::vector<Entry> entries_;
  size_t ops_ = 0;  // of the entries
  uint64_t clock_ = 0;
  uint64_t seen_[1024] = {};  // structures that were met, by their hashes
};

// Goes back through a run at once, and puts the wanted gradients (TapeRun) into `sums`. Returns
// false, and does nothing, where RunBackwardTable has no way back for the run.
inline bool GoBackAtOnce(TapeRecords records, const std::vector<GradientSource>& xs, bool wants_all,
                         GradientSums& sums, Where where) {
  const TapeRun run(records, sums, xs, wants_all);
  const std::shared_ptr<const RunBackward> way = RunBackwardTable::Get().Find(run, where);
  if (way == nullptr) return false;
  if (way->function == nullptr) return true;
  std::vector<Tensor> inputs;
  inputs.reserve(way->dys.size() + way->needs.size());
  inputs.insert(inputs.end(), run.dy_values().begin(), run.dy_values().end());
  for (const uint32_t number : way->needs) inputs.push_back(run.tensor(number));
  std::vector<Tensor> results = way->function->Run(std::move(inputs), where);
  for (size_t i = 0; i < way->results.size(); ++i)
    sums.Set(run.tensor(way->results[i]), std::move(results[i]));
  return true;
}

}  // namespace tenon::inline v0::internal
