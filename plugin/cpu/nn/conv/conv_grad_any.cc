// The convolutions' gradients for any type, by plain loops.
#include <algorithm>
#include <memory>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/nn/conv/conv.h"

namespace tenon::cpu {
namespace {

struct AnyGrad {
  ConvProblem q;
  DataType type = DataType::kFloat;
};

// The sums of all input channels at one place: every place of the gradient whose window covers it
// contributes.
template <typename A, typename Element>
void GatherPlace(const ConvProblem& q, const StepArgs& args, int64_t n, int64_t in, A* sums,
                 Element element) {
  const int64_t in_per_group = q.in_per_group(), out_per_group = q.out_per_group();
  // Gathered for each input, not scattered from each output: threads then never write the same
  // element.
  std::fill(sums, sums + q.in_channels, A());
  q.ForEachCovering(in, [&](int64_t out, int64_t place) {
    const int64_t filter = place * q.place_elements();
    for (int64_t c = 0; c < q.in_channels; ++c) {
      const int64_t first = c / in_per_group * out_per_group;
      const int64_t weights = filter + c % in_per_group * q.out_channels;
      const int64_t from = q.OutputAt(n, out);
      for (int64_t o = first; o < first + out_per_group; ++o) {
        sums[c] += element.template As<A>(args.in[2], from + o * q.output_step()) *
                   element.template As<A>(args.in[1], weights + o);
      }
    }
  });
}

template <typename A>
absl::Status RunInputGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyGrad*>(state);
  const ConvProblem& q = s.q;
  const int64_t row = q.columns.in, rows = q.in_places() / row;
  return ForEachTile(args, q.batch * rows, q.in_channels * sizeof(A),
                     [&](int64_t t, char* scratch) {
                       A* const sums = reinterpret_cast<A*>(scratch);
                       const int64_t n = t / rows, begin = t % rows * row;
                       VisitElement(s.type, [&](auto element) {
                         for (int64_t in = begin; in < begin + row; ++in) {
                           GatherPlace(q, args, n, in, sums, element);
                           for (int64_t c = 0; c < q.in_channels; ++c)
                             element.Put(args.out[0], q.InputAt(n, in, c), sums[c]);
                         }
                       });
                       return absl::OkStatus();
                     });
}

// One place of the filter: a sum over the batch and all places of the output, in one order.
template <typename Element>
void FilterPlace(const ConvProblem& q, const StepArgs& args, int64_t place, double* sums,
                 Element element) {
  const int64_t in_per_group = q.in_per_group(), out_per_group = q.out_per_group();
  std::fill(sums, sums + q.place_elements(), 0.0);
  for (int64_t n = 0; n < q.batch; ++n) {
    q.ForEachAtWindowPlace(place, [&](int64_t in, int64_t out) {
      const int64_t x = q.InputAt(n, in), y = q.OutputAt(n, out);
      for (int64_t c = 0; c < q.in_channels; ++c) {
        const double value = element.template As<double>(args.in[0], x + c * q.input_step());
        const int64_t first = c / in_per_group * out_per_group;
        double* const sum = sums + c % in_per_group * q.out_channels;
        for (int64_t o = first; o < first + out_per_group; ++o)
          sum[o] += value * element.template As<double>(args.in[2], y + o * q.output_step());
      }
    });
  }
}

absl::Status RunFilterGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyGrad*>(state);
  const int64_t elements = s.q.place_elements();
  return ForEachTile(args, s.q.window_places(), elements * sizeof(double),
                     [&](int64_t t, char* scratch) {
                       double* const sums = reinterpret_cast<double*>(scratch);
                       VisitFloat(s.type, [&](auto element) {
                         FilterPlace(s.q, args, t, sums, element);
                         for (int64_t k = 0; k < elements; ++k)
                           element.Put(args.out[0], t * elements + k, sums[k]);
                       });
                       return absl::OkStatus();
                     });
}

}  // namespace

absl::Status PrepareAnyInputGrad(Prepare& p, const ConvProblem& problem) {
  const DataType type = p.input_type(2);
  const bool small =
      type == DataType::kFloat || type == DataType::kHalf || type == DataType::kBfloat16;
  const size_t bytes = small ? sizeof(float) : sizeof(uint64_t);
  // At least as many slots as the run's tiles, the rows, ask for.
  p.set_scratch_bytes(TileScratchBytes(p.workers(), problem.batch * problem.in_places(),
                                       problem.in_channels * bytes));
  p.set_run(small                       ? &RunInputGrad<float>
            : type == DataType::kDouble ? &RunInputGrad<double>
                                        : &RunInputGrad<uint64_t>,
            std::make_shared<AnyGrad>(AnyGrad{problem, type}));
  return absl::OkStatus();
}

absl::Status PrepareAnyFilterGrad(Prepare& p, const ConvProblem& problem) {
  p.set_scratch_bytes(TileScratchBytes(p.workers(), problem.window_places(),
                                       problem.place_elements() * sizeof(double)));
  p.set_run(&RunFilterGrad, std::make_shared<AnyGrad>(AnyGrad{problem, p.input_type(2)}));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
