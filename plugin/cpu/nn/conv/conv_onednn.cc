// Convolutions by oneDNN: channels last throughout, constant filters packed once, split over the
// batch, over rows (of volumes: planes) of the output and over its channels.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/nn/conv/window_descriptors.h"
#include "plugin/cpu/onednn/cut.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/cpu/onednn/tiled_primitive.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Dim = dnnl::memory::dim;
using Memory = dnnl::memory;

// The fewest places of the output in a piece: each piece reads the whole filter from memory.
constexpr Dim kLeastPlaces = 28;

class Builder {
 public:
  Builder(Prepare& p, const ConvProblem& problem)
      : p_(p),
        q_(problem),
        type_(*OneDnnType(p.input_type(0))),
        element_(DataTypeSize(p.input_type(0))) {}

  absl::Status Build() {
    constant_filter_ = p_.input_value(1) != nullptr;
    fold_ = q_.fused.batch_norm >= 0 && constant_filter_ && BatchNormIsConstant(p_, q_.fused);
    const Tile whole{q_.batch, q_.outer().out, q_.out_channels, 0};
    whole_ = DescribeWhole();
    // What is computed here must not depend on the number of threads.
    if (IsSlow(whole_)) return SlowStatus();
    absl::Status added;
    // The last of them is the whole: some piece may have no fast kernel in any layout.
    for (const Tile& tile : ChooseTiles(whole)) {
      tiled_ = std::make_shared<TiledPrimitive>();
      pieces_.clear();
      packed_.clear();
      filter_.reset();
      added = AddTiles(tile);
      if (!absl::IsUnimplemented(added)) break;
    }
    TENON_RETURN_IF_ERROR(added);
    if (q_.fused.add >= 0) {
      tiled_->StartFrom(q_.fused.add, q_.batch * q_.out_places() * q_.out_channels * element_);
    }
    DropConstants();
    TENON_RETURN_IF_ERROR(SetPrologue());
    TiledPrimitive::Install(p_, std::move(tiled_));
    return absl::OkStatus();
  }

 private:
  // Only what no tile reads.
  void DropConstants() {
    bool plain_read = false;
    for (const auto& [key, piece] : pieces_) plain_read |= piece.filter == PlainFilter();
    if (fold_ || (constant_filter_ && !plain_read)) p_.DropInput(1);
    for (int i = 0; fold_ && i < 4; ++i) p_.DropInput(q_.fused.batch_norm + i);
  }

  // Of the outermost dimension, rows or planes, `outer`; of the output's channels `channels`, the
  // last tile also what is left behind the last `block`.
  struct Tile {
    Dim batch, outer, channels, block;
  };
  struct Placed {
    Dim batch, first_image, first_outer;
    WindowPiece outer;
    Dim first_channel, channels;
  };
  // What a piece's primitive depends on: images, then inputs, outputs and paddings of the outer
  // dimension, then channels.
  using Key = std::array<Dim, 6>;

  // A piece of the output and the filter's layout that it wants.
  struct Piece {
    int runner;
    MemoryDesc filter;
  };

  static absl::Status SlowStatus() {
    return absl::UnimplementedError("oneDNN has nothing fast for this convolution");
  }

  // Another implementation may order its sums in another way.
  static absl::Status OtherWay() {
    return absl::UnimplementedError("oneDNN computes a piece in another way than the whole");
  }

  // UNIMPLEMENTED if oneDNN has nothing fast for a piece: of shapes that the whole output does not
  // have, that may be so.
  absl::Status AddTiles(const Tile& tile) {
    for (Dim n = 0; n < q_.batch; n += tile.batch) {
      for (Dim r = 0; r < q_.outer().out; r += tile.outer) {
        for (Dim c = 0, channels; c < q_.out_channels; c += channels) {
          channels = WidthAt(c, q_.out_channels, tile.channels, tile.block);
          const Placed placed{std::min(tile.batch, q_.batch - n),
                              n,
                              r,
                              PieceOf(q_.outer(), r, std::min(tile.outer, q_.outer().out - r)),
                              c,
                              channels};
          TENON_RETURN_IF_ERROR(AddTile(placed));
        }
      }
    }
    return absl::OkStatus();
  }

  std::vector<Tile> ChooseTiles(const Tile& whole) const {
    // Products order their sums by their sizes.
    const bool by_shape = CopiesWindows(whole_.impl_info_str());
    if (p_.workers().threads() == 1 && !by_shape) return {whole};
    std::vector<Tile> tiles;
    if (by_shape || q_.channels_first || type_ != Memory::data_type::f32) {
      tiles.push_back(ChooseTile(whole));
    } else {
      for (const Tile& tile : BestTiles()) tiles.push_back(tile);
    }
    tiles.push_back(whole);
    return tiles;
  }

