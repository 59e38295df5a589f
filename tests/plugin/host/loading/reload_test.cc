// Plug-ins that go and come back: all that they brought goes with them, nothing leaks, and what is
// in use stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "graph/ir/graph.h"
#include "graph/op_defs/op_registry.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/loader.h"
#include "plugin/host/loading/profiler.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"
#include "tests/support/paths.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

using testing::Computed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RunKernel;
using testing::S;
using testing::Scalar;
using testing::TestNode;
using testing::TestPlugin;

// A plug-in with everything, and what it is to break at.
class ReloadTest : public ::testing::Test {
 protected:
  ~ReloadTest() override {
    Break("", "");
    ShutdownPlugins();
  }
  static void Break(const char* at, const char* way) {
    setenv("BOARD_AT", at, 1);
    setenv("BOARD_WAY", way, 1);
  }
  // The op, kernels, device, pass and profiler of the board.
  static bool IsThere() {
    const auto devices = PluginDevices();
    const bool there = OpRegistry::Global().Find("BoardOp") != nullptr;
    EXPECT_EQ(KernelRegistry::Global().List("BoardOp").size(), there ? 2u : 0u);
    EXPECT_EQ(devices.ok() ? devices->size() : 0, there ? 1u : 0u);
    EXPECT_EQ(PluginProfilers().size(), there ? 1u : 0u);
    Graph graph;
    EXPECT_TRUE(graph.AddNode("n", "NoOp", {}, {}, "/device:BOARD:0").ok());
    EXPECT_EQ(PluginOptimizersFor(graph).size(), there ? 1u : 0u);
    return there;
  }
  const std::string path_ = CanonicalPath(TestPlugin("board"));
};

// How often the file is mapped into this process.
int MappingsOf(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with(path) ? 1 : 0;
  return count;
}

TEST_F(ReloadTest, UnloadsAndLoadsAgain) {
  const std::string path = CanonicalPath(TestPlugin("good_device"));
  EXPECT_EQ(UnloadPlugin(path).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(LoadPlugin(path).ok());
  ASSERT_EQ(PluginDevices()->size(), 2u);
  EXPECT_GT(MappingsOf(path), 0);
  ASSERT_TRUE(UnloadPlugin(path).ok());
  EXPECT_EQ(MappingsOf(path), 0);
  EXPECT_EQ(OpRegistry::Global().Find("Op_good_device"), nullptr);
  EXPECT_THAT(*PluginDevices(), IsEmpty());
  EXPECT_THAT(Plugins(), IsEmpty());
  const auto again = LoadPlugin(path);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->resident);
  EXPECT_NE(OpRegistry::Global().Find("Op_good_device"), nullptr);
  EXPECT_EQ(PluginDevices()->size(), 2u);
}

TEST_F(ReloadTest, StaysWhileItsKernelsAreInUse) {
  const std::string path = TestPlugin("good_cpu");
  ASSERT_TRUE(LoadPlugin(path).ok());
  {
    const auto kernel = TestNode("Op_good_cpu", {}).CreateKernel();
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const absl::Status status = UnloadPlugin(path);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), EndsWith("cannot be unloaded: its kernels are in use"));
  }
  EXPECT_TRUE(UnloadPlugin(path).ok());
}

TEST_F(ReloadTest, StaysWhileATensorIsItsOwn) {
  setenv("ROGUE", "tensor_of_its_own", 1);  // an output that the plug-in's own function frees
  const std::string path = TestPlugin("rogue");
  ASSERT_TRUE(LoadPlugin(path).ok());
  Computed run;
  {
    const auto kernel = TestNode("RogueOp", {}).CreateKernel();
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    run = RunKernel(**kernel, {}, 1);
    ASSERT_TRUE(run.status.ok()) << run.status;
  }
  EXPECT_THAT(UnloadPlugin(path).message(),
              EndsWith("its devices or tensors of its own are in use"));
  run.outputs.clear();
  unsetenv("ROGUE");
  EXPECT_TRUE(UnloadPlugin(path).ok());
}

TEST_F(ReloadTest, StaysWhileItsOpsAreThoseOfALibrary) {
  S status;
  const std::string path = TestPlugin("ops_in_constructor");
  TF_DeleteLibraryHandle(TF_LoadLibrary(path.c_str(), status));
  ASSERT_TRUE(LoadPlugin(path).ok());
  EXPECT_THAT(UnloadPlugin(path).message(), HasSubstr("its ops, which TF_LoadLibrary asked for,"));
  EXPECT_NE(OpRegistry::Global().Find("ConstructorOp_ops_in_constructor"), nullptr);
}

