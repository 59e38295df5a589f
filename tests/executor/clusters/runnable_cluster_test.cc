// Programs that a comparison with ordinary kernels finds wrong.
#include "executor/clusters/runnable_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "executor/session/session.h"
#include "plugin/host/loading/loader.h"
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

}  // namespace
}  // namespace tenon::runnable_cluster_test
