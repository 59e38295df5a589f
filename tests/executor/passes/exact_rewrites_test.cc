// Rewrites of class exact keep every bit: the golden graphs of all passes, with all other rewrites
// switched off, on inputs full of corners.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "graph/io/io.h"
#include "graph/tensor/small_float.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/pass_spec.h"
#include "gtest/gtest.h"
#include "tests/executor/passes/golden_passes_util.h"

namespace tenon {
namespace {

std::vector<std::string> InexactRewrites() {
  std::vector<std::string> names;
  for (const PassEntry& entry : PassOrder()) {
    for (const RewriteInfo& rewrite : entry.make()->rewrites()) {
      if (rewrite.exactness != Exactness::kExact)
        names.push_back(absl::StrCat(entry.name, ".", rewrite.name));
    }
  }
  return names;
}

// Which payload a NaN has is up to the processor; denormals count, unlike in executor/proof.
template <typename T>
bool SameBits(const Tensor& a, const Tensor& b) {
  return std::equal(a.flat<T>(), a.flat<T>() + a.num_elements(), b.flat<T>(), [](T x, T y) {
    return std::memcmp(&x, &y, sizeof(T)) == 0 || (std::isnan(x) && std::isnan(y));
  });
}

bool SameBitsOfSmall(const Tensor& a, const Tensor& b) {
  const SmallFloat format = *SmallFloatOf(a.dtype());
  return std::equal(a.flat<uint16_t>(), a.flat<uint16_t>() + a.num_elements(), b.flat<uint16_t>(),
                    [&](uint16_t x, uint16_t y) {
                      return x == y ||
                             (std::isnan(format.Decode(x)) && std::isnan(format.Decode(y)));
                    });
}

bool SameTexts(const Tensor& a, const Tensor& b) {
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (a.StringAt(i) != b.StringAt(i)) return false;
  }
  return true;
}

bool SameBits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DataType::kFloat) return SameBits<float>(a, b);
  if (a.dtype() == DataType::kDouble) return SameBits<double>(a, b);
  if (IsFloating(a.dtype())) return SameBitsOfSmall(a, b);
  if (a.dtype() == DataType::kString) return SameTexts(a, b);
  return std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

class ExactRewrites : public ::testing::TestWithParam<std::string> {};

TEST_P(ExactRewrites, KeepEveryBit) {
  const GoldenPass golden(GetParam());
  if (golden.text.find("Random") != std::string::npos) return;
  const Graph graph = LoadGraph(GetParam()).value();
  std::unique_ptr<Device> host = MakeCpuDevice();
  std::unique_ptr<Session> sessions[2];
  for (int level : {0, 1}) {
    SessionOptions options;
    options.threads = 1;
    options.opt_level = level;
    options.pipeline.min_graph_nodes = -1;
    options.pipeline.passes =
        ParsePassSpecs(absl::StrCat("model_pruning,", golden.pass, ",model_pruning")).value();
    options.pipeline.disabled_rewrites = InexactRewrites();
    options.pipeline.target = golden.target;
    sessions[level] = Session::Create(graph, {host.get()}, options).value();
  }
  for (int first = 0; first < 3; ++first) {
    const std::vector<Session::NamedTensor> feeds =
        golden.Feeds(graph, [&](DataType dtype, const PartialShape& shape, int i) {
          return CornerFeed(dtype, shape, first + 5 * i);
        });
    const absl::StatusOr<std::vector<Tensor>> before = sessions[0]->Run(feeds, golden.fetches);
    const absl::StatusOr<std::vector<Tensor>> after = sessions[1]->Run(feeds, golden.fetches);
    ASSERT_EQ(before.status().code(), after.status().code()) << before.status() << after.status();
    if (!before.ok()) continue;
    for (size_t i = 0; i < golden.fetches.size(); ++i)
      EXPECT_TRUE(SameBits((*before)[i], (*after)[i])) << golden.fetches[i];
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExactRewrites, ::testing::ValuesIn(GoldenPasses()),
                         [](const auto& info) { return GoldenPass(info.param).Name(); });

}  // namespace
}  // namespace tenon
