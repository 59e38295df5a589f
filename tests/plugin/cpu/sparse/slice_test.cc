// SparseSliceGrad refuses slices that are none of the whole.
#include <gtest/gtest.h>

#include <vector>

#include "tests/plugin/cpu/float_op_util.h"
#include "tests/plugin/cpu/kernel_error_util.h"

namespace tenon::testing {
namespace {

// The gradient of a slice from (1, 1) of a whole with entries on its diagonal.
void ExpectRefused(const char* message, const std::vector<int64_t>& slice) {
  const auto count = static_cast<int64_t>(slice.size()) / 2;
  const auto matrix = [](const std::vector<int64_t>& values) {
    return Tensor::Of<int64_t>(DataType::kInt64, values,
                               Shape({static_cast<int64_t>(values.size()) / 2, 2}));
  };
  ExpectError(
      absl::StatusCode::kInvalidArgument, message, "SparseSliceGrad",
      {{"T", attr::Type(DataType::kFloat)}},
      {Floats(Shape({count}), std::vector<float>(count, 1)), matrix({0, 0, 1, 1, 2, 2, 3, 3}),
       Tensor::Of<int64_t>(DataType::kInt64, {1, 1}, Shape({2})), matrix(slice)});
}

TEST(SparseSliceGrad, RefusesEntriesThatTheWholeLacks) {
  ExpectRefused("output_indices[1] with 'input_start' added is no entry", {0, 0, 0, 1, 2, 2});
  ExpectRefused("output_indices[2] with 'input_start' added is no entry", {0, 0, 1, 1, 5, 5});
}

TEST(SparseSliceGrad, RefusesAnotherOrderThanTheWholes) {
  ExpectRefused("behind that of output_indices[0]", {1, 1, 0, 0, 2, 2});
}

}  // namespace
}  // namespace tenon::testing
