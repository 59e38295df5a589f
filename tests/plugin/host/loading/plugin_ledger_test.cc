// What a ledger says is in the registries is there, and what it drops is exactly that.
#include "plugin/host/loading/plugin_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/op_defs/op_registry.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/loading/profiler.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Ledgers of plug-ins without a library.
class PluginLedgerTest : public ::testing::Test {
 protected:
  ~PluginLedgerTest() override {
    for (PluginLedger* ledger : {&a_, &b_}) DropAll(*ledger);
  }
  static OpDef Op(const std::string& name) {
    OpDefBuilder builder(name);
    EXPECT_TRUE(builder.AddOutput("y: float").ok());
    return *std::move(builder).Finish();
  }
  // An op, and a kernel of it for each device type.
  static absl::Status Stage(PluginLedger& ledger, const std::string& op,
                            const std::vector<std::string>& device_types) {
    const LoadScope scope(ledger);
    for (const std::string& type : device_types) {
      auto kernel = std::make_shared<KernelDef>();
      kernel->op = op;
      kernel->device_type = type;
      RegisterKernel(std::move(kernel));
    }
    return RegisterOp(Op(op));
  }
  static bool HasOp(std::string_view name) { return OpRegistry::Global().Find(name) != nullptr; }
  static size_t NumKernels(std::string_view op) { return KernelRegistry::Global().List(op).size(); }

  PluginLedger a_{"a.so"}, b_{"b.so"};
};

TEST_F(PluginLedgerTest, WhatIsStagedIsInNoRegistry) {
  ASSERT_TRUE(Stage(a_, "LedgerOp", {"CPU"}).ok());
  EXPECT_FALSE(HasOp("LedgerOp"));
  EXPECT_EQ(NumKernels("LedgerOp"), 0u);
  DropAll(a_);
  ASSERT_TRUE(Publish(a_, {}).ok());
  EXPECT_FALSE(HasOp("LedgerOp"));
}

TEST_F(PluginLedgerTest, TheLedgerSaysWhatIsPublished) {
  ASSERT_TRUE(Stage(a_, "LedgerOp", {"CPU", "LEDGER"}).ok());
  PublishOptions options;
  options.device_types = {"LEDGER"};
  options.serve_as = "LEDGER@a";
  options.priority = 3;
  ASSERT_TRUE(Publish(a_, options).ok());
  EXPECT_THAT(a_.info.ops, ElementsAre("LedgerOp"));
  EXPECT_EQ(a_.info.kernels, 2);
  const auto kernels = KernelRegistry::Global().ListOf("a.so");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]->device_type, "CPU");
  EXPECT_FALSE(kernels[0]->own_devices_only);
  EXPECT_EQ(kernels[1]->device_type, "LEDGER@a");
  EXPECT_TRUE(kernels[1]->own_devices_only);
  EXPECT_EQ(kernels[1]->plugin_priority, 3);
}

TEST_F(PluginLedgerTest, LedgersDoNotMix) {
  ASSERT_TRUE(Stage(a_, "LedgerOpA", {"CPU"}).ok());
  ASSERT_TRUE(Stage(b_, "LedgerOpB", {"CPU"}).ok());
  {
    // Kernels for an op of another plug-in, in a scope within its own.
    const LoadScope outer(b_);
    ASSERT_TRUE(Stage(a_, "LedgerOpC", {"CPU"}).ok());
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "LedgerOpA";
    kernel->device_type = "LEDGER";
    RegisterKernel(std::move(kernel));
  }
  ASSERT_TRUE(Publish(a_, {}).ok());
  ASSERT_TRUE(Publish(b_, {}).ok());
  EXPECT_THAT(a_.info.ops, ElementsAre("LedgerOpA", "LedgerOpC"));
  EXPECT_THAT(b_.info.ops, ElementsAre("LedgerOpB"));
  EXPECT_EQ(NumKernels("LedgerOpA"), 2u);
  EXPECT_FALSE(DropAll(a_));
  EXPECT_FALSE(HasOp("LedgerOpA"));
  EXPECT_FALSE(HasOp("LedgerOpC"));
  ASSERT_EQ(NumKernels("LedgerOpA"), 1u);
  EXPECT_EQ(KernelRegistry::Global().List("LedgerOpA")[0]->plugin, "b.so");
  EXPECT_TRUE(HasOp("LedgerOpB"));
  EXPECT_EQ(NumKernels("LedgerOpB"), 1u);
  EXPECT_THAT(a_.info.ops, IsEmpty());
  EXPECT_EQ(a_.info.kernels, 0);
}

