// Ops that another file calls, which includes less, are recorded by tapes and traced.
#include "tests/cpp/headers/polynomial.h"

#include "tenon/function.h"
#include "tenon/gradient_tape.h"

int main() {
  const tenon::Tensor x = tenon::Tensor::Of<float>({1, 2});
  tenon::GradientTape tape;
  tape.Watch(x);
  const tenon::Tensor slope = tape.Gradient(Polynomial(x), {x})[0];
  tenon::Function function(Polynomial);
  const tenon::ConcreteFunction concrete =
      function.Concrete(tenon::TensorSpec(tenon::DType::kFloat, {2}));
  if (concrete.graph_def().empty() || slope.ToString().empty()) return 2;
  return slope.data<float>()[1] == 7 && function(x).data<float>()[1] == 10 ? 0 : 1;
}
