// Streams of the plug-in for OpenCL devices, through the functions that a host calls.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "graph/c_api/c_api_internal.h"
#include "plugin/host/link/shared_library.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tests/support/paths.h"

namespace tenon::opencl_test {
namespace {

using std::chrono::milliseconds;

// The first device of the plug-in with its functions. Without OpenCL the tests are skipped.
class OpenClStream : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::Built("lib/plugins/libtenon_opencl.so");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "built without OpenCL";
    const absl::StatusOr<void*> library = OpenLibrary(path);
    ASSERT_TRUE(library.ok()) << library.status();
    auto* const init =
        FindFunction<void(SE_PlatformRegistrationParams*, TF_Status*)>(*library, "SE_InitPlugin");
    SE_PlatformRegistrationParams params{SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE};
    params.platform = &platform_;
    params.platform_fns = &functions_;
    init(&params, status_.get());
    ASSERT_EQ(TF_GetCode(status_.get()), TF_OK) << TF_Message(status_.get());
    int count = 0;
    functions_.get_device_count(&platform_, &count, status_.get());
    if (count == 0) GTEST_SKIP() << "this machine has no OpenCL device (Debian: pocl-opencl-icd)";
    SE_CreateDeviceParams device{SE_CREATE_DEVICE_PARAMS_STRUCT_SIZE};
    device.device = &device_;
    functions_.create_device(&platform_, &device, status_.get());
    SE_CreateStreamExecutorParams executor{SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE};
    executor.stream_executor = &executor_;
    functions_.create_stream_executor(&platform_, &executor, status_.get());
    executor_.create_stream(&device_, &stream_, status_.get());
    ASSERT_EQ(TF_GetCode(status_.get()), TF_OK) << TF_Message(status_.get());
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    executor_.destroy_stream(&device_, stream_);
    functions_.destroy_stream_executor(&platform_, &executor_);
    functions_.destroy_device(&platform_, &device_);
  }

  CStatus status_;
  SP_Platform platform_{SP_PLATFORM_STRUCT_SIZE};
  SP_PlatformFns functions_{SP_PLATFORM_FNS_STRUCT_SIZE};
  SP_Device device_{SP_DEVICE_STRUCT_SIZE};
  SP_StreamExecutor executor_{SP_STREAMEXECUTOR_STRUCT_SIZE};
  SP_Stream stream_ = nullptr;
};

TEST_F(OpenClStream, EachThreadWaitsForWhatIsQueued) {
  static std::atomic<bool> is_done;
  is_done = false;
  const auto work = [](void*, TF_Status*) {
    std::this_thread::sleep_for(milliseconds(400));
    is_done = true;
  };
  ASSERT_TRUE(executor_.host_callback(&device_, stream_, work, nullptr));
  const auto wait = [this] {
    CStatus status;
    executor_.block_host_until_done(&device_, stream_, status.get());
    EXPECT_EQ(TF_GetCode(status.get()), TF_OK);
    EXPECT_TRUE(is_done);
  };
  std::thread first(wait);
  std::this_thread::sleep_for(milliseconds(100));
  wait();
  first.join();
}

}  // namespace
}  // namespace tenon::opencl_test