// Another load takes an op's name between its registration and its publication.
TEST_F(PluginLedgerTest, AnOpThatIsRefusedStaysItsOwners) {
  ASSERT_TRUE(Stage(a_, "LedgerOpFirst", {"CPU"}).ok());
  ASSERT_TRUE(Stage(a_, "LedgerOpTaken", {"CPU"}).ok());
  ASSERT_TRUE(Stage(b_, "LedgerOpTaken", {"LEDGER"}).ok());
  ASSERT_TRUE(Publish(b_, {}).ok());
  EXPECT_EQ(Publish(a_, {}).message(), "Op with name LedgerOpTaken");
  EXPECT_TRUE(HasOp("LedgerOpFirst"));
  EXPECT_FALSE(DropAll(a_));
  EXPECT_FALSE(HasOp("LedgerOpFirst"));
  EXPECT_TRUE(HasOp("LedgerOpTaken"));
  EXPECT_EQ(NumKernels("LedgerOpTaken"), 1u);
  EXPECT_EQ(NumKernels("LedgerOpFirst"), 0u);
}

TEST_F(PluginLedgerTest, TellsOfAKernelInUse) {
  ASSERT_TRUE(Stage(a_, "LedgerOp", {"CPU"}).ok());
  ASSERT_TRUE(Publish(a_, {}).ok());
  EXPECT_EQ(UserOf(a_), "");
  const auto held = KernelRegistry::Global().ListOf("a.so");
  EXPECT_EQ(UserOf(a_), "its kernels are");
  EXPECT_TRUE(DropAll(a_));
  EXPECT_EQ(UserOf(a_), "");
}

TEST_F(PluginLedgerTest, ScopesNest) {
  EXPECT_EQ(LoadScope::Current(), nullptr);
  const LoadScope outer(a_);
  {
    const LoadScope inner(b_);
    EXPECT_EQ(LoadScope::Current(), &b_);
    EXPECT_TRUE(LoadScope::IsOf("a.so"));
    NoteRefused("op 'X'", absl::AlreadyExistsError("why"));
  }
  EXPECT_EQ(LoadScope::Current(), &a_);
  EXPECT_FALSE(LoadScope::IsOf("b.so"));
  EXPECT_THAT(a_.staged.refused, IsEmpty());
  EXPECT_THAT(b_.staged.refused, ElementsAre("op 'X' was not registered: ALREADY_EXISTS: why"));
}

// A library that stays mapped registers once, and may be loaded with other options.
TEST_F(PluginLedgerTest, APublishedKernelIsACopy) {
  ASSERT_TRUE(Stage(a_, "LedgerOp", {"LEDGER"}).ok());
  a_.library.registrations = a_.staged;
  PublishOptions options;
  options.device_types = {"LEDGER"};
  options.serve_as = "LEDGER@a";
  ASSERT_TRUE(Publish(a_, options).ok());
  DropAll(a_);
  a_.staged = a_.library.registrations;
  ASSERT_TRUE(Publish(a_, {}).ok());
  EXPECT_TRUE(HasOp("LedgerOp"));
  ASSERT_EQ(NumKernels("LedgerOp"), 1u);
  EXPECT_EQ(KernelRegistry::Global().List("LedgerOp")[0]->device_type, "LEDGER");
}

}  // namespace
}  // namespace tenon
