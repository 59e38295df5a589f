// Plug-ins with PJRT devices alone: what is asked before a client, and what a wrong table or a
// client that cannot be made becomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/c_api/callback_scope.h"
#include "plugin/host/loading/loader.h"
#include "tests/support/paths.h"

namespace tenon::pjrt_loading_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestPlugin;

class PjrtLoadingTest : public ::testing::Test {
 protected:
  ~PjrtLoadingTest() override { ShutdownPlugins(); }

  static PluginInfo InfoOf(const std::string& kind) {
    for (PluginInfo& info : Plugins()) {
      if (info.path.ends_with(kind + ".so")) return info;
    }
    return {};
  }
};

TEST_F(PjrtLoadingTest, ListsTheTableBeforeThereIsAClient) {
  const auto info = LoadPlugin(TestPlugin("pjrt_no_hardware"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->kind, DeviceKind::kPjrt);
  EXPECT_THAT(info->entry_points, ElementsAre("GetPjrtApi"));
  ASSERT_TRUE(info->pjrt.has_value());
  const pjrt::TableFacts& table = info->pjrt->table;
  EXPECT_EQ(table.minor, 90);
  EXPECT_EQ(table.functions, 135u);
  EXPECT_THAT(table.holes, ElementsAre("PJRT_Plugin_Attributes"));
  EXPECT_THAT(table.extensions, ElementsAre("Profiler", "type 99"));
  EXPECT_THAT(table.warnings, IsEmpty());
  EXPECT_EQ(info->pjrt->no_devices, "");  // nobody has asked
}

TEST_F(PjrtLoadingTest, MissingHardwareIsAReasonAndNoError) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("pjrt_no_hardware")).ok());
  const auto devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  EXPECT_THAT(*devices, IsEmpty());
  const PluginInfo info = InfoOf("pjrt_no_hardware");
  ASSERT_TRUE(info.pjrt.has_value());
  EXPECT_THAT(info.pjrt->no_devices, AllOf(HasSubstr("nothing here for pjrt_no_hardware"),
                                           HasSubstr("PJRT_Client_Create")));
}

TEST_F(PjrtLoadingTest, ALoopOfExtensionsIsAWarning) {
  const auto info = LoadPlugin(TestPlugin("pjrt_extension_loop"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_THAT(info->pjrt->table.extensions, IsEmpty());
  EXPECT_THAT(info->pjrt->table.warnings, ElementsAre(HasSubstr("loop")));
}

struct BadTable {
  const char* kind;
  const char* says;
};

TEST_F(PjrtLoadingTest, RefusesATableThatItCannotUse) {
  const BadTable bad[] = {{"pjrt_null_table", "GetPjrtApi returns NULL"},
                          {"pjrt_wrong_major", "version 7.90"},
                          {"pjrt_short_table", "39 bytes"},
                          {"pjrt_lacks_compile", "lacks PJRT_Client_Compile, which"},
                          {"pjrt_ends_early", "lacks PJRT_LoadedExecutable_Execute, PJRT_Buffer"},
                          {"pjrt_initialize_fails", "PJRT_Plugin_Initialize"}};
  for (const BadTable& table : bad) {
    const auto info = LoadPlugin(TestPlugin(table.kind));
    ASSERT_FALSE(info.ok()) << table.kind;
    EXPECT_THAT(std::string(info.status().message()),
                AllOf(HasSubstr(table.says), HasSubstr(table.kind)));
  }
}

TEST_F(PjrtLoadingTest, AnExceptionOfTheClientIsAnErrorWithItsText) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("pjrt_client_throws")).ok());
  const absl::Status status = PluginDevices().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("no chip"), HasSubstr("PJRT_Client_Create")));
}

TEST_F(PjrtLoadingTest, NeitherClientNorErrorIsAFaultOfThePlugin) {
  ASSERT_TRUE(LoadPlugin(TestPlugin("pjrt_no_client")).ok());
  const absl::Status status = PluginDevices().status();
  EXPECT_TRUE(IsPluginFault(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("neither a client nor an error"));
}

}  // namespace
}  // namespace tenon::pjrt_loading_test
