// Candidate samplers: classes drawn at random to compare the true ones with, and how often each
// was to be expected; ComputeAccidentalHits, which finds true ones among them.
#include <cfloat>
#include <cmath>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/candidate_sampling.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

class UniformClasses {
 public:
  explicit UniformClasses(int64_t range)
      : range_(range), probability_(static_cast<float>(1.0 / static_cast<double>(range))) {}
  int64_t Draw(PhiloxStream& words) const {
    return static_cast<int64_t>(words.NextBelow64(static_cast<uint64_t>(range_)));
  }
  float Probability(int64_t) const { return probability_; }

 private:
  int64_t range_;
  float probability_;
};

// Small numbers are more frequent, as in vocabularies ordered by frequency.
class LogUniformClasses {
 public:
  explicit LogUniformClasses(int64_t range)
      : range_(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t Draw(PhiloxStream& words) const {
    // Inverts the distribution function log(x + 1) / log(range + 1). Rounding can give `range`
    // itself, which the remainder makes 0, as in TensorFlow.
    return (static_cast<int64_t>(std::exp(words.NextDouble() * log_range_)) - 1) % range_;
  }
  float Probability(int64_t value) const {
    const auto x = static_cast<double>(value);
    return static_cast<float>(std::log((x + 2) / (x + 1)) / log_range_);
  }

 private:
  int64_t range_;
  double log_range_;
};

template <typename Classes>
absl::Status RunSampler(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Sampler*>(state);
  return SampleCandidates(s, Classes(s.range), args);
}

// All classes, in order.
absl::Status RunAllClasses(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Sampler*>(state);
  TENON_RETURN_IF_ERROR(CheckTrueClasses(s, static_cast<const int64_t*>(args.in[0])));
  for (int64_t i = 0; i < s.sampled; ++i) {
    static_cast<int64_t*>(args.out[0])[i] = i;
    static_cast<float*>(args.out[2])[i] = 1;
  }
  std::fill_n(static_cast<float*>(args.out[1]), s.true_classes, 1.0f);
  return absl::OkStatus();
}

template <RunFn kRun>
absl::Status PrepareSampler(Prepare& p) {
  auto s = std::make_shared<Sampler>();
  TENON_RETURN_IF_ERROR(PrepareCandidates(p, *s));
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

struct Hits {
  int64_t rows, columns, sampled;
};

absl::Status RunHits(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Hits*>(state);
  const auto* const classes = static_cast<const int64_t*>(args.in[0]);
  const auto* const sampled = static_cast<const int64_t*>(args.in[1]);
  absl::flat_hash_map<int64_t, int64_t> place;
  for (int64_t i = 0; i < s.sampled; ++i) place[sampled[i]] = i;
  std::vector<int32_t> rows;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < s.rows * s.columns; ++i) {
    const auto found = place.find(classes[i]);
    if (found == place.end()) continue;
    rows.push_back(static_cast<int32_t>(i / s.columns));
    ids.push_back(found->second);
  }
  const Shape shape({static_cast<int64_t>(ids.size())});
  TENON_ASSIGN_OR_RETURN(void* const out_rows, args.run_state->AllocateOutput(0, shape));
  TENON_ASSIGN_OR_RETURN(void* const out_ids, args.run_state->AllocateOutput(1, shape));
  TENON_ASSIGN_OR_RETURN(void* const weights, args.run_state->AllocateOutput(2, shape));
  std::copy(rows.begin(), rows.end(), static_cast<int32_t*>(out_rows));
  std::copy(ids.begin(), ids.end(), static_cast<int64_t*>(out_ids));
  std::fill_n(static_cast<float*>(weights), ids.size(), -FLT_MAX);
  return absl::OkStatus();
}

absl::Status PrepareHits(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t columns, p.AttrInt("num_true"));
  const Shape &classes = p.input_shape(0), &sampled = p.input_shape(1);
  if (classes.rank() != 2 || classes.dim(1) != columns || classes.dim(0) > INT32_MAX)
    return p.Invalid(absl::StrCat("the true classes must be a matrix of ", columns, " columns"));
  if (sampled.rank() != 1) return p.Invalid("the sampled candidates must be a vector");
  for (int i = 0; i < 3; ++i) p.set_dynamic_output(i);
  p.set_run(&RunHits, std::make_shared<Hits>(Hits{classes.dim(0), columns, sampled.dim(0)}));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrueClasses(const Sampler& s, const int64_t* classes) {
  for (int64_t i = 0; i < s.true_classes; ++i) {
    if (classes[i] >= 0 && classes[i] < s.range) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("true class ", classes[i], " is not in [0, ", s.range, ")"));
  }
  return absl::OkStatus();
}

absl::Status PrepareCandidates(Prepare& p, Sampler& s) {
  TENON_ASSIGN_OR_RETURN(s.sampled, p.AttrInt("num_sampled"));
  TENON_ASSIGN_OR_RETURN(const int64_t columns, p.AttrInt("num_true"));
  TENON_ASSIGN_OR_RETURN(s.unique, p.AttrBool("unique"));
  s.range = s.sampled;
  if (p.op().FindAttr("range_max") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s.range, p.AttrInt("range_max"));
  }
  const Shape& classes = p.input_shape(0);
  if (classes.rank() != 2 || classes.dim(1) != columns)
    return p.Invalid(absl::StrCat("the true classes must be a matrix of ", columns, " columns"));
  if (s.range < 1 || s.sampled < 0 || s.sampled > INT32_MAX)
    return p.Invalid("attributes 'range_max' and 'num_sampled' must be positive, the latter int32");
  if (s.unique && s.sampled > s.range) {
    return p.Invalid(
        absl::StrCat("there are no ", s.sampled, " different classes in a range of ", s.range));
  }
  s.true_classes = classes.num_elements();
  TENON_ASSIGN_OR_RETURN(s.generator, GeneratorOf(p));
  p.set_output_shape(0, Shape({s.sampled}));
  p.set_output_shape(1, classes);
  p.set_output_shape(2, Shape({s.sampled}));
  return absl::OkStatus();
}

absl::Span<const CpuKernelSpec> CandidateSamplerKernels() {
  static const CpuKernelSpec specs[] = {
      {"UniformCandidateSampler", {}, PrepareSampler<&RunSampler<UniformClasses>>, 0, true},
      {"LogUniformCandidateSampler", {}, PrepareSampler<&RunSampler<LogUniformClasses>>, 0, true},
      {"AllCandidateSampler", {}, PrepareSampler<&RunAllClasses>, 0, true},
      {"ComputeAccidentalHits", {}, PrepareHits},
  };
  return specs;
}

}  // namespace tenon::cpu
