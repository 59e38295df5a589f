// Memory of ten thousand runs of a cluster.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/session/heap_count_util.h"
#include "tests/support/process_memory.h"

namespace tenon::many_runs_test {
namespace {

class ManyRuns : public ::testing::TestWithParam<const char*> {};

// Runs of one shape, and of a shape that is padded.
TEST_P(ManyRuns, TakeNoFurtherMemory) {
  const testing::ReferencePlugin plugin;
  ClusterOptions clusters;
  clusters.errors = XlaErrors::kFail;
  clusters.buckets = *Buckets::Parse(GetParam());
  std::string weights = "tensor_shape { dim { size: 20 } dim { size: 20 } }";
  for (int i = 0; i < 400; ++i) absl::StrAppend(&weights, " float_val: ", i % 7 * 0.125 - 0.375);
  const auto session =
      plugin.Open(testing::Placeholder("x", "dim { size: -1 } dim { size: 20 }") +
                      testing::Const("w", "DT_FLOAT", weights) +
                      testing::Node("m", "MatMul", {"x", "w"}) + testing::Node("r", "Relu", {"m"}) +
                      testing::Node("n", "MatMul", {"r", "w"}) + testing::Node("y", "Tanh", {"n"}),
                  clusters);
  ASSERT_NE(session, nullptr);
  const auto executable = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Tensor x = testing::Floats(std::vector<float>(60, 0.5F), Shape({3, 20}));
  int64_t allocations = 0;
  const auto run = [&](int times) {
    const int64_t before = testing::HeapAllocations().value_or(0);
    for (int i = 0; i < times; ++i) {
      const auto y = session->Run(*executable, {&x, 1});
      ASSERT_TRUE(y.ok()) << y.status();
    }
    allocations = testing::HeapAllocations().value_or(0) - before;
  };
  ASSERT_NO_FATAL_FAILURE(run(1000));
  ASSERT_NO_FATAL_FAILURE(run(1000));
  const int64_t first = allocations, resident = testing::ResidentBytes();
  ASSERT_NO_FATAL_FAILURE(run(7000));
  ASSERT_NO_FATAL_FAILURE(run(1000));
  // Sanitizers keep freed memory for a while.
  if (testing::HeapAllocations()) {
    EXPECT_LT(testing::ResidentBytes() - resident, 1 << 20);
  }
  // Whether the caller waits for a run, or finds that it is over, is by chance.
  EXPECT_NEAR(static_cast<double>(allocations), static_cast<double>(first), 0.2 * first);
  EXPECT_EQ(testing::RunsOf(**executable).at(0).runs, 10000);
  EXPECT_EQ(testing::RunsOf(**executable).at(0).ordinary_runs, 0);
  RecordProperty("allocations_of_1000_runs", static_cast<int>(allocations));
}

INSTANTIATE_TEST_SUITE_P(All, ManyRuns, ::testing::Values("off", "pow2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::many_runs_test
