// A program that includes the functions of one family alone links, and runs without exceptions.
#include "tests/cpp/headers/polynomial.h"

int main() {
  const tenon::NameScope scope("layer");
  const tenon::Tensor y = Polynomial(tenon::Tensor::Of<float>({1, 2}));
  if (y.ToString().empty() || y.device().empty() || y.To("/CPU:0").dtype() != y.dtype()) return 2;
  return y.shape() == tenon::Shape{2} && y.data<float>()[1] == 10 ? 0 : 1;
}
