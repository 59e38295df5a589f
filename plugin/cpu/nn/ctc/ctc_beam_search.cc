// CTC beam search. Prefixes form a tree; each holds the logarithms of its probability with a blank
// and with a label at its end. `Best` keeps the most probable ones, as a list until it is full,
// then as a heap.
#include "plugin/cpu/nn/ctc/ctc_beam_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plugin/cpu/nn/ctc/ctc_probability.h"

namespace tenon::cpu {
namespace {

// Prefixes are kept to the end of the search, since others point to them: at this bound they take
// about 1.5 GB.
constexpr size_t kMostPrefixes = size_t{1} << 24;

}  // namespace

const CtcBeamSearch::Probability CtcBeamSearch::kNone = {kNever, kNever, kNever};

CtcBeamSearch::Prefix* CtcBeamSearch::Best::Bottom() {
  if (!heap_ && !bottom_first_) {
    // The order among equally probable prefixes decides what leaves the beam: TensorFlow's, whose
    // top is found the same way.
    size_t least = 0;
    for (size_t i = 1; i < prefixes_.size(); ++i) {
      if (MoreProbable(prefixes_[least], prefixes_[i])) least = i;
    }
    std::swap(prefixes_[0], prefixes_[least]);
    bottom_first_ = true;
  }
  return prefixes_.front();
}

void CtcBeamSearch::Best::Push(Prefix* prefix) {
  if (heap_) {
    if (!MoreProbable(prefix, prefixes_.front())) return;
    prefixes_.back() = prefix;
    std::pop_heap(prefixes_.begin(), prefixes_.end(), MoreProbable);
    return;
  }
  prefixes_.push_back(prefix);
  if (bottom_first_ && !MoreProbable(prefix, prefixes_.front()))
    std::swap(prefixes_.front(), prefixes_.back());
  if (prefixes_.size() <= limit_) return;
  std::make_heap(prefixes_.begin(), prefixes_.end(), MoreProbable);
  std::pop_heap(prefixes_.begin(), prefixes_.end(), MoreProbable);
  heap_ = true;
}

std::vector<CtcBeamSearch::Prefix*> CtcBeamSearch::Best::Extract() {
  if (heap_) {
    // A heap has one place more than the limit, for the element that has left.
    prefixes_.pop_back();
    std::sort_heap(prefixes_.begin(), prefixes_.end(), MoreProbable);
  } else {
    std::sort(prefixes_.begin(), prefixes_.end(), MoreProbable);
  }
  heap_ = bottom_first_ = false;
  return std::exchange(prefixes_, {});
}

CtcBeamSearch::CtcBeamSearch(int64_t classes, int64_t beam_width)
    : classes_(classes),
      beam_(static_cast<size_t>(beam_width)),
      by_label_(classes, nullptr),
      log_y_(classes) {
  prefixes_.push_back({nullptr, -1, kNone, {0, 0, kNever}, {}});
  beam_.Push(&prefixes_.back());
}

bool CtcBeamSearch::Fits(double log_probability) {
  if (!(log_probability > kNever)) return false;
  return !beam_.full() || log_probability > beam_.Bottom()->now.total;
}

absl::Status CtcBeamSearch::Step(const double* logits) {
  // The greatest logit is subtracted so that no exponential overflows.
  const double max = *std::max_element(logits, logits + classes_);
  double sum = 0;
  for (int64_t c = 0; c < classes_; ++c) sum += std::exp(logits[c] - max);
  for (int64_t c = 0; c < classes_; ++c) log_y_[c] = logits[c] - max - std::log(sum);

  const std::vector<Prefix*> prefixes = beam_.Extract();
  // All of them first: the loop below reads `before` of parents, too.
  for (Prefix* prefix : prefixes) prefix->before = prefix->now;
  // The prefixes stay as they are: a blank or their last label again.
  for (Prefix* prefix : prefixes) {
    Probability& now = prefix->now;
    if (prefix->parent != nullptr) {
      const Prefix& parent = *prefix->parent;
      if (parent.now.total != kNever) {
        now.label = AddLogs(
            // The same label again counts as a new one only behind a blank.
            now.label, prefix->label == parent.label ? parent.before.blank : parent.before.total);
      }
      now.label += log_y_[prefix->label];
    }
    now.blank = prefix->before.total + log_y_[classes_ - 1];
    now.total = AddLogs(now.blank, now.label);
    beam_.Push(prefix);
  }
  for (Prefix* prefix : prefixes) {
    if (Fits(prefix->before.total)) Extend(prefix);
    if (prefixes_.size() > kMostPrefixes)
      return absl::ResourceExhaustedError("a beam search follows too many paths");
  }
  return absl::OkStatus();
}

// By each label that makes a path probable enough.
void CtcBeamSearch::Extend(Prefix* prefix) {
  for (Prefix* child : prefix->children) by_label_[child->label] = child;
  for (int64_t label = 0; label + 1 < classes_; ++label) {
    Prefix* child = by_label_[label];
    if (child != nullptr && child->now.total != kNever) continue;  // is in the beam
    const double before = label == prefix->label ? prefix->before.blank : prefix->before.total;
    const double now = log_y_[label] + before;
    if (!Fits(now)) {
      // TensorFlow forgets one that has just left the beam: it is not extended itself.
      if (child != nullptr) child->before = kNone;
      continue;
    }
    if (child == nullptr) {
      prefixes_.push_back({prefix, label, kNone, kNone, {}});
      child = &prefixes_.back();
      prefix->children.push_back(child);
    }
    child->now = {now, kNever, now};
    if (beam_.full()) beam_.Bottom()->now = kNone;  // leaves the beam
    beam_.Push(child);
  }
  for (Prefix* child : prefix->children) by_label_[child->label] = nullptr;
}

std::vector<CtcBeamSearch::Path> CtcBeamSearch::BestPaths(int64_t count,
                                                          bool merge_repeated) const {
  Best best(static_cast<size_t>(count));
  for (size_t i = 0; i < beam_.size(); ++i) best.Push(beam_.at(i));
  std::vector<Path> paths;
  for (const Prefix* prefix : best.Extract()) {
    Path path{{}, prefix->now.total};
    int64_t behind = -1;
    // From the last label back to the root.
    for (const Prefix* p = prefix; p->parent != nullptr; p = p->parent) {
      if (!merge_repeated || p->label != behind) path.labels.push_back(p->label);
      behind = p->label;
    }
    std::reverse(path.labels.begin(), path.labels.end());
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace tenon::cpu
