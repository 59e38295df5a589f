// Loading of real shared libraries: good plug-ins publish everything, broken ones nothing, and each
// error says who and where.
#include "plugin/host/loading/loader.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/host/link/shared_library.h"
#include "plugin/host/loading/profiler.h"
#include "plugin/kernels/kernel_registry.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"
#include "tests/support/paths.h"

namespace {
std::function<void(std::string)>* told = nullptr;
}  // namespace

// The plug-ins tells_… call this in TF_InitKernel, which runs once in a process.
extern "C" __attribute__((visibility("default"))) void TestIsTold(const char* kind) {
  if (told != nullptr) (*told)(kind);
}

namespace tenon {
namespace {

using testing::Computed;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RunKernel;
using testing::S;
using testing::Scalar;
using testing::TestNode;
using testing::TestPlugin;
using ::testing::UnorderedElementsAre;

class LoaderTest : public ::testing::Test {
 protected:
  ~LoaderTest() override { ShutdownPlugins(); }

  static void ExpectNothingOf(const std::string& kind) {
    EXPECT_EQ(OpRegistry::Global().Find("Op_" + kind), nullptr) << kind;
    EXPECT_THAT(KernelRegistry::Global().List("Op_" + kind), IsEmpty()) << kind;
  }
};

TEST_F(LoaderTest, MissingFile) {
  const absl::Status status = LoadPlugin("/nonexistent/libx.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/nonexistent/libx.so: cannot open shared object file"));
  ASSERT_EQ(Plugins().size(), 1u);
  EXPECT_EQ(Plugins()[0].status, status);
}

TEST_F(LoaderTest, PipesAreNotWaitedFor) {
  const std::string pipe = ::testing::TempDir() + "loader_test_pipe_" + std::to_string(getpid());
  std::remove(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(std::string(LoadPlugin(pipe).status().message()), HasSubstr("not a file"));
  std::remove(pipe.c_str());
}

TEST_F(LoaderTest, NotALibrary) {
  EXPECT_EQ(LoadPlugin("README.md").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(LoadPlugin("tests").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(LoaderTest, UndefinedSymbol) {
  const absl::Status status = LoadPlugin(TestPlugin("undefined_symbol")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("undefined symbol: TF_NoSuchFunctionAnywhere"));
}

TEST_F(LoaderTest, ALibraryThatIsNowhereIsToldWithWhoNeedsIt) {
  EXPECT_THAT(LoadPlugin(TestPlugin("needs_absent")).status().message(),
              EndsWith("libabsent.so: cannot open shared object file: No such file or directory "
                       "(libneeds_absent.so needs libabsent.so, which is nowhere)"));
  EXPECT_THAT(LoadPlugin(TestPlugin("with_gap")).status().message(),
              EndsWith("(libwith_gap.so needs libgap.so, which needs libabsent.so, which is "
                       "nowhere)"));
}

TEST_F(LoaderTest, SymbolsStayWithThePlugin) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("board")).ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "TF_InitProfiler"), nullptr);
}

TEST_F(LoaderTest, EachEntryPointMayBeMissing) {
  using Names = std::vector<std::string>;
  const std::pair<const char*, Names> cases[] = {
      {"null_memory", {"SE_InitPlugin"}},
      {"good_cpu", {"TF_InitKernel"}},
      {"pass_one", {"TF_InitGraph"}},
      {"good_profiler", {"TF_InitProfiler"}},
      {"next_pluggable", {"TFNPD_InitPlugin", "GetPjrtApi"}},
      {"board", {"SE_InitPlugin", "TF_InitKernel", "TF_InitGraph", "TF_InitProfiler"}},
  };
  for (const auto& [kind, entry_points] : cases) {
    const auto info = LoadPlugin(TestPlugin(kind));
    ASSERT_TRUE(info.ok()) << kind << ": " << info.status();
    EXPECT_EQ(info->entry_points, entry_points) << kind;
  }
}

TEST_F(LoaderTest, NoEntryPoints) {
  const auto info = LoadPlugin(TestPlugin("no_entry_points"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->entry_points, IsEmpty());
  ASSERT_EQ(info->warnings.size(), 1u);
  EXPECT_THAT(info->warnings[0], HasSubstr("no entry point"));
}

TEST_F(LoaderTest, KernelsRunOnTheCpu) {
  const auto info = LoadPlugin(TestPlugin("good_cpu"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->entry_points, ElementsAre("TF_InitKernel"));
  EXPECT_THAT(info->ops, ElementsAre("Op_good_cpu"));
  EXPECT_EQ(info->kernels, 1);
  EXPECT_EQ(info->device_type, "");
  auto kernel = TestNode("Op_good_cpu", {}).CreateKernel();
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  Computed run = RunKernel(**kernel, {Scalar(DataType::kFloat, 42.0f)}, 1);
  ASSERT_TRUE(run.status.ok()) << run.status;
  EXPECT_EQ(*run.outputs[0].flat<float>(), 42);
}

// They are of no use to any node, and nothing else says so.
TEST_F(LoaderTest, KernelsThatNoNodeCanUseAreTold) {
  const auto info = LoadPlugin(TestPlugin("doubtful"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->kernels, 11);
  EXPECT_THAT(
      Plugins().front().doubts,
      UnorderedElementsAre(
          "kernels 'Misspelt' and 'MisspeltToo' are for op 'Relru', which nobody registered (did "
          "you mean 'Relu'?)",
          "kernel 'Elsewhere' is for device type 'GPUX', which nobody brings (there are CPU, "
          "DEFAULT)",
          "kernel 'NoArgument' names 'y' in HostMemory, which is no argument of op Relu (those are "
          "'features', 'activations'): no node can use it",
          "kernel 'NoAttribute' constrains 'Tidx', which is no type attribute of op Abs (those are "
          "'T'): no node can use it",
          "kernel 'NoTypeAttribute' constrains 'transpose_a', which is no type attribute of op "
          "MatMul (those are 'T'): no node can use it",
          "kernels 'Second' and 'Third' fit nodes of op Neg on CPU that an earlier kernel of the "
          "same priority fits: such nodes fail"));
}

// What one library lacks the next may bring.
TEST_F(LoaderTest, DevicesOfOtherPluginsCountForKernels) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("neg_on_test")).ok());
  EXPECT_THAT(Plugins()[0].doubts, ElementsAre(HasSubstr("for device type 'TEST'")));
  ASSERT_TRUE(LoadPlugin(TestPlugin("null_memory")).ok());
  EXPECT_THAT(Plugins()[0].doubts, IsEmpty());
}

TEST_F(LoaderTest, SamePathIsOnePlugin) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("good_cpu")).ok());
  const std::string path = TestPlugin("good_cpu");
  const std::string detour =
      path.substr(0, path.rfind('/')) + "/../plugins" + path.substr(path.rfind('/'));
  const auto again = LoadPlugin(detour);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->kernels, 1);
  EXPECT_EQ(Plugins().size(), 1u);
  EXPECT_EQ(KernelRegistry::Global().List("Op_good_cpu").size(), 1u);
}

