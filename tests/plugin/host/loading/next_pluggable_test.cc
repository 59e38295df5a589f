// Plug-ins with TFNPD_InitPlugin: what a wrong answer of it becomes, and what is read of a right
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/c_api/callback_scope.h"
#include "plugin/host/loading/loader.h"
#include "tests/support/paths.h"

namespace tenon::next_pluggable_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestPlugin;

class NextPluggableTest : public ::testing::Test {
 protected:
  ~NextPluggableTest() override { ShutdownPlugins(); }

  static PluginInfo InfoOf(const std::string& kind) {
    for (PluginInfo& info : Plugins()) {
      if (info.path.ends_with(kind + ".so")) return info;
    }
    return {};
  }
};

TEST_F(NextPluggableTest, RefusesAModuleWithoutTableOrType) {
  const std::pair<const char*, const char*> bad[] = {
      {"next_init_fails", "from TFNPD_InitPlugin"},
      {"next_null_api", "neither a table of functions nor an error"},
      {"next_no_type", "'device_type' field"}};
  for (const auto& [kind, says] : bad) {
    const auto info = LoadPlugin(TestPlugin(kind));
    ASSERT_FALSE(info.ok()) << kind;
    EXPECT_THAT(std::string(info.status().message()),
                AllOf(HasSubstr(says), HasSubstr("TFNPD_InitPlugin"), HasSubstr(kind)));
  }
  EXPECT_TRUE(PluginDevices()->empty());
}

TEST_F(NextPluggableTest, ReadsATableOfSizeZeroAndTheLastParameter) {
  const auto info = LoadPlugin(TestPlugin("next_size_zero"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->kind, DeviceKind::kNextPluggable);
  EXPECT_EQ(info->device_type, "FAULTY");
  ASSERT_TRUE(info->next.has_value());
  EXPECT_EQ(info->next->priority, 1000);
  EXPECT_TRUE(info->next->compiles_on_demand);
  ASSERT_TRUE(info->pjrt.has_value());
  EXPECT_EQ(info->pjrt->table.minor, 90);
  const auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ(devices->at(1)->short_name(), "/device:FAULTY:1");
  EXPECT_EQ(devices->at(1)->kind(), "next_pluggable");
  EXPECT_EQ(devices->at(1)->priority(), 1000);
}

TEST_F(NextPluggableTest, HasNoDevicesWhereNobodyCountsThem) {
  const std::pair<const char*, const char*> bad[] = {
      {"next_size_short", "has no TFNPD_GetDeviceCount"},
      {"next_count_negative", "answers -3"},
      {"next_count_fails", "nobody counts here"},
      {"next_count_throws", "no counter"}};
  for (const auto& [kind, says] : bad) {
    ASSERT_TRUE(LoadPlugin(TestPlugin(kind)).ok()) << kind;
    const auto devices = PluginDevices();
    ASSERT_TRUE(devices.ok()) << devices.status();
    EXPECT_THAT(*devices, IsEmpty()) << kind;
    EXPECT_THAT(InfoOf(kind).warnings, Contains(HasSubstr(says))) << kind;
  }
}

// A device without a client is no fault until somebody needs the client.
TEST_F(NextPluggableTest, MakesTheClientWhenItIsNeeded) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("next_size_zero")).ok());
  const auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  Device& device = *devices->front();
  const auto buffer = device.Allocate(4);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) & 1, 1u);
  const Tensor host = *Tensor::Allocate(DataType::kFloat, Shape());
  const absl::Status copied =
      device.CopyHostToDevice(nullptr, host, Tensor(DataType::kFloat, Shape(), *buffer));
  EXPECT_THAT(std::string(copied.message()), HasSubstr("PJRT_Client_Create"));
}

}  // namespace
}  // namespace tenon::next_pluggable_test
