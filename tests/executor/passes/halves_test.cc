// Rewrites of half and bfloat16 that keep every bit, over all their values.
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "graph/tensor/small_float.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Const;
using testing::MakeSession;
using testing::Node;
using testing::Placeholder;

constexpr int kValues = 1 << 16;

class Halves : public ::testing::TestWithParam<DataType> {
 protected:
  const DataType type_ = GetParam();
  const std::string name_ = std::string(DataTypeName(type_));
  const SmallFloat format_ = *SmallFloatOf(type_);

  std::string X() const {
    return Placeholder("x", absl::StrCat("dim { size: ", kValues, " }"), name_);
  }

  // What graphs answer to all values, as they are and rewritten, where no `gone` may be left.
  void ExpectSame(const std::string& graph, const std::vector<std::string>& fetches,
                  std::string_view gone) {
    std::vector<uint16_t> bits(kValues);
    std::iota(bits.begin(), bits.end(), uint16_t{0});
    const Tensor x = Tensor::Of<uint16_t>(type_, bits, Shape({kValues}));
    std::vector<Tensor> results[2];
    for (int level : {0, 1}) {
      auto session = MakeSession(graph, level);
      const auto e = session->Prepare({"x"}, fetches);
      ASSERT_TRUE(e.ok()) << e.status();
      const Graph& g = OptimizedGraph(**e);
      for (NodeId n = 0; level == 1 && n < g.num_node_ids(); ++n)
        EXPECT_FALSE(g.alive(n) && g.op_name(n) == gone) << g.name(n);
      absl::StatusOr<std::vector<Tensor>> run = session->Run({{"x", x}}, fetches);
      ASSERT_TRUE(run.ok()) << run.status();
      results[level] = *std::move(run);
    }
    for (size_t i = 0; i < fetches.size(); ++i) {
      for (int j = 0; j < kValues; ++j) {
        const uint16_t before = results[0][i].flat<uint16_t>()[j];
        const uint16_t after = results[1][i].flat<uint16_t>()[j];
        const bool both_nan =
            std::isnan(format_.Decode(before)) && std::isnan(format_.Decode(after));
        ASSERT_TRUE(before == after || both_nan) << fetches[i] << " of " << j;
      }
    }
  }
};

TEST_P(Halves, SumsAreMultiples) {
  ExpectSame(X() + Node("two", "AddV2", {"x", "x"}, "", name_) +
                 Node("twice", "AddN", {"x", "x"}, "attr { key: 'N' value { i: 2 } }", name_) +
                 Node("thrice", "AddN", {"x", "x", "x"}, "attr { key: 'N' value { i: 3 } }", name_),
             {"two", "twice", "thrice"}, "AddN");
}

TEST_P(Halves, QuotientsByPowersOfTwoAreProducts) {
  std::string graph = X();
  std::vector<std::string> fetches;
  for (int k = 1 - format_.bias; k < format_.bias; ++k) {
    if (k == 0) continue;  // x itself, denormals and all
    const std::string quotient = absl::StrCat("y", k), divisor = absl::StrCat("c", k);
    const uint32_t bits = format_.Encode(std::ldexp(k % 2 == 0 ? 1 : -1, k));
    graph += Const(divisor, name_, absl::StrCat("tensor_shape { } half_val: ", bits)) +
             Node(quotient, "RealDiv", {"x", divisor}, "", name_);
    fetches.push_back(quotient);
  }
  ExpectSame(graph, fetches, "RealDiv");
}

INSTANTIATE_TEST_SUITE_P(All, Halves, ::testing::Values(DataType::kHalf, DataType::kBfloat16),
                         [](const auto& info) { return std::string(DataTypeName(info.param)); });

}  // namespace
}  // namespace tenon
