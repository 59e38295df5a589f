// Matrix products by oneDNN, constant right sides packed once. Those of floats are computed as a
// convolution of 1x1 windows over m places of k channels: a few per cent faster than its matmul
// with AVX-512, and up to twice as fast without, where matmul packs nothing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/activation_loop.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/cpu/onednn/cut.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/cpu/onednn/tiled_primitive.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

using Dim = dnnl::memory::dim;

// Rows, columns and matrices of the output that one tile covers.
struct TileSize {
  Dim batch, m, n;
  bool operator<(const TileSize& o) const {
    return std::tie(batch, m, n) < std::tie(o.batch, o.m, o.n);
  }
};

class Builder {
 public:
  Builder(Prepare& p, const MatMulProblem& problem)
      : p_(p),
        q_(problem),
        in_product_(problem.fused),
        type_(*OneDnnType(p.input_type(0))),
        element_(DataTypeSize(p.input_type(0))) {}

  absl::Status Build() {
    // One call of oneDNN takes a batch of matrices at even distances. A broadcast batch takes a
    // call per matrix.
    strided_ = Increasing(q_.a_batch) && Increasing(q_.b_batch);
    pack_ = p_.input_value(1) != nullptr && q_.batch() == 1;
    if (IsSoonerAfterwards()) {
      FollowProduct();
    } else if (IsSoonerTileByTile()) {
      // FollowTiles applies it.
      in_product_.activation = Activation::kNone;
    }
    as_convolution_ =
        pack_ && !q_.transpose_a && type_ == dnnl::memory::data_type::f32 && FastConvolution();
    TENON_RETURN_IF_ERROR(as_convolution_ ? AddConvolutions() : AddProducts());
    if (q_.fused.add >= 0) tiled_->StartFrom(q_.fused.add, q_.batch() * q_.m * q_.n * element_);
    // The session need not keep weights of which all tiles read packed copies.
    if (packed_all_) p_.DropInput(1);
    FollowTiles();
    TiledPrimitive::Install(p_, std::move(tiled_));
    return absl::OkStatus();
  }

 private:
  struct Piece {
    int runner;
    MemoryDesc weights;
  };
  // Elements of the output that a tile writes: rows of these columns.
  struct Written {
    int64_t begin, rows, columns;
  };

  // Of a few elements, which the product leaves in the nearest cache, loops of ours make these
  // sooner than oneDNN; and what it adds where columns are left over costs it more than a sweep.
  bool IsSoonerAfterwards() const {
    constexpr int64_t kFewElements = 4096, kColumns = 16;
    const Activation activation = q_.fused.activation;
    const bool slow = activation == Activation::kElu || activation == Activation::kSigmoid ||
                      activation == Activation::kSwish;
    return q_.batch() * q_.m * q_.n <= kFewElements && type_ == dnnl::memory::data_type::f32 &&
           q_.fused.add < 0 && !q_.fused.empty() && (slow || q_.n % kColumns != 0);
  }

  void FollowProduct() {
    in_product_ = FusedOps();
    const ElementRows rows = {q_.batch() * q_.m, q_.n, {q_.n, 0}, {false, false}};
    const ElementRowsLoop add = FindElementRowsLoop(ElementOp::kAdd, DataType::kFloat);
    const ActivationLoop activation(q_.fused.activation, q_.fused.alpha);
    tiled_->SetEpilogue([rows, add, activation, bias = q_.fused.bias](const StepArgs& args) {
      if (bias >= 0) {
        const void* const in[] = {args.out[0], args.in[bias]};
        add(in, args.out[0], rows);
      }
      activation.Run(static_cast<float*>(args.out[0]), rows.rows * rows.columns);
    });
  }

  // Below AVX-512 oneDNN's tanh takes 2 ns an element: sweeps of ours over a tile that it has just
  // written take a fourth of that.
  bool IsSoonerTileByTile() const {
    const Activation activation = q_.fused.activation;
    const bool tanh = activation == Activation::kTanh || activation == Activation::kGeluApproximate;
    return tanh && type_ == dnnl::memory::data_type::f32 && CpuIsa() != Isa::kAvx512;
  }

