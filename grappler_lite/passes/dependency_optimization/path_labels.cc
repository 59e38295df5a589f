// Reachability by chains. Places are ranks in a topological order, and each place that is asked for
// belongs to a chain on which each place reaches the next. A label holds, for each chain, the last
// place from which the labelled place can be reached: all places before that one on the chain reach
// it too.

#include "grappler_lite/passes/dependency_optimization/path_labels.h"

#include <algorithm>
#include <utility>

namespace tenon {
namespace {

constexpr size_t kLongestLabel = 256;
// The most entries of all labels at once: 32 MiB, and 128 bytes for each node.
size_t MostEntries(size_t nodes) { return (size_t{1} << 22) + 16 * nodes; }

}  // namespace

PathLabels::PathLabels(std::vector<int32_t> last_asked, std::vector<int32_t> last_read)
    : last_read_(std::move(last_read)),
      last_asked_(std::move(last_asked)),
      chain_(last_asked_.size(), -1),
      unknown_(last_asked_.size(), -1),
      labels_(last_asked_.size()) {}

void PathLabels::Reach(Entry entry) {
  if (reached_by_[entry.chain] == next_) {
    reached_[entry.chain] = std::max(reached_[entry.chain], entry.place);
    return;
  }
  reached_by_[entry.chain] = next_;
  reached_[entry.chain] = entry.place;
  chains_.push_back(entry.chain);
}

void PathLabels::Add(std::span<const int32_t> inputs, std::vector<Answer>& answers) {
  answers.assign(inputs.size(), Answer::kNoPath);
  chains_.clear();
  unknown_here_ = -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Inputs come with the highest place first, so only inputs that were seen already can lie
    // behind `in`.
    const int32_t in = inputs[i];
    const int32_t chain = chain_[in];
    if (chain >= 0 && reached_by_[chain] == next_ && reached_[chain] >= in) {
      // What reaches it is in the labels of those over which it reaches this node.
      answers[i] = Answer::kPath;
      continue;
    }
    if (in <= unknown_here_) answers[i] = Answer::kUnknown;
    unknown_here_ = std::max(unknown_here_, unknown_[in]);
    for (const Entry& entry : labels_[in]) {
      if (last_asked_[entry.place] >= next_) Reach(entry);
    }
  }
  if (last_asked_[next_] > next_) AppendToChain(next_);
  if (last_read_[next_] > next_) Keep(next_);
  for (const int32_t in : inputs) {
    if (last_read_[in] == next_) Forget(in);
  }
  ++next_;
}

// To the first chain that ends behind the node, else to one of its own.
void PathLabels::AppendToChain(int32_t place) {
  const auto it = std::find_if(chains_.begin(), chains_.end(),
                               [this](int32_t chain) { return tail_[chain] == reached_[chain]; });
  if (it == chains_.end()) {
    chain_[place] = static_cast<int32_t>(tail_.size());
    tail_.push_back(place);
    reached_by_.push_back(-1);
    reached_.push_back(-1);
  } else {
    chain_[place] = *it;
    // In labels the new place now stands for the tail too: it must be kept as long as the tail is
    // asked for.
    last_asked_[place] = std::max(last_asked_[place], last_asked_[tail_[*it]]);
    tail_[*it] = place;
  }
  Reach({chain_[place], place});
}

void PathLabels::Keep(int32_t place) {
  std::vector<Entry> label;
  for (const int32_t chain : chains_) {
    if (last_asked_[reached_[chain]] > next_) label.push_back({chain, reached_[chain]});
  }
  const size_t most = MostEntries(labels_.size());
  const size_t longest = std::min(kLongestLabel, kept_ < most ? most - kept_ : 0);
  if (label.size() > longest) {
    // The highest places stay: most edges are short. unknown_ says up to which place the label is
    // cut.
    std::nth_element(label.begin(), label.begin() + longest, label.end(),
                     [](const Entry& a, const Entry& b) { return a.place > b.place; });
    for (size_t i = longest; i < label.size(); ++i)
      unknown_here_ = std::max(unknown_here_, label[i].place);
    label.resize(longest);
  }
  label.shrink_to_fit();
  kept_ += label.size();
  unknown_[place] = unknown_here_;
  labels_[place] = std::move(label);
}

void PathLabels::Forget(int32_t place) {
  kept_ -= labels_[place].size();
  labels_[place] = {};
}

}  // namespace tenon
