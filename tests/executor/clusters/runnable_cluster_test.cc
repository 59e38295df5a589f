// Programs that a comparison with ordinary kernels finds wrong, and clusters of many shapes.
#include "executor/clusters/runnable_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::runnable_cluster_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnableClusterTest : public ::testing::Test {
 protected:
  // A judge who finds each program wrong.
  void Open(XlaErrors errors) {
    ClusterOptions clusters;
    clusters.errors = errors;
    clusters.judge = [](const Tensor&, const Tensor&) -> std::optional<std::string> {
      return "it differs";
    };
    session_ = plugin_.Open(
        testing::Placeholder("x", "dim { size: 2 }") + testing::Node("a", "Neg", {"x"}) +
            testing::Node("b", "Abs", {"a"}) + testing::Node("c", "AddV2", {"b", "x"}) +
            testing::Node("y", "Mul", {"c", "c"}),
        clusters);
    ASSERT_NE(session_, nullptr);
  }
  absl::StatusOr<std::vector<Tensor>> Run() {
    return session_->Run({{"x", testing::Floats({1, -2}, Shape({2}))}}, {"y"});
  }

  const testing::ReferencePlugin plugin_;
  std::unique_ptr<Session> session_;
};

TEST_F(RunnableClusterTest, AWrongProgramFailsEachRun) {
  ASSERT_NO_FATAL_FAILURE(Open(XlaErrors::kFail));
  for (int i = 0; i < 3; ++i) {
    const absl::Status failed = Run().status();
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal) << i << ": " << failed;
    EXPECT_THAT(failed.message(), HasSubstr("other numbers than ordinary kernels"));
  }
}

TEST_F(RunnableClusterTest, AWrongProgramIsReplacedInEachRun) {
  ASSERT_NO_FATAL_FAILURE(Open(XlaErrors::kReport));
  for (int i = 0; i < 3; ++i) {
    const auto out = Run();
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(testing::Values((*out)[0]), ElementsAre(4, 0));
  }
}

// A cluster whose input has another size now and then.
class ManyShapes : public ::testing::Test {
 protected:
  void SetUp() override {
    session_ =
        plugin_.Open(testing::Placeholder("x", "dim { size: -1 }") +
                         testing::Node("a", "Neg", {"x"}) + testing::Node("y", "Mul", {"a", "x"}),
                     ClusterOptions());
    ASSERT_NE(session_, nullptr);
    const auto executable = session_->Prepare({"x"}, {"y"});
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_ = *executable;
  }
  void Run(int64_t size) {
    const Tensor x =
        testing::Floats(std::vector<float>(static_cast<size_t>(size), 3), Shape({size}));
    const auto out = session_->Run(executable_, {&x, 1});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(testing::Values((*out)[0]), ::testing::Each(-9));
  }
  ClusterRuns Runs() const { return testing::RunsOf(*executable_).at(0); }

  const testing::ReferencePlugin plugin_;
  std::unique_ptr<Session> session_;
  Executable* executable_ = nullptr;
};

// More than ten compilations with fewer than fifty runs each on average: no more are made, and one
// warning says so. The programs that there are go on.
TEST_F(ManyShapes, SendAClusterBackToOrdinaryKernels) {
  ::testing::internal::CaptureStderr();
  for (int64_t size = 1; size <= 20; ++size) ASSERT_NO_FATAL_FAILURE(Run(size));
  EXPECT_EQ(Runs().programs, 10);
  EXPECT_EQ(Runs().runs, 10);
  EXPECT_EQ(Runs().ordinary_runs, 10);
  EXPECT_THAT(Runs().reason, HasSubstr("compiled for 10 sets of shapes, which ran 10 times"));
  for (int i = 0; i < 600; ++i) ASSERT_NO_FATAL_FAILURE(Run(3));
  // For good, as in TensorFlow.
  ASSERT_NO_FATAL_FAILURE(Run(21));
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("ordinary kernels run"), told.rfind("ordinary kernels run")) << told;
  EXPECT_EQ(Runs().programs, 10);
  EXPECT_EQ(Runs().runs, 610);
  EXPECT_EQ(Runs().ordinary_runs, 11);
}

// Programs that run often are worth further ones.
TEST_F(ManyShapes, ThatRunOftenAreCompiled) {
  for (int64_t size = 1; size <= 12; ++size) {
    for (int i = 0; i < 50; ++i) ASSERT_NO_FATAL_FAILURE(Run(size));
  }
  EXPECT_EQ(Runs().programs, 12);
  EXPECT_EQ(Runs().ordinary_runs, 0);
}