  // The convolution is a product of the filter with its windows: of a row for each place.
  std::vector<Tile> BestTiles() const {
    const Dim inner = q_.out_places() / q_.outer().out;
    const auto in_bytes =
        static_cast<double>(q_.batch * q_.in_places() * q_.in_channels * element_);
    const auto filter_bytes =
        static_cast<double>(q_.window_places() * q_.place_elements() * element_);
    CutProblem problem = {p_.workers().threads(),
                          q_.batch * q_.out_places(),
                          q_.out_channels,
                          q_.window_places() * q_.in_per_group(),
                          in_bytes,
                          filter_bytes,
                          {},
                          0};
    if (q_.groups == 1 && !AffineAtRun())
      problem.block = BlockToCutAt(q_.out_channels, ChannelBlockOf(whole_.weights_desc()));
    std::vector<Tile> rows;
    const auto add = [&](Dim images, Dim outer) {
      if (!rows.empty() && rows.back().batch == images && rows.back().outer == outer) return;
      rows.push_back({images, outer, q_.out_channels, 0});
      const Dim pieces =
          ((q_.batch + images - 1) / images) * ((q_.outer().out + outer - 1) / outer);
      problem.row_cuts.push_back({pieces, images * outer * inner});
    };
    constexpr Dim kMostPieces = 64;
    for (Dim n = 1; n <= std::min(q_.batch, kMostPieces); ++n)
      add((q_.batch + n - 1) / n, q_.outer().out);
    // A piece must see some of the input, which pieces in wide paddings do not.
    const WindowAxis& outer = q_.outer();
    const bool narrow = outer.before < outer.extent() && outer.after < outer.extent();
    for (Dim n = 2; narrow && n <= std::min(outer.out, kMostPieces / q_.batch); ++n)
      add(1, (outer.out + n - 1) / n);
    std::vector<Tile> best;
    for (const Cut& cut : BestCuts(problem)) {
      Tile tile = rows[cut.row_cut];
      tile.channels = cut.columns;
      tile.block = problem.block;
      best.push_back(tile);
    }
    return best;
  }

  Tile ChooseTile(const Tile& whole) const {
    const Dim tiles = TilesFor(q_.flops());
    if (tiles <= 1) return whole;
    const WindowAxis& outer = q_.outer();
    // With channels first, the rows of a piece would not be contiguous: only whole images are
    // pieces.
    if (q_.batch >= tiles || q_.channels_first)
      return {std::max<Dim>(1, q_.batch / tiles), outer.out, whole.channels, 0};
    const Dim per_image = std::min<Dim>(outer.out, (tiles + q_.batch - 1) / q_.batch);
    // Each piece reads the whole filter, which fewer places than these do not pay for.
    const Dim inner = q_.out_places() / outer.out;
    const Dim least = (kLeastPlaces + inner - 1) / inner;
    const Dim size = std::max((outer.out + per_image - 1) / per_image, std::min(least, outer.out));
    // A piece must see some of the input, which pieces in wide paddings do not.
    const bool narrow = outer.before < outer.extent() && outer.after < outer.extent();
    return {1, narrow ? size : outer.out, whole.channels, 0};
  }

  // The convolution that computes one piece.
  Windows WindowsOf(const Placed& t) const {
    Windows w = q_;
    (w.volume ? w.planes : w.rows) = t.outer.axis;
    return w;
  }

  MemoryDesc PlainFilter() const { return cpu::PlainFilter(q_, type_); }

  // Per-channel values of a batch normalisation that cannot be folded.
  MemoryDesc ChannelDesc() const {
    return MemoryDesc(q_.volume ? Memory::dims{1, q_.out_channels, 1, 1, 1}
                                : Memory::dims{1, q_.out_channels, 1, 1},
                      Memory::data_type::f32, ChannelsFirstLayout(q_));
  }
  bool AffineAtRun() const { return q_.fused.batch_norm >= 0 && !fold_; }
  bool HasBias() const { return q_.fused.bias >= 0 || fold_; }

  MemoryDesc BiasDesc(Dim channels) const {
    Memory::data_type type = Memory::data_type::f32;
    if (!fold_ && p_.input_type(q_.fused.bias) == DataType::kBfloat16)
      type = Memory::data_type::bf16;
    return MemoryDesc({channels}, type, Memory::format_tag::a);
  }

