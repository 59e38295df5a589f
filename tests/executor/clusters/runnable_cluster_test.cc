// Programs that a comparison with ordinary kernels finds wrong.
#include "executor/clusters/runnable_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "executor/session/session.h"
#include "plugin/host/loading/loader.h"
#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/paths.h"

namespace tenon::runnable_cluster_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnableClusterTest : public ::testing::Test {
 protected:
  ~RunnableClusterTest() override {
    session_.reset();
    ShutdownPlugins();
  }
  // A judge who finds each program wrong.
  void Open(XlaErrors errors) {
    const auto info = LoadPlugin(testing::Built("lib/plugins/libpjrt_reference.so"));
    ASSERT_TRUE(info.ok()) << info.status();
    const absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
    ASSERT_TRUE(devices.ok()) << devices.status();
    SessionOptions options;
    options.threads = 1;
    options.clusters.mode = XlaMode::kAll;
    options.clusters.errors = errors;
    options.clusters.judge = [](const Tensor&, const Tensor&) -> std::optional<std::string> {
      return "it differs";
    };
    auto session = Session::Create(
        testing::Parse(testing::Placeholder("x", "dim { size: 2 }") +
                       testing::Node("a", "Neg", {"x"}) + testing::Node("b", "Abs", {"a"}) +
                       testing::Node("c", "AddV2", {"b", "x"}) +
                       testing::Node("y", "Mul", {"c", "c"})),
        *devices, options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }
  absl::StatusOr<std::vector<Tensor>> Run() {
    return session_->Run({{"x", testing::Floats({1, -2}, Shape({2}))}}, {"y"});
  }

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

// More than ten compilations with fewer than fifty runs each: no more are made, and one warning
// says so. The programs that there are go on.
TEST(ManyShapes, SendAClusterBackToOrdinaryKernels) {
  const testing::ReferencePlugin plugin;
  const auto session =
      plugin.Open(testing::Placeholder("x", "dim { size: -1 }") + testing::Node("a", "Neg", {"x"}) +
                      testing::Node("y", "Mul", {"a", "x"}),
                  ClusterOptions());
  ASSERT_NE(session, nullptr);
  const auto executable = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto run = [&](int64_t size) {
    const Tensor x =
        testing::Floats(std::vector<float>(static_cast<size_t>(size), 3), Shape({size}));
    const auto out = session->Run(*executable, {&x, 1});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(testing::Values((*out)[0]), ::testing::Each(-9));
  };
  ::testing::internal::CaptureStderr();
  for (int64_t size = 1; size <= 20; ++size) ASSERT_NO_FATAL_FAILURE(run(size));
  ClusterRuns runs = testing::RunsOf(**executable).at(0);
  EXPECT_EQ(runs.programs, 10);
  EXPECT_EQ(runs.runs, 10);
  EXPECT_EQ(runs.ordinary_runs, 10);
  EXPECT_THAT(runs.reason, HasSubstr("compiled for 10 sets of shapes, which ran 10 times"));
  for (int i = 0; i < 600; ++i) ASSERT_NO_FATAL_FAILURE(run(3));
  // For good, as in TensorFlow.
  ASSERT_NO_FATAL_FAILURE(run(21));
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(told.find("ordinary kernels run"), told.rfind("ordinary kernels run")) << told;
  runs = testing::RunsOf(**executable).at(0);
  EXPECT_EQ(runs.programs, 10);
  EXPECT_EQ(runs.runs, 610);
  EXPECT_EQ(runs.ordinary_runs, 11);
}

// Programs that run often are worth further ones.
TEST(ManyShapes, ThatRunOftenAreCompiled) {
  const testing::ReferencePlugin plugin;
  const auto session =
      plugin.Open(testing::Placeholder("x", "dim { size: -1 }") + testing::Node("a", "Neg", {"x"}) +
                      testing::Node("y", "Mul", {"a", "x"}),
                  ClusterOptions());
  ASSERT_NE(session, nullptr);
  const auto executable = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (int64_t size = 1; size <= 12; ++size) {
    const Tensor x =
        testing::Floats(std::vector<float>(static_cast<size_t>(size), 3), Shape({size}));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(session->Run(*executable, {&x, 1}).ok());
  }
  EXPECT_EQ(testing::RunsOf(**executable).at(0).programs, 12);
  EXPECT_EQ(testing::RunsOf(**executable).at(0).ordinary_runs, 0);
}

}  // namespace
}  // namespace tenon::runnable_cluster_test
