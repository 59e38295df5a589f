// The plug-in for OpenCL devices goes and comes back: what it made of the driver goes with it.
#include <gmock/gmock.h>

#include <filesystem>

#include "graph/base/sanitizers.h"
#include "plugin/device/device.h"
#include "plugin/host/loading/loader.h"
#include "tests/support/paths.h"
#include "tests/support/process_memory.h"

namespace tenon::opencl_test {
namespace {

TEST(OpenClReload, AThousandLoadsTakeNoMoreMemoryThanAFew) {
  const std::string path = testing::Built("lib/plugins/libtenon_opencl.so");
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own for each load";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "built without OpenCL";
  // The driver keeps what it found of the machine at the first load.
  constexpr int kFew = 50, kLoads = 1000;
  int64_t few = 0;
  for (int load = 1; load <= kLoads; ++load) {
    const absl::StatusOr<PluginInfo> info = LoadPlugin(path);
    ASSERT_TRUE(info.ok()) << info.status();
    {
      const absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
      ASSERT_TRUE(devices.ok()) << devices.status();
      if (devices->empty())
        GTEST_SKIP() << "this machine has no OpenCL device (Debian: pocl-opencl-icd)";
      ASSERT_TRUE(devices->front()->Allocate(1 << 20).ok());
    }
    const absl::Status unloaded = UnloadPlugin(path);
    ASSERT_TRUE(unloaded.ok()) << unloaded;
    if (load == kFew) few = testing::ResidentBytes();
  }
  // The resident size goes up and down in steps of 2 MiB, three at most in 3,000 loads.
  EXPECT_LT(testing::ResidentBytes() - few, 8 << 20);
}

}  // namespace
}  // namespace tenon::opencl_test
