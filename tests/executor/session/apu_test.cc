// Sessions with the APU plug-in: memory that the host cannot touch, real streams.
#include <atomic>
#include <chrono>
#include <thread>

#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/host/loading/loader.h"
#include "plugin/kernels/run_limits.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using testing::Bool;
using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

std::unique_ptr<Session> Make(std::string text, int opt_level = 0, int max_cached_plans = 64) {
  const auto info = LoadPlugin(testing::Built("lib/plugins/libapu.so"));
  EXPECT_TRUE(info.ok()) << info.status();
  absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
  EXPECT_TRUE(devices.ok()) << devices.status();
  SessionOptions options;
  options.opt_level = opt_level;
  options.pipeline.min_graph_nodes = -1;
  options.threads = 1;
  options.max_cached_plans = max_cached_plans;
  auto session = Session::Create(Parse(std::move(text)), *devices, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::string DeviceOf(const Executable& e, std::string_view node) {
  const Graph& g = OptimizedGraph(e);
  return std::string(PlacementReport(e)[g.FindNode(node)].device->type());
}

TEST(Apu, ReluRunsThereAndTheRestOnTheHost) {
  auto session =
      Make(Placeholder("x", "dim { size: 3 }") + Node("n", "Neg", {"x"}) +
           Node("r", "Relu", {"n"}) + Node("m", "Neg", {"r"}) + Node("r2", "Relu", {"m"}) +
           Node("r3", "Relu", {"n"}) + Node("sum", "AddV2", {"r", "r3"}));
  auto e = session->Prepare({"x"}, {"sum", "r2", "r"});
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(DeviceOf(**e, "r"), "APU");
  EXPECT_EQ(DeviceOf(**e, "m"), "CPU");
  for (int i = 0; i < 20; ++i) {
    const auto out = session->Run(*e, {Floats({-1, 2, -3}, {3})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(2, 0, 6));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(0, 0, 0));
    EXPECT_THAT(Values((*out)[2]), ElementsAre(1, 0, 3));
  }
  // n goes there once for two readers; r comes back once for two.
  EXPECT_EQ(CopiesOf(**e).size(), 5u) << PlanText(**e);
}

TEST(Apu, ConstantsAndFeedsAndChains) {
  std::string text = Placeholder("x", "dim { size: -1 }") +
                     Const("c", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: [-1, 5]") +
                     Node("rc", "Relu", {"c"}) + Node("r0", "Relu", {"x"});
  for (int i = 1; i < 30; ++i)
    text += Node(absl::StrCat("r", i), "Relu", {absl::StrCat("r", i - 1)});
  auto session = Make(text + Node("i", "Identity", {"r29"}) + Node("sum", "AddV2", {"i", "rc"}));
  const auto out = session->Run({{"x", Floats({7, -7}, {2})}}, {"sum", "i", "rc"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(7, 5));
  EXPECT_THAT(Values((*out)[1]), ElementsAre(7, 0));
  EXPECT_THAT(Values((*out)[2]), ElementsAre(0, 5));
  const auto empty = session->Run({{"x", Floats({}, {0})}}, {"i"});
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ((*empty)[0].shape(), Shape({0}));
}

TEST(Apu, TensorsOfAnyRank) {
  for (const int rank : {0, 127, 128, 200, kMaxRank}) {
    std::string dims;
    for (int i = 0; i < rank; ++i) dims += "dim { size: 1 } ";
    auto session =
        Make(Placeholder("x", dims) + Node("r0", "Relu", {"x"}) + Node("r1", "Relu", {"r0"}));
    const Shape shape(std::vector<int64_t>(rank, 1));
    const auto out = session->Run({{"x", Floats({3}, shape)}}, {"r1"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(3));
    EXPECT_TRUE((*out)[0].shape() == shape);
  }
}

// 60 of them would not fit into the device's 806 MB.
TEST(Apu, WhatOnlyAPlanKnowsLeavesTheDeviceWithIt) {
  auto session =
      Make(Placeholder("x", "dim { size: -1 }") +
               Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
               Node("shape", "Shape", {"x"}, "attr { key: 'out_type' value { type: DT_INT32 } }") +
               Const("size", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 4194304") +
               Node("sizes", "Minimum", {"shape", "size"}, "", "DT_INT32") +
               Node("dims", "Maximum", {"sizes", "size"}, "", "DT_INT32") +
               Node("ones", "Fill", {"dims", "one"}) + Node("r", "Relu", {"ones"}),
           0, 1);
  auto e = session->Prepare({"x"}, {"r"});
  ASSERT_TRUE(e.ok()) << e.status();
  for (int64_t n = 0; n < 60; ++n) {
    const auto out = session->Run(*e, {Floats(std::vector<float>(n), Shape({n}))});
    ASSERT_TRUE(out.ok()) << n << ": " << out.status();
    EXPECT_EQ((*out)[0].num_elements(), 4194304);
  }
  EXPECT_EQ(DeviceOf(**e, "r"), "APU");
  EXPECT_EQ(PlanCacheOf(**e).builds, 60);
}

TEST(Apu, BehindASwitch) {
  auto session = Make(Placeholder("x", "dim { size: 2 }") + Placeholder("p", "", "DT_BOOL") +
                      Node("s", "Switch", {"x", "p"}) + Node("no", "Neg", {"s"}) +
                      Node("yes", "Relu", {"s:1"}) +
                      Node("m", "Merge", {"no", "yes"}, "attr { key: 'N' value { i: 2 } }") +
                      Node("r", "Relu", {"m"}));
  for (bool p : {true, false, true}) {
    const auto out = session->Run({{"x", Floats({-4, 4}, {2})}, {"p", Bool(p)}}, {"m", "r"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(Values((*out)[0])[1], p ? 4 : -4);
    EXPECT_EQ(Values((*out)[1])[0], p ? 0 : 4);
  }
}

TEST(Apu, ItsPassFusesAndTheAnswerStays) {
  const std::string text =
      Placeholder("x", "dim { size: 1 } dim { size: 2 }") +
      Const("b", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: [1, -9]") +
      Node("a", "BiasAdd", {"x", "b"}) + Node("y", "Relu", {"a"});
  auto session = Make(text, 1);
  auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto out = session->Run(*e, {Floats({3, 4}, {1, 2})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(4, 0));
  const Graph& g = OptimizedGraph(**e);
  EXPECT_NE(g.op_name(g.FindNode("y")), "Relu");
}

// The host waits for a long chain on the device. The run ends when the device has done what was
// queued, and the session goes on.
TEST(Apu, ARunThatWaitsForTheDeviceCanBeCancelled) {
  constexpr int kLength = 200;
  std::string text = Placeholder("x", "dim { size: 500000 }") + Node("r0", "Relu", {"x"});
  for (int i = 1; i < kLength; ++i)
    text += Node(absl::StrCat("r", i), "Relu", {absl::StrCat("r", i - 1)});
  auto session = Make(text + Node("y", "Neg", {absl::StrCat("r", kLength - 1)}));
  auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  const Tensor x = Floats(std::vector<float>(500000, 2), {500000});
  ASSERT_TRUE(session->Run(*e, {x}).ok());
  std::atomic<bool> cancelled{false};
  const RunLimits limits{.cancelled = &cancelled};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancelled.store(true);
  });
  const auto ended = session->Run(*e, {x}, nullptr, &limits);
  other.join();
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kCancelled) << ended.status();
  const auto out = session->Run(*e, {x});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Values((*out)[0])[499999], -2);
}

TEST(Apu, ManyThreadsShareItsStreams) {
  auto session =
      Make(Placeholder("x", "dim { size: -1 }") + Node("n", "Neg", {"x"}) +
           Node("r", "Relu", {"n"}) + Node("m", "Neg", {"r"}) + Node("y", "AddV2", {"m", "r"}));
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const int64_t n = 1 + (i + t) % 3;
        const auto out = session->Run(
            {{"x", Floats(std::vector<float>(n, static_cast<float>(-t)), Shape({n}))}}, {"y", "r"});
        if (!out.ok() || Values((*out)[0])[n - 1] != 0 || Values((*out)[1])[0] != t) ++failures;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace tenon