  dnnl::primitive_attr Attributes() const {
    dnnl::primitive_attr attr = UserScratchpad();
    dnnl::post_ops ops;
    if (AffineAtRun()) {
      // A normalisation known only at the run: the prologue computes a factor and a shift per
      // channel, two post-ops apply them.
      ops.append_binary(dnnl::algorithm::binary_mul, ChannelDesc());
      ops.append_binary(dnnl::algorithm::binary_add, ChannelDesc());
    }
    attr.set_post_ops(PostOps(q_.fused, ops));
    return attr;
  }

  using Conv = dnnl::convolution_forward;

  Conv::primitive_desc Describe(const Placed& t, const MemoryDesc& in, const MemoryDesc& out,
                                const MemoryDesc& filter) const {
    const WindowGeometry g(WindowsOf(t));
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const Conv::desc desc = HasBias()
                                ? Conv::desc(kind, algorithm, in, filter, BiasDesc(t.channels), out,
                                             g.strides, g.dilations, g.before, g.after)
                                : Conv::desc(kind, algorithm, in, filter, out, g.strides,
                                             g.dilations, g.before, g.after);
    const auto describe = [&] { return Conv::primitive_desc(desc, Attributes(), OneDnnEngine()); };
    Conv::primitive_desc pd = describe();
    // The first choice reads places that lie apart where they are. At multiples of 4 KB they share
    // one set of the first cache and push each other out; the 1x1 kernel copies them together
    // first.
    constexpr Dim kCrowded = 4096;
    const bool apart = q_.window_places() == 1 && q_.columns.stride > 1;
    if (!apart || q_.columns.stride * q_.in_channels * element_ % kCrowded != 0) return pd;
    do {
      if (absl::StartsWith(pd.impl_info_str(), "jit_1x1")) return pd;
    } while (pd.next_impl());
    return describe();
  }

  // Of all output channels of a group, or of some if there is one group.
  MemoryDesc AnyFilter(Dim channels) const {
    Memory::dims dims = FilterDims(q_);
    if (q_.groups == 1) dims[0] = channels;
    return MemoryDesc(dims, type_, Memory::format_tag::any);
  }
  Conv::primitive_desc DescribeWhole() const {
    return Describe({q_.batch, 0, 0, {0, q_.outer()}, 0, q_.out_channels},
                    InputDesc(q_, q_.batch, type_), OutputDesc(q_, q_.batch, type_),
                    AnyFilter(q_.out_channels));
  }

  // Returns whether our sums over windows are faster, by measurements (DESIGN.md): faster than
  // products of copied windows, except of few channels; faster where many channels make few; and
  // faster of volumes with AVX2.
  bool IsSlow(const Conv::primitive_desc& pd) const {
    const char* const implementation = pd.impl_info_str();
    if (IsReference(implementation)) return true;
    // Without the tiles of AMX, convolutions of bfloat16 take twice the time of those of floats, or
    // more; the names of those that have none begin so on a processor with AMX, too.
    if (type_ == Memory::data_type::bf16) {
      return !absl::StrContains(implementation, "amx") ||
             absl::StartsWith(implementation, "jit_bf16");
    }
    if (type_ != Memory::data_type::f32) return false;
    constexpr Dim kFewChannels = 3, kFewMade = 4, kSmallWindow = 9;
    if (CopiesWindows(implementation)) return q_.groups > 1 || q_.in_channels > kFewChannels;
    const Dim many = CpuIsa() == Isa::kAvx512 ? 32 : 16;
    if (q_.in_per_group() < many || q_.window_places() < kSmallWindow) return false;
    return q_.out_per_group() <= kFewMade ||
           (q_.volume && q_.out_channels == many && CpuIsa() == Isa::kAvx2);
  }

