// Programs that serve several shapes: which dimensions are padded, and that no result sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::padded_clusters_test {
namespace {

using testing::Const;
using ::testing::HasSubstr;
using testing::Node;
using testing::Op;
using testing::Placeholder;
using testing::Type;

std::string Ints(std::string_view name, const std::vector<int>& values) {
  std::string text = absl::StrCat("tensor_shape { dim { size: ", values.size(), " } }");
  for (const int v : values) absl::StrAppend(&text, " int_val: ", v);
  return Const(name, "DT_INT32", text);
}
std::string Int(std::string_view name, int value) {
  return Const(name, "DT_INT32", absl::StrCat("tensor_shape { } int_val: ", value));
}
std::string Attr(std::string_view name, std::string_view value) {
  return absl::StrCat("attr { key: '", name, "' value { ", value, " } } ");
}
std::string Weights(std::string_view name, int rows, int columns) {
  std::string text =
      absl::StrCat("tensor_shape { dim { size: ", rows, " } dim { size: ", columns, " } }");
  for (int i = 0; i < rows * columns; ++i)
    absl::StrAppend(&text, " float_val: ", (i * 7 % 11) * 0.25 - 1);
  return Const(name, "DT_FLOAT", text);
}

// Numbers of all kinds, among them NaN and infinities.
Tensor Data(const Shape& shape, int seed, bool odd = true) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const auto k = static_cast<int>((i * 37 + seed * 11) % 41);
    float v = static_cast<float>(k) * 0.25F - 5;
    if (odd && k == 3) v = std::numeric_limits<float>::quiet_NaN();
    if (odd && k == 5) v = std::numeric_limits<float>::infinity();
    if (odd && k == 7) v = -std::numeric_limits<float>::infinity();
    values.push_back(v);
  }
  return testing::Floats(values, shape);
}

// The graph reads x, whose dimensions are open, and perhaps weights; "y" is fetched.
struct Case {
  const char* name;
  std::string nodes;
  Shape shape;               // of the first run
  std::vector<int> padded;   // dimensions of x that are padded
  const char* refused = "";  // a part of the reason why others are not
  bool odd = true;           // NaN among the data
  int known = -1;            // a dimension that the graph knows
};

// For messages of the test.
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PaddedCluster : public ::testing::TestWithParam<Case> {};

// Each run has other sizes of all dimensions; each answer is that of ordinary kernels.
TEST_P(PaddedCluster, AnswersAsOrdinaryKernels) {
  const Case& c = GetParam();
  std::string dims;
  for (int i = 0; i < c.shape.rank(); ++i)
    absl::StrAppend(&dims, "dim { size: ", i == c.known ? c.shape.dim(i) : -1, " } ");
  const std::string text = Placeholder("x", dims) + c.nodes;
  const testing::ReferencePlugin plugin;
  ClusterOptions clusters;
  clusters.errors = XlaErrors::kFail;
  clusters.buckets = *Buckets::Parse("4,8,16");
  const auto session = plugin.Open(text, clusters);
  const auto right = testing::MakeSession(text);
  ASSERT_NE(session, nullptr);
  const auto executable = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (int run = 0; run < 4; ++run) {
    Shape shape = c.shape;
    for (int i = 0; i < shape.rank(); ++i) {
      if (i != c.known && shape.dim(i) != 1) shape.set_dim(i, shape.dim(i) + run % 2 * 2);
    }
    const Tensor x = Data(shape, run, c.odd);
    const auto want = right->Run({{"x", x}}, {"y"});
    ASSERT_TRUE(want.ok()) << want.status();
    const auto got = session->Run(*executable, {&x, 1});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(testing::Difference((*want)[0], (*got)[0]), std::nullopt) << shape.ToString();
  }
  const std::vector<ClusterRuns> runs = testing::RunsOf(**executable);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].ordinary_runs, 0);
  std::vector<int> padded;
  for (const OpenDimReport& dim : runs[0].open_dims) {
    if (dim.why_not.empty()) {
      padded.push_back(dim.dimension);
    } else {
      EXPECT_THAT(dim.why_not, HasSubstr(c.refused));
    }
  }
  EXPECT_EQ(padded, c.padded);
  EXPECT_EQ(runs[0].padded_runs, c.padded.empty() ? 0 : 4);
}

const std::string kTidx = Type("Tidx", "DT_INT32");  // NOLINT: of this test alone

