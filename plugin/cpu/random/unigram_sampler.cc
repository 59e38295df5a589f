// Candidate samplers whose classes have weights of their own: FixedUnigramCandidateSampler, from a
// list or a file, and the two that learn them, LearnedUnigramCandidateSampler and
// ThreadUnsafeUnigramCandidateSampler.
#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "graph/base/file_bytes.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/candidate_sampling.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Picks numbers by their weights in constant time (Walker, "An efficient method for generating
// discrete random variables with general distributions", 1977): each place belongs to its own
// number up to `own`, beyond it to another one.
class FixedClasses {
 public:
  explicit FixedClasses(std::vector<float> weights) : weights_(std::move(weights)) {
    const size_t n = weights_.size();
    double sum = 0;
    for (float w : weights_) sum += w;
    std::vector<double> share(n);
    std::vector<int32_t> high, low;
    for (size_t i = 0; i < n; ++i) {
      total_ += weights_[i];
      share[i] = static_cast<double>(weights_[i] * static_cast<float>(n)) / sum;
      (share[i] < 1 ? low : high).push_back(static_cast<int32_t>(i));
    }
    places_.resize(n);
    for (size_t i = 0; i < n; ++i) places_[i].other = static_cast<int32_t>(i);
    while (!high.empty() && !low.empty()) {
      const int32_t l = low.back(), h = high.back();
      low.pop_back();
      high.pop_back();
      places_[l].other = h;
      share[h] -= 1 - share[l];
      (share[h] < 1 ? low : high).push_back(h);
    }
    for (size_t i = 0; i < n; ++i) places_[i].own = static_cast<float>(share[i]);
    for (const auto* rest : {&high, &low}) {
      for (int32_t i : *rest) places_[i] = {1, i};
    }
  }

  int64_t Draw(PhiloxStream& words) const {
    const float r = words.NextFloat();
    const uint32_t i = words.NextBelow(static_cast<uint32_t>(places_.size()));
    return r < places_[i].own ? i : places_[i].other;
  }
  float Probability(int64_t value) const { return static_cast<float>(weights_[value] / total_); }

 private:
  struct Place {
    float own;
    int32_t other;
  };
  std::vector<float> weights_;
  std::vector<Place> places_;
  double total_ = 0;
};

// How often each class was a true one so far, and once more. Sums of ranges are kept as a binary
// indexed tree (Fenwick): both a draw and a count take logarithmic time.
class LearnedCounts : public NodeState {
 public:
  explicit LearnedCounts(int64_t range) : tree_(range + 1), total_(range) {
    for (int64_t i = 1; i <= range; ++i) tree_[i] = static_cast<int32_t>(i & -i);
  }
  std::mutex& mutex() { return mutex_; }

  int64_t Draw(PhiloxStream& words) const {
    int64_t below = words.NextBelow(static_cast<uint32_t>(total_)), at = 0;
    const auto size = static_cast<int64_t>(tree_.size());
    for (auto step = static_cast<int64_t>(std::bit_floor(tree_.size() - 1)); step > 0; step /= 2) {
      if (at + step < size && tree_[at + step] <= below) {
        at += step;
        below -= tree_[at];
      }
    }
    return at;
  }
  float Probability(int64_t value) const {
    return static_cast<float>(CountOf(value)) / static_cast<float>(total_);
  }
  // RESOURCE_EXHAUSTED when the counts have no room for `n` more.
  absl::Status CheckRoom(int64_t n) const {
    if (n <= INT32_MAX - total_) return absl::OkStatus();
    return absl::ResourceExhaustedError("the counts of the classes have grown too large");
  }
  void Learn(int64_t value) {
    for (int64_t i = value + 1; i < static_cast<int64_t>(tree_.size()); i += i & -i) ++tree_[i];
    ++total_;
  }

 private:
  int64_t CountOf(int64_t value) const {
    int64_t count = tree_[value + 1];
    const int64_t end = value + 1 - ((value + 1) & -(value + 1));
    for (int64_t i = value; i > end; i -= i & -i) count -= tree_[i];
    return count;
  }

  std::mutex mutex_;
  std::vector<int32_t> tree_;
  int64_t total_;
};

struct FixedSampler : Sampler {
  std::shared_ptr<const FixedClasses> classes;
};
struct LearningSampler : Sampler {
  std::shared_ptr<LearnedCounts> counts;
};

absl::Status RunFixed(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const FixedSampler*>(state);
  return SampleCandidates(s, *s.classes, args);
}

absl::Status RunLearning(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const LearningSampler*>(state);
  std::lock_guard<std::mutex> lock(s.counts->mutex());
  TENON_RETURN_IF_ERROR(s.counts->CheckRoom(s.true_classes));
  TENON_RETURN_IF_ERROR(SampleCandidates(s, *s.counts, args));
  const auto* const classes = static_cast<const int64_t*>(args.in[0]);
  for (int64_t i = 0; i < s.true_classes; ++i) s.counts->Learn(classes[i]);
  return absl::OkStatus();
}