  absl::StatusOr<Piece> MakePiece(const Placed& t) {
    Windows w = WindowsOf(t);
    w.out_channels = t.channels;
    const bool part = t.channels < q_.out_channels;
    const MemoryDesc in = InputDesc(w, t.batch, type_), out = OutputDesc(w, t.batch, type_);
    // Pieces share the layout that the first one likes, but for those that have no kernel for it.
    const bool all = !part && t.batch == q_.batch && t.outer.axis.out == q_.outer().out;
    Conv::primitive_desc pd = all ? whole_
                                  : Describe(t, in, out,
                                             !filter_ ? AnyFilter(t.channels)
                                             : part   ? WithChannels(*filter_, t.channels)
                                                      : *filter_);
    // A constant can be packed in a second layout; a filter of the run is packed once, in one.
    if (filter_ && !part && IsSlow(pd) && constant_filter_)
      pd = Describe(t, in, out, AnyFilter(t.channels));
    if (IsSlow(pd)) return SlowStatus();
    if (!CopiesWindows(whole_.impl_info_str()) &&
        std::string_view(pd.impl_info_str()) != whole_.impl_info_str())
      return OtherWay();
    MemoryDesc filter = pd.weights_desc();
    if (part) {
      if (ChannelBlockOf(filter) == 0) return OtherWay();
      filter = WithChannels(filter, q_.out_channels);
    }
    if (!filter_) filter_ = filter;
    std::vector<OneDnnRunner::Arg> args = {
        {DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, out}};
    if (HasBias()) args.push_back({DNNL_ARG_BIAS, BiasDesc(t.channels)});
    if (AffineAtRun()) {
      args.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, ChannelDesc()});
      args.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, ChannelDesc()});
    }
    return Piece{tiled_->AddRunner(Conv(pd), std::move(args), pd.scratchpad_desc()), filter};
  }

  absl::Status AddTile(const Placed& t) {
    const WindowAxis& outer = t.outer.axis;
    const Key key = {t.batch, outer.in, outer.out, outer.before, outer.after, t.channels};
    auto found = pieces_.find(key);
    if (found == pieces_.end()) {
      TENON_ASSIGN_OR_RETURN(Piece made, MakePiece(t));
      found = pieces_.emplace(key, std::move(made)).first;
    }
    const Piece& piece = found->second;
    const Dim in_slice = q_.in_places() / q_.outer().in * q_.in_channels;
    const Dim out_slice = q_.out_places() / q_.outer().out * q_.out_channels;
    const Dim in_at = (t.first_image * q_.outer().in + t.outer.start) * in_slice;
    const Dim out_at = (t.first_image * q_.outer().out + t.first_outer) * out_slice;
    TENON_ASSIGN_OR_RETURN(TiledPrimitive::Pointer filter, Filter(piece.filter));
    const Dim first = t.first_channel;
    if (first > 0 && first % ChannelBlockOf(piece.filter) != 0) return OtherWay();
    if (first > 0) filter.offset += ChannelOffset(piece.filter, first);
    TiledPrimitive::Part part;
    if (t.channels < q_.out_channels) {
      const Dim places = t.batch * outer.out * (out_slice / q_.out_channels);
      part = {(out_at + first) * element_, places, t.channels * element_,
              q_.out_channels * element_};
    }
    absl::InlinedVector<TiledPrimitive::Pointer, 6> pointers = {
        TiledPrimitive::Input(0, in_at * element_), filter,
        part.rows > 0 ? TiledPrimitive::Staged() : TiledPrimitive::Output(0, out_at * element_)};
    // Parts are of float.
    if (fold_) {
      pointers.push_back(TiledPrimitive::Fixed(folded_shift_, first * element_));
    } else if (q_.fused.bias >= 0) {
      pointers.push_back(TiledPrimitive::Input(q_.fused.bias, first * element_));
    }
    if (AffineAtRun()) {
      pointers.push_back(TiledPrimitive::FromPrologue(0));
      pointers.push_back(TiledPrimitive::FromPrologue(AffineBytes()));
    }
    tiled_->AddTile(piece.runner, std::move(pointers), part);
    return absl::OkStatus();
  }

  // Bytes of one of the two vectors, aligned.
  size_t AffineBytes() const { return AlignedBytes(q_.out_channels * sizeof(float)); }
  size_t PackedAt() const { return AffineAtRun() ? 2 * AffineBytes() : 0; }

  absl::StatusOr<TiledPrimitive::Pointer> Filter(const MemoryDesc& layout) {
    const std::string key = LayoutKey(layout);
    if (const auto found = packed_.find(key); found != packed_.end())
      return TiledPrimitive::Fixed(found->second);
    if (fold_) {
      TENON_ASSIGN_OR_RETURN(packed_[key], FoldedFilter(layout));
      return TiledPrimitive::Fixed(packed_[key]);
    }
    if (layout == PlainFilter()) return TiledPrimitive::Input(1);
    if (!constant_filter_) return TiledPrimitive::FromPrologue(PackedAt());
    TENON_ASSIGN_OR_RETURN(auto packed, PackConstant(p_, 1, 0, PlainFilter(), layout));
    packed_[key] = tiled_->Keep(std::move(packed));
    return TiledPrimitive::Fixed(packed_[key]);
  }

  // The filter times the normalisation's scale, packed; its shift becomes the bias.
  absl::StatusOr<const void*> FoldedFilter(const MemoryDesc& layout) {
    auto shift = std::make_shared<PackedBytes>(q_.out_channels * sizeof(float));
    std::vector<float> scale(q_.out_channels);
    if (shift->data == nullptr)
      return absl::ResourceExhaustedError("no memory for a folded batch normalisation");
    ComputeAffine(p_, q_.fused, q_.out_channels, scale.data(), static_cast<float*>(shift->data));
    folded_shift_ = tiled_->Keep(std::move(shift));
    const Tensor& filter = *p_.input_value(1);
    const auto place = [&](int i) {
      return reinterpret_cast<uintptr_t>(p_.input_value(q_.fused.batch_norm + i)->data());
    };
    // The filter is scaled by scale / sqrt(variance + epsilon): with these two vectors and epsilon,
    // the key has all that the packed bytes depend on.
    const std::string key = absl::StrCat("conv*bn:", LayoutKey(layout), "e", q_.fused.epsilon, "@",
                                         place(0), ",", place(3));
    const auto packed = p_.session().GetPacked(filter.data(), key,
                                               [&] { return PackScaled(filter, scale, layout); });
    if (packed == nullptr) return absl::ResourceExhaustedError("no memory for a folded filter");
    return tiled_->Keep(std::static_pointer_cast<const PackedBytes>(packed));
  }

  std::shared_ptr<const PackedBytes> PackScaled(const Tensor& filter,
                                                const std::vector<float>& scale,
                                                const MemoryDesc& layout) const {
    // Scaled in the plain layout, where channels are easy to find, and packed then.
    PackedBytes scaled(filter.bytes());
    auto packed = std::make_shared<PackedBytes>(layout.get_size());
    if (scaled.data == nullptr || packed->data == nullptr) return nullptr;
    VisitFloat(filter.dtype(), [&](auto element) {
      // Output channels are the innermost dimensions of a filter of either kind.
      for (int64_t row = 0; row < filter.num_elements(); row += q_.out_channels) {
        for (int64_t c = 0; c < q_.out_channels; ++c) {
          element.Put(scaled.data, row + c,
                      element.template As<float>(filter.data(), row + c) * scale[c]);
        }
      }
    });
    Reorder(PlainFilter(), scaled.data, layout, packed->data);
    return packed;
  }

  absl::Status SetPrologue() {
    const bool reorder = !constant_filter_ && !(*filter_ == PlainFilter());
    if (!reorder && !AffineAtRun()) return absl::OkStatus();
    std::shared_ptr<OneDnnRunner> pack;
    if (reorder) {
      const MemoryDesc from = PlainFilter();
      const dnnl::reorder::primitive_desc pd(OneDnnEngine(), from, OneDnnEngine(), *filter_,
                                             UserScratchpad());
      pack = std::make_shared<OneDnnRunner>(
          dnnl::reorder(pd),
          std::vector<OneDnnRunner::Arg>{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, *filter_}},
          pd.scratchpad_desc());
    }
    std::array<DataType, 4> types = {};
    const int first = q_.fused.batch_norm;
    for (int i = 0; i < 4 && first >= 0; ++i) types[i] = p_.input_type(first + i);
    const size_t packed_at = PackedAt(), affine_bytes = AffineBytes();
    const size_t packed_bytes = reorder ? AlignedBytes(filter_->get_size()) : 0;
    tiled_->SetPrologue(
        packed_at + packed_bytes + (pack ? pack->scratch_bytes() : 0),
        [=, affine = AffineAtRun(), epsilon = q_.fused.epsilon, n = q_.out_channels](
            const StepArgs& args, char* memory) -> absl::Status {
          if (affine) {
            ComputeAffine(
                {args.in[first], args.in[first + 1], args.in[first + 2], args.in[first + 3]}, types,
                epsilon, n, reinterpret_cast<float*>(memory),
                reinterpret_cast<float*>(memory + affine_bytes));
          }
          if (pack == nullptr) return absl::OkStatus();
          return pack->Run({args.in[1], memory + packed_at}, memory + packed_at + packed_bytes);
        });
    return absl::OkStatus();
  }

  Prepare& p_;
  const ConvProblem& q_;
  const Memory::data_type type_;
  const int64_t element_;
  bool constant_filter_ = false;
  bool fold_ = false;                          // the batch normalisation is part of filter and bias
  Conv::primitive_desc whole_;                 // computes all at once
  std::optional<MemoryDesc> filter_;           // the first piece's layout
  std::map<std::string, const void*> packed_;  // by layout
  const void* folded_shift_ = nullptr;
  std::shared_ptr<TiledPrimitive> tiled_ = std::make_shared<TiledPrimitive>();
  std::map<Key, Piece> pieces_;
};

}  // namespace

absl::Status PrepareOneDnnConv(Prepare& p, const ConvProblem& problem) {
  return Guarded([&] { return Builder(p, problem).Build(); });
}

}  // namespace tenon::cpu