TEST_F(LoaderTest, ManyThreadsOneLoad) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] { EXPECT_TRUE(LoadPlugin(TestPlugin("good_cpu")).ok()); });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(KernelRegistry::Global().List("Op_good_cpu").size(), 1u);
}

TEST_F(LoaderTest, OpsFromStaticConstructors) {
  S status;
  TF_Library* library = TF_LoadLibrary(TestPlugin("ops_in_constructor").c_str(), status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_GT(TF_GetOpList(library).length, 0u);
  TF_DeleteLibraryHandle(library);
  EXPECT_NE(OpRegistry::Global().Find("ConstructorOp_ops_in_constructor"), nullptr);
  for (const char* nothing : {"", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(TF_LoadLibrary(nothing, status), nullptr);
    EXPECT_EQ(status.code(), TF_NOT_FOUND);
    EXPECT_EQ(TF_LoadPluggableDeviceLibrary(nothing, status), nullptr);
    EXPECT_EQ(status.code(), TF_NOT_FOUND);
  }
  EXPECT_EQ(TF_LoadLibrary("/nonexistent.so", status), nullptr);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
}

TEST_F(LoaderTest, EachThreadThatOpensALibraryGetsItsOps) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      EXPECT_THAT(*LoadOpLibrary(TestPlugin("ops_for_threads")),
                  ElementsAre("ConstructorOp_ops_for_threads"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LoaderTest, LibraryPluggableDeviceLoadFunctions) {
  S status;
  TF_Library* library = TF_LoadPluggableDeviceLibrary(TestPlugin("good_device").c_str(), status);
  ASSERT_EQ(status.code(), TF_OK) << status.message();
  TF_DeletePluggableDeviceLibraryHandle(library);
  EXPECT_EQ(TF_LoadPluggableDeviceLibrary(TestPlugin("init_error").c_str(), status), nullptr);
  EXPECT_EQ(status.code(), TF_RESOURCE_EXHAUSTED);
}

TEST_F(LoaderTest, LibraryNextPluggableDeviceLoadFunctions) {
  const auto info = LoadPlugin(TestPlugin("next_pluggable"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->entry_points, ElementsAre("TFNPD_InitPlugin", "GetPjrtApi"));
  EXPECT_THAT(info->warnings, ElementsAre(AllOf(HasSubstr("TFNPD_InitPlugin brings no devices"),
                                                HasSubstr("GetPjrtApi returns NULL"))));
  EXPECT_EQ(info->kind, DeviceKind::kNextPluggable);
  EXPECT_EQ(info->device_type, "OTHER");
}

// Kinds whose init fails: code, and what the message ends with.
TEST_F(LoaderTest, FailedInitLeavesNothing) {
  struct Case {
    const char* kind;
    absl::StatusCode code;
    const char* message;
  };
  const Case cases[] = {
      {"init_error", absl::StatusCode::kResourceExhausted, "SE_InitPlugin: from SE_InitPlugin"},
      {"init_throws", absl::StatusCode::kInternal, "threw an exception: from SE_InitPlugin"},
      {"missing_allocate", absl::StatusCode::kFailedPrecondition,
       "'allocate' field in SP_StreamExecutor must be set."},
      {"bad_type", absl::StatusCode::kFailedPrecondition,
       "Device name/type 'Test2' must match [A-Z][A-Z_]*."},
      {"kernels_throw", absl::StatusCode::kInternal, "threw an exception: from TF_InitKernel"},
      {"graph_error", absl::StatusCode::kUnauthenticated, "from TF_InitGraph"},
      {"profiler_incomplete", absl::StatusCode::kFailedPrecondition,
       "'start' field in TP_ProfilerFns must be set."},
  };
  for (const Case& c : cases) {
    const absl::Status status = LoadPlugin(TestPlugin(c.kind)).status();
    EXPECT_EQ(status.code(), c.code) << c.kind << ": " << status;
    EXPECT_THAT(status.message(), EndsWith(c.message)) << c.kind;
    EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("lib", c.kind, ".so"))) << c.kind;
    ExpectNothingOf(c.kind);
    // A second request does not run the code again.
    EXPECT_EQ(LoadPlugin(TestPlugin(c.kind)).status(), status);
  }
  const auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok());
  EXPECT_THAT(*devices, IsEmpty());
}

TEST_F(LoaderTest, OpNameThatIsTaken) {
  const auto info = LoadPlugin(TestPlugin("op_taken"));
  ASSERT_TRUE(info.ok()) << info.status();  // the plug-in was told and went on
  EXPECT_THAT(info->ops, ElementsAre("Op_op_taken"));
  EXPECT_EQ(info->kernels, 1);
  EXPECT_THAT(info->warnings,
              ElementsAre("op 'MatMul' was not registered: ALREADY_EXISTS: Op with name MatMul",
                          HasSubstr("op '' was not registered: INVALID_ARGUMENT: "),
                          "kernel 'no_compute' was not registered: INVALID_ARGUMENT: the kernel "
                          "'no_compute' of op 'MatMul' for CPU has no compute function"));
}

TEST_F(LoaderTest, WhatConstructorsFailToRegisterIsToldInEachLoad) {
  const std::string path = TestPlugin("resident");
  for (int i = 0; i < 2; ++i) {
    const auto info = LoadPlugin(path);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_THAT(info->warnings, ElementsAre(HasSubstr("op 'Relu' was not registered: "))) << i;
    ASSERT_TRUE(UnloadPlugin(path).ok());
  }
}

TEST_F(LoaderTest, APluginThatLoadsItselfIsToldNo) {
  const std::string path = CanonicalPath(TestPlugin("loads_itself"));
  setenv("TENON_TEST_NESTED", path.c_str(), 1);
  const auto info = LoadPlugin(path);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->ops, ElementsAre("Op_loads_itself"));
}

