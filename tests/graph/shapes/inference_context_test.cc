// What a shape function sees of a node: inputs, values and outputs.
#include <cstring>

#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

TEST(InferenceContext, MissingInputsAndOutputsAreHarmless) {
  OpDef op;
  const AttrSet attrs;
  const NodeTypes types;
  InferenceContext c(op, attrs, types, {});
  EXPECT_FALSE(c.input(0).known_rank());
  EXPECT_EQ(c.input_value(3), nullptr);
  c.set_output(2, PartialShape{1});
  EXPECT_EQ(c.num_outputs(), 0);
}

TEST(InferenceContext, ReadsUnalignedValues) {
  alignas(8) char bytes[1 + 2 * sizeof(int64_t)];
  const int64_t dims[] = {5, -1};
  std::memcpy(bytes + 1, dims, sizeof(dims));
  Buffer* buffer = Buffer::Wrap(bytes + 1, sizeof(dims), nullptr, nullptr);
  TensorInfo info;
  info.shape = {2};
  info.value = std::make_shared<const Tensor>(
      Tensor(DataType::kInt64, Shape({2}), BufferRef::Adopt(buffer)));
  OpDef op;
  const AttrSet attrs;
  const NodeTypes types;
  InferenceContext c(op, attrs, types, {&info});
  EXPECT_EQ(c.input_as_shape(0)->ToString(), "[5,?]");
}

}  // namespace
}  // namespace tenon
