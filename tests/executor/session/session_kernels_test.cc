// Sessions with kernels of the test's own, which fail or wait.
#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>

#include "absl/synchronization/notification.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_registry.h"
#include "plugin/kernels/kernel_spec.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

using testing::Const;
using testing::Floats;
using testing::MakeSession;
using testing::Node;
using testing::Placeholder;

absl::Status ThrowsInRun(const void*, const StepArgs&) { throw std::bad_alloc(); }

// Kernels under a label of their own, for which there is never enough memory.
TEST(Session, MemoryThatRunsOutInAKernelIsAnError) {
  static const CpuKernelSpec in_prepare{
      "Neg", {}, [](Prepare&) -> absl::Status { throw std::bad_alloc(); }};
  static const CpuKernelSpec too_long{
      "Neg", {}, [](Prepare&) -> absl::Status { throw std::length_error("vector"); }};
  static const CpuKernelSpec in_run{"Neg", {}, [](Prepare& p) {
                                      p.set_output_shape(0, p.input_shape(0));
                                      p.set_run(ThrowsInRun);
                                      return absl::OkStatus();
                                    }};
  const std::pair<const char*, const CpuKernelSpec*> kernels[] = {
      {"in_prepare", &in_prepare}, {"too_long", &too_long}, {"in_run", &in_run}};
  for (const auto& [label, spec] : kernels) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Neg";
    kernel->device_type = "CPU";
    kernel->label = label;
    kernel->plugin = "session_kernels_test";
    kernel->cpu = spec;
    KernelRegistry::Global().Register(std::move(kernel));
    const std::string attr = absl::StrCat("attr { key: '_kernel' value { s: '", label, "' } }");
    // With a shape that is known when the plan is made, one that only the run tells, and constants.
    auto session = MakeSession(
        Placeholder("x", "dim { size: -1 }") + Node("a", "Neg", {"x"}, attr) +
            Node("u", "Unique", {"x"}) + Node("b", "Neg", {"u"}, attr) +
            Const("c", "DT_FLOAT", "tensor_shape {} float_val: 2") + Node("d", "Neg", {"c"}, attr),
        /*opt_level=*/1);
    for (const char* fetch : {"a", "b", "d"}) {
      const auto out = session->Run({{"x", Floats({1}, {1})}}, {fetch});
      EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted) << out.status();
      EXPECT_THAT(std::string(out.status().message()),
                  HasSubstr(absl::StrCat("node '", fetch, "' (Neg)")));
    }
  }
  KernelRegistry::Global().RemovePlugin("session_kernels_test");
}

// Of shapes with one element prepares only when another shape has been prepared meanwhile.
struct Preparing {
  absl::Notification begun, another_is_made;
  std::atomic<bool> waited_in_vain{false};
};

TEST(Session, ARunDoesNotWaitForThePreparationOfOtherShapes) {
  static auto* const preparing = new Preparing;
  static const CpuKernelSpec waits{
      "Neg", {}, [](Prepare& p) {
        p.set_output_shape(0, p.input_shape(0));
        p.set_run([](const void*, const StepArgs&) { return absl::OkStatus(); });
        if (p.input_shape(0).num_elements() == 1) {
          preparing->begun.Notify();
          preparing->waited_in_vain =
              !preparing->another_is_made.WaitForNotificationWithTimeout(absl::Seconds(20));
        }
        return absl::OkStatus();
      }};
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = "Neg";
  kernel->device_type = "CPU";
  kernel->label = "waits";
  kernel->plugin = "session_kernels_test";
  kernel->cpu = &waits;
  KernelRegistry::Global().Register(std::move(kernel));
  // What is unique only the run tells, so both runs come to one step of one plan.
  auto session =
      MakeSession(Placeholder("x", "dim { size: 2 }") + Node("u", "Unique", {"x"}) +
                  Node("n", "Neg", {"u"}, "attr { key: '_kernel' value { s: 'waits' } }"));
  const auto executable = session->Prepare({"x"}, {"n"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::thread one([&] { EXPECT_TRUE(session->Run(*executable, {Floats({1, 1}, {2})}).ok()); });
  preparing->begun.WaitForNotification();
  const auto two = session->Run(*executable, {Floats({1, 2}, {2})});
  preparing->another_is_made.Notify();
  one.join();
  EXPECT_TRUE(two.ok()) << two.status();
  EXPECT_FALSE(preparing->waited_in_vain);
  EXPECT_EQ(PlanCacheOf(**executable).plans, 1);
  KernelRegistry::Global().RemovePlugin("session_kernels_test");
}

}  // namespace
}  // namespace tenon
