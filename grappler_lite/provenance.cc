#include "grappler_lite/provenance.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "grappler_lite/pipeline.h"

namespace tenon {

int32_t Provenance::Add(std::string_view node) {
  records_.push_back({std::string(node), {}, {}});
  return static_cast<int32_t>(records_.size()) - 1;
}

int32_t Provenance::RecordOf(std::string_view node) {
  const auto [it, is_new] = current_.try_emplace(node, 0);
  if (is_new) it->second = Add(node);
  return it->second;
}

void Provenance::BeforePass(const PassRun& run) {
  in_body_ = !run.function.empty();
  events_.clear();
  events_anywhere_.clear();
}

void Provenance::OnRewrite(const RewriteEvent& event) {
  if (in_body_ || !event.allowed || event.rewrite.empty()) return;
  if (event.node.empty()) {
    const std::string name = absl::StrCat(event.pass, ".", event.rewrite);
    const auto known = std::find(events_anywhere_.begin(), events_anywhere_.end(), name);
    if (known == events_anywhere_.end()) events_anywhere_.push_back(name);
    return;
  }
  events_[event.node].push_back(absl::StrCat(event.pass, ".", event.rewrite, " at ", event.node));
}

// What one pass did to the records.
class Provenance::Step {
 public:
  Step(Provenance& all, const PassRun& run, const Graph& after)
      : all_(all), run_(run), before_(run.before), after_(after) {}

  void Run() {
    const std::vector<NodeChange> changes = ChangesBetween(before_, after_);
    for (const NodeChange& change : changes) Begin(change);
    for (const NodeChange& change : changes) {
      if (change.after == kNoNode) {
        AddLostInputs(change.before, New(before_.name(change.before)));
      } else if (change.before != kNoNode) {
        AddLostInputs(change.before, New(after_.name(change.after)), change.after);
      }
    }
    for (const NodeChange& change : changes) {
      if (change.before == kNoNode) AddMaker(change.after);
    }
    for (const NodeChange& change : changes) {
      if (change.after == kNoNode) AddTaker(change.before);
    }
    for (const auto& [name, record] : now_) {
      if (after_.FindNode(name) == kNoNode) {
        all_.gone_[name] = record;
        all_.current_.erase(name);
      } else {
        all_.current_[name] = record;
      }
    }
  }

 private:
  int32_t New(std::string_view name) const { return now_.at(name); }
  std::vector<int32_t>& Parents(int32_t record) {
    return all_.records_[static_cast<size_t>(record)].parents;
  }

  // A new record, that comes from what the node was.
  void Begin(const NodeChange& change) {
    const std::string_view name =
        change.after == kNoNode ? before_.name(change.before) : after_.name(change.after);
    const int32_t was = change.before == kNoNode ? -1 : all_.RecordOf(name);
    const int32_t record = all_.Add(name);
    if (was >= 0) Parents(record).push_back(was);
    now_[name] = record;
    std::vector<std::string>& rewrites = all_.records_[static_cast<size_t>(record)].rewrites;
    if (const auto done = all_.events_.find(name); done != all_.events_.end()) {
      rewrites = done->second;
    } else if (was < 0) {
      rewrites = all_.events_anywhere_;
    }
    if (run_.pass.starts_with("plugin:")) rewrites.emplace_back(run_.pass);
  }

  int32_t LatestOf(std::string_view name) {
    const auto changed = now_.find(name);
    return changed == now_.end() ? all_.RecordOf(name) : changed->second;
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

  // "x/square" was made for x; a node of another name for those that use it.
  void AddMaker(NodeId n) {
    const int32_t record = New(after_.name(n));
    std::string_view prefix = after_.name(n);
    for (size_t slash; (slash = prefix.rfind('/')) != prefix.npos;) {
      prefix = prefix.substr(0, slash);
      if (before_.FindNode(prefix) == kNoNode) continue;
      const int32_t maker = LatestOf(prefix);
      Parents(record).push_back(maker);
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
    std::vector<std::string>& takers = all_.takers_[before_.name(gone)];
    takers = all_.events_anywhere_;
    if (takers.empty()) takers.emplace_back(run_.pass);
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

  std::vector<std::string>& RewritesOf(int32_t record) {
    return all_.records_[static_cast<size_t>(record)].rewrites;
  }

  static constexpr size_t kNearNodes = 64;

  Provenance& all_;
  const PassRun& run_;
  const Graph& before_;
  const Graph& after_;
  absl::flat_hash_map<std::string, int32_t> now_;  // of nodes that the pass changed
  std::optional<Fanouts> users_, users_before_;
};

void Provenance::AfterPass(const PassRun& run, const Graph& after, const PassReport& row) {
  if (row.changed && !in_body_) Step(*this, run, after).Run();
}

Provenance::Story Provenance::Of(std::string_view node) const {
  const auto it = current_.find(node);
  if (it == current_.end()) return {{std::string(node)}, {}};
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
  std::sort(found.begin(), found.end());
  Story story;
  absl::flat_hash_set<std::string> told;
  for (int32_t i : found) {
    const Record& record = records_[static_cast<size_t>(i)];
    if (record.parents.empty()) story.origins.push_back(record.node);
    for (const std::string& rewrite : record.rewrites) {
      if (told.insert(rewrite).second) story.rewrites.push_back(rewrite);
    }
  }
  std::sort(story.origins.begin(), story.origins.end());
  return story;
}

std::vector<std::string> Provenance::WhatBecameOf(std::string_view origin, const Graph& now) const {
  std::vector<std::string> nodes;
  for (NodeId n = 0; n < now.num_node_ids(); ++n) {
    if (!now.alive(n)) continue;
    const std::vector<std::string> origins = Of(now.name(n)).origins;
    if (std::binary_search(origins.begin(), origins.end(), origin)) nodes.emplace_back(now.name(n));
  }
  return nodes;
}

std::vector<std::string> Provenance::EndOf(std::string_view node) const {
  const auto it = gone_.find(node);
  if (it == gone_.end()) return {};
  const std::vector<std::string>& at_node = records_[static_cast<size_t>(it->second)].rewrites;
  const auto takers = takers_.find(node);
  return at_node.empty() && takers != takers_.end() ? takers->second : at_node;
}

}  // namespace tenon
