// Programs that are compiled while ordinary kernels run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/executor/clusters/reference_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::async_compile_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using testing::Node;
using testing::Placeholder;

class AsyncCompile : public ::testing::Test {
 protected:
  void Open(const std::vector<std::string>& plugin_options, XlaErrors errors = XlaErrors::kReport) {
    plugin_.emplace(plugin_options);
    ClusterOptions clusters;
    clusters.errors = errors;
    clusters.async = true;
    session_ = plugin_->Open(Placeholder("x", "dim { size: -1 }") + Node("a", "Neg", {"x"}) +
                                 Node("b", "Abs", {"a"}) + Node("c", "AddV2", {"b", "x"}) +
                                 Node("y", "Mul", {"c", "c"}),
                             clusters);
    ASSERT_NE(session_, nullptr);
    const auto executable = session_->Prepare({"x"}, {"y"});
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_ = *executable;
  }
  absl::StatusOr<std::vector<Tensor>> Run(int64_t size = 2) {
    std::vector<float> x(static_cast<size_t>(size), -2);
    x[0] = 1;
    const Tensor feed = testing::Floats(x, Shape({size}));
    return session_->Run(executable_, {&feed, 1});
  }
  void ExpectRight(int64_t size = 2) {
    const auto out = Run(size);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].shape(), Shape({size}));
    const std::vector<float> y = testing::Values((*out)[0]);
    EXPECT_EQ(y[0], 4);
    for (size_t i = 1; i < y.size(); ++i) EXPECT_EQ(y[i], 0);
  }
  ClusterRuns Runs() const { return testing::RunsOf(*executable_).at(0); }
  // Waits until nothing is being compiled.
  void AwaitPrograms() const {
    const auto end = steady_clock::now() + std::chrono::seconds(60);
    while (Runs().compiling > 0 && steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(1));
    ASSERT_EQ(Runs().compiling, 0);
  }

  std::optional<testing::ReferencePlugin> plugin_;
  std::unique_ptr<Session> session_;
  Executable* executable_ = nullptr;
};

TEST_F(AsyncCompile, OrdinaryKernelsRunUntilTheProgramIsThere) {
  ASSERT_NO_FATAL_FAILURE(Open({"compile_ms=400"}));
  const auto begin = steady_clock::now();
  for (int i = 0; i < 3; ++i) ExpectRight();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(400));
  EXPECT_EQ(Runs().compiling, 1);
  EXPECT_EQ(Runs().programs, 0);
  EXPECT_EQ(Runs().ordinary_runs, 3);
  AwaitPrograms();
  for (int i = 0; i < 2; ++i) ExpectRight();
  EXPECT_EQ(Runs().programs, 1);
  EXPECT_EQ(Runs().runs, 2);
  EXPECT_EQ(Runs().ordinary_runs, 3);
  EXPECT_EQ(Runs().reason, "");
}

TEST_F(AsyncCompile, OneProgramAfterTheOther) {
  ASSERT_NO_FATAL_FAILURE(Open({"compile_ms=20"}));
  for (int64_t size = 1; size <= 5; ++size) ExpectRight(size);
  AwaitPrograms();
  EXPECT_EQ(Runs().programs, 5);
  for (int64_t size = 1; size <= 5; ++size) ExpectRight(size);
  EXPECT_EQ(Runs().runs, 5);
}

TEST_F(AsyncCompile, AFailureIsToldOnce) {
  ASSERT_NO_FATAL_FAILURE(Open({"wrong_results=count"}));
  ::testing::internal::CaptureStderr();
  ExpectRight();
  AwaitPrograms();
  for (int i = 0; i < 3; ++i) ExpectRight();
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("ordinary kernels run in its place"));
  EXPECT_EQ(told.find("ordinary kernels run"), told.rfind("ordinary kernels run")) << told;
  EXPECT_THAT(Runs().reason, HasSubstr("the compiled program has"));
  EXPECT_EQ(Runs().runs, 0);
}

TEST_F(AsyncCompile, AFailureFailsRunsIfThatIsAsked) {
  ASSERT_NO_FATAL_FAILURE(Open({"wrong_results=count"}, XlaErrors::kFail));
  Run().status().IgnoreError();  // the program may be there or not
  AwaitPrograms();
  const absl::Status failed = Run().status();
  EXPECT_THAT(failed.message(), HasSubstr("the compiled program has"));
}

// Neither the session nor the plug-in waits for the compiler.
TEST_F(AsyncCompile, SessionsEndMeanwhile) {
  ASSERT_NO_FATAL_FAILURE(Open({"compile_ms=1500"}));
  for (int64_t size = 1; size <= 3; ++size) ExpectRight(size);  // two programs wait for the first
  const auto begin = steady_clock::now();
  session_.reset();
  plugin_.reset();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1000));
}

TEST_F(AsyncCompile, ManyThreadsSeeItHappen) {
  ASSERT_NO_FATAL_FAILURE(Open({"compile_ms=5"}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 100; ++i) ExpectRight(1 + (i / 10 + t) % 8);
    });
  }
  for (std::thread& thread : threads) thread.join();
  AwaitPrograms();
  for (int64_t size = 1; size <= 8; ++size) ExpectRight(size);
  EXPECT_GE(Runs().runs, 8);
}

// A process that ends in the middle of a compilation, with its session still there.
void EndWhileCompiling(const std::string& option) {
  const testing::ReferencePlugin plugin({option});
  ClusterOptions clusters;
  clusters.async = true;
  const auto session = plugin.Open(
      Placeholder("x", "dim { size: 1 }") + Node("a", "Neg", {"x"}) + Node("y", "Mul", {"a", "a"}),
      clusters);
  const auto out = session->Run({{"x", testing::Floats({3}, Shape({1}))}}, {"y"});
  std::exit(out.ok() && testing::Values((*out)[0])[0] == 9 ? 7 : 1);
}

TEST(AsyncCompileDeathTest, ProcessesEndMeanwhile) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  // One compilation outlasts the patience, the other does not.
  for (const char* option : {"compile_ms=600000", "compile_ms=300"}) {
    const auto begin = steady_clock::now();
    EXPECT_EXIT(EndWhileCompiling(option), ::testing::ExitedWithCode(7), "") << option;
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(60)) << option;
  }
}

}  // namespace
}  // namespace tenon::async_compile_test
