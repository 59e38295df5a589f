// Cuts of products and convolutions: that they cover the output, leave no thread idle, and keep the
// bits of the uncut work over a sweep of shapes. tests/scripts/lower_isa.sh repeats it for lesser
// machines.
#include "plugin/cpu/onednn/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::cpu {
namespace {

using ::tenon::testing::Attrs;
using ::tenon::testing::Noise;
using ::tenon::testing::RunSteadily;

CutProblem Product(int threads, int64_t m, int64_t n, int64_t k, int64_t block) {
  CutProblem q = {
      threads,  m,    n, k, 4.0 * static_cast<double>(m * k), 4.0 * static_cast<double>(n * k),
      {{1, m}}, block};
  for (int64_t pieces = 2; pieces <= m / 8; pieces *= 2)
    q.row_cuts.push_back({pieces, (m + pieces - 1) / pieces});
  return q;
}

int64_t Tiles(const CutProblem& q, const Cut& cut) {
  int64_t columns = 0;
  for (int64_t c = 0; c < q.columns; c += WidthAt(c, q.columns, cut.columns, q.block)) ++columns;
  return q.row_cuts[cut.row_cut].pieces * columns;
}

TEST(BestCuts, OneThreadTakesAll) {
  const CutProblem q = Product(1, 128, 768, 768, 48);
  const std::vector<Cut> cuts = BestCuts(q);
  ASSERT_EQ(cuts.size(), 1);
  EXPECT_EQ(Tiles(q, cuts[0]), 1);
}

TEST(BestCuts, SmallWorkStaysWhole) {
  const CutProblem q = Product(16, 4, 32, 16, 16);
  EXPECT_EQ(Tiles(q, BestCuts(q)[0]), 1);
}

TEST(BestCuts, FewRowsAreWorkForManyThreads) {
  for (int threads : {2, 3, 8, 16, 32, 64}) {
    const CutProblem q = Product(threads, 64, 3072, 768, 48);
    EXPECT_GE(Tiles(q, BestCuts(q)[0]), threads);
    EXPECT_LE(Tiles(q, BestCuts(q)[0]), 64);
  }
}

TEST(BestCuts, EndInNone) {
  const CutProblem q = Product(16, 128, 1000, 768, 48);
  const std::vector<Cut> cuts = BestCuts(q);
  EXPECT_EQ(Tiles(q, cuts.back()), 1);
  for (const Cut& cut : cuts) EXPECT_LE(Tiles(q, cut), 64);
}

TEST(BestCuts, CutsNoColumnsWithoutBlocks) {
  const CutProblem q = Product(16, 128, 1000, 768, 0);
  for (const Cut& cut : BestCuts(q)) EXPECT_EQ(cut.columns, 1000);
}

TEST(BlockToCutAt, LeavesNothingOverIfItCan) {
  EXPECT_EQ(BlockToCutAt(768, 48), 48);
  EXPECT_EQ(BlockToCutAt(2048, 48), 64);
  EXPECT_EQ(BlockToCutAt(720, 64), 48);
  EXPECT_EQ(BlockToCutAt(1000, 48), 48);
  EXPECT_EQ(BlockToCutAt(1000, 0), 0);
}

TEST(WidthAt, TheLastTileTakesWhatIsLeft) {
  const CutProblem q = Product(4, 64, 500, 100, 32);
  const Cut cut = {0, 96};
  std::vector<int64_t> widths;
  for (int64_t c = 0; c < 500; c += widths.back())
    widths.push_back(WidthAt(c, q.columns, cut.columns, q.block));
  EXPECT_THAT(widths, ::testing::ElementsAre(96, 96, 96, 96, 116));
}

TEST(CutsOfProducts, KeepTheBits) {
  for (const auto& [m, n, k] :
       {std::array{64, 768, 768}, std::array{64, 1000, 333}, std::array{128, 3072, 100},
        std::array{2, 2000, 500}, std::array{33, 500, 100}, std::array{49, 512, 2048},
        std::array{100, 70, 700}, std::array{17, 5000, 65}, std::array{512, 129, 256},
        std::array{7, 769, 1023}, std::array{300, 300, 300}, std::array{1000, 24, 200},
        std::array{20, 6001, 96}, std::array{50, 2048, 512}}) {
    for (const bool transposed : {false, true}) {
      const std::vector<Tensor> inputs = {Noise(Shape({m, k}), 1),
                                          Noise(transposed ? Shape({n, k}) : Shape({k, n}), 2),
                                          Noise(Shape({n}), 3), Noise(Shape({m, n}), 4)};
      for (const std::string last : {"Relu", "Tanh"}) {
        SCOPED_TRACE(absl::StrCat(m, "x", n, "x", k, transposed ? " transposed " : " ", last));
        const Attrs attrs = {{"T", attr::Type(DataType::kFloat)},
                             {"transpose_a", attr::Bool(false)},
                             {"transpose_b", attr::Bool(transposed)},
                             {"num_args", attr::Int(2)},
                             {"fused_ops", attr::StringList({"BiasAdd", "Add", last})}};
        RunSteadily("_FusedMatMul", attrs, inputs, {2, 5, 16, 64}, /*constant=*/true);
      }
    }
  }
}

struct Window {
  int64_t batch, side, in, out, window, stride;
  std::string padding;
};

TEST(CutsOfConvolutions, KeepTheBits) {
  for (const Window& w : std::vector<Window>{{1, 7, 512, 512, 3, 1, "SAME"},
                                             {1, 7, 512, 2048, 1, 1, "VALID"},
                                             {1, 14, 1024, 256, 1, 1, "VALID"},
                                             {1, 14, 256, 256, 3, 1, "SAME"},
                                             {1, 14, 1024, 512, 1, 2, "VALID"},
                                             {1, 28, 512, 128, 1, 2, "VALID"},
                                             {1, 14, 1024, 2048, 1, 2, "SAME"},
                                             {1, 28, 128, 128, 3, 2, "SAME"},
                                             {3, 9, 100, 200, 3, 1, "VALID"},
                                             {5, 10, 64, 500, 1, 1, "VALID"},
                                             {1, 20, 33, 77, 5, 1, "SAME"},
                                             {1, 12, 48, 96, 3, 1, "SAME"},
                                             {2, 56, 64, 64, 3, 1, "SAME"},
                                             {1, 6, 200, 1000, 3, 2, "SAME"},
                                             {1, 61, 3, 70, 7, 2, "SAME"},
                                             {70, 5, 40, 60, 3, 1, "SAME"}}) {
    const int64_t out = w.padding == "SAME" ? (w.side + w.stride - 1) / w.stride
                                            : (w.side - w.window) / w.stride + 1;
    const std::vector<Tensor> inputs = {Noise(Shape({w.batch, w.side, w.side, w.in}), 1),
                                        Noise(Shape({w.window, w.window, w.in, w.out}), 2),
                                        Noise(Shape({w.out}), 3),
                                        Noise(Shape({w.batch, out, out, w.out}), 4)};
    SCOPED_TRACE(absl::StrCat(w.batch, "x", w.side, " ", w.in, " to ", w.out, ", window ", w.window,
                              " stride ", w.stride));
    const Attrs attrs = {{"T", attr::Type(DataType::kFloat)},
                         {"strides", attr::IntList({1, w.stride, w.stride, 1})},
                         {"padding", attr::String(w.padding)},
                         {"num_args", attr::Int(2)},
                         {"TArgs", attr::TypeList({DataType::kFloat, DataType::kFloat})},
                         {"fused_ops", attr::StringList({"BiasAdd", "Add", "Relu"})}};
    for (const bool constant : {false, true})
      RunSteadily("_FusedConv2D", attrs, inputs, {2, 5, 16, 64}, constant);
  }
}

}  // namespace
}  // namespace tenon::cpu
