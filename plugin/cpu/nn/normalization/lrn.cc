// Local response normalisation over channels, y = x * (bias + alpha * sum of squares) ^ -beta, and
// its gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

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
    // Anew for each channel: a running sum would collect rounding errors.
    for (int64_t d = first(c); d <= last(c); ++d) squares += x(d) * x(d);
    return bias + alpha * squares;
  }

  // norm ^ -beta; of a negative norm only 1 / norm is a number, as in TensorFlow.
  double Scale(double norm) const {
    if (beta == 1) return 1 / norm;
    if (beta == 0.5f) return 1 / std::sqrt(norm);
    return std::exp(std::log(norm) * -double{beta});
  }
};

// Channel c of a row of input i.
template <typename Element>
struct Row {
  const StepArgs& args;
  int64_t first;
  Element element;
  double operator()(int i, int64_t c) const {
    return element.template As<double>(args.in[i], first + c);
  }
};

template <typename Element>
void NormalizeRow(const Lrn& s, const Row<Element>& at) {
  for (int64_t c = 0; c < s.channels; ++c) {
    const double norm = s.Norm(c, [&](int64_t d) { return at(0, d); });
    at.element.Put(at.args.out[0], at.first + c, at(0, c) * s.Scale(norm));
  }
}

// Inputs: the output's gradient, x, y. Each y depends on the x of its neighbours, so each x gathers
// from the same neighbours.
template <typename Element>
void DifferentiateRow(const Lrn& s, const Row<Element>& at, double* norms) {
  for (int64_t c = 0; c < s.channels; ++c)
    // Kept for the row, because 2 * radius + 1 channels use each of them.
    norms[c] = s.Norm(c, [&](int64_t d) { return at(1, d); });
  for (int64_t c = 0; c < s.channels; ++c) {
    double sum = 0;
    for (int64_t d = s.first(c); d <= s.last(c); ++d) sum += at(0, d) * at(2, d) / norms[d];
    const double direct = at(0, c) * std::pow(norms[c], -double{s.beta});
    at.element.Put(at.args.out[0], at.first + c, direct - 2.0 * s.alpha * s.beta * at(1, c) * sum);
  }
}

constexpr int64_t kLrnRowsOfTile = 32;
int64_t Tiles(const Lrn& s) { return (s.rows + kLrnRowsOfTile - 1) / kLrnRowsOfTile; }

template <bool kGradient>
absl::Status RunLrn(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Lrn*>(state);
  return ForEachTile(args, Tiles(s), s.channels * sizeof(double), [&](int64_t t, char* scratch) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t r = t * kLrnRowsOfTile; r < std::min((t + 1) * kLrnRowsOfTile, s.rows); ++r) {
        const Row<decltype(element)> row{args, r * s.channels, element};
        if (kGradient) {
          DifferentiateRow(s, row, reinterpret_cast<double*>(scratch));
        } else {
          NormalizeRow(s, row);
        }
      }
    });
    return absl::OkStatus();
  });
}

absl::Status PrepareAs(Prepare& p, RunFn run) {
  const Shape& x = p.input_shape(0);
  if (x.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", x.ToString()));
  for (int i = 1; i < p.num_inputs(); ++i) TENON_RETURN_IF_ERROR(CheckInputShape(p, i, x));
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
  p.set_scratch_bytes(TileScratchBytes(p.workers(), Tiles(*s), s->channels * sizeof(double)));
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareLrn(Prepare& p) { return PrepareAs(p, &RunLrn<false>); }
absl::Status PrepareLrnGrad(Prepare& p) { return PrepareAs(p, &RunLrn<true>); }

constexpr uint64_t kLrnTypes = kHalfTypes | TypeBit(DataType::kFloat);

const CpuKernelSpec kLrnKernels[] = {
    {"LRN", {{"T", kLrnTypes}}, &PrepareLrn},
    {"LRNGrad", {{"T", kLrnTypes}}, &PrepareLrnGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> LrnKernels() { return kLrnKernels; }

}  // namespace tenon::cpu
