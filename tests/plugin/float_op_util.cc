#include "tests/plugin/float_op_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/plugin/cpu_kernel_util.h"

namespace tenon::testing {
namespace {

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace

Tensor Noise(const Shape& shape, uint32_t seed) {
  Tensor t = *Tensor::Allocate(DataType::kFloat, shape);
  uint32_t x = seed * 2654435761u + 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    x = x * 1664525u + 1013904223u;
    t.flat<float>()[i] = static_cast<float>(static_cast<int32_t>(x)) * 4.656612e-10f;
  }
  return t;
}

Tensor Int32s(const std::vector<int32_t>& values) {
  Tensor t = *Tensor::Allocate(DataType::kInt32, Shape({static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), t.flat<int32_t>());
  return t;
}

Tensor RunEveryWay(const std::string& op, Attrs attrs, const std::vector<Tensor>& inputs) {
  attrs["T"] = attr::Type(DataType::kFloat);
  Tensor result;
  for (bool constant : {false, true}) {
    const absl::StatusOr<std::vector<Tensor>> one = RunCpuKernel(op, attrs, inputs, 1, constant);
    EXPECT_TRUE(one.ok()) << one.status();
    if (!one.ok()) return result;
    for (int threads : {2, 3}) {
      const absl::StatusOr<std::vector<Tensor>> more =
          RunCpuKernel(op, attrs, inputs, threads, constant);
      EXPECT_TRUE(more.ok()) << more.status();
      if (!more.ok()) continue;
      for (size_t i = 0; i < one->size(); ++i) {
        EXPECT_TRUE(SameBits((*one)[i], (*more)[i]))
            << op << ", output " << i << " with " << threads << " threads, constant " << constant;
      }
    }
    result = one->front();
  }
  return result;
}

}  // namespace tenon::testing