  // A tile that has just been written is still in a near cache.
  void FollowTiles() {
    if (q_.scale_add) {
      FollowTiles([after = *q_.scale_add](const StepArgs& args, int64_t begin, int64_t end) {
        after.Run(args, begin, end);
      });
    } else if (in_product_.activation != q_.fused.activation && !IsSoonerAfterwards()) {
      const ActivationLoop activation(q_.fused.activation, q_.fused.alpha);
      FollowTiles([activation](const StepArgs& args, int64_t begin, int64_t end) {
        activation.Run(static_cast<float*>(args.out[0]) + begin, end - begin);
      });
    }
  }

  // Calls after(args, begin, end) for the elements of each tile.
  template <typename After>
  void FollowTiles(After after) {
    tiled_->SetTileEpilogue(
        [after, pieces = std::move(written_), row = q_.n](const StepArgs& args, int64_t tile) {
          const Written& w = pieces[tile];
          if (w.columns == row) return after(args, w.begin, w.begin + w.rows * row);
          for (int64_t r = 0, at = w.begin; r < w.rows; ++r, at += row)
            after(args, at, at + w.columns);
        });
  }

  static bool Increasing(const std::vector<int64_t>& indices) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }

  absl::Status AddProducts() {
    const TileSize tile = ChooseTile();
    for (Dim i = 0; i < q_.batch(); i += tile.batch) {
      for (Dim r = 0; r < q_.m; r += tile.m) {
        for (Dim c = 0; c < q_.n; c += tile.n) {
          const TileSize size{std::min(tile.batch, q_.batch() - i), std::min(tile.m, q_.m - r),
                              std::min(tile.n, q_.n - c)};
          TENON_RETURN_IF_ERROR(AddTile(size, i, r, c));
        }
      }
    }
    return absl::OkStatus();
  }

  // oneDNN's convolutions do not order their sums by the size of a tile, but for those that are
  // products of copied windows: tiles of the others may depend on the threads.
  absl::Status AddConvolutions() {
    CutProblem problem = {p_.workers().threads(),
                          q_.m,
                          q_.n,
                          q_.k,
                          static_cast<double>(q_.m * q_.k * element_),
                          static_cast<double>(q_.n * q_.k * element_),
                          RowCuts(),
                          BlockToCutAt(q_.n, ChannelBlockOf(whole_.weights_desc()))};
    if (CopiesWindows(whole_.impl_info_str())) return AddConvolutionsByShape(problem);
    absl::Status added;
    for (const Cut& cut : BestCuts(problem)) {
      added = AddConvolutions(problem, cut);
      if (!absl::IsUnimplemented(added)) return added;
      tiled_ = std::make_shared<TiledPrimitive>();
      pieces_.clear();
      written_.clear();
      filter_.reset();
      filter_at_.reset();
    }
    return added;
  }

  // The same tiles for any number of threads.
  absl::Status AddConvolutionsByShape(CutProblem& problem) {
    problem.row_cuts = {{1, RoundUp(q_.m / TilesFor(q_.flops()), 32)}};
    return AddConvolutions(problem, {0, q_.n});
  }

  // UNIMPLEMENTED if a tile has not the implementation that the whole product has.
  absl::Status AddConvolutions(const CutProblem& problem, const Cut& cut) {
    const Dim rows = problem.row_cuts[cut.row_cut].rows;
    for (Dim r = 0; r < q_.m; r += rows) {
      for (Dim c = 0, n; c < q_.n; c += n) {
        n = WidthAt(c, q_.n, cut.columns, problem.block);
        TENON_RETURN_IF_ERROR(AddTile({1, std::min(rows, q_.m - r), n}, 0, r, c));
      }
    }
    return absl::OkStatus();
  }

  // Into pieces of whole vectors' worth of rows.
  std::vector<RowCut> RowCuts() const {
    constexpr Dim kRows = 8, kMostPieces = 64;
    std::vector<RowCut> cuts = {{1, q_.m}};
    for (Dim pieces = 2; pieces <= kMostPieces; ++pieces) {
      const Dim rows = RoundUp((q_.m + pieces - 1) / pieces, kRows);
      if (rows < cuts.back().rows) cuts.push_back({(q_.m + rows - 1) / rows, rows});
    }
    return cuts;
  }

  // oneDNN's products order their sums by the size of a tile: so the shape alone decides.
  TileSize ChooseTile() const {
    TileSize tile{strided_ ? Dim{q_.batch()} : 1, q_.m, q_.n};
    const Dim tiles = TilesFor(q_.flops());
    if (tiles <= 1) return tile;
    if (q_.batch() > 1) {
      tile.batch = strided_ ? std::max<Dim>(1, q_.batch() / tiles) : 1;
    } else {
      std::tie(tile.m, tile.n) = ChooseRectangle(tiles);
    }
    return tile;
  }

  // Rows and columns of at least `tiles` tiles, more of them for large products. Each tile copies
  // its rows of a and its columns of b into the order in which oneDNN reads them: the fewest copies
  // are best, which is nearly a square.
  std::pair<Dim, Dim> ChooseRectangle(Dim tiles) const {
    constexpr Dim kRows = 32, kColumns = 64, kMostTiles = 64;
    constexpr double kTileFlops = 5e8;
    const double wanted = std::clamp(q_.flops() / kTileFlops, double(tiles), double(kMostTiles));
    std::pair<Dim, Dim> best{q_.m, q_.n};
    double fewest = std::numeric_limits<double>::infinity();
    for (Dim down = 1; down <= kMostTiles; ++down) {
      const auto across = static_cast<Dim>(std::ceil(wanted / static_cast<double>(down)));
      const Dim rows = RoundUp(CeilOf(q_.m, down), kRows);
      const Dim columns = RoundUp(CeilOf(q_.n, across), kColumns);
      const double copied =
          double(q_.m) * double(CeilOf(q_.n, columns)) + double(q_.n) * double(CeilOf(q_.m, rows));
      const Dim made = CeilOf(q_.m, rows) * CeilOf(q_.n, columns);
      if (made < tiles / 2 || copied > fewest) continue;
      fewest = copied;
      best = {rows, columns};
    }
    return best;
  }

  static Dim CeilOf(Dim x, Dim by) { return (x + by - 1) / by; }
  static Dim RoundUp(Dim x, Dim to) { return std::max<Dim>(1, (x + to - 1) / to) * to; }

  // The descriptor of `batch` matrices of rows by columns, stored in rows of `row` elements (or
  // columns, if transposed), each matrix `matrix` elements after the last.
  MemoryDesc Matrices(Dim batch, Dim rows, Dim columns, Dim row, bool transposed,
                      Dim matrix) const {
    const Dim row_stride = transposed ? 1 : row, column_stride = transposed ? row : 1;
    if (q_.batch() == 1 || !strided_)
      return MemoryDesc({rows, columns}, type_, {row_stride, column_stride});
    return MemoryDesc({batch, rows, columns}, type_, {matrix, row_stride, column_stride});
  }

  MemoryDesc PlainWeights(const TileSize& s) const {
    return Matrices(s.batch, q_.k, s.n, q_.transpose_b ? q_.k : q_.n, q_.transpose_b, q_.k * q_.n);
  }

  // b as the convolution's filter, as it is stored.
  MemoryDesc PlainFilter() const {
    return MemoryDesc(
        {q_.n, q_.k, 1, 1}, type_,
        q_.transpose_b ? dnnl::memory::dims{q_.k, 1, 1, 1} : dnnl::memory::dims{1, q_.n, 1, 1});
  }

  dnnl::convolution_forward::primitive_desc DescribeConvolution(Dim m, Dim n,
                                                                const MemoryDesc& filter) const {
    using Conv = dnnl::convolution_forward;
    const auto a = ChannelsLast(q_.k, m), c = ChannelsLast(n, m);
    const MemoryDesc bias({n}, type_, dnnl::memory::format_tag::a);
    dnnl::primitive_attr attr = UserScratchpad();
    attr.set_post_ops(PostOps(in_product_));
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const dnnl::memory::dims ones = {1, 1}, zeros = {0, 0};
    const Conv::desc desc =
        in_product_.bias >= 0 ? Conv::desc(kind, algorithm, a, filter, bias, c, ones, zeros, zeros)
                              : Conv::desc(kind, algorithm, a, filter, c, ones, zeros, zeros);
    return Conv::primitive_desc(desc, attr, OneDnnEngine());
  }

  MemoryDesc ChannelsLast(Dim channels, Dim places) const {
    return MemoryDesc({1, channels, places, 1}, type_, dnnl::memory::format_tag::nhwc);
  }
  MemoryDesc AnyFilter(Dim n) const {
    return MemoryDesc({n, q_.k, 1, 1}, type_, dnnl::memory::format_tag::any);
  }

  bool FastConvolution() {
    whole_ = DescribeConvolution(q_.m, q_.n, AnyFilter(q_.n));
    return !IsReference(whole_.impl_info_str());
  }

  // The filter's layout for another number of columns.
  MemoryDesc WithColumns(Dim n) const {
    return filter_->dims()[0] == n ? *filter_ : WithChannels(*filter_, n);
  }

  // All tiles share the layout that the first one likes.
  absl::StatusOr<Piece> MakeConvolution(const TileSize& s) {
    const MemoryDesc wanted = filter_ ? WithColumns(s.n) : AnyFilter(s.n);
    const bool all = s.m == q_.m && s.n == q_.n;
    const auto pd = all ? whole_ : DescribeConvolution(s.m, s.n, wanted);
    // Another implementation may order its sums in another way.
    if (std::string_view(pd.impl_info_str()) != whole_.impl_info_str())
      return absl::UnimplementedError("oneDNN computes a tile in another way than the whole");
    if (!filter_) {
      filter_ = pd.weights_desc();
      if (s.n < q_.n && ChannelBlockOf(*filter_) == 0)
        return absl::UnimplementedError("columns do not lie apart");
      filter_ = WithColumns(q_.n);
    }
    std::vector<OneDnnRunner::Arg> args = {{DNNL_ARG_SRC, pd.src_desc()},
                                           {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                                           {DNNL_ARG_DST, pd.dst_desc()}};
    if (in_product_.bias >= 0) args.push_back({DNNL_ARG_BIAS, pd.bias_desc()});
    return Piece{
        tiled_->AddRunner(dnnl::convolution_forward(pd), std::move(args), pd.scratchpad_desc()),
        *filter_};
  }

  absl::StatusOr<Piece> MakePiece(const TileSize& s) {
    if (as_convolution_) return MakeConvolution(s);
    const MemoryDesc a =
        Matrices(s.batch, s.m, q_.k, q_.transpose_a ? q_.m : q_.k, q_.transpose_a, q_.m * q_.k);
    const MemoryDesc c = Matrices(s.batch, s.m, s.n, q_.n, false, q_.m * q_.n);
    const MemoryDesc b =
        pack_ ? MemoryDesc({q_.k, s.n}, type_, dnnl::memory::format_tag::any) : PlainWeights(s);
    dnnl::primitive_attr attr = UserScratchpad();
    attr.set_post_ops(PostOps(in_product_));
    const MemoryDesc bias = Matrices(1, 1, s.n, s.n, false, s.n);
    const dnnl::matmul::desc desc =
        in_product_.bias >= 0 ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    const dnnl::matmul::primitive_desc pd(desc, attr, OneDnnEngine());
    std::vector<OneDnnRunner::Arg> args = {
        {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, c}};
    if (in_product_.bias >= 0) args.push_back({DNNL_ARG_BIAS, bias});
    const int runner = tiled_->AddRunner(dnnl::matmul(pd), std::move(args), pd.scratchpad_desc());
    return Piece{runner, pd.weights_desc()};
  }

  absl::Status AddTile(const TileSize& size, Dim i, Dim r, Dim c) {
    // Tiles of one size share a primitive: making one compiles code.
    auto found = pieces_.find(size);
    if (found == pieces_.end()) {
      TENON_ASSIGN_OR_RETURN(Piece made, MakePiece(size));
      found = pieces_.emplace(size, std::move(made)).first;
    }
    const Piece& piece = found->second;
    const Dim a_at = q_.a_batch[i] * q_.m * q_.k + r * (q_.transpose_a ? 1 : q_.k);
    const Dim b_at = q_.b_batch[i] * q_.k * q_.n + c * (q_.transpose_b ? q_.k : 1);
    TENON_ASSIGN_OR_RETURN(
        const TiledPrimitive::Pointer weights,
        as_convolution_ ? Filter(c) : Weights(size, piece.weights, b_at * element_));
    const Dim at = ((i * q_.m + r) * q_.n + c) * element_;
    TiledPrimitive::Part part;
    if (as_convolution_ && size.n < q_.n && size.m > 1)
      part = {at, size.m, size.n * element_, q_.n * element_};
    absl::InlinedVector<TiledPrimitive::Pointer, 6> pointers = {
        TiledPrimitive::Input(0, a_at * element_), weights,
        part.rows > 0 ? TiledPrimitive::Staged() : TiledPrimitive::Output(0, at)};
    if (in_product_.bias >= 0)
      pointers.push_back(TiledPrimitive::Input(in_product_.bias, c * element_));
    tiled_->AddTile(piece.runner, std::move(pointers), part);
    written_.push_back({(i * q_.m + r) * q_.n + c, size.batch * size.m, size.n});
    return absl::OkStatus();
  }

  absl::StatusOr<TiledPrimitive::Pointer> Weights(const TileSize& size, const MemoryDesc& wanted,
                                                  int64_t offset) {
    const MemoryDesc plain = PlainWeights(size);
    if (wanted == plain) {
      packed_all_ = false;
      return TiledPrimitive::Input(1, offset);
    }
    TENON_ASSIGN_OR_RETURN(auto packed, PackConstant(p_, 1, offset, plain, wanted));
    return TiledPrimitive::Fixed(tiled_->Keep(std::move(packed)));
  }

  // The convolution's filter from column `first` on.
  absl::StatusOr<TiledPrimitive::Pointer> Filter(Dim first) {
    if (!filter_at_ && *filter_ == PlainFilter()) {
      packed_all_ = false;
      filter_at_ = TiledPrimitive::Input(1);
    } else if (!filter_at_) {
      TENON_ASSIGN_OR_RETURN(auto packed, PackConstant(p_, 1, 0, PlainFilter(), *filter_));
      filter_at_ = TiledPrimitive::Fixed(tiled_->Keep(std::move(packed)));
    }
    TiledPrimitive::Pointer at = *filter_at_;
    if (first > 0 && first % ChannelBlockOf(*filter_) != 0)
      return absl::UnimplementedError("a tile does not begin with a block");
    if (first > 0) at.offset += ChannelOffset(*filter_, first);
    return at;
  }

  Prepare& p_;
  const MatMulProblem& q_;
  FusedOps in_product_;  // what the primitives do of what is fused
  const dnnl::memory::data_type type_;
  const int64_t element_;
  bool strided_ = false;  // matrix i of the output comes from matrix i of each input
  bool pack_ = false;     // b is constant
  bool as_convolution_ = false;
  dnnl::convolution_forward::primitive_desc whole_;  // the convolution that computes all at once
  std::optional<MemoryDesc> filter_;                 // of the convolution
  std::optional<TiledPrimitive::Pointer> filter_at_;
  bool packed_all_ = true;  // no tile reads b itself
  std::shared_ptr<TiledPrimitive> tiled_ = std::make_shared<TiledPrimitive>();
  std::map<TileSize, Piece> pieces_;
  std::vector<Written> written_;  // by each tile
};

}  // namespace

absl::Status PrepareOneDnnMatMul(Prepare& p, const MatMulProblem& problem) {
  return Guarded([&] { return Builder(p, problem).Build(); });
}

}  // namespace tenon::cpu
