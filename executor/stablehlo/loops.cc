// Loops of functions.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/carried.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {

int ArgumentOf(const FunctionGraph& f, NodeId result) {
  Output from = {result, 0};
  while (f.graph.op_name(from.node) == "Identity" && f.graph.num_inputs(from.node) == 1)
    from = f.graph.data_inputs(from.node)[0];
  const auto it = std::ranges::find(f.args, from.node);
  return it == f.args.end() ? -1 : static_cast<int>(it - f.args.begin());
}

namespace loops_ops {
namespace {

class Loop {
 public:
  Loop(Op& op, std::string_view cond, std::string_view body) : op_(op), cond_(cond), body_(body) {}

  absl::Status Write();

 private:
  absl::Status FindInvariants();
  absl::Status SettleLists();
  absl::StatusOr<bool> SettleList(size_t i, Entry& result);
  absl::StatusOr<Entries> TryBody();
  absl::StatusOr<int64_t> CountTrips();
  absl::StatusOr<Value> Condition(const Entries& values);
  absl::StatusOr<Lines> WriteCondition();
  absl::StatusOr<Lines> WriteBody();
  absl::Status CheckResults(Entries& results);
  void NameCarried();
  Entries Inside() const;
  Entries Ends(absl::Span<const Value> results);
  void EndLists(Entries& ends);