// Whatever fails last, nothing of it stays.
TEST_F(ReloadTest, WhatFailsHalfwayLeavesNothing) {
  ASSERT_TRUE(LoadPlugin(path_).ok());
  EXPECT_TRUE(IsThere());
  ASSERT_TRUE(UnloadPlugin(path_).ok());
  EXPECT_FALSE(IsThere());
  const std::pair<const char*, const char*> breaks[] = {
      {"SE_InitPlugin", "fail"},     {"SE_InitPlugin", "throw"},
      {"create_device_fns", "fail"}, {"create_stream_executor", "throw"},
      {"TF_InitKernel", "throw"},    {"TF_InitGraph", "fail"},
      {"TF_InitGraph", "throw"},     {"TF_InitProfiler", "fail"},
      {"TF_InitProfiler", "throw"},
  };
  for (const auto& [at, way] : breaks) {
    Break(at, way);
    const absl::Status status = LoadPlugin(path_).status();
    EXPECT_THAT(status.message(), HasSubstr(at));
    EXPECT_THAT(status.message(), HasSubstr("as asked"));
    EXPECT_FALSE(IsThere()) << at;
    // Forgotten, it may try again.
    Break("", "");
    EXPECT_EQ(LoadPlugin(path_).status(), status);
    ASSERT_TRUE(UnloadPlugin(path_).ok());
    EXPECT_EQ(MappingsOf(path_), 0) << at;
    ASSERT_TRUE(LoadPlugin(path_).ok());
    EXPECT_TRUE(IsThere()) << at;
    ASSERT_TRUE(UnloadPlugin(path_).ok());
  }
}

TEST_F(ReloadTest, ADeviceThatFailsTakesTheRestWithIt) {
  for (const char* at : {"create_device", "create_stream", "device_memory_usage"}) {
    Break(at, "throw");
    ASSERT_TRUE(LoadPlugin(path_).ok());
    EXPECT_NE(OpRegistry::Global().Find("BoardOp"), nullptr);
    EXPECT_THAT(PluginDevices().status().message(), HasSubstr("as asked")) << at;
    EXPECT_FALSE(IsThere()) << at;
    EXPECT_FALSE(LoadPlugin(path_).ok());
    ASSERT_TRUE(UnloadPlugin(path_).ok());
  }
}

// Another load takes an op's name between its registration and its publication.
TEST_F(ReloadTest, AnOpThatCannotBePublishedTakesTheRestWithIt) {
  setenv("BOARD_TAKEN", TestPlugin("takes_op").c_str(), 1);
  const absl::Status status = LoadPlugin(path_).status();
  unsetenv("BOARD_TAKEN");
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(status.message(), HasSubstr("Op with name ConstructorOp_takes_op"));
  EXPECT_FALSE(IsThere());
  EXPECT_NE(OpRegistry::Global().Find("ConstructorOp_takes_op"), nullptr);  // the other one's
}

TEST_F(ReloadTest, WhatAnotherPluginBroughtStays) {
  const std::string other = CanonicalPath(TestPlugin("good_device"));
  ASSERT_TRUE(LoadPlugin(other).ok());
  const std::vector<Device*> devices = *PluginDevices();
  ASSERT_EQ(devices.size(), 2u);
  ASSERT_TRUE(LoadPlugin(path_).ok());
  EXPECT_EQ(PluginDevices()->size(), 3u);
  for (const PluginInfo& info : Plugins()) {
    EXPECT_EQ(KernelRegistry::Global().ListOf(info.path).size(), static_cast<size_t>(info.kernels));
    EXPECT_THAT(info.ops, Contains(info.path == path_ ? "BoardOp" : "Op_good_device"));
    EXPECT_EQ(info.pass, info.path == path_);
    EXPECT_EQ(info.profiler, info.path == path_);
  }
  ASSERT_TRUE(UnloadPlugin(path_).ok());
  EXPECT_EQ(OpRegistry::Global().Find("BoardOp"), nullptr);
  EXPECT_THAT(KernelRegistry::Global().ListOf(path_), IsEmpty());
  EXPECT_EQ(*PluginDevices(), devices);
  ASSERT_EQ(Plugins().size(), 1u);
  EXPECT_EQ(Plugins()[0].path, other);
  EXPECT_THAT(Plugins()[0].ops, ElementsAre("Op_good_device"));
  EXPECT_NE(OpRegistry::Global().Find("Op_good_device"), nullptr);
  EXPECT_EQ(KernelRegistry::Global().ListOf(other).size(), 1u);
}

TEST_F(ReloadTest, UnloadsByAnotherNameOfItsFile) {
  const std::string link = path_ + ".link";
  std::remove(link.c_str());
  ASSERT_EQ(::link(path_.c_str(), link.c_str()), 0);
  ASSERT_TRUE(LoadPlugin(path_).ok());
  EXPECT_TRUE(IsThere());
  EXPECT_TRUE(UnloadPlugin(link).ok());
  std::remove(link.c_str());
  EXPECT_FALSE(IsThere());
  EXPECT_EQ(MappingsOf(path_), 0);
}

