// Records form a graph whose edges lead from a record to older ones. A pass adds a record for each
// node that it changed, made or removed; a history is what can be reached from a record. Each
// function has a ledger that says which record its nodes have now.

#include "grappler_lite/provenance/provenance.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/nodes.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "grappler_lite/provenance/inlined_nodes.h"

namespace tenon {
namespace {

void AddOnce(const std::string& text, std::vector<std::string>& list) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

// The functions of the library that a node calls.
std::vector<const FunctionEntry*> Callees(const Graph& graph, NodeId n) {
  std::vector<const FunctionEntry*> callees;
  if (!IsFunctional(graph, n)) return callees;
  for (const std::string_view name : CalledBy(graph.op_name(n), graph.attrs(n))) {
    if (const FunctionEntry* function = graph.FindFunction(name); function != nullptr)
      callees.push_back(function);
  }
  return callees;
}

}  // namespace

NameInBody NameInBody::Of(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string NameInBody::Text() const {
  return function.empty() ? std::string(node) : absl::StrCat(function, ":", node);
}

std::string Provenance::Ledger::NameOf(std::string_view node) const {
  return NameInBody{function, node}.Text();
}

int32_t Provenance::Add(std::string node) {
  records_.push_back({std::move(node), {}, {}});
  return static_cast<int32_t>(records_.size()) - 1;
}

Provenance::Ledger& Provenance::LedgerOf(std::string_view function) {
  const auto [it, is_new] = ledgers_.try_emplace(function);
  if (is_new) {
    it->second = std::make_unique<Ledger>();
    it->second->function = function;
  }
  return *it->second;
}

const Provenance::Ledger* Provenance::FindLedger(std::string_view function) const {
  const auto it = ledgers_.find(function);
  return it == ledgers_.end() ? nullptr : it->second.get();
}

int32_t Provenance::FirstOf(Ledger& ledger, std::string_view node) {
  const auto [it, is_new] = ledger.first.try_emplace(node, 0);
  if (is_new) it->second = Add(ledger.NameOf(node));
  return it->second;
}

int32_t Provenance::RecordOf(Ledger& ledger, std::string_view node) {
  const auto [it, is_new] = ledger.current.try_emplace(node, 0);
  if (is_new) it->second = ledger.function.empty() ? Add(it->first) : FirstOf(ledger, node);
  return it->second;
}

bool Provenance::KnowsBody(std::string_view function) const {
  const Ledger* ledger = FindLedger(function);
  return ledger != nullptr && !ledger->current.empty();
}

void Provenance::BeforePass(const PassRun& run) {
  function_ = run.function;
  events_.clear();
  events_anywhere_.clear();
}

void Provenance::OnRewrite(const RewriteEvent& event) {
  // An empty name is the whole work of a plug-in's pass, which Begin adds to each changed node.
  if (!event.allowed || event.rewrite.empty()) return;
  const std::string name = absl::StrCat(event.pass, ".", event.rewrite);
  if (event.node.empty()) return AddOnce(name, events_anywhere_);
  events_[event.node].push_back(
      absl::StrCat(name, " at ", NameInBody{function_, event.node}.Text()));
}

// What one pass did to the records.
class Provenance::Step {
 public:
  Step(Provenance& all, std::string_view pass, const Graph& before, const Graph& after,
       Ledger& ledger)
      : all_(all), pass_(pass), before_(before), after_(after), was_(ledger), is_(ledger) {}

  // From the body of a function to the one of another that a pass made of it, by `rewrites`.
  // `given` are records of what the call gives for arguments.
  Step(Provenance& all, const FunctionGraph& before, const FunctionGraph& after, Ledger& from,
       Ledger& to, std::vector<std::string> rewrites,
       absl::flat_hash_map<std::string_view, int32_t> given)
      : all_(all),
        before_(before.graph),
        after_(after.graph),
        was_(from),
        is_(to),
        is_copy_(true),
        given_(std::move(given)) {
    copied_by_ = all.Add("");
    all.records_.back().rewrites = std::move(rewrites);
  }

  void Run() {
    const std::vector<NodeChange> changes = ChangesBetween(before_, after_);
    if (!is_copy_ && HasFunctions(before_)) FindInlined(changes);
    // All records are made before any gets its parents: changed nodes may come from one another.
    for (const NodeChange& change : changes) Begin(change);
    if (is_copy_) BeginOthers();
    for (const NodeChange& change : changes) {
      if (inlined_.roots.contains(change.before)) continue;
      if (change.after == kNoNode) {
        AddLostInputs(change.before, New(before_.name(change.before)));
      } else if (change.before != kNoNode) {
        AddLostInputs(change.before, New(after_.name(change.after)), change.after);
      }
    }
    // Before AddMaker, which refers to the records of inlined calls.
    AddInlinedCalls();
    for (const NodeChange& change : changes) {
      if (change.before == kNoNode) AddMaker(change.after);
    }
    if (is_copy_) return Copy();
    for (const NodeChange& change : changes) {
      if (change.after == kNoNode) AddTaker(change.before);
    }
    for (const NodeChange& change : changes) AddCopies(change);
    for (const auto& [name, record] : now_) {
      if (after_.FindNode(name) == kNoNode) {
        is_.gone[name] = record;
        is_.current.erase(name);
      } else {
        is_.current[name] = record;
        is_.gone.erase(name);  // the name is back
      }
    }
  }

 private:
  int32_t New(std::string_view name) const { return now_.at(name); }
  std::vector<int32_t>& Parents(int32_t record) {
    return all_.records_[static_cast<size_t>(record)].parents;
  }
  std::vector<std::string>& RewritesOf(int32_t record) {
    return all_.records_[static_cast<size_t>(record)].rewrites;
  }
  int32_t Was(std::string_view name) {
    return is_copy_ ? all_.FirstOf(was_, name) : all_.RecordOf(was_, name);
  }

  void FindInlined(const std::vector<NodeChange>& changes) {
    inlined_ = FindInlinedNodes(before_, after_, changes, [this](std::string_view name) {
      return all_.events_.contains(name);
    });
    for (const std::string_view function : inlined_.inlined)
      AddTaking(function, all_.events_anywhere_);
  }

  void AddTaking(std::string_view function, const std::vector<std::string>& rewrites) {
    Ledger& ledger = all_.LedgerOf(function);
    const auto add = [&](std::string_view rewrite) {
      for (const Ledger::Taking& known : ledger.taken) {
        if (known.by == was_.function && known.rewrite == rewrite) return;
      }
      ledger.taken.push_back({was_.function, std::string(rewrite)});
    };
    for (const std::string& rewrite : rewrites) add(rewrite);
    if (rewrites.empty()) add(pass_);
  }

  // A new record, that comes from what the node was.
  void Begin(const NodeChange& change) {
    const std::string_view name =
        change.after == kNoNode ? before_.name(change.before) : after_.name(change.after);
    const int32_t was = change.before == kNoNode ? -1 : Was(name);
    const int32_t record = all_.Add(is_.NameOf(name));
    if (was >= 0) Parents(record).push_back(was);
    now_[name] = record;
    if (is_copy_) return Parents(record).push_back(copied_by_);
    std::vector<std::string>& rewrites = RewritesOf(record);
    const auto done = all_.events_.find(name);
    const bool was_inlined = inlined_.roots.contains(change.before) ||
                             (was < 0 && inlined_.origins.contains(change.after));
    if (was_inlined || (was < 0 && done == all_.events_.end())) rewrites = all_.events_anywhere_;
    if (done != all_.events_.end())
      rewrites.insert(rewrites.end(), done->second.begin(), done->second.end());
    if (pass_.starts_with("plugin:")) rewrites.emplace_back(pass_);
  }

  // Nodes of a copy that are as they were.
  void BeginOthers() {
    for (NodeId n = 0; n < after_.num_node_ids(); ++n) {
      if (!after_.alive(n) || now_.contains(after_.name(n))) continue;
      const int32_t was = Was(after_.name(n));
      const int32_t record = all_.Add("");
      Parents(record) = {was, copied_by_};
      now_[after_.name(n)] = record;
    }
  }

  // The records of a function that was made.
  void Copy() {
    for (const auto& [name, record] : now_) {
      if (after_.FindNode(name) != kNoNode) is_.current[name] = record;
    }
    is_.first = is_.current;
  }

  int32_t LatestOf(std::string_view name) {
    const auto changed = now_.find(name);
    return changed == now_.end() ? Was(name) : changed->second;
  }

  // Inputs that the node `was` had; of one that is still there, those that it has no longer. Of
  // those that a node which is gone had, only those that are gone with it.
  void AddLostInputs(NodeId was, int32_t record, NodeId is = kNoNode) {
    absl::flat_hash_set<std::string_view> kept;
    if (is != kNoNode) {
      for (const Output& in : after_.inputs(is)) kept.insert(after_.name(in.node));
    }
    for (const Output& in : before_.inputs(was)) {
      const std::string_view name = before_.name(in.node);
      const bool is_gone = after_.FindNode(name) == kNoNode;
      if (kept.contains(name) || (is == kNoNode && !is_gone)) continue;
      const int32_t from = LatestOf(name);
      if (from != record) Parents(record).push_back(from);
    }
  }

  // A call that was inlined within another comes from that one and from the node of its body.
  void AddInlinedCalls() {
    for (const InlinedNodes::Call& call : inlined_.calls) {
      if (call.within < 0) {
        call_records_.push_back(LatestOf(before_.name(call.root)));
        continue;
      }
      const int32_t node = all_.FirstOf(all_.LedgerOf(call.function), call.node);
      const int32_t record = all_.Add("");
      Parents(record) = {call_records_[call.within], node};
      if (const auto done = all_.events_.find(call.name); done != all_.events_.end())
        RewritesOf(record) = done->second;
      call_records_.push_back(record);
    }
  }

  // "x/square" was made for x; a node of another name for those that use it.
  void AddMaker(NodeId n) {
    const int32_t record = New(after_.name(n));
    if (const auto origin = inlined_.origins.find(n); origin != inlined_.origins.end()) {
      const auto& [call, function, node] = origin->second;
      Parents(record).push_back(call_records_[call]);
      const int32_t first = all_.FirstOf(all_.LedgerOf(function), node);
      Parents(record).push_back(first);
      return;
    }
    std::string_view prefix = after_.name(n);
    for (size_t slash; (slash = prefix.rfind('/')) != prefix.npos;) {
      prefix = prefix.substr(0, slash);
      if (before_.FindNode(prefix) == kNoNode) continue;
      // LatestOf may add a record and so move all of them: it runs before Parents gives a
      // reference.
      const int32_t maker = LatestOf(prefix);
      Parents(record).push_back(maker);
      if (const auto given = given_.find(prefix); given != given_.end())
        Parents(record).push_back(given->second);
      return;
    }
    if (!users_) users_.emplace(after_);
    for (const Fanouts::Use& use : users_->of(n)) {
      const auto changed = now_.find(after_.name(use.node));
      if (changed != now_.end() && changed->second != record)
        Parents(record).push_back(changed->second);
    }
  }

  // What took a node that is gone, if nothing was done at the node itself: what was done at the
  // nearest of those that used it, or else nowhere in particular, or else the pass.
  void AddTaker(NodeId gone) {
    if (!RewritesOf(New(before_.name(gone))).empty()) return;
    std::vector<std::string>& takers = was_.takers[before_.name(gone)];
    takers = all_.events_anywhere_;
    if (takers.empty()) takers.emplace_back(pass_);
    if (!users_before_) users_before_.emplace(before_);
    std::vector<NodeId> near = {gone};
    absl::flat_hash_set<NodeId> seen = {gone};
    for (size_t i = 0; i < near.size() && i < kNearNodes; ++i) {
      for (const Fanouts::Use& use : users_before_->of(near[i])) {
        const auto changed = now_.find(before_.name(use.node));
        if (changed == now_.end() || !seen.insert(use.node).second) continue;
        near.push_back(use.node);
        if (RewritesOf(changed->second).empty()) continue;
        takers = RewritesOf(changed->second);
        return;
      }
    }
  }

  // A function that was not there, called where another was, is made of that one.
  void AddCopies(const NodeChange& change) {
    if (change.before == kNoNode || change.after == kNoNode) return;
    const std::vector<const FunctionEntry*> before = Callees(before_, change.before);
    const std::vector<const FunctionEntry*> after = Callees(after_, change.after);
    if (before.size() != after.size()) return;
    for (size_t i = 0; i < after.size(); ++i) {
      if (before_.FindFunction(after[i]->name) == nullptr) AddCopy(change, *before[i], *after[i]);
    }
  }

  void AddCopy(const NodeChange& change, const FunctionEntry& from, const FunctionEntry& to) {
    const std::vector<std::string> rewrites = RewritesOf(New(after_.name(change.after)));
    AddTaking(from.name, rewrites);
    Ledger& ledger = all_.LedgerOf(to.name);
    // Another node that calls the function adds nothing: the function was made once.
    if (ledger.made_in.has_value()) return;
    ledger.made_in = is_.function;
    if (functions_before_ == nullptr) {
      functions_before_ = SharedFunctions::Of(before_);
      functions_after_ = SharedFunctions::Of(after_);
    }
    const absl::StatusOr<FunctionGraph> was = FunctionGraph::Make(before_, from, functions_before_);
    const absl::StatusOr<FunctionGraph> is = FunctionGraph::Make(after_, to, functions_after_);
    if (!was.ok() || !is.ok()) return;
    absl::flat_hash_map<std::string_view, int32_t> given;
    const std::span<const Output> inputs = before_.data_inputs(change.before);
    for (size_t i = 0; i < was->args.size() && inputs.size() >= was->args.size(); ++i) {
      // The arguments are the last inputs: If and Case read their condition first.
      const NodeId value = inputs[inputs.size() - was->args.size() + i].node;
      if (before_.op_name(value) == "Const")
        given.emplace(was->graph.name(was->args[i]), LatestOf(before_.name(value)));
    }
    Step(all_, *was, *is, all_.LedgerOf(from.name), ledger, rewrites, std::move(given)).Run();
  }

  static constexpr size_t kNearNodes = 64;

  Provenance& all_;
  const std::string_view pass_;
  const Graph& before_;
  const Graph& after_;
  Ledger &was_, &is_;
  const bool is_copy_ = false;
  int32_t copied_by_ = -1;
  absl::flat_hash_map<std::string_view, int32_t> given_;
  absl::flat_hash_map<std::string, int32_t> now_;  // of nodes that the pass changed
  InlinedNodes inlined_;
  std::vector<int32_t> call_records_;  // by call of inlined_
  std::optional<Fanouts> users_, users_before_;
  std::shared_ptr<SharedFunctions> functions_before_, functions_after_;  // null: not asked for yet
};

void Provenance::AfterPass(const PassRun& run, const Graph& after, const PassReport& row) {
  if (!row.changed) return;
  Step(*this, run.pass, run.before, after, LedgerOf(run.function)).Run();
  if (run.function.empty()) NoteLibrary(run, after);
}

// What a pass on the graph did to the functions themselves: of those that it took, and of bodies
// that it put in the place of others, as one from outside may.
void Provenance::NoteLibrary(const PassRun& run, const Graph& after) {
  events_.clear();  // they were at nodes of the graph
  std::shared_ptr<SharedFunctions> before, now;
  for (const FunctionEntry& was : run.before.functions()) {
    const FunctionEntry* is = after.FindFunction(was.name);
    if (is == nullptr) {
      Ledger& ledger = LedgerOf(was.name);
      if (!ledger.taken.empty()) continue;
      for (const std::string& rewrite : events_anywhere_) ledger.taken.push_back({"", rewrite});
      if (ledger.taken.empty()) ledger.taken.push_back({"", std::string(run.pass)});
    } else if (is->wire.data() != was.wire.data() && is->wire != was.wire) {
      if (before == nullptr) {
        before = SharedFunctions::Of(run.before);
        now = SharedFunctions::Of(after);
      }
      const absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(run.before, was, before);
      const absl::StatusOr<FunctionGraph> is_now = FunctionGraph::Make(after, *is, now);
      if (!body.ok() || !is_now.ok()) continue;
      Ledger& ledger = LedgerOf(was.name);
      Step(*this, run.pass, body->graph, is_now->graph, ledger).Run();
      // Calls find the new body from now on.
      for (const auto& [node, record] : ledger.current) ledger.first[node] = record;
    }
  }
}

void Provenance::BodyDropped(std::string_view function) {
  const auto is_dropped = [&](std::string_view by) {
    return !by.empty() && (function.empty() || by == function);
  };
  absl::erase_if(ledgers_, [&](const auto& entry) {
    return entry.second->made_in.has_value() && is_dropped(*entry.second->made_in);
  });
  for (const auto& [name, ledger] : ledgers_) {
    std::erase_if(ledger->taken, [&](const Ledger::Taking& t) { return is_dropped(t.by); });
    if (!is_dropped(name)) continue;
    ledger->current = ledger->first;
    ledger->gone.clear();
    ledger->takers.clear();
  }
}

Provenance::History Provenance::Of(std::string_view node) const {
  const auto [function, name] = NameInBody::Of(node);
  const Ledger* ledger = FindLedger(function);
  if (ledger == nullptr) return {{std::string(node)}, {}};
  const auto it = ledger->current.find(name);
  if (it == ledger->current.end()) return {{std::string(node)}, {}};
  std::vector<int32_t> found, stack = {it->second};
  absl::flat_hash_set<int32_t> seen = {it->second};
  while (!stack.empty()) {
    const int32_t record = stack.back();
    stack.pop_back();
    found.push_back(record);
    for (int32_t parent : records_[static_cast<size_t>(record)].parents) {
      if (seen.insert(parent).second) stack.push_back(parent);
    }
  }
  // Records are numbered in order of time, so rewrites come out in that order.
  std::sort(found.begin(), found.end());
  History history;
  absl::flat_hash_set<std::string> told;
  for (int32_t i : found) {
    const Record& record = records_[static_cast<size_t>(i)];
    if (record.parents.empty() && !record.node.empty()) history.origins.push_back(record.node);
    for (const std::string& rewrite : record.rewrites) {
      if (told.insert(rewrite).second) history.rewrites.push_back(rewrite);
    }
  }
  std::ranges::sort(history.origins, {}, [](const std::string& origin) {
    return std::pair(!NameInBody::Of(origin).function.empty(), origin);
  });
  return history;
}

std::vector<std::string> Provenance::WhatBecameOf(std::string_view origin, const Graph& now) const {
  // From the node's first record to those that come from it.
  std::vector<std::vector<int32_t>> children(records_.size());
  std::vector<bool> comes(records_.size(), false);
  std::vector<int32_t> stack;
  for (size_t i = 0; i < records_.size(); ++i) {
    for (const int32_t parent : records_[i].parents)
      children[static_cast<size_t>(parent)].push_back(static_cast<int32_t>(i));
    if (!records_[i].parents.empty() || records_[i].node != origin) continue;
    comes[i] = true;
    stack.push_back(static_cast<int32_t>(i));
  }
  while (!stack.empty()) {
    const auto at = static_cast<size_t>(stack.back());
    stack.pop_back();
    for (const int32_t child : children[at]) {
      if (!comes[static_cast<size_t>(child)]) stack.push_back(child);
      comes[static_cast<size_t>(child)] = true;
    }
  }
  std::vector<std::string> nodes;
  const Ledger* of_graph = FindLedger("");
  const Records none;
  const Records& current = of_graph == nullptr ? none : of_graph->current;
  for (NodeId n = 0; n < now.num_node_ids(); ++n) {
    if (!now.alive(n)) continue;
    const auto it = current.find(now.name(n));
    if (it == current.end() ? now.name(n) == origin : comes[static_cast<size_t>(it->second)])
      nodes.emplace_back(now.name(n));
  }
  const auto [function, node] = NameInBody::Of(origin);
  for (const FunctionEntry& entry : now.functions()) {
    const Ledger* ledger = FindLedger(entry.name);
    const size_t first = nodes.size();
    if (ledger != nullptr) {
      for (const auto& [name, record] : ledger->current) {
        if (comes[static_cast<size_t>(record)]) nodes.push_back(ledger->NameOf(name));
      }
    }
    const bool is_as_it_was =
        entry.name == function &&
        (ledger == nullptr || (!ledger->current.contains(node) && !ledger->gone.contains(node)));
    if (is_as_it_was) nodes.emplace_back(origin);
    std::sort(nodes.begin() + static_cast<int64_t>(first), nodes.end());
  }
  return nodes;
}

std::vector<std::string> Provenance::EndOf(std::string_view node) const {
  const auto [function, name] = NameInBody::Of(node);
  const Ledger* ledger = FindLedger(function);
  if (ledger == nullptr) return {};
  std::vector<std::string> end;
  if (const auto it = ledger->gone.find(name); it != ledger->gone.end()) {
    end = records_[static_cast<size_t>(it->second)].rewrites;
    const auto takers = ledger->takers.find(name);
    if (end.empty() && takers != ledger->takers.end()) end = takers->second;
    return end;
  }
  for (const Ledger::Taking& taking : ledger->taken) AddOnce(taking.rewrite, end);
  return end;
}

}  // namespace tenon
