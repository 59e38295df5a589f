// Tensors that plug-ins get under --abi-check=strict.
#include "graph/c_api/tensor_guards.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

// With and without the watch.
TEST(TensorGuards, BecomeGuardedRefusesWhatBecomeRefuses) {
  for (const bool watched : {false, true}) {
    if (watched) AbiWatch::SwitchOn();
    Tensor tensor = *Tensor::Allocate(DataType::kFloat, Shape({2}));
    EXPECT_EQ(BecomeGuarded(tensor, DataType::kInvalid, Shape({3})).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(tensor.dtype(), DataType::kFloat);
    EXPECT_EQ(tensor.shape(), Shape({2}));
    EXPECT_TRUE(BecomeGuarded(tensor, DataType::kInt8, Shape({3})).ok());
    EXPECT_EQ(tensor.bytes(), 3u);
    EXPECT_EQ(TensorGuards::Get().IsSurrounded(nullptr, tensor.data()), watched);
  }
  AbiWatch::SwitchOff();
}

}  // namespace
}  // namespace tenon