// Without an error for one of them both would wait for ever.
TEST_F(LoaderTest, TwoThatLoadEachOtherOnTwoThreadsDoNotWaitForEver) {
  auto* const both_load = new absl::Barrier(2);
  std::atomic<int> refused = 0;
  std::function<void(std::string)> load_other = [&](const std::string& kind) {
    if (both_load->Block()) delete both_load;
    const auto other = LoadPlugin(TestPlugin(kind == "tells_one" ? "tells_two" : "tells_one"));
    if (other.ok()) return;
    ++refused;
    EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(other.status().message(), HasSubstr(": its load waits for "));
  };
  told = &load_other;
  std::thread one([] { EXPECT_TRUE(LoadPlugin(TestPlugin("tells_one")).ok()); });
  std::thread two([] { EXPECT_TRUE(LoadPlugin(TestPlugin("tells_two")).ok()); });
  one.join();
  two.join();
  told = nullptr;
  EXPECT_EQ(refused, 1);
}

TEST_F(LoaderTest, AShutdownLeavesALoadInProgressAlone) {
  absl::Notification loading, go_on;
  std::function<void(std::string)> wait = [&](const std::string&) {
    loading.Notify();
    go_on.WaitForNotification();
  };
  told = &wait;
  std::thread load([] { EXPECT_TRUE(LoadPlugin(TestPlugin("tells_shutdown")).ok()); });
  loading.WaitForNotification();
  ShutdownPlugins();
  go_on.Notify();
  load.join();
  told = nullptr;
  ASSERT_EQ(Plugins().size(), 1u);
  EXPECT_THAT(Plugins()[0].ops, ElementsAre("Op_tells_shutdown"));
}

