// Beam search for the most probable label sequences under connectionist temporal classification.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"

namespace tenon::cpu {

// One search over one sequence of inputs, in one thread. The last class is the blank. A prefix is a
// sequence of labels that the inputs so far may stand for. The beam has the most probable prefixes.
class CtcBeamSearch {
 public:
  // `classes` counts the blank too. `beam_width` is the most prefixes in the beam. Both are at
  // least 1.
  CtcBeamSearch(int64_t classes, int64_t beam_width);

  // Takes the inputs of the next time step, one logit per class. Step normalizes them by a softmax.
  // RESOURCE_EXHAUSTED if the search has made more than 2^24 prefixes in all its steps. The search
  // is of no use after an error.
  absl::Status Step(const double* logits);

  struct Path {
    std::vector<int64_t> labels;
    double log_probability;  // natural logarithm
  };
  // Returns the `count` most probable prefixes of the beam, the most probable first, or all if
  // there are fewer. Before the first Step that is the empty prefix. `merge_repeated` makes one
  // label of equal successive labels, even where a blank separated them. Each prefix is shortened
  // alone, so that two paths can then have the same labels.
  std::vector<Path> BestPaths(int64_t count, bool merge_repeated) const;

 private:
  // Logarithms of the probability of a prefix. `blank` sums the alignments that end with a blank,
  // `label` the alignments that end with the last label, `total` all alignments.
  struct Probability {
    double total, blank, label;
  };
  static const Probability kNone;
  // A prefix: the parent's labels and one more label.
  struct Prefix {
    Prefix* parent;  // null: the prefix is empty
    int64_t label;
    Probability before, now;  // after the previous step; after this step, kNone outside of the beam
    std::vector<Prefix*> children;
  };

  // The most probable of the pushed prefixes, `limit` at most. The algorithm decides which of
  // equally probable prefixes stay, and in which order. It follows TensorFlow's: the vector becomes
  // a heap when it is full and one more prefix is pushed, and not earlier. The order may still be
  // another one than TensorFlow's where BestPaths gives fewer prefixes than the beam has.
  class Best {
   public:
    explicit Best(size_t limit) : limit_(limit) {}
    size_t size() const { return prefixes_.size() < limit_ ? prefixes_.size() : limit_; }
    bool full() const { return size() == limit_; }
    Prefix* at(size_t i) const { return prefixes_[i]; }  // in no order
    Prefix* Bottom();                                    // the least probable
    void Push(Prefix* prefix);
    std::vector<Prefix*> Extract();  // the most probable first; leaves nothing

   private:
    size_t limit_;
    std::vector<Prefix*> prefixes_;  // if heap_: a heap, and one unused slot behind it
    // bottom_first_: the first of prefixes_ is the least probable. Not used if heap_.
    bool heap_ = false, bottom_first_ = false;
  };

  // NaN is least probable of all.
  static bool MoreProbable(const Prefix* a, const Prefix* b) {
    const double x = a->now.total, y = b->now.total;
    return x > y || (y != y && x == x);
  }
  // Puts the prefixes of one label more into the beam, where they fit.
  void Extend(Prefix* prefix);
  // Whether a new prefix of this probability would enter the beam.
  bool Fits(double log_probability);

  const int64_t classes_;
  std::deque<Prefix> prefixes_;  // all prefixes ever seen; their addresses stay
  Best beam_;
  std::vector<Prefix*> by_label_;  // children of the prefix that is being extended
  std::vector<double> log_y_;      // log of the probability of each class at this step
};

}  // namespace tenon::cpu
