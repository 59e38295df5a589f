// What tests of the plug-in for OpenCL devices share.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::opencl_test {

inline std::string Plugin() { return testing::Built("lib/plugins/libtenon_opencl.so"); }

// graph_run with the plug-in. Programs are kept in a folder of the tests, so that each is compiled
// once.
inline testing::Finished OnDevice(std::vector<std::string> args,
                                  std::map<std::string, std::string> environment = {}) {
  args.insert(args.end(), {"--plugin", Plugin()});
  environment.emplace("TENON_OPENCL_CACHE",
                      (std::filesystem::temp_directory_path() / "tenon_opencl_test").string());
  return testing::GraphRun(
      testing::Start{.args = std::move(args), .environment = std::move(environment)});
}

// Without an OpenCL device the tests are skipped and say so; ./dev setup installs PoCL, which makes
// one of any processor.
class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Plugin())) GTEST_SKIP() << "built without OpenCL";
    const testing::Finished devices = OnDevice({"devices"});
    ASSERT_EQ(devices.exit, 0) << devices.err;
    if (devices.out.find("OPENCL:0") == std::string::npos)
      GTEST_SKIP() << "this machine has no OpenCL device (Debian: pocl-opencl-icd)";
  }
};

}  // namespace tenon::opencl_test