TEST_F(LoaderTest, NestedLoadBelongsToItself) {
  setenv("TENON_TEST_NESTED", TestPlugin("ops_in_constructor").c_str(), 1);
  const auto info = LoadPlugin(TestPlugin("nested_load"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->ops, ElementsAre("Op_nested_load"));
}

// A lock held while the plug-in's code runs would hold up the other thread for good.
TEST_F(LoaderTest, APluginMayWaitForAThreadThatLoads) {
  setenv("TENON_TEST_NESTED", TestPlugin("ops_in_constructor").c_str(), 1);
  setenv("TENON_TEST_OTHER_THREAD", "1", 1);
  const auto info = LoadPlugin(TestPlugin("waits_for_load"));
  unsetenv("TENON_TEST_OTHER_THREAD");
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->ops, ElementsAre("Op_waits_for_load"));
  EXPECT_NE(OpRegistry::Global().Find("ConstructorOp_ops_in_constructor"), nullptr);
}

TEST_F(LoaderTest, WhatADependencyRegistersIsThePlugins) {
  const auto info = LoadPlugin(TestPlugin("with_registrar"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->ops, ElementsAre("ConstructorOp_registrar"));
  ShutdownPlugins();
  EXPECT_EQ(OpRegistry::Global().Find("ConstructorOp_registrar"), nullptr);
}

TEST_F(LoaderTest, Devices) {
  const auto info = LoadPlugin(TestPlugin("good_device"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->device_type, "TEST");
  EXPECT_THAT(info->entry_points, ElementsAre("SE_InitPlugin", "TF_InitKernel"));
  auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[1]->full_name(), "/job:localhost/replica:0/task:0/device:TEST:1");
  EXPECT_EQ((*devices)[1]->priority(), 220);
  EXPECT_THAT(std::string((*devices)[0]->plugin()), EndsWith("libgood_device.so"));
  EXPECT_EQ(*PluginDevices(), *devices);
  EXPECT_EQ(Plugins()[0].device_count, 2);
  // A second plug-in of the type: its devices follow.
  const auto second = LoadPlugin(TestPlugin("null_memory"));
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ(second->warnings.size(), 1u);
  EXPECT_THAT(second->warnings[0], HasSubstr("ordinals"));
  devices = PluginDevices();
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ((*devices)[2]->ordinal(), 2);
  const auto memory = (*devices)[2]->Allocate(64);
  EXPECT_EQ(memory.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(LoaderTest, CreateDeviceFails) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("create_device_fails")).ok());
  const absl::Status status = PluginDevices().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("no such board (create_device of plug-in "));
  EXPECT_EQ(Plugins()[0].status, status);
  ASSERT_TRUE(LoadPlugin(TestPlugin("good_device")).ok());
  EXPECT_EQ(PluginDevices()->size(), 2u);
}