std::vector<Case> Cases() {
  const std::string axes0 = Ints("axes", {0}), axes1 = Ints("axes", {1});
  const std::string axis0 = Int("axis", 0), axis1 = Int("axis", 1);
  const std::string windows =
      Attr("strides", "list { i: [1, 1, 1, 1] }") + Attr("padding", "s: 'SAME'");
  const std::string kernel = Weights("rows", 18, 2) + Ints("sizes", {3, 3, 2, 2}) +
                             Node("w", "Reshape", {"rows", "sizes"}, Type("Tshape", "DT_INT32"));
  return {
      {"elementwise", Node("a", "Tanh", {"x"}) + Node("y", "Mul", {"a", "x"}), {3, 5}, {0, 1}},
      {"scalar",
       Const("c", "DT_FLOAT", "tensor_shape { } float_val: 2") + Node("y", "AddV2", {"x", "c"}),
       {3, 5},
       {0, 1}},
      {"rows_of_a_product",
       Weights("w", 5, 3) + Node("y", "MatMul", {"x", "w"}),
       {3, 5},
       {0},
       "",
       false,
       1},
      {"its_own_product",
       Node("y", "BatchMatMulV2", {"x", "x"}, Attr("adj_y", "b: true")),
       {3, 5, 6},
       {0, 1},
       "combines",
       false},
      {"images_of_a_convolution",
       kernel + Node("y", "Conv2D", {"x", "w"}, windows),
       {3, 5, 5, 2},
       {0},
       "combines",
       false,
       3},
      {"images_of_a_filter_gradient",
       Ints("sizes", {3, 3, 2, 2}) +
           Node("y", "Conv2DBackpropFilter", {"x", "sizes", "x"}, windows),
       {3, 5, 5, 2},
       {},
       "combines",
       false,
       3},
      {"sum_of_the_other", axes1 + Node("y", "Sum", {"x", "axes"}, kTidx), {3, 5}, {0}, "combines"},
      {"sum_of_all",
       Ints("axes", {0, 1}) + Node("y", "Sum", {"x", "axes"}, kTidx),
       {3, 5},
       {},
       "combines"},
      {"mean", axes1 + Node("y", "Mean", {"x", "axes"}, kTidx), {3, 5}, {0}, ""},
      {"softmax", Node("y", "Softmax", {"x"}), {3, 5}, {0}, "combines"},
      {"transpose",
       Ints("perm", {1, 0}) + Node("y", "Transpose", {"x", "perm"}, Type("Tperm", "DT_INT32")),
       {3, 5},
       {0, 1}},
      {"flat",
       Ints("shape", {-1}) + Node("y", "Reshape", {"x", "shape"}, Type("Tshape", "DT_INT32")),
       {3, 5},
       {0},
       "mixes"},
      {"concat_of_itself",
       axis0 + Node("y", "ConcatV2", {"x", "x", "axis"}, Attr("N", "i: 2") + kTidx),
       {3, 5},
       {1},
       "moves"},
      {"concat_behind",
       axis0 + Weights("w", 2, 1) +
           Node("t", "Tile", {"w", "many"}, Type("Tmultiples", "DT_INT32")) + Ints("many", {1, 4}) +
           Ints("begin", {0, 0}) + Ints("size", {-1, 4}) +
           Node("s", "Slice", {"x", "begin", "size"}, Type("Index", "DT_INT32")) +
           Node("y", "ConcatV2", {"t", "s", "axis"}, Attr("N", "i: 2") + kTidx),
       {3, 5},
       {0, 1}},
      {"reverse", axes1 + Node("y", "ReverseV2", {"x", "axes"}, kTidx), {3, 5}, {0}, "moves"},
      {"cumsum", axis1 + Node("y", "Cumsum", {"x", "axis"}, kTidx), {3, 5}, {0, 1}},
      {"cumsum_from_behind",
       axis1 + Node("y", "Cumsum", {"x", "axis"}, kTidx + Attr("reverse", "b: true")),
       {3, 5},
       {0},
       "moves"},
      {"arg_max",
       axis1 + Node("i", "ArgMax", {"x", "axis"}, kTidx + Type("output_type", "DT_INT32")) +
           Op("y", "Cast", {"i"}, Type("SrcT", "DT_INT32") + Type("DstT", "DT_FLOAT")),
       {3, 5},
       {0},
       "combines"},
      {"last_row",
       Ints("begin", {-1, 0}) + Ints("end", {0, 0}) + Ints("one", {1, 1}) +
           Node("y", "StridedSlice", {"x", "begin", "end", "one"},
                Type("Index", "DT_INT32") + Attr("end_mask", "i: 2") +
                    Attr("shrink_axis_mask", "i: 1")),
       {3, 5},
       {1},
       "moves"},
      {"first_row",
       Ints("begin", {0, 0}) + Ints("end", {1, 0}) + Ints("one", {1, 1}) +
           Node("y", "StridedSlice", {"x", "begin", "end", "one"},
                Type("Index", "DT_INT32") + Attr("end_mask", "i: 2") +
                    Attr("shrink_axis_mask", "i: 1")),
       {3, 5},
       {0, 1}},
      {"size_as_a_number",
       Node("s", "Size", {"x"}) +
           Op("f", "Cast", {"s"}, Type("SrcT", "DT_INT32") + Type("DstT", "DT_FLOAT")) +
           Node("t", "Tanh", {"x"}) + Node("m", "Mul", {"t", "f"}) + Node("y", "Relu", {"m"}),
       {3, 5},
       {},
       "computes with the size"},
      {"range",
       Int("zero", 0) + Int("one", 1) + Op("shape", "Shape", {"x"}, Type("T", "DT_FLOAT")) +
           Ints("b", {1}) + Ints("e", {2}) + Ints("s", {1}) +
           Node("n", "StridedSlice", {"shape", "b", "e", "s"},
                Type("Index", "DT_INT32") + Attr("shrink_axis_mask", "i: 1"), "DT_INT32") +
           Op("r", "Range", {"zero", "n", "one"}, Type("Tidx", "DT_INT32")) +
           Op("f", "Cast", {"r"}, Type("SrcT", "DT_INT32") + Type("DstT", "DT_FLOAT")) +
           Node("y", "AddV2", {"x", "f"}),
       {3, 5},
       {0},
       "computes with the size"},
      {"broadcast_of_its_row",
       axes1 + Node("m", "Max", {"x", "axes"}, kTidx + Attr("keep_dims", "b: true")) +
           Node("y", "Sub", {"x", "m"}),
       {3, 5},
       {0},
       "combines"},
      {"pad_behind",
       Const("p", "DT_INT32",
             "tensor_shape { dim { size: 2 } dim { size: 2 } } "
             "int_val: [0, 1, 0, 0]") +
           Node("y", "Pad", {"x", "p"}, Type("Tpaddings", "DT_INT32")),
       {3, 5},
       {1},
       "moves"},
      {"pad_in_front",
       Const("p", "DT_INT32",
             "tensor_shape { dim { size: 2 } dim { size: 2 } } "
             "int_val: [2, 0, 0, 0]") +
           Node("y", "Pad", {"x", "p"}, Type("Tpaddings", "DT_INT32")),
       {3, 5},
       {0, 1}},
      {"top_k",
       Int("k", 2) + Node("t", "TopKV2", {"x", "k"}) + Node("y", "Neg", {"t"}),
       {3, 5},
       {0},
       "",
       false},
      {"dead_code",
       axes1 + Node("s", "Sum", {"x", "axes"}, kTidx) + Node("y", "Relu", {"x"}),
       {3, 5},
       {0, 1}},
      {"a_dimension_of_one", Node("y", "Relu", {"x"}), {1, 5}, {0, 1}},
  };
}

