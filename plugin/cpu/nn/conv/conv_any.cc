// Convolutions of any type by plain loops over the filter, accumulated in float, double or
// (integers) modulo 2^64.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/conv.h"

namespace tenon::cpu {
namespace {

struct AnyConv {
  ConvProblem q;
  DataType type;
  std::vector<DataType> input_types;
  int64_t filter_elements = 0;
};

// Adds what one place of the filter contributes to the sums of all output channels.
template <typename A>
void AddPlace(const AnyConv& s, const void* input, int64_t at, const A* filter, A* sums) {
  const ConvProblem& q = s.q;
  const int64_t in_per_group = q.in_per_group(), out_per_group = q.out_per_group();
  VisitElement(s.type, [&](auto element) {
    for (int64_t c = 0; c < q.in_channels; ++c) {
      const A x = element.template As<A>(input, at + c * q.input_step());
      const int64_t first = c / in_per_group * out_per_group;
      const A* const w = filter + (c % in_per_group) * q.out_channels + first;
      for (int64_t o = 0; o < out_per_group; ++o) sums[first + o] += x * w[o];
    }
  });
}

template <typename A>
A ReadArg(const AnyConv& s, const StepArgs& args, int input, int64_t i) {
  A x = 0;
  VisitElement(s.input_types[input],
               [&](auto element) { x = element.template As<A>(args.in[input], i); });
  return x;
}

// Bias or batch normalisation, addition and activation of one channel of one output element.
template <typename A>
A Finish(const AnyConv& s, const StepArgs& args, int64_t channel, int64_t at, A x) {
  // TensorFlow fuses nothing to convolutions of integers but those of int8 (conv_int8.cc).
  if constexpr (std::is_floating_point_v<A>) {
    const FusedOps& fused = s.q.fused;
    if (fused.empty()) return x;
    if (fused.bias >= 0) x += ReadArg<A>(s, args, fused.bias, channel);
    if (fused.batch_norm >= 0) {
      const auto arg = [&](int i) { return ReadArg<A>(s, args, fused.batch_norm + i, channel); };
      x = (x - arg(2)) * (arg(0) / std::sqrt(arg(3) + static_cast<A>(fused.epsilon))) + arg(1);
    }
    if (fused.add >= 0) x += ReadArg<A>(s, args, fused.add, at);
    return static_cast<A>(Activate(fused.activation, fused.alpha, x));
  }
  return x;
}

template <typename A>
void ComputePlace(const AnyConv& s, const StepArgs& args, int64_t n, int64_t out, const A* filter,
                  A* sums) {
  const ConvProblem& q = s.q;
  std::fill(sums, sums + q.out_channels, A());
  q.ForEachInWindow(out, [&](int64_t in, int64_t place) {
    AddPlace(s, args.in[0], q.InputAt(n, in), filter + place * q.place_elements(), sums);
  });
  VisitElement(s.type, [&](auto element) {
    for (int64_t o = 0; o < q.out_channels; ++o) {
      const int64_t at = q.OutputAt(n, out, o);
      element.Put(args.out[0], at, Finish(s, args, o, at, sums[o]));
    }
  });
}

template <typename A>
absl::Status RunAs(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyConv*>(state);
  // The filter is widened once: every place of the output reads all of it.
  A* const filter = static_cast<A*>(args.scratch);
  VisitElement(s.type, [&](auto element) {
    for (int64_t i = 0; i < s.filter_elements; ++i)
      filter[i] = element.template As<A>(args.in[1], i);
  });
  StepArgs rest = args;
  const size_t filter_bytes = AlignedBytes(s.filter_elements * sizeof(A));
  rest.scratch = static_cast<char*>(args.scratch) + filter_bytes;
  // A tile is a row of the output, whose places share one slot of sums.
  const int64_t row = s.q.columns.out, rows = s.q.out_places() / row;
  return ForEachTile(rest, s.q.batch * rows, s.q.out_channels * sizeof(A),
                     [&](int64_t t, char* scratch) {
                       A* const sums = reinterpret_cast<A*>(scratch);
                       for (int64_t c = 0; c < row; ++c)
                         ComputePlace(s, args, t / rows, t % rows * row + c, filter, sums);
                       return absl::OkStatus();
                     });
}

}  // namespace

absl::Status PrepareAnyConv(Prepare& p, const ConvProblem& problem) {
  auto s = std::make_shared<AnyConv>();
  s->q = problem;
  s->type = p.input_type(0);
  for (int i = 0; i < p.num_inputs(); ++i) s->input_types.push_back(p.input_type(i));
  s->filter_elements = p.input_shape(1).num_elements();
  const bool small =
      s->type == DataType::kFloat || s->type == DataType::kHalf || s->type == DataType::kBfloat16;
  const size_t bytes = small ? sizeof(float) : sizeof(uint64_t);
  p.set_scratch_bytes(AlignedBytes(s->filter_elements * bytes) +
                      TileScratchBytes(p.workers(), problem.batch * problem.out_places(),
                                       problem.out_channels * bytes));
  const RunFn run = small                          ? &RunAs<float>
                    : s->type == DataType::kDouble ? &RunAs<double>
                                                   : &RunAs<uint64_t>;
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