// An op library that did not open holds nothing.
TEST_F(ReloadTest, AnOpLibraryThatFailedKeepsNoPlugin) {
  const std::string path = "/nonexistent/libx.so";
  EXPECT_EQ(LoadOpLibrary(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadOpLibrary(path).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Plugins(), IsEmpty());
  EXPECT_FALSE(LoadPlugin(path).ok());
  EXPECT_EQ(Plugins().size(), 1u);
  EXPECT_TRUE(UnloadPlugin(path).ok());
  EXPECT_THAT(Plugins(), IsEmpty());
}

// A tensor that was fetched may lie in host memory of the plug-in, whose function frees it.
TEST_F(ReloadTest, HostMemoryKeepsItsLibraryMapped) {
  const std::string path = CanonicalPath(testing::Built("lib/plugins/libapu.so"));
  ASSERT_TRUE(LoadPlugin(path).ok());
  BufferRef memory = (*PluginDevices())[0]->AllocateHost(1 << 20);
  ASSERT_TRUE(memory);
  ASSERT_TRUE(UnloadPlugin(path).ok());
  EXPECT_GT(MappingsOf(path), 0);
  std::memset(memory->data(), 7, memory->bytes());
  memory = BufferRef();
  ASSERT_TRUE(LoadPlugin(path).ok());
  EXPECT_EQ(PluginDevices()->size(), 1u);
  ASSERT_TRUE(UnloadPlugin(path).ok());
}

// Loaded and used `times` times, and failed as often.
void Reload(const std::string& path, const TestNode& node, int times) {
  for (int i = 0; i < times; ++i) {
    ASSERT_TRUE(LoadPlugin(path).ok());
    ASSERT_EQ(PluginDevices()->size(), 1u);
    {
      const auto kernel = node.CreateKernel();
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      ASSERT_TRUE(RunKernel(**kernel, {Scalar(DataType::kFloat, 1.0f)}, 1).status.ok());
    }
    ASSERT_TRUE(UnloadPlugin(path).ok());
    setenv("BOARD_AT", "TF_InitProfiler", 1);
    setenv("BOARD_WAY", "fail", 1);
    ASSERT_FALSE(LoadPlugin(path).ok());
    ASSERT_TRUE(UnloadPlugin(path).ok());
    unsetenv("BOARD_AT");
  }
}

TEST_F(ReloadTest, AThousandReloadsLeakNothing) {
  ASSERT_TRUE(LoadPlugin(path_).ok());
  const TestNode node("BoardOp", {});
  ASSERT_TRUE(UnloadPlugin(path_).ok());
  Reload(path_, node, 20);
  const size_t allocated = mallinfo2().uordblks;  // 0 where a sanitizer stands for malloc
  [[maybe_unused]] const int64_t resident = testing::ResidentBytes();
  Reload(path_, node, 1000);
  EXPECT_LT(mallinfo2().uordblks, allocated + (16 << 10));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(testing::ResidentBytes(), resident + (2 << 20));
#endif
  EXPECT_EQ(MappingsOf(path_), 0);
}

TEST_F(ReloadTest, ThreadsMayLoadListAndUnloadAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(LoadPlugin(path_).ok());
        EXPECT_LE(Plugins().size(), 1u);
        EXPECT_TRUE(PluginDevices().ok());
        const absl::Status status = UnloadPlugin(path_);
        EXPECT_TRUE(status.ok() || absl::IsNotFound(status) || absl::IsFailedPrecondition(status))
            << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  UnloadPlugin(path_).IgnoreError();  // the last word may have been a load's
  EXPECT_FALSE(IsThere());
}

TEST_F(ReloadTest, ResidentPluginsGetBackWhatTheirConstructorsRegistered) {
  const std::string path = CanonicalPath(TestPlugin("resident"));
  for (int i = 0; i < 3; ++i) {
    const auto info = LoadPlugin(path);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_TRUE(info->resident);
    EXPECT_THAT(info->ops, ElementsAre("ConstructorOp_resident", "Op_resident"));
    EXPECT_EQ(info->kernels, 1);
    EXPECT_NE(OpRegistry::Global().Find("ConstructorOp_resident"), nullptr);
    ASSERT_TRUE(UnloadPlugin(path).ok());
    EXPECT_GT(MappingsOf(path), 0);
    EXPECT_EQ(OpRegistry::Global().Find("ConstructorOp_resident"), nullptr);
    EXPECT_EQ(OpRegistry::Global().Find("Op_resident"), nullptr);
    EXPECT_THAT(KernelRegistry::Global().List("Op_resident"), IsEmpty());
  }
}

// A library that comes with several plug-ins may be kept by another of them, and then constructs
// nothing again.
TEST_F(ReloadTest, PluginsGetBackWhatALibraryThatCameWithThemRegistered) {
  const std::string path = TestPlugin("with_registrar");
  for (int i = 0; i < 3; ++i) {
    const auto info = LoadPlugin(path);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_THAT(info->ops, ElementsAre("ConstructorOp_registrar"));
    EXPECT_TRUE(info->resident);
    ASSERT_TRUE(UnloadPlugin(path).ok());
    EXPECT_EQ(OpRegistry::Global().Find("ConstructorOp_registrar"), nullptr);
  }
}

}  // namespace
}  // namespace tenon
