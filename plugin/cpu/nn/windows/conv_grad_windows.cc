// The filter's gradient of convolutions in floats, for windows of any kind.
#include <algorithm>
#include <memory>
#include <vector>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/windows/float_images.h"
#include "plugin/cpu/nn/windows/window_filter.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Side = FloatImages::Side;
using Run = RunProduct::Run;

// Outputs that are summed up in registers before the sums go to memory. For the next rows and
// columns of the filter the same inputs are read again and should still be in the cache.
constexpr int64_t kMostOutputs = 128;

class WindowFilterGrad {
 public:
  explicit WindowFilterGrad(const ConvProblem& q)
      : q_(q),
        x_(q, Side::kInput, DataType::kFloat),
        y_(q, Side::kOutput, DataType::kFloat),
        loops_(ChooseWindowLoops()) {}

  size_t ScratchBytes(const Workers& workers) const {
    return x_.ReadBytes() + y_.ReadBytes() +
           TileScratchBytes(workers, q_.window_places(), SlotBytes());
  }

  static absl::Status RunPlaces(const void* state, const StepArgs& args) {
    const auto& self = *static_cast<const WindowFilterGrad*>(state);
    char* const memory = static_cast<char*>(args.scratch);
    const float* const x = self.x_.Read(args, 0, memory);
    const float* const y = self.y_.Read(args, 2, memory + self.x_.ReadBytes());
    StepArgs rest = args;
    rest.scratch = memory + self.x_.ReadBytes() + self.y_.ReadBytes();
    auto* const out = static_cast<float*>(args.out[0]);
    // A tile is one place of the filter, which one thread sums alone: no partial filters, one
    // order.
    return ForEachTile(rest, self.q_.window_places(), self.SlotBytes(),
                       [&](int64_t place, char* scratch) {
                         self.RunPlace(x, y, place, reinterpret_cast<Run*>(scratch), out);
                         return absl::OkStatus();
                       });
  }

 private:
  size_t SlotBytes() const { return AlignedBytes(kMostOutputs * sizeof(Run)); }

  // The outputs [begin, end) whose window has its place i inside the input, from input `first` on.
  struct Seen {
    int64_t begin, end, first;
  };
  static Seen SeenAt(const WindowAxis& a, int64_t i) {
    const int64_t shift = i * a.dilation - a.before;
    // The first and the last output o with 0 <= o * stride + shift < in.
    const int64_t begin = shift < 0 ? (a.stride - 1 - shift) / a.stride : 0;
    const int64_t end = a.in > shift ? (a.in - shift + a.stride - 1) / a.stride : 0;
    return {begin, std::min(end, a.out), begin * a.stride + shift};
  }

  // One place of the filter: the sum over all outputs that see an input there, in their order.
  void RunPlace(const float* x, const float* y, int64_t place, Run* runs, float* out) const {
    const Seen planes = SeenAt(q_.planes, place / q_.columns.size / q_.rows.size),
               rows = SeenAt(q_.rows, place / q_.columns.size % q_.rows.size),
               columns = SeenAt(q_.columns, place % q_.columns.size);
    int64_t num_runs = 0, outputs = 0;
    bool add = false;
    const auto flush = [&] {
      MultiplyRuns(runs, num_runs, out + place * q_.place_elements(), add);
      num_runs = outputs = 0;
      add = true;
    };
    for (int64_t n = 0; n < q_.batch; ++n) {
      for (int64_t p = planes.begin; p < planes.end; ++p) {
        for (int64_t r = rows.begin; r < rows.end && columns.begin < columns.end; ++r) {
          const int64_t plane = planes.first + (p - planes.begin) * q_.planes.stride;
          const int64_t row = rows.first + (r - rows.begin) * q_.rows.stride;
          const int64_t in = (plane * q_.rows.in + row) * q_.columns.in + columns.first;
          const int64_t at = (p * q_.rows.out + r) * q_.columns.out + columns.begin;
          const int64_t count = columns.end - columns.begin;
          runs[num_runs++] = {x + n * x_.image() + in * x_.channels(),
                              y + n * y_.image() + at * y_.channels(), count};
          outputs += count;
          if (outputs >= kMostOutputs) flush();
        }
      }
    }
    // A place that sees no input still needs its zeros.
    if (num_runs > 0 || !add) flush();
  }

  void MultiplyRuns(const Run* runs, int64_t num_runs, float* out, bool add) const {
    RunProduct g = {};
    g.runs = runs, g.num_runs = num_runs, g.add = add;
    g.x_step = q_.columns.stride * q_.in_channels, g.y_step = q_.out_channels;
    g.rows = q_.in_per_group(), g.columns = q_.out_per_group(), g.out_row = q_.out_channels;
    for (int64_t group = 0; group < q_.groups; ++group) {
      g.x_at = group * g.rows, g.y_at = group * g.columns;
      g.out = out + group * g.columns;
      loops_.multiply_runs(g);
    }
  }

  const ConvProblem q_;
  const FloatImages x_, y_;
  const WindowLoops loops_;
};

}  // namespace

absl::Status PrepareWindowFilterGrad(Prepare& p, const ConvProblem& problem) {
  if (p.output_type(0) != DataType::kFloat)
    return p.Unimplemented("the filter's gradient in floats of another type");
  auto state = std::make_shared<WindowFilterGrad>(problem);
  p.set_scratch_bytes(state->ScratchBytes(p.workers()));
  p.set_run(&WindowFilterGrad::RunPlaces, std::move(state));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