// The weights of one of `shards` equal parts of the classes, raised to a power.
class ShardOfWeights {
 public:
  static absl::StatusOr<ShardOfWeights> Of(const Prepare& p) {
    ShardOfWeights w;
    TENON_ASSIGN_OR_RETURN(w.shards_, p.AttrInt("num_shards"));
    TENON_ASSIGN_OR_RETURN(w.shard_, p.AttrInt("shard"));
    TENON_ASSIGN_OR_RETURN(w.distortion_, p.AttrFloat("distortion"));
    TENON_ASSIGN_OR_RETURN(const int64_t reserved, p.AttrInt("num_reserved_ids"));
    if (w.shards_ < 1 || w.shard_ < 0 || w.shard_ >= w.shards_)
      return p.Invalid(absl::StrCat("there is no shard ", w.shard_, " of ", w.shards_));
    if (reserved < 0 || reserved > INT32_MAX)
      return p.Invalid(absl::StrCat("attribute 'num_reserved_ids' cannot be ", reserved));
    for (int64_t i = 0; i < reserved; ++i) w.Add(0, false);
    w.next_ = static_cast<int64_t>(w.weights_.size());
    return w;
  }

  void Add(float weight) { Add(weight, true); }
  std::vector<float> Take() { return std::move(weights_); }

 private:
  void Add(float weight, bool distort) {
    if (next_++ % shards_ != shard_) return;
    weights_.push_back(distort ? std::pow(weight, distortion_) : weight);
  }

  int64_t shards_ = 1, shard_ = 0, next_ = 0;
  float distortion_ = 1;
  std::vector<float> weights_;
};

// The last column of each line of a file of comma-separated values.
absl::Status AddFile(const Prepare& p, std::string_view name, ShardOfWeights& weights) {
  TENON_ASSIGN_OR_RETURN(const std::string path, p.session().files().ForReading(name));
  TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadFile(path, SIZE_MAX));
  int64_t number = 0;
  for (std::string_view line : absl::StrSplit(file.bytes, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::string_view last = line.substr(line.rfind(',') + 1);
    float weight = 0;
    if (!absl::SimpleAtof(last, &weight)) {
      return p.Invalid(absl::StrCat("line ", number, " of ", path, " ends in '",
                                    last.substr(0, 100), "', which is no number"));
    }
    weights.Add(weight);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> ReadWeights(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view file, p.AttrString("vocab_file"));
  TENON_ASSIGN_OR_RETURN(const AttrValue list, p.AttrOf("unigrams"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> unigrams, list.AsFloatList());
  if (file.empty() == unigrams.empty())
    return p.Invalid("one of the attributes 'vocab_file' and 'unigrams' must be given");
  TENON_ASSIGN_OR_RETURN(ShardOfWeights weights, ShardOfWeights::Of(p));
  if (!file.empty()) TENON_RETURN_IF_ERROR(AddFile(p, file, weights));
  for (float weight : unigrams) weights.Add(weight);
  return weights.Take();
}

absl::Status PrepareFixed(Prepare& p) {
  auto s = std::make_shared<FixedSampler>();
  TENON_RETURN_IF_ERROR(PrepareCandidates(p, *s));
  TENON_ASSIGN_OR_RETURN(std::vector<float> weights, ReadWeights(p));
  const auto count = static_cast<int64_t>(weights.size());
  if (count != s->range) {
    return p.Invalid(
        absl::StrCat("attribute 'range_max' is ", s->range, ", there are ", count, " weights"));
  }
  const auto possible =
      std::count_if(weights.begin(), weights.end(), [](float w) { return w > 0; });
  if (possible < (s->unique ? s->sampled : 1)) {
    return p.Invalid(absl::StrCat("only ", possible, " weights are positive, for ", s->sampled,
                                  " classes to be drawn"));
  }
  s->classes = std::make_shared<FixedClasses>(std::move(weights));
  p.set_run(&RunFixed, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareLearning(Prepare& p) {
  auto s = std::make_shared<LearningSampler>();
  TENON_RETURN_IF_ERROR(PrepareCandidates(p, *s));
  if (s->range >= INT32_MAX)
    return p.Invalid(
        absl::StrCat("attribute 'range_max' must be below ", INT32_MAX, ", it is ", s->range));
  s->counts = std::static_pointer_cast<LearnedCounts>(
      p.session().GetNodeState(absl::StrCat(p.node_name(), "\ncounts ", s->range),
                               [&] { return std::make_shared<LearnedCounts>(s->range); }));
  p.set_run(&RunLearning, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> UnigramSamplerKernels() {
  static const CpuKernelSpec specs[] = {
      {"FixedUnigramCandidateSampler", {}, PrepareFixed, 0, true},
      {"LearnedUnigramCandidateSampler", {}, PrepareLearning, 0, true},
      {"ThreadUnsafeUnigramCandidateSampler", {}, PrepareLearning, 0, true},
  };
  return specs;
}

}  // namespace tenon::cpu
