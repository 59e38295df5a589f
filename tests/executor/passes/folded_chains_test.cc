// Folding a chain of constants takes the memory of what stays, not of all that lay in between.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/compile/passes/evaluator.h"
#include "gmock/gmock.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

using testing::Const;
using ::testing::ElementsAre;
using testing::Node;
using testing::Op;
using testing::Type;
using ::testing::UnorderedElementsAre;

// Counts the values that it gave and that somebody still has.
class CountingEvaluator : public NodeEvaluator {
 public:
  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, NodeId n,
                                               absl::Span<const Tensor> inputs,
                                               size_t max_bytes) override {
    absl::StatusOr<std::vector<Tensor>> outputs = cpu_.Evaluate(graph, n, inputs, max_bytes);
    if (!outputs.ok()) return outputs;
    for (Tensor& t : *outputs) {
      auto* const held = new Held{this, t};
      t = Tensor(t.dtype(), t.shape(),
                 BufferRef::Adopt(Buffer::Wrap(t.data(), t.bytes(), &Held::Release, held)));
      most_ = std::max(most_, ++now_);
    }
    return outputs;
  }

  int now() const { return now_; }
  int most() const { return most_; }  // at one time

 private:
  struct Held {
    CountingEvaluator* by;
    Tensor value;
    static void Release(void*, size_t, void* arg) {
      const std::unique_ptr<Held> held(static_cast<Held*>(arg));
      --held->by->now_;
    }
  };

  CpuEvaluator cpu_{KernelRegistry::Global()};
  int now_ = 0, most_ = 0;
};

struct Folded {
  Graph graph;
  int most_values = 0;
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (graph.alive(n)) names.emplace_back(graph.name(n));
    }
    return names;
  }
};

// By constant_folding alone: nothing is pruned before or after it.
Folded Fold(const std::string& text, const std::vector<std::string>& fetches) {
  Folded result{testing::Parse(text)};
  std::vector<Output> outputs;
  for (const std::string& fetch : fetches)
    outputs.push_back(result.graph.ParseOutput(fetch).value());
  const std::unique_ptr<Device> host = MakeCpuDevice();
  RegistryOracle oracle({host.get()}, KernelRegistry::Global());
  CountingEvaluator evaluator;
  PipelineInput input;
  input.fetches = outputs;
  input.evaluator = &evaluator;
  input.kernels = &oracle;
  PipelineOptions options;
  options.min_graph_nodes = -1;
  options.verify_each = true;
  options.passes = ParsePassSpecs("constant_folding").value();
  const absl::StatusOr<PipelineReport> report = RunPipeline(result.graph, input, options);
  EXPECT_TRUE(report.ok()) << report.status();
  if (report.ok()) {
    for (const PassReport& row : report->passes) EXPECT_FALSE(row.failed) << row.reason;
  }
  EXPECT_EQ(evaluator.now(), 0);
  result.most_values = evaluator.most();
  return result;
}

std::vector<float> ValueOf(const Folded& folded, std::string_view name) {
  return testing::Values(folded.graph.ConstValue(folded.graph.FindNode(name)).value());
}

const std::string kStart =
    Const("c", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: [1, -2]");

// n0 to n99, of c.
std::string Negations() {
  std::string nodes = kStart;
  for (int i = 0; i < 100; ++i)
    nodes += Node(absl::StrCat("n", i), "Neg", {i == 0 ? "c" : absl::StrCat("n", i - 1)});
  return nodes;
}

TEST(FoldedChains, ValuesInBetweenGoWithTheLastOfTheirUsers) {
  const Folded folded = Fold(Negations(), {"n99"});
  EXPECT_THAT(folded.names(), UnorderedElementsAre("c", "n99"));
  EXPECT_THAT(ValueOf(folded, "n99"), ElementsAre(1, -2));
  EXPECT_LE(folded.most_values, 2);
}

TEST(FoldedChains, WhatIsFetchedWaitedForOrReadByOthersStays) {
  const std::string others = testing::Placeholder("x", "dim { size: 2 }") +
                             Node("sum", "AddV2", {"x", "n7"}) +
                             Node("waits", "Neg", {"x", "^n10"});
  const Folded folded = Fold(Negations() + others, {"n99", "n4", "sum", "waits"});
  EXPECT_THAT(folded.names(),
              UnorderedElementsAre("c", "x", "n4", "n7", "n10", "n99", "sum", "waits"));
  EXPECT_THAT(ValueOf(folded, "n4"), ElementsAre(-1, 2));
  EXPECT_THAT(ValueOf(folded, "n7"), ElementsAre(1, -2));
  EXPECT_LE(folded.most_values, 5);
}

// Of this process.
// Planning computes what depends on constants too, where no pass did.
TEST(FoldedChains, PlansKeepNoValuesInBetween) {
  constexpr int kLength = 150;
  constexpr int64_t kElements = 2'000'000;
  std::string nodes =
      Const("n0", "DT_FLOAT",
            absl::StrCat("tensor_shape { dim { size: ", kElements, " } } float_val: 3")) +
      testing::Placeholder("x", "dim { size: -1 }");
  for (int i = 1; i <= kLength; ++i)
    nodes += Node(absl::StrCat("n", i), "Neg", {absl::StrCat("n", i - 1)});
  nodes += Node("sum", "AddV2", {"x", "n9"});
  const int64_t before = testing::ResidentBytes();
  const auto session = testing::MakeSession(nodes);
  const std::vector<std::string> fetches = {absl::StrCat("n", kLength), "n6", "sum"};
  const auto executable = session->Prepare({"x"}, fetches);
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (const int64_t length : {int64_t{1}, kElements}) {  // a plan for each
    const Tensor x = testing::Floats(std::vector<float>(length, 2), Shape({length}));
    const auto results = session->Run({{"x", x}}, fetches);
    ASSERT_TRUE(results.ok()) << results.status();
    const std::vector<float> expected = {3, 3, -1};
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ((*results)[i].num_elements(), kElements);
      EXPECT_EQ((*results)[i].flat<float>()[kElements - 1], expected[i]);
    }
  }
  EXPECT_LT(testing::ResidentBytes() - before, kLength * kElements * int64_t{sizeof(float)} / 2);
}

TEST(FoldedChains, NodesOfSeveralOutputsGoToo) {
  std::string nodes = kStart + Const("axis", "DT_INT32", "tensor_shape { } int_val: 0");
  for (int i = 0; i < 50; ++i) {
    const std::string n = absl::StrCat(i), from = i == 0 ? "c" : absl::StrCat("j", i - 1);
    nodes += Op("s" + n, "Split", {"axis", from},
                Type("T", "DT_FLOAT") + "attr { key: 'num_split' value { i: 2 } }");
    nodes +=
        Op("j" + n, "ConcatV2", {"s" + n + ":1", "s" + n, "axis"},
           Type("T", "DT_FLOAT") + Type("Tidx", "DT_INT32") + "attr { key: 'N' value { i: 2 } }");
  }
  const Folded folded = Fold(nodes + Node("y", "Neg", {"s49:1"}), {"j48", "y"});
  EXPECT_THAT(folded.names(), UnorderedElementsAre("c", "axis", "j48", "y"));
  EXPECT_THAT(ValueOf(folded, "j48"), ElementsAre(-2, 1));
  EXPECT_THAT(ValueOf(folded, "y"), ElementsAre(-1));
  EXPECT_LE(folded.most_values, 5);
}

}  // namespace
}  // namespace tenon
