// k-means: NearestNeighbors, and the first centers by KmeansPlusPlusInitialization and
// KMC2ChainInitialization.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Rows of numbers.
struct Points {
  Points(const void* data, const Shape& shape)
      : data(static_cast<const float*>(data)), count(shape.dim(0)), width(shape.dim(1)) {}
  const float* row(int64_t i) const { return data + i * width; }
  double Product(int64_t i, const float* other) const {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d) sum += double{row(i)[d]} * other[d];
    return sum;
  }
  double HalfNorm(int64_t i) const { return Product(i, row(i)) / 2; }

  const float* data;
  int64_t count, width;
};

absl::Status CheckMatrices(const Prepare& p, int count) {
  for (int i = 0; i < count; ++i) {
    if (p.input_shape(i).rank() != 2)
      return p.Invalid(absl::StrCat("input ", i, " must be a matrix"));
  }
  return absl::OkStatus();
}

// --- NearestNeighbors

struct Neighbors {
  Shape points, centers;
  int64_t k = 0;  // at most as many as there are centers
};

// Half of the square of a distance is |x|^2 / 2 + |c|^2 / 2 - x c. The first summand is the same
// for all centers of a point and does not change their order.
absl::Status RunNeighbors(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Neighbors*>(state);
  const Points points(args.in[0], s.points), centers(args.in[1], s.centers);
  std::vector<double> half_norms;
  for (int64_t c = 0; c < centers.count; ++c) half_norms.push_back(centers.HalfNorm(c));
  const int64_t work = centers.count * (centers.width + 1) * static_cast<int64_t>(sizeof(double));
  args.workers->ParallelFor(points.count, GrainFor(work), [&](int64_t begin, int64_t end) {
    std::vector<std::pair<double, int64_t>> by_distance(centers.count);
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t c = 0; c < centers.count; ++c)
        by_distance[c] = {half_norms[c] - centers.Product(c, points.row(i)), c};
      std::partial_sort(by_distance.begin(), by_distance.begin() + s.k, by_distance.end());
      for (int64_t n = 0; n < s.k; ++n) {
        static_cast<int64_t*>(args.out[0])[i * s.k + n] = by_distance[n].second;
        static_cast<float*>(args.out[1])[i * s.k + n] =
            static_cast<float>(2 * (points.HalfNorm(i) + by_distance[n].first));
      }
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareNeighbors(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckMatrices(p, 2));
  auto s = std::make_shared<Neighbors>(Neighbors{p.input_shape(0), p.input_shape(1)});
  TENON_ASSIGN_OR_RETURN(s->k, InputInt(p, 2));
  if (s->k < 0) return p.Invalid(absl::StrCat("'k' must not be negative: ", s->k));
  if (s->points.dim(0) == 0) return p.Invalid("there must be at least one point");
  if (s->points.dim(1) != s->centers.dim(1)) {
    return p.Invalid(
        absl::StrCat("points have ", s->points.dim(1), " dimensions, centers ", s->centers.dim(1)));
  }
  s->k = std::min(s->k, s->centers.dim(0));
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, {s->points.dim(0), s->k}));
  p.set_output_shape(0, out);
  p.set_output_shape(1, out);
  p.set_run(&RunNeighbors, std::move(s));
  return absl::OkStatus();
}

// --- KmeansPlusPlusInitialization

PhiloxStream WordsOf(int64_t seed) {
  Philox philox;
  philox.key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return PhiloxStream(philox);
}

// Draws points that lie far from those drawn so far: k-means++ (Arthur and Vassilvitskii,
// "k-means++: the advantages of careful seeding", 2007), the best of several draws. Distances are
// halves of squares.
class FarPoints {
 public:
  FarPoints(const Points& points, int64_t seed)
      : points_(points),
        words_(WordsOf(seed)),
        nearest_(points.count, std::numeric_limits<float>::infinity()),
        sums_(points.count) {
    for (int64_t i = 0; i < points.count; ++i) half_norms_.push_back(points.HalfNorm(i));
  }

  // The best of `tries` draws: that which leaves points nearest to what is drawn.
  absl::StatusOr<int64_t> Draw(int64_t tries) {
    std::partial_sum(nearest_.begin(), nearest_.end(), sums_.begin());
    int64_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    std::vector<float> best_nearest;
    for (int64_t t = 0; t < tries; ++t) {
      TENON_ASSIGN_OR_RETURN(const int64_t drawn, DrawOne());
      std::vector<float> nearest = NearestWith(drawn);
      double left = 0;
      for (float distance : nearest) left += distance;
      if (best >= 0 && !(left < least)) continue;
      best = drawn;
      least = left;
      best_nearest = std::move(nearest);
    }
    nearest_ = std::move(best_nearest);
    drawn_.insert(best);
    return best;
  }

