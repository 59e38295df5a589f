// RandomShuffle, StatelessShuffle: the rows of a tensor in another order.
#include <numeric>
#include <utility>
#include <vector>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Shuffle {
  PhiloxSource source;
  ElementCopy copy;
  int64_t rows, row_size;
};

absl::Status RunShuffle(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Shuffle*>(state);
  const uint64_t blocks = (static_cast<uint64_t>(s.rows) + 3) / 4;
  TENON_ASSIGN_OR_RETURN(const Philox philox, s.source.Start(args, blocks));
  PhiloxStream words(philox);
  std::vector<int64_t> order(s.rows);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i + 1 < s.rows; ++i)
    std::swap(order[i], order[i + words.Next32() % static_cast<uint32_t>(s.rows - i)]);
  for (int64_t i = 0; i < s.rows; ++i)
    s.copy(args.in[0], order[i] * s.row_size, args.out[0], i * s.row_size, s.row_size);
  return absl::OkStatus();
}

absl::Status PrepareShuffle(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(PhiloxSource source, PhiloxSource::Of(p));
  const Shape& shape = p.input_shape(0);
  p.set_output_shape(0, shape);
  if (shape.rank() == 0 || shape.num_elements() == 0 || shape.dim(0) < 2) {
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  if (shape.dim(0) > UINT32_MAX) return p.Unimplemented("there are more than 2^32 rows");
  p.set_run(&RunShuffle,
            std::make_shared<Shuffle>(Shuffle{std::move(source), ElementCopy(p.input_type(0)),
                                              shape.dim(0), DimProduct(shape, 1, shape.rank())}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ShuffleKernels() {
  static const CpuKernelSpec specs[] = {
      {"RandomShuffle", {{"T", kEveryType}}, PrepareShuffle, 0, true, false, true},
      {"StatelessShuffle", {{"T", kEveryType}}, PrepareShuffle, 0, false, false, true},
  };
  return specs;
}

}  // namespace tenon::cpu
