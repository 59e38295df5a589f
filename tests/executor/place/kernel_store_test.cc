#include "executor/place/kernel_store.h"

#include <functional>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

class StoreDevice : public testing::BareDevice {
 public:
  std::string_view type() const override { return "STORE"; }
  std::string_view plugin() const override { return "kernel_store_test"; }
};

// What the next create_func does.
std::function<void()>& During() {
  static auto& during = *new std::function<void()>;
  return during;
}
int destroyed = 0;

class KernelStoreTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Relu";
    kernel->device_type = "STORE";
    kernel->plugin = "kernel_store_test";
    kernel->fns.create = [](TF_OpKernelConstruction*) -> void* {
      if (const auto during = std::exchange(During(), nullptr)) during();
      return &destroyed;
    };
    kernel->fns.compute = [](void*, TF_OpKernelContext*) {};
    kernel->fns.destroy = [](void*) { ++destroyed; };
    KernelRegistry::Global().Register(std::move(kernel));
  }
  static void TearDownTestSuite() { KernelRegistry::Global().RemovePlugin("kernel_store_test"); }

  KernelStoreTest() {
    store_.DescribeWith([] { return KernelSurroundings(); });
    destroyed = 0;
  }
  PluginKernel* Create(std::string_view node) {
    const auto kernel = store_.Create(graph_, graph_.FindNode(node), &device_);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return kernel.value_or(nullptr);
  }

  const Graph graph_ =
      testing::Parse(testing::Placeholder("x", "") + testing::Node("a", "Relu", {"x"}) +
                     testing::Node("b", "Relu", {"x"}));
  StoreDevice device_;
  KernelStore store_{KernelRegistry::Global()};
};

TEST_F(KernelStoreTest, ANodeHasOneKernel) {
  PluginKernel* const a = Create("a");
  EXPECT_EQ(Create("a"), a);
  EXPECT_NE(Create("b"), a);
  EXPECT_EQ(destroyed, 0);
}

TEST_F(KernelStoreTest, OthersMayUseItWhileAPluginCreates) {
  absl::Notification found;
  std::thread other;
  During() = [&] {
    other = std::thread([&] {
      EXPECT_TRUE(store_.Find(graph_, graph_.FindNode("a"), device_).ok());
      Create("b");
      found.Notify();
    });
    EXPECT_TRUE(found.WaitForNotificationWithTimeout(absl::Seconds(20)));
  };
  Create("a");
  other.join();
}

TEST_F(KernelStoreTest, OfTwoThatAreCreatedAtATimeOneStays) {
  PluginKernel* within = nullptr;
  During() = [&] { std::thread([&] { within = Create("a"); }).join(); };
  EXPECT_EQ(Create("a"), within);
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace tenon
