#include "tests/plugin/cpu/kernel_error_util.h"

#include <gmock/gmock.h>

namespace tenon::testing {

void ExpectError(absl::StatusCode code, const char* message, const std::string& op,
                 const Attrs& attrs, const std::vector<Tensor>& inputs) {
  const absl::Status status = RunCpuKernel(op, attrs, inputs).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(status.message(), ::testing::HasSubstr(message));
}

}  // namespace tenon::testing