TEST_F(LoaderTest, EventError) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("event_error")).ok());
  Device* device = PluginDevices()->at(0);
  EventHandle event = *device->AcquireEvent();
  ASSERT_TRUE(device->RecordEvent(device->compute_stream(), event).ok());
  EXPECT_THAT(device->BlockUntilComplete(event, 5).message(),
              HasSubstr("Unexpected Event status: 1 (error) (get_event_status of plug-in "));
  device->ReleaseEvent(event);
}

TEST_F(LoaderTest, ComputeThrows) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("compute_throws")).ok());
  auto kernel = TestNode("Op_compute_throws", {}).CreateKernel();
  const absl::Status status = RunKernel(**kernel, {Scalar(DataType::kFloat, 1.0f)}, 1).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("compute_func of plug-in "));
  EXPECT_THAT(status.message(), HasSubstr("libcompute_throws.so threw an exception: from compute"));
  EXPECT_THAT(status.message(), HasSubstr("[[{{node n}}]]"));
}

TEST_F(LoaderTest, ProfilersAreKept) {
  const auto info = LoadPlugin(TestPlugin("good_profiler"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_TRUE(info->profiler);
  ASSERT_EQ(PluginProfilers().size(), 1u);
  EXPECT_EQ(PluginProfilers()[0]->device_type(), "CPU");
}

TEST_F(LoaderTest, ShutdownTakesEverythingOut) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("good_device")).ok());
  ASSERT_TRUE(PluginDevices().ok());
  ShutdownPlugins();
  ExpectNothingOf("good_device");
  EXPECT_THAT(Plugins(), IsEmpty());
  ASSERT_TRUE(LoadPlugin(TestPlugin("good_device")).ok());
  EXPECT_NE(OpRegistry::Global().Find("Op_good_device"), nullptr);
}

TEST_F(LoaderTest, PluginsBringTheirOwnProtobuf) {
  const auto info = LoadPlugin(TestPlugin("own_protobuf"));
  ASSERT_TRUE(info.ok()) << info.status();
  auto kernel = TestNode("Op_own_protobuf", {}).CreateKernel();
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_TRUE(RunKernel(**kernel, {Scalar(DataType::kFloat, 1.0f)}, 1).status.ok());
}

#ifndef __SANITIZE_ADDRESS__
TEST_F(LoaderTest, SanitizersThatAreNotThereAreRefusedBeforeTheyEndTheProcess) {
  const absl::Status status = LoadPlugin(TestPlugin("needs_sanitizer")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("libneeds_sanitizer.so needs libasan.so"));
  EXPECT_THAT(status.message(), HasSubstr("the runtime of the address sanitizer"));
  EXPECT_THAT(LoadPlugin(TestPlugin("with_sanitized")).status().message(),
              HasSubstr("libwith_sanitized.so needs libsanitized.so, which needs libasan.so"));
}
#endif

