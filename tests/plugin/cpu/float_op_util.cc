#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {

Tensor Noise(const Shape& shape, uint32_t seed) {
  Tensor t = *Tensor::Allocate(DataType::kFloat, shape);
  uint32_t x = seed * 2654435761u + 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    x = x * 1664525u + 1013904223u;
    t.flat<float>()[i] = static_cast<float>(static_cast<int32_t>(x)) * 4.656612e-10f;
  }
  return t;
}

Tensor Floats(const Shape& shape, const std::vector<float>& values) {
  return Tensor::Of<float>(DataType::kFloat, values, shape);
}

absl::Span<const float> Values(const Tensor& t) {
  return {t.flat<float>(), static_cast<size_t>(t.num_elements())};
}

Tensor Int32s(const std::vector<int32_t>& values) {
  return Tensor::Of<int32_t>(DataType::kInt32, values,
                             Shape({static_cast<int64_t>(values.size())}));
}

Tensor SizesOf(const Tensor& t) {
  const auto dims = t.shape().dims();
  return Int32s({dims.begin(), dims.end()});
}

Tensor RunEveryWay(const std::string& op, Attrs attrs, const std::vector<Tensor>& inputs) {
  attrs["T"] = attr::Type(DataType::kFloat);
  RunSteadily(op, attrs, inputs, {2, 5, 16}, /*constant=*/false);
  return RunSteadily(op, attrs, inputs, {2, 5, 16}, /*constant=*/true)[0];
}

}  // namespace tenon::testing
