#include "tests/cpp/headers/polynomial.h"

tenon::Tensor Polynomial(const tenon::Tensor& x) {
  return tenon::ops::AddV2(tenon::ops::Square(x), tenon::ops::Mul(x, 3.0f));
}
