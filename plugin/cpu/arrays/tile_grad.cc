// TileGrad: the sum of the tiles that Tile made of one.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct TileGradState {
  DataType type;
  Dims size, multiples;  // of one tile, and how many there are
};

// The sum of the tiles' elements at these coordinates.
template <typename Wide, typename Element>
Wide SumOfTiles(const TileGradState& s, const Element& element, const void* in, const Dims& at) {
  const int rank = static_cast<int>(s.size.size());
  Dims tile(rank, 0);
  Wide sum{};
  for (;;) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d)
      offset = offset * s.size[d] * s.multiples[d] + tile[d] * s.size[d] + at[d];
    sum += element.template As<Wide>(in, offset);
    int d = rank - 1;
    while (d >= 0 && ++tile[d] == s.multiples[d]) tile[d--] = 0;
    if (d < 0) return sum;
  }
}

absl::Status RunTileGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TileGradState*>(state);
  int64_t n = 1;
  for (int64_t size : s.size) n *= size;
  VisitElement(s.type, [&]<typename Element>(Element element) {
    using Wide = typename Element::Wide;
    args.workers->ParallelFor(n, GrainFor(64), [&](int64_t begin, int64_t end) {
      Dims at(s.size.size(), 0);
      for (int64_t i = begin; i < end; ++i) {
        int64_t rest = i;
        for (int d = static_cast<int>(at.size()) - 1; d >= 0; --d) {
          at[d] = rest % s.size[d];
          rest /= s.size[d];
        }
        element.Put(args.out[0], i, SumOfTiles<Wide>(s, element, args.in[0], at));
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareTileGrad(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims multiples, p.InputInts(1));
  if (p.input_shape(1).rank() != 1 || static_cast<int>(multiples.size()) != in.rank())
    return p.Invalid(absl::StrCat("'multiples' must be a vector of ", in.rank(), " elements"));
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (multiples[d] < 1 || in.dim(d) % multiples[d] != 0) {
      return p.Invalid(absl::StrCat("dimension ", d, " of ", in.dim(d), " is not made of ",
                                    multiples[d], " tiles"));
    }
    out.push_back(in.dim(d) / multiples[d]);
  }
  p.set_output_shape(0, out);
  p.set_run(&RunTileGrad,
            std::make_shared<TileGradState>(TileGradState{
                p.output_type(0), Dims(out.dims().begin(), out.dims().end()), multiples}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TileGradKernels() {
  static const CpuKernelSpec specs[] = {
      {"TileGrad", {{"T", kNumberTypes}}, PrepareTileGrad, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