  Op& op_;
  std::string_view cond_, body_;
  Entries start_;                // what enters the loop
  std::vector<size_t> carried_;  // the indices of what changes
  std::vector<Values> names_;    // of the carried values within the regions
  Values flags_;                 // and of the checks
  std::vector<CheckFlag> checks_;
  bool condition_checks_ = false;
  std::optional<int64_t> trips_;  // how often the body runs, where that was asked for
  std::vector<std::pair<size_t, Entry>> counted_;  // and what is then known of its variables
  struct Growth {
    size_t carried;        // the index of a list
    int64_t before, step;  // its elements at first, and what an iteration adds
  };
  std::vector<Growth> growths_;
};

absl::Status Loop::FindInvariants() {
  TENON_ASSIGN_OR_RETURN(const Body* body, op_.lowerer().BodyOf(op_.frame(), body_));
  const FunctionGraph& f = body->function;
  if (f.results.size() != start_.size())
    return op_.Invalid("the body gives another number of values than it takes");
  for (size_t i = 0; i < start_.size(); ++i) {
    if (ArgumentOf(f, f.results[i]) != static_cast<int>(i)) carried_.push_back(i);
  }
  return absl::OkStatus();
}

void Loop::NameCarried() {
  names_.clear();
  for (const size_t i : carried_) {
    Values names;
    for (const Value& v : PartsOf(op_, start_[i]))
      names.push_back(op_.b.BlockArgument(v.dtype, v.shape));
    names_.push_back(std::move(names));
  }
}

Entries Loop::Inside() const {
  Entries inside = start_;
  for (size_t k = 0; k < carried_.size(); ++k) {
    if (!names_[k].empty()) inside[carried_[k]] = Renewed(start_[carried_[k]], names_[k]);
  }
  return inside;
}

// Writes the body once, throws the text away and returns the results.
absl::StatusOr<Entries> Loop::TryBody() {
  const size_t checks = op_.lowerer().checks().size();
  absl::StatusOr<Entries> results = Entries();
  NameCarried();
  (void)op_.b.InRegion([&] { results = op_.lowerer().Call(op_, body_, Inside()); });
  (void)TakeChecks(op_.lowerer(), checks);
  return results;
}

// How often the loop runs, where that follows from numbers that are known: runs the counters alone.
absl::StatusOr<int64_t> Loop::CountTrips() {
  if (trips_) return *trips_;
  constexpr int64_t kMostTrips = int64_t{1} << 16;
  std::vector<int> counters;
  for (const size_t i : carried_) {
    const Tensor& known = start_[i].known;
    if (known.initialized() && known.num_elements() <= 8) counters.push_back(static_cast<int>(i));
  }
  NameCarried();
  Entries now = Inside();
  for (const int i : counters) now[i] = start_[i];
  absl::Status status;
  const size_t checks = op_.lowerer().checks().size();
  int64_t trips = 0;
  for (bool more = true; more && status.ok(); trips += more) {
    (void)op_.b.InRegion([&] {
      const absl::StatusOr<Entries> go_on = op_.lowerer().Call(op_, cond_, now);
      status = go_on.status();
      if (!go_on.ok()) return;
      const Tensor& known = go_on->front().known;
      if (!known.initialized() || known.dtype() != DataType::kBool || trips >= kMostTrips) {
        status = op_.Unimplemented("a list that grows in a loop of unknown length");
        return;
      }
      more = *known.flat<uint8_t>() != 0;
      if (!more) return;
      absl::StatusOr<Entries> next = op_.lowerer().Call(op_, body_, now, &counters);
      status = next.status();
      if (!next.ok()) return;
      for (const int i : counters) now[i] = std::move((*next)[i]);
    });
  }
  (void)TakeChecks(op_.lowerer(), checks);
  TENON_RETURN_IF_ERROR(status);
  trips_ = trips;
  for (const int i : counters) {
    if (now[i].known.initialized()) counted_.emplace_back(i, now[i]);
  }
  return trips;
}

// Makes a list that enters the loop one that keeps its shape, given what an iteration makes of it.
// Returns whether it changed.
absl::StatusOr<bool> Loop::SettleList(size_t i, Entry& result) {
  const ListValue before = *start_[i].list;
  if (result.list == nullptr || !result.list->elements) return false;
  const bool keeps_size = result.list->size == before.size && before.elements;
  if (before.count || keeps_size) {
    // A later iteration pushes something else: then the elements are not known.
    if (!before.each.initialized() || SameElements(before.each, result.list->each)) return false;
    ListValue list = before;
    list.each = Tensor();
    start_[i].list = std::make_shared<const ListValue>(std::move(list));
    return true;
  }
  const ListValue& after = *result.list;
  const int64_t step = after.size - before.size;
  ListValue list = before;
  if (step > 0) {
    TENON_ASSIGN_OR_RETURN(const int64_t trips, CountTrips());
    if (__builtin_mul_overflow(step, trips, &list.size) || list.size > (int64_t{1} << 24))
      return op_.Unimplemented("a list of so many elements");
    list.size += before.size;
  }
  Shape shape = after.elements.shape;
  shape.set_dim(0, list.size);
  if (!before.elements || step > 0) {
    list.elements = op_.b.Full(before.dtype, shape, 0);
    if (before.elements && before.size > 0) {
      const Values starts(shape.rank(), op_.b.ScalarInt(DataType::kInt32, 0));
      list.elements = op_.b.DynamicUpdate(list.elements, before.elements, starts);
    }
  }
  list.each = after.each;
  if (step != 0) {
    list.count = op_.b.ScalarInt(DataType::kInt32, before.size);
    growths_.push_back({i, before.size, step});
  }
  start_[i].list = std::make_shared<const ListValue>(std::move(list));
  return true;
}

// The shape of a list's elements may be known only when the body sets one, and a list may grow.
absl::Status Loop::SettleLists() {
  constexpr int kMostPasses = 8;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    if (std::ranges::none_of(carried_, [&](size_t i) { return start_[i].list != nullptr; })) break;
    TENON_ASSIGN_OR_RETURN(Entries results, TryBody());
    bool changed = false;
    for (const size_t i : carried_) {
      if (start_[i].list == nullptr) continue;
      TENON_ASSIGN_OR_RETURN(const bool is_new, SettleList(i, results[i]));
      changed |= is_new;
    }
    if (!changed) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Loop::Condition(const Entries& values) {
  TENON_ASSIGN_OR_RETURN(Entries results, op_.lowerer().Call(op_, cond_, values));
  if (results.size() != 1) return op_.Invalid("the condition gives no single value");
  const Values parts = PartsOf(op_, results[0]);
  if (parts.size() != 1) return op_.Invalid("the condition gives no number");
  return AsCondition(op_, parts[0]);
}

absl::StatusOr<Lines> Loop::WriteCondition() {
  absl::Status status;
  const size_t checks = op_.lowerer().checks().size();
  Lines text = op_.b.InRegion([&] {
    const absl::StatusOr<Value> go_on = Condition(Inside());
    status = go_on.status();
    if (go_on.ok()) op_.b.Return({*go_on});
  });
  TENON_RETURN_IF_ERROR(status);
  // A condition has no further results: its checks are made in the body, and after the loop.
  condition_checks_ = !TakeChecks(op_.lowerer(), checks).empty();
  return text;
}

absl::Status Loop::CheckResults(Entries& results) {
  for (const size_t i : carried_) {
    const ListValue* list = start_[i].list.get();
    const bool promised = list != nullptr && list->each.initialized();
    const bool kept = !promised || (results[i].list != nullptr &&
                                    SameElements(list->each, results[i].list->each));
    if (kept && SameParts(op_, start_[i], results[i])) continue;
    return op_.Unimplemented(absl::StrCat("loop variable ", i, " changes its shape, from ",
                                          start_[i].info.shape.ToString(), " to ",
                                          results[i].info.shape.ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Lines> Loop::WriteBody() {
  absl::Status status;
  const size_t before = op_.lowerer().checks().size();
  const auto write = [&]() -> absl::Status {
    if (condition_checks_) TENON_RETURN_IF_ERROR(Condition(Inside()).status());
    TENON_ASSIGN_OR_RETURN(Entries results, op_.lowerer().Call(op_, body_, Inside()));
    TENON_RETURN_IF_ERROR(CheckResults(results));
    checks_ = TakeChecks(op_.lowerer(), before);
    Values values;
    for (const size_t i : carried_) {
      const Values parts = PartsOf(op_, results[i]);
      values.insert(values.end(), parts.begin(), parts.end());
    }
    for (const CheckFlag& check : checks_) {
      flags_.push_back(op_.b.BlockArgument(DataType::kBool, Shape()));
      values.push_back(op_.b.And(flags_.back(), check.ok));
    }
    op_.b.Return(values);
    return absl::OkStatus();
  };
  Lines text = op_.b.InRegion([&] { status = write(); });
  TENON_RETURN_IF_ERROR(status);
  return text;
}

Entries Loop::Ends(absl::Span<const Value> results) {
  Entries ends = start_;
  size_t next = 0;
  for (size_t k = 0; k < carried_.size(); ++k) {
    const size_t parts = names_[k].size();
    if (parts > 0) ends[carried_[k]] = Renewed(start_[carried_[k]], results.subspan(next, parts));
    next += parts;
  }
  for (CheckFlag& check : checks_) {
    check.ok = results[next++];
    op_.lowerer().checks().push_back(std::move(check));
  }
  return ends;
}

// Where it is known how often the loop ran, the lists have a known number of elements again.
void Loop::EndLists(Entries& ends) {
  if (growths_.empty() || !CountTrips().ok()) return;
  for (const Growth& growth : growths_) {
    ListValue list = *ends[growth.carried].list;
    const int64_t size = growth.before + growth.step * *trips_;
    if (size < 0 || size > list.size) continue;
    list.elements = op_.b.SliceAxis(list.elements, 0, 0, size);
    list.size = size;
    list.count = Value();
    ends[growth.carried].list = std::make_shared<const ListValue>(std::move(list));
  }
}

absl::Status Loop::Write() {
  start_ = InputsFrom(op_, 0);
  TENON_RETURN_IF_ERROR(FindInvariants());
  // What does not change is read by the regions as it is; it must have its text before them.
  for (Entry& entry : start_) {
    if (!entry.known.initialized()) PartsOf(op_, entry);
  }
  TENON_RETURN_IF_ERROR(SettleLists());
  Values init, names;
  NameCarried();
  for (size_t k = 0; k < carried_.size(); ++k) {
    Entry& entry = start_[carried_[k]];
    const Values parts = PartsOf(op_, entry);
    if (parts.empty() && entry.list == nullptr)
      return op_.Unimplemented(absl::StrCat("loop variable ", carried_[k]));
    init.insert(init.end(), parts.begin(), parts.end());
    names.insert(names.end(), names_[k].begin(), names_[k].end());
  }
  TENON_ASSIGN_OR_RETURN(Lines cond, WriteCondition());
  TENON_ASSIGN_OR_RETURN(Lines body, WriteBody());
  for (const Value& flag : flags_) {
    init.push_back(op_.b.Scalar(DataType::kBool, 1));
    names.push_back(flag);
  }
  if (init.empty()) return op_.Unimplemented("a loop that changes nothing");
  const Values results = op_.b.While(init, names, std::move(cond), std::move(body));
  Entries ends = Ends(results);
  if (condition_checks_) TENON_RETURN_IF_ERROR(Condition(ends).status());
  EndLists(ends);
  for (auto& [i, entry] : counted_) {
    entry.value = ends[i].value;
    ends[i] = std::move(entry);
  }
  return SetOutputs(op_, std::move(ends));
}

absl::Status While(Op& op) {
  TENON_ASSIGN_OR_RETURN(const std::string_view cond, FunctionOf(op, "cond"));
  TENON_ASSIGN_OR_RETURN(const std::string_view body, FunctionOf(op, "body"));
  return Loop(op, cond, body).Write();
}

constexpr Types kCarried = kAll | kVariants;

constexpr Row kRows[] = {
    {"While", While, kCarried},
    {"StatelessWhile", While, kCarried},
};

}  // namespace
}  // namespace loops_ops

Rows LoopRows() { return loops_ops::kRows; }

}  // namespace tenon::stablehlo
