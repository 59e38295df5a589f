// The convolutions' gradients by oneDNN, split over the batch.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/window_descriptors.h"
#include "plugin/cpu/onednn/tiled_primitive.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Memory = dnnl::memory;
using Type = Memory::data_type;

constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

// The forward convolution that oneDNN wants as a hint.
dnnl::convolution_forward::primitive_desc Forward(const WindowGeometry& g, const MemoryDesc& x,
                                                  const MemoryDesc& filter, const MemoryDesc& y) {
  return {{dnnl::prop_kind::forward_training, kAlgorithm, x, filter, y, g.strides, g.dilations,
           g.before, g.after},
          OneDnnEngine()};
}

std::unique_ptr<OneDnnRunner> MakeReorder(const MemoryDesc& from, const MemoryDesc& to) {
  const dnnl::reorder::primitive_desc pd(OneDnnEngine(), from, OneDnnEngine(), to,
                                         UserScratchpad());
  return std::make_unique<OneDnnRunner>(
      dnnl::reorder(pd), std::vector<OneDnnRunner::Arg>{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
      pd.scratchpad_desc());
}

absl::Status OnlyReference() { return absl::UnimplementedError("oneDNN has reference code alone"); }

// --- The input's gradient: tiles of whole images.

// Where the tiles find the filter in the layout that they want.
absl::StatusOr<TiledPrimitive::Pointer> PlaceFilter(Prepare& p, TiledPrimitive& tiled,
                                                    const MemoryDesc& plain,
                                                    const MemoryDesc& wanted) {
  if (wanted == plain) return TiledPrimitive::Input(1);
  if (p.input_value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(auto bytes, PackConstant(p, 1, 0, plain, wanted));
    return TiledPrimitive::Fixed(tiled.Keep(std::move(bytes)));
  }
  const std::shared_ptr<const OneDnnRunner> pack = MakeReorder(plain, wanted);
  // A filter that is not constant is packed at the begin of each run, its scratchpad behind it.
  const size_t bytes = AlignedBytes(wanted.get_size());
  tiled.SetPrologue(bytes + pack->scratch_bytes(), [=](const StepArgs& args, char* memory) {
    return pack->Run({args.in[1], memory}, memory + bytes);
  });
  return TiledPrimitive::FromPrologue(0);
}

absl::Status BuildInputGrad(Prepare& p, const ConvProblem& q) {
  const Type type = *OneDnnType(p.input_type(2));
  const int64_t element = DataTypeSize(p.input_type(2));
  const WindowGeometry g(q);
  const MemoryDesc plain = PlainFilter(q, type);
  MemoryDesc filter(FilterDims(q), type, Memory::format_tag::any);
  std::optional<TiledPrimitive::Pointer> filter_at;
  const int64_t images =
      std::max<int64_t>(1, q.batch / std::min(q.batch, TilesFor(p.workers(), q.flops())));
  auto tiled = std::make_shared<TiledPrimitive>();
  for (int64_t n = 0; n < q.batch; n += images) {
    const int64_t count = std::min(images, q.batch - n);
    const MemoryDesc x = InputDesc(q, count, type), y = OutputDesc(q, count, type);
    const dnnl::convolution_backward_data::primitive_desc pd(
        {kAlgorithm, x, filter, y, g.strides, g.dilations, g.before, g.after}, UserScratchpad(),
        OneDnnEngine(), Forward(g, x, filter, y));
    if (IsReference(pd.impl_info_str())) return OnlyReference();
    // The first tile chooses the filter's layout. All other tiles have to take that layout, so that
    // the filter is packed once.
    filter = pd.weights_desc();
    if (!filter_at.has_value()) {
      TENON_ASSIGN_OR_RETURN(filter_at, PlaceFilter(p, *tiled, plain, filter));
    }
    const int runner = tiled->AddRunner(
        dnnl::convolution_backward_data(pd),
        {{DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DIFF_SRC, x}},
        pd.scratchpad_desc());
    tiled->AddTile(runner, {TiledPrimitive::Input(2, q.OutputAt(n, 0) * element), *filter_at,
                            TiledPrimitive::Output(0, q.InputAt(n, 0) * element)});
  }
  // Only now: after an error another kernel reads the filter.
  if (filter_at.has_value() && p.input_value(1) != nullptr && !(filter == plain)) p.DropInput(1);
  TiledPrimitive::Install(p, std::move(tiled));
  return absl::OkStatus();
}

// --- The filter's gradient: each piece of the batch has a sum of its own; they are then added in
// order. The pieces do not depend on the number of threads.

// Each piece needs scratch memory for a sum of the filter's size. A large filter has fewer pieces,
// so that all sums together stay within this limit.
constexpr size_t kMostPartialBytes = size_t{64} << 20;

class OneDnnFilterGrad {
 public:
  explicit OneDnnFilterGrad(const ConvProblem& q) : q_(q), plain_(PlainFilter(q, Type::f32)) {}

  // Inside Guarded().
  absl::Status Build() {
    const int64_t filters = static_cast<int64_t>(kMostPartialBytes / plain_.get_size());
    const int64_t pieces =
        std::clamp<int64_t>(std::min(TilesFor(q_.flops()), filters), 1, q_.batch);
    images_ = q_.batch / pieces;
    for (int64_t n = 0; n < q_.batch; n += images_)
      TENON_RETURN_IF_ERROR(AddPiece(std::min(images_, q_.batch - n)));
    if (!(*layout_ == plain_)) unpack_ = MakeReorder(*layout_, plain_);
    for (const auto& [count, runner] : runners_)
      slot_bytes_ = std::max(slot_bytes_, AlignedBytes(runner->scratch_bytes()));
    return absl::OkStatus();
  }

  size_t ScratchBytes(const Workers& workers) const {
    const size_t tiles = TileScratchBytes(workers, pieces_, slot_bytes_);
    // Unpacking begins after the last tile: both use the same memory.
    return partial_bytes() * pieces_ + std::max(tiles, unpack_ ? unpack_->scratch_bytes() : 0);
  }

  static absl::Status Run(const void* state, const StepArgs& args) {
    return static_cast<const OneDnnFilterGrad*>(state)->RunPieces(args);
  }

 private:
  absl::Status AddPiece(int64_t count) {
    ++pieces_;
    // Pieces differ in their number of images only: at most two primitives serve all.
    if (runners_.contains(count)) return absl::OkStatus();
    const WindowGeometry g(q_);
    const MemoryDesc x = InputDesc(q_, count, Type::f32), y = OutputDesc(q_, count, Type::f32);
    const MemoryDesc filter =
        layout_ ? *layout_ : MemoryDesc(FilterDims(q_), Type::f32, Memory::format_tag::any);
    const dnnl::convolution_backward_weights::primitive_desc pd(
        {kAlgorithm, x, filter, y, g.strides, g.dilations, g.before, g.after}, UserScratchpad(),
        OneDnnEngine(), Forward(g, x, filter, y));
    if (IsReference(pd.impl_info_str())) return OnlyReference();
    // Our own loops are faster than products of copies, but of few channels.
    constexpr int64_t kFewChannels = 7;
    if (CopiesWindows(pd.impl_info_str()) && q_.in_per_group() > kFewChannels)
      return absl::UnimplementedError("oneDNN has nothing fast for this gradient");
    if (Overruns(pd.impl_info_str()))
      return absl::UnimplementedError("oneDNN writes beyond its scratch memory");
    layout_ = pd.diff_weights_desc();
    runners_[count] = std::make_unique<OneDnnRunner>(
        dnnl::convolution_backward_weights(pd),
        std::vector<OneDnnRunner::Arg>{
            {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, y}, {DNNL_ARG_DIFF_WEIGHTS, *layout_}},
        pd.scratchpad_desc());
    return absl::OkStatus();
  }

  // oneDNN 2.6.3 with AVX2 gathers the inputs that a stride leaves in whole vectors, and writes
  // channels that are not there beyond its scratch memory.
  bool Overruns(const char* implementation) const {
    constexpr int64_t kLanes = 8;
    const bool strided = q_.planes.stride * q_.rows.stride * q_.columns.stride > 1;
    return strided && q_.in_channels % kLanes != 0 && absl::StartsWith(implementation, "jit_1x1");
  }

  size_t partial_bytes() const { return AlignedBytes(layout_->get_size()); }

  absl::Status RunPieces(const StepArgs& args) const {
    char* const partial = static_cast<char*>(args.scratch);
    char* const rest = partial + partial_bytes() * pieces_;
    const auto* const x = static_cast<const float*>(args.in[0]);
    const auto* const y = static_cast<const float*>(args.in[2]);
    StepArgs tiles = args;
    tiles.scratch = rest;
    TENON_RETURN_IF_ERROR(ForEachTile(tiles, pieces_, slot_bytes_, [&](int64_t t, char* scratch) {
      const int64_t n = t * images_;
      // The last piece may have fewer images.
      return runners_.at(std::min(images_, q_.batch - n))
          ->Run({const_cast<float*>(x) + q_.InputAt(n, 0),
                 const_cast<float*>(y) + q_.OutputAt(n, 0), partial + t * partial_bytes()},
                scratch);
    }));
    AddUp(args, partial);
    if (unpack_) return unpack_->Run({partial, args.out[0]}, rest);
    memcpy(args.out[0], partial, plain_.get_size());
    return absl::OkStatus();
  }

  // Into the first of the partial sums.
  void AddUp(const StepArgs& args, char* partial) const {
    const int64_t floats = static_cast<int64_t>(layout_->get_size() / sizeof(float));
    // 64 KB of floats, as GrainFor has. The pieces are added in their order, whatever the threads.
    constexpr int64_t kGrain = 1 << 14;
    args.workers->ParallelFor(floats, kGrain, [&](int64_t begin, int64_t end) {
      auto* const sum = reinterpret_cast<float*>(partial);
      for (int64_t t = 1; t < pieces_; ++t) {
        const auto* const more = reinterpret_cast<const float*>(partial + t * partial_bytes());
        for (int64_t i = begin; i < end; ++i) sum[i] += more[i];
      }
    });
  }

  const ConvProblem q_;
  const MemoryDesc plain_;
  std::optional<MemoryDesc> layout_;  // that oneDNN likes
  int64_t images_ = 1, pieces_ = 0;
  size_t slot_bytes_ = 0;
  std::map<int64_t, std::unique_ptr<OneDnnRunner>> runners_;  // by images
  std::unique_ptr<OneDnnRunner> unpack_;
};

}  // namespace

absl::Status PrepareOneDnnInputGrad(Prepare& p, const ConvProblem& problem) {
  return Guarded([&] { return BuildInputGrad(p, problem); });
}

absl::Status PrepareOneDnnFilterGrad(Prepare& p, const ConvProblem& problem) {
  return Guarded([&] {
    auto state = std::make_shared<OneDnnFilterGrad>(problem);
    TENON_RETURN_IF_ERROR(state->Build());
    p.set_scratch_bytes(state->ScratchBytes(p.workers()));
    p.set_run(&OneDnnFilterGrad::Run, std::move(state));
    return absl::OkStatus();
  });
}

}  // namespace tenon::cpu