 private:
  // A point is drawn with a probability in proportion to its distance.
  absl::StatusOr<int64_t> DrawOne() {
    if (drawn_.empty())
      return static_cast<int64_t>(words_.NextBelow64(static_cast<uint64_t>(points_.count)));
    // If all other points lie at drawn ones, no draw ends the loop.
    constexpr int kMostTries = 1 << 24;
    for (int i = 0; i < kMostTries; ++i) {
      const float place = words_.NextFloat() * sums_.back();
      const auto found = std::upper_bound(sums_.begin(), sums_.end(), place);
      if (found == sums_.end()) return points_.count - 1;
      if (!drawn_.contains(found - sums_.begin())) return found - sums_.begin();
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("no point was found in ", kMostTries, " draws that was not drawn before"));
  }

  std::vector<float> NearestWith(int64_t drawn) const {
    std::vector<float> nearest = nearest_;
    for (int64_t i = 0; i < points_.count; ++i) {
      const double product = points_.Product(i, points_.row(drawn));
      const auto distance = static_cast<float>(half_norms_[i] - product + half_norms_[drawn]);
      nearest[i] = std::min(nearest[i], distance);
    }
    return nearest;
  }

  const Points points_;
  PhiloxStream words_;
  std::vector<double> half_norms_;
  std::vector<float> nearest_;  // by point: its distance from the nearest one drawn
  std::vector<float> sums_;     // of these, up to each point
  absl::flat_hash_set<int64_t> drawn_;
};

struct PlusPlus {
  Shape points;
  int64_t count = 0, seed = 0, tries = 1;
};

absl::Status RunPlusPlus(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const PlusPlus*>(state);
  const Points points(args.in[0], s.points);
  FarPoints far(points, s.seed);
  for (int64_t i = 0; i < s.count; ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t drawn, far.Draw(s.tries));
    std::copy_n(points.row(drawn), points.width,
                static_cast<float*>(args.out[0]) + i * points.width);
  }
  return absl::OkStatus();
}

absl::Status PreparePlusPlus(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckMatrices(p, 1));
  auto s = std::make_shared<PlusPlus>();
  s->points = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(s->count, InputInt(p, 1));
  TENON_ASSIGN_OR_RETURN(s->seed, InputInt(p, 2));
  TENON_ASSIGN_OR_RETURN(int64_t retries, InputInt(p, 3));
  if (s->count <= 0 || s->count > s->points.dim(0)) {
    return p.Invalid(absl::StrCat("'num_to_sample' is ", s->count, ", it must lie in [1, ",
                                  s->points.dim(0), "], the number of points"));
  }
  // TensorFlow's number.
  if (retries < 0) retries = 2 + static_cast<int64_t>(std::log(static_cast<double>(s->count)));
  s->tries = retries == INT64_MAX ? retries : retries + 1;
  p.set_output_shape(0, Shape({s->count, s->points.dim(1)}));
  p.set_run(&RunPlusPlus, std::move(s));
  return absl::OkStatus();
}

// --- KMC2ChainInitialization

struct Chain {
  int64_t candidates = 0, seed = 0;
};

// A Markov chain over the candidates that stays at distant ones: Bachem et al., "Approximate
// k-means++ in sublinear time", 2016.
absl::Status RunChain(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Chain*>(state);
  const auto* const distances = static_cast<const float*>(args.in[0]);
  PhiloxStream words = WordsOf(s.seed);
  int64_t selected = 0;
  for (int64_t i = 1; i < s.candidates; ++i) {
    if (distances[i] > words.NextFloat() * distances[selected]) selected = i;
  }
  *static_cast<int64_t*>(args.out[0]) = selected;
  return absl::OkStatus();
}

absl::Status PrepareChain(Prepare& p) {
  auto s = std::make_shared<Chain>();
  const Shape& distances = p.input_shape(0);
  if (distances.rank() != 1 || distances.dim(0) == 0)
    return p.Invalid("'distances' must be a vector of at least one element");
  s->candidates = distances.dim(0);
  TENON_ASSIGN_OR_RETURN(s->seed, InputInt(p, 1));
  p.set_output_shape(0, Shape());
  p.set_run(&RunChain, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ClusteringKernels() {
  static const CpuKernelSpec specs[] = {
      {"NearestNeighbors", {}, PrepareNeighbors, 0b100},
      {"KmeansPlusPlusInitialization", {}, PreparePlusPlus, 0b1110},
      {"KMC2ChainInitialization", {}, PrepareChain, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
