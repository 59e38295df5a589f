// Local response normalisation over channels, y = x * (bias + alpha * sum of squares) ^ -beta, and
// its gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

struct Lrn {
  DataType type;
  int64_t rows, channels, radius;
  float bias, alpha, beta;

  int64_t first(int64_t c) const { return std::max<int64_t>(0, c - radius); }
  int64_t last(int64_t c) const { return std::min(channels - 1, c + radius); }

  // What channel c of a row of values x(c) is divided by, before the power.
  template <typename F>
  double Norm(int64_t c, F x) const {
    double squares = 0;
    for (int64_t d = first(c); d <= last(c); ++d) squares += x(d) * x(d);
    return bias + alpha * squares;
  }
};

// Calls row(access, r) for every row; access(i, c) is channel c of that row of input i.
template <typename F>
void ForEachRow(const Lrn& s, const StepArgs& args, F row) {
  const int64_t bytes = s.channels * std::min(s.channels, 2 * s.radius + 1) * 16;
  args.workers->ParallelFor(s.rows, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t r = begin; r < end; ++r) {
        row(element, r, [&](int i, int64_t c) {
          return element.template As<double>(args.in[i], r * s.channels + c);
        });
      }
    });
  });
}

absl::Status RunLrn(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Lrn*>(state);
  ForEachRow(s, args, [&](auto element, int64_t r, auto at) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const double norm = s.Norm(c, [&](int64_t d) { return at(0, d); });
      element.Put(args.out[0], r * s.channels + c, at(0, c) * std::pow(norm, -double{s.beta}));
    }
  });
  return absl::OkStatus();
}

// Inputs: the output's gradient, x, y. Each y depends on the x of its neighbours, so each x gathers
// from the same neighbours.
absl::Status RunLrnGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Lrn*>(state);
  ForEachRow(s, args, [&](auto element, int64_t r, auto at) {
    const auto norm = [&](int64_t c) { return s.Norm(c, [&](int64_t d) { return at(1, d); }); };
    for (int64_t c = 0; c < s.channels; ++c) {
      double sum = 0;
      for (int64_t d = s.first(c); d <= s.last(c); ++d) sum += at(0, d) * at(2, d) / norm(d);
      const double direct = at(0, c) * std::pow(norm(c), -double{s.beta});
      element.Put(args.out[0], r * s.channels + c,
                  direct - 2.0 * s.alpha * s.beta * at(1, c) * sum);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareAs(Prepare& p, RunFn run) {
  const Shape& x = p.input_shape(0);
  if (x.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", x.ToString()));
  for (int i = 1; i < p.num_inputs(); ++i) {
    if (p.input_shape(i) == x) continue;
    return p.Invalid(absl::StrCat("input ", i, " must have the shape ", x.ToString(), ", not ",
                                  p.input_shape(i).ToString()));
  }
  auto s = std::make_shared<Lrn>();
  s->type = p.input_type(0);
  s->channels = x.dim(3);
  s->rows = DimProduct(x, 0, 3);
  TENON_ASSIGN_OR_RETURN(s->radius, p.AttrInt("depth_radius"));
  if (s->radius < 0 || s->radius > std::numeric_limits<int32_t>::max()) {
    return p.Invalid(absl::StrCat("depth_radius must not be ", s->radius));
  }
  TENON_ASSIGN_OR_RETURN(s->bias, p.AttrFloat("bias"));
  TENON_ASSIGN_OR_RETURN(s->alpha, p.AttrFloat("alpha"));
  TENON_ASSIGN_OR_RETURN(s->beta, p.AttrFloat("beta"));
  p.set_output_shape(0, x);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareLrn(Prepare& p) { return PrepareAs(p, &RunLrn); }
absl::Status PrepareLrnGrad(Prepare& p) { return PrepareAs(p, &RunLrnGrad); }

constexpr uint64_t kTypes = kHalfTypes | TypeBit(DataType::kFloat);

const CpuKernelSpec kKernels[] = {
    {"LRN", {{"T", kTypes}}, &PrepareLrn},
    {"LRNGrad", {{"T", kTypes}}, &PrepareLrnGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> LrnKernels() { return kKernels; }

}  // namespace tenon::cpu
