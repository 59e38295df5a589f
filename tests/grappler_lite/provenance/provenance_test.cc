// Where nodes of the optimized graph come from.
#include "grappler_lite/provenance/provenance.h"

#include <gmock/gmock.h>

#include "tests/grappler_lite/pipeline/pipeline_util.h"

namespace tenon::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Optimized {
  Graph graph;
  Provenance provenance;
};

std::unique_ptr<Optimized> OptimizedBy(std::vector<std::string> lines, std::string_view pass) {
  auto result = std::make_unique<Optimized>();
  result->graph = GraphOf(std::move(lines));
  PipelineOptions options = Only(pass);
  options.observers = {&result->provenance};
  EXPECT_TRUE(Optimize(result->graph, {"y"}, options).ok());
  return result;
}

TEST(Provenance, ANodeThatNothingHappenedToIsItself) {
  const auto run = OptimizedBy({"y = Sub(a, b)"}, "model_pruning");
  EXPECT_THAT(run->provenance.Of("y").origins, ElementsAre("y"));
  EXPECT_THAT(run->provenance.Of("y").rewrites, IsEmpty());
}

TEST(Provenance, FollowsNodesThatWereBypassed) {
  const auto run =
      OptimizedBy({"i = Identity(a)", "j = Identity(i)", "y = Sub(j, b)"}, "model_pruning");
  const Provenance::History history = run->provenance.Of("y");
  EXPECT_THAT(history.origins, ElementsAre("i", "j", "y"));
  EXPECT_THAT(history.rewrites, ElementsAre("model_pruning.bypass_identity at i",
                                            "model_pruning.bypass_identity at j"));
  EXPECT_THAT(run->provenance.WhatBecameOf("i", run->graph), ElementsAre("y"));
  EXPECT_THAT(run->provenance.EndOf("i"), ElementsAre("model_pruning.bypass_identity at i"));
  EXPECT_THAT(run->provenance.EndOf("y"), IsEmpty());
}

TEST(Provenance, NamesTheRewritesOfANode) {
  const auto run = OptimizedBy({"n = Neg(a)", "y = Sub(n, b)"}, "break");
  EXPECT_THAT(run->provenance.Of("y").rewrites, ElementsAre("break.swap at y"));
  EXPECT_THAT(run->provenance.Of("n").rewrites, ElementsAre("break.negate at n"));
}

TEST(Provenance, JoinsWhatWasMerged) {
  const auto run =
      OptimizedBy({"p = Neg(a)", "q = Neg(a)", "y = Sub(p, q)"}, "common_subgraph_elimination");
  EXPECT_THAT(run->provenance.Of("y").origins, ElementsAre("q", "y"));
  EXPECT_THAT(run->provenance.Of("y").rewrites, Contains("common_subgraph_elimination.merge at q"));
}

}  // namespace
}  // namespace tenon::testing