// The plug-in's copies do not end in time, as far as it says: it may read and write the run's
// memory at any time, so neither may be freed, nor may ordinary kernels write their results there.
TEST(LateCopies, KeepTheMemoryOfTheirRun) {
  // Results that lie in columns are copied, and not read where they lie.
  const testing::ReferencePlugin plugin({"unready_events=transfer", "column_major=true"});
  ClusterOptions clusters;
  clusters.timeout_s = 0.05;
  const auto session =
      plugin.Open(testing::Placeholder("x", "dim { size: -1 } dim { size: 2 }") +
                      testing::Node("a", "Neg", {"x"}) + testing::Node("y", "Mul", {"a", "x"}),
                  clusters);
  ASSERT_NE(session, nullptr);
  static int freed;
  freed = 0;
  alignas(64) static float data[4] = {1, -2, 3, -4};
  Buffer* const fed = Buffer::Wrap(
      data, sizeof(data), [](void*, size_t, void*) { ++freed; }, nullptr);
  {
    const Tensor x(DataType::kFloat, Shape({2, 2}), BufferRef::Adopt(fed));
    const absl::Status late = session->Run({{"x", x}}, {"y"}).status();
    EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
  }
  ASSERT_EQ(freed, 0);
  fed->Unref();
  EXPECT_EQ(freed, 1);
}

// The run returns the error of the node that stands first in the file. In half of the orders that
// is not the cluster, which runs earlier: its memory is kept all the same.
TEST(LateCopies, KeepTheMemoryAlsoBehindAnotherError) {
  const testing::ReferencePlugin plugin({"unready_events=transfer", "column_major=true"});
  ClusterOptions clusters;
  clusters.timeout_s = 0.01;
  const std::string graph = testing::Placeholder("x", "dim { size: -1 } dim { size: 2 }") +
                            testing::Placeholder("z", "dim { size: 1 } dim { size: 1 }") +
                            testing::Node("factors", "Lu", {"z"}) +
                            testing::Node("a", "Neg", {"x"}) +
                            testing::Node("y", "Mul", {"a", "x"});
  static int freed;
  freed = 0;
  alignas(64) static float data[4] = {1, -2, 3, -4};
  constexpr int kSeeds = 16;
  std::vector<Buffer*> fed;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto session = plugin.Open(graph, clusters, seed);
    ASSERT_NE(session, nullptr);
    fed.push_back(Buffer::Wrap(
        data, sizeof(data), [](void*, size_t, void*) { ++freed; }, nullptr));
    const Tensor x(DataType::kFloat, Shape({2, 2}), BufferRef::Adopt(fed.back()));
    const Tensor z = testing::Floats({0}, Shape({1, 1}));
    const absl::Status late = session->Run({{"x", x}, {"z", z}}, {"factors", "y"}).status();
    EXPECT_EQ(late.code(), absl::StatusCode::kInvalidArgument) << late;
  }
  EXPECT_GT(freed, 0);  // the cluster has not run
  EXPECT_LT(freed, kSeeds);
}

// A file may name the op, but stands for no cluster by any number.
TEST(ClusterOp, OfAFileStandsForNoCluster) {
  const testing::ReferencePlugin plugin;
  const std::string x = testing::Placeholder("x", "dim { size: 2 }");
  // Forms a cluster, which registers the op.
  const auto first =
      plugin.Open(x + testing::Node("a", "Neg", {"x"}) + testing::Node("y", "Mul", {"a", "x"}),
                  ClusterOptions());
  ASSERT_NE(first, nullptr);
  ASSERT_TRUE(first->Run({{"x", testing::Floats({1, -2}, Shape({2}))}}, {"y"}).ok());
  const auto session =
      plugin.Open(x + testing::Op("y", "_TenonCluster", {},
                                  "attr { key: 'Tconstants' value { list {} } } "
                                  "attr { key: 'Targuments' value { list {} } } "
                                  "attr { key: 'Tresults' value { list { type: DT_FLOAT } } } "
                                  "attr { key: 'cluster' value { i: 4660 } } "
                                  "attr { key: '_kernel' value { s: '0_constants' } }"),
                  ClusterOptions());
  ASSERT_NE(session, nullptr);
  const absl::Status status = session->Run({}, {"y"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), HasSubstr("which no file can hold"));
}

}  // namespace
}  // namespace tenon::runnable_cluster_test
