// Beam search for the most probable label sequences under connectionist temporal classification.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"

namespace tenon::cpu {

// One search over one sequence of inputs, in one thread. The last class is the blank.
class CtcBeamSearch {
 public:
  CtcBeamSearch(int64_t classes, int64_t beam_width);

  // Takes the inputs of the next time step, one logit per class; they are normalized by a softmax.
  // RESOURCE_EXHAUSTED beyond 2^24 prefixes.
  absl::Status Step(const double* logits);

  struct Path {
    std::vector<int64_t> labels;
    double log_probability;
  };
  // Returns the `count` most probable paths, the most probable first, or all paths of the beam if
  // there are fewer. `merge_repeated` makes one label of equal successive labels.
  std::vector<Path> BestPaths(int64_t count, bool merge_repeated) const;

 private:
  // Logarithms of the probability of a prefix. `blank` sums the alignments that end with a blank,
  // `label` the alignments that end with the last label, `total` all alignments.
  struct Probability {
    double total, blank, label;
  };
  static const Probability kNone;
  // A prefix: the parent's labels and one more label. Outside of the beam its probability is 0.
  struct Prefix {
    Prefix* parent;
    int64_t label;
    Probability before, now;
    std::vector<Prefix*> children;
  };

  // The most probable of the pushed prefixes. Among equally probable prefixes, the choice and the
  // order are TensorFlow's: for them, the vector becomes a heap only when the first prefix has to
  // go.
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
    std::vector<Prefix*> prefixes_;  // as a heap with one unused slot behind
    bool heap_ = false, bottom_first_ = false;
  };

  // NaN is least probable of all.
  static bool MoreProbable(const Prefix* a, const Prefix* b) {
    const double x = a->now.total, y = b->now.total;
    return x > y || (y != y && x == x);
  }
  void Extend(Prefix* prefix);
  bool Fits(double log_probability);

  const int64_t classes_;
  std::deque<Prefix> prefixes_;  // all prefixes ever seen; their addresses stay
  Best beam_;
  std::vector<Prefix*> by_label_;  // children of the prefix that is being extended
  std::vector<double> log_y_;
};

}  // namespace tenon::cpu