INSTANTIATE_TEST_SUITE_P(All, PaddedCluster, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class PaddedRuns : public ::testing::Test {
 protected:
  void Open(const std::string& text, const std::vector<std::string>& feeds,
            const std::string& buckets = "pow2", XlaErrors errors = XlaErrors::kFail) {
    ClusterOptions clusters;
    clusters.errors = errors;
    clusters.buckets = *Buckets::Parse(buckets);
    session_ = plugin_.Open(text, clusters);
    ASSERT_NE(session_, nullptr);
    const auto executable = session_->Prepare(feeds, {"y"});
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_ = *executable;
  }
  absl::StatusOr<Tensor> Run(const std::vector<Tensor>& feeds) {
    auto values = session_->Run(executable_, feeds);
    if (!values.ok()) return values.status();
    return (*values)[0];
  }
  ClusterRuns Runs() const { return testing::RunsOf(*executable_).at(0); }

  const testing::ReferencePlugin plugin_;
  std::unique_ptr<Session> session_;
  Executable* executable_ = nullptr;
};

TEST_F(PaddedRuns, OfManySizesNeedFewPrograms) {
  Open(Placeholder("x", "dim { size: -1 } dim { size: 2 }") + Weights("w", 2, 3) +
           Node("m", "MatMul", {"x", "w"}) + Node("y", "Relu", {"m"}),
       {"x"});
  for (int n = 1; n <= 64; ++n) {
    const auto y = Run({Data(Shape({n, 2}), n, false)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape(), Shape({n, 3}));
  }
  EXPECT_EQ(Runs().programs, 7);  // 1, 2, 4, ..., 64
  EXPECT_EQ(Runs().runs, 64);
  EXPECT_EQ(Runs().ordinary_runs, 0);
}

// The graph knows neither dimension nor rank. The first run is exact, and the second shows what
// changes.
TEST_F(PaddedRuns, LearnFromShapesThatChange) {
  Open("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n" +
           Node("y", "Relu", {"x"}),
       {"x"});
  ASSERT_TRUE(Run({Data(Shape({3, 5}), 0)}).ok());
  EXPECT_EQ(Runs().padded_runs, 0);
  EXPECT_TRUE(Runs().open_dims.empty());
  ASSERT_TRUE(Run({Data(Shape({6, 5}), 0)}).ok());
  EXPECT_EQ(Runs().padded_runs, 1);
  ASSERT_EQ(Runs().open_dims.size(), 1u);
  EXPECT_EQ(Runs().open_dims[0].dimension, 0);
  EXPECT_EQ(Runs().open_dims[0].why_not, "");
  // There is a program of exactly this shape.
  ASSERT_TRUE(Run({Data(Shape({3, 5}), 1)}).ok());
  EXPECT_EQ(Runs().padded_runs, 1);
}

// A dimension of two inputs is padded in both or in neither.
TEST_F(PaddedRuns, PadWhatBelongsTogether) {
  const std::string open = "dim { size: -1 } dim { size: -1 }";
  Open(Placeholder("a", open) + Placeholder("b", open) + Node("y", "Mul", {"a", "b"}), {"a", "b"});
  for (const int n : {3, 5, 6}) {
    const auto y = Run({Data(Shape({n, 3}), 0), Data(Shape({n, 3}), 1)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(y->shape(), Shape({n, 3}));
  }
  EXPECT_EQ(Runs().programs, 2);
  EXPECT_EQ(Runs().padded_runs, 3);
}

// One row is stretched over all others: it must not be taken for a dimension that is padded.
TEST_F(PaddedRuns, DoNotPadWhatIsStretched) {
  const std::string open = "dim { size: -1 } dim { size: 2 }";
  Open(Placeholder("a", open) + Placeholder("b", open) + Node("y", "Mul", {"a", "b"}), {"a", "b"},
       "4,8");
  const Tensor a = testing::Floats({1, 2}, Shape({1, 2}));
  const Tensor b = testing::Floats({1, 2, 3, 4, 5, 6}, Shape({3, 2}));
  const auto y = Run({a, b});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(testing::Values(*y), ::testing::ElementsAre(1, 4, 3, 8, 5, 12));
  const auto z = Run({b, a});
  ASSERT_TRUE(z.ok()) << z.status();
  EXPECT_THAT(testing::Values(*z), ::testing::ElementsAre(1, 4, 3, 8, 5, 12));
}

// A tensor without elements has no last row that padding could repeat.
TEST_F(PaddedRuns, OfNoElementsAreExact) {
  Open(Placeholder("x", "dim { size: -1 } dim { size: -1 }") + Node("y", "Relu", {"x"}), {"x"});
  const auto y = Run({testing::Floats({}, Shape({0, 3}))});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->shape(), Shape({0, 3}));
  EXPECT_EQ(Runs().padded_runs, 0);
}

// The check of a division is met by the padding if it is met by the data, and fails as it should.
TEST_F(PaddedRuns, KeepChecks) {
  const std::string open = "dim { size: -1 }";
  Open(Placeholder("a", open, "DT_INT32") + Placeholder("b", open, "DT_INT32") +
           Node("y", "FloorDiv", {"a", "b"}, "", "DT_INT32"),
       {"a", "b"});
  const auto ints = [](std::vector<int32_t> v) {
    return Tensor::Of<int32_t>(DataType::kInt32, v, Shape({static_cast<int64_t>(v.size())}));
  };
  const auto y = Run({ints({7, 8, 9}), ints({2, 3, -4})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Runs().padded_runs, 1);
  EXPECT_EQ(Runs().ordinary_runs, 0);
  const auto failed = Run({ints({7, 8, 9}), ints({2, 0, -4})});
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kInvalidArgument) << failed.status();
  EXPECT_THAT(failed.status().message(), HasSubstr("division by zero"));
}

// The padding alone breaks a check: row numbers behind the data divide by zero. Ordinary kernels
// then say what is right.
TEST_F(PaddedRuns, ForgiveThePadding) {
  Open(Placeholder("a", "dim { size: -1 }", "DT_INT32") + Int("seven", 7) + Int("axis", 0) +
           Node("ones", "OnesLike", {"a"}, "", "DT_INT32") +
           Node("next", "Cumsum", {"ones", "axis"}, kTidx, "DT_INT32") +
           Node("b", "Sub", {"next", "seven"}, "", "DT_INT32") +
           Node("y", "FloorDiv", {"a", "b"}, "", "DT_INT32"),
       {"a"}, "8");
  const std::vector<int32_t> a = {12, 10, 8, 6, 4};
  const auto y = Run({Tensor::Of<int32_t>(DataType::kInt32, a, Shape({5}))});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(absl::MakeSpan(y->flat<int32_t>(), 5), ::testing::Each(-2));
  EXPECT_EQ(Runs().padded_runs, 1);
  EXPECT_EQ(Runs().ordinary_runs, 1);
}

}  // namespace
}  // namespace tenon::padded_clusters_test