TEST_F(LoaderTest, ServesUnderAnotherDeviceType) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("good_device")).ok());
  PluginOptions options;
  options.device_type = "TEST@vendor";
  const auto info = LoadPlugin(TestPlugin("null_memory"), options);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->device_type, "TEST@vendor");
  EXPECT_THAT(info->warnings,
              ElementsAre(HasSubstr("platform name \"TESTPLATFORM\" is also that of ")));
  const auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 4u);
  EXPECT_EQ(devices->at(2)->short_name(), "/device:TEST@vendor:0");
  options.device_type = "CPU@vendor";
  EXPECT_THAT(LoadPlugin(TestPlugin("good_cpu"), options).status().message(),
              EndsWith("it brings no devices that could be named CPU@vendor"));
  ExpectNothingOf("good_cpu");
}

// --- The APU plug-in: real memory, real streams.

class ApuTest : public LoaderTest {
 protected:
  void SetUp() override {
    const auto info = LoadPlugin(testing::Built("lib/plugins/libapu.so"));
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->device_type, "APU");
    EXPECT_TRUE(info->pass);
    const auto devices = PluginDevices();
    ASSERT_TRUE(devices.ok()) << devices.status();
    device_ = devices->at(0);
  }
  Tensor OnDevice(const std::vector<float>& values) {
    const Tensor host = Tensor::Of<float>(DataType::kFloat, absl::MakeConstSpan(values),
                                          Shape({static_cast<int64_t>(values.size())}));
    const Tensor there(DataType::kFloat, host.shape(), *device_->Allocate(host.bytes()));
    // The memory may be an earlier run's, still being read.
    EXPECT_TRUE(
        device_->StreamWaitsForStream(device_->host_to_device_stream(), device_->compute_stream())
            .ok());
    EXPECT_TRUE(device_->CopyHostToDevice(device_->host_to_device_stream(), host, there).ok());
    WaitFor(device_->host_to_device_stream());
    return there;
  }
  std::vector<float> OnHost(const Tensor& there) {
    const Tensor host = *Tensor::Allocate(DataType::kFloat, there.shape());
    EXPECT_TRUE(
        device_->StreamWaitsForStream(device_->device_to_host_stream(), device_->compute_stream())
            .ok());
    EXPECT_TRUE(device_->CopyDeviceToHost(device_->device_to_host_stream(), there, host).ok());
    WaitFor(device_->device_to_host_stream());
    return {host.flat<float>(), host.flat<float>() + host.num_elements()};
  }
  void WaitFor(StreamHandle stream) {
    const auto event = device_->AcquireEvent();
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_TRUE(device_->RecordEvent(stream, *event).ok());
    EXPECT_TRUE(device_->BlockUntilComplete(*event, 10).ok());
    device_->ReleaseEvent(*event);
  }
  Device* device_ = nullptr;
};

TEST_F(ApuTest, DataMakesTheRoundTrip) {
  const std::vector<float> values = {1, -2, 3, -4};
  EXPECT_EQ(OnHost(OnDevice(values)), values);
}

TEST_F(ApuTest, ReluRunsOnItsStream) {
  auto kernel =
      TestNode("Relu", {{"T", attr::Type(DataType::kFloat)}}).CreateKernel("APU", device_);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  for (int i = 0; i < 20; ++i) {
    Computed run = RunKernel(**kernel, {OnDevice({-1, 2, -3, 4})}, 1);
    ASSERT_TRUE(run.status.ok()) << run.status;
    EXPECT_THAT(OnHost(run.outputs[0]), ElementsAre(0, 2, 0, 4));
  }
}

TEST_F(ApuTest, RunsFromSeveralThreads) {
  auto kernel =
      TestNode("Relu", {{"T", attr::Type(DataType::kFloat)}}).CreateKernel("APU", device_);
  ASSERT_TRUE(kernel.ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        Computed run = RunKernel(**kernel, {OnDevice({-1.0f * i, 1.0f * t})}, 1);
        ASSERT_TRUE(run.status.ok()) << run.status;
        EXPECT_THAT(OnHost(run.outputs[0]), ElementsAre(0, t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenon
