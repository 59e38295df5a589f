// What the C++ library costs beside the work itself: eager ops, calls of traced functions, a step
// of training, tapes, traces. The source uses nothing that only Tenon has, so that
// benchmarks/cpp_ratios.sh runs the program with TensorFlow's library too.
//
// cpp_bench [REPETITIONS [TEXT]]: each row, or each whose name has the text, is measured once a
// repetition, all rows in turns, so that what else the machine does falls on all of them. Prints
// for each row its name, the median and the minimum over the repetitions, and the limit, in
// microseconds; or a ratio of the times of one repetition.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace {

using tenon::Function;
using tenon::GradientTape;
using tenon::Shape;
using tenon::Tensor;
using tenon::Variable;
namespace ops = tenon::ops;

Tensor Floats(const Shape& shape, float scale) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  unsigned state = 12345;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 8) / 16777216.f - 0.5f) * scale;
  }
  return Tensor::Of<float>(shape, values);
}

// Microseconds of processor time that the process has spent.
double Now() { return static_cast<double>(std::clock()) * (1e6 / CLOCKS_PER_SEC); }

// Microseconds of one call, over so many that they take a few milliseconds.
double Time(const std::function<void()>& call, int calls) {
  const double begin = Now();
  for (int i = 0; i < calls; ++i) call();
  return (Now() - begin) / calls;
}

// Three dense layers of width 32 and the mean of the squared error, for a batch of 32.
class Mlp {
 public:
  Mlp() {
    for (int i = 0; i < 3; ++i) {
      variables_.emplace_back(Floats({32, 32}, 0.6f));
      variables_.emplace_back(Floats({32}, 0.f));
    }
    for (Variable& variable : variables_) trained_.push_back(&variable);
  }
  Tensor Loss(const Tensor& x, const Tensor& y) const {
    Tensor h = x;
    for (size_t i = 0; i < 3; ++i) {
      h = ops::MatMul(h, variables_[2 * i]) + variables_[2 * i + 1];
      if (i < 2) h = ops::Relu(h);
    }
    const Tensor error = h - y;
    return ops::Mean(error * error, Tensor::Of<int32_t>({0, 1}));
  }
  const std::vector<Variable*>& trained() const { return trained_; }

 private:
  std::vector<Variable> variables_;
  std::vector<Variable*> trained_;
};

// A step of training as a traced function.
template <typename Optimizer>
std::function<void()> MlpStep(Optimizer optimizer) {
  const auto mlp = std::make_shared<Mlp>();
  const Function step([=](Tensor x, Tensor y) mutable {
    GradientTape tape;
    const Tensor loss = mlp->Loss(x, y);
    optimizer.Apply(tape.Gradient(loss, mlp->trained()), mlp->trained());
    return loss;
  });
  return [step, x = Floats({32, 32}, 2.f), y = Floats({32, 32}, 1.f)] { step(x, y); };
}

// The same step op by op.
std::function<void()> EagerMlpStep() {
  const auto mlp = std::make_shared<Mlp>();
  tenon::optim::Sgd sgd({.learning_rate = 0.001f});
  return [mlp, sgd, x = Floats({32, 32}, 2.f), y = Floats({32, 32}, 1.f)]() mutable {
    GradientTape tape;
    const Tensor loss = mlp->Loss(x, y);
    sgd.Apply(tape.Gradient(loss, mlp->trained()), mlp->trained());
  };
}

constexpr int kChain = 100;

// A chain of multiplications: by the tensor itself, so that each has two gradients, or by a
// constant.
Tensor Chain(const Tensor& x, const Tensor& factor) {
  Tensor y = x;
  for (int i = 0; i < kChain; ++i) y = ops::Mul(y, factor);
  return y;
}
void ChainGradient(const Tensor& x, const Tensor& factor) {
  GradientTape tape;
  tape.Watch(x);
  tape.Gradient(Chain(x, factor), {x});
}

struct Row {
  std::string name;
  double limit;
  std::function<double()> measure;
  std::vector<double> measured = {};
};

void Print(Row& row) {
  std::sort(row.measured.begin(), row.measured.end());
  std::printf("%-44s %9.3f %9.3f %9.2f\n", row.name.c_str(), row.measured[row.measured.size() / 2],
              row.measured[0], row.limit);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  const Tensor a = Tensor(1.f), b = Tensor(2.f);
  // Ones: powers of other numbers leave the range in which arithmetic is fast.
  const std::vector<float> ones(16, 1.f);
  const Tensor x = Tensor::Of<float>(Shape{16}, ones), one = Tensor::Of<float>(Shape{16}, ones);
  const Function add([](Tensor s, Tensor t) { return s + t; });
  const std::function<void()> sgd = MlpStep(tenon::optim::Sgd({.learning_rate = 0.001f}));
  const std::function<void()> adam = MlpStep(tenon::optim::Adam());
  const std::function<void()> eager_mlp = EagerMlpStep();
  constexpr int kNodes = 300;
  const auto trace_time = [&](bool call) {
    const double begin = Now();
    // A function of its own, so that nothing warns of many traces.
    const Function fresh([](Tensor s) {
      for (int i = 0; i < kNodes / 3; ++i) s = ops::Tanh(s * s + s);
      return s;
    });
    const auto concrete = fresh.Concrete(tenon::TensorSpec(tenon::DType::kFloat, {16}));
    if (call) concrete(x);
    return (Now() - begin) / kNodes;
  };
  const auto tape_overhead = [&](const Tensor& factor) {
    const double forward = Time([&] { Chain(x, factor); }, 50);
    return (Time([&] { ChainGradient(x, factor); }, 50) - forward) / forward;
  };
  std::vector<Row> rows = {
      {"eager AddV2, us", 0.7, [&] { return Time([&] { ops::AddV2(a, b); }, 5000); }},
      {"function of one op, us", 1.5, [&] { return Time([&] { add(a, b); }, 5000); }},
      {"MLP step in a function, Sgd, us", 15, [&] { return Time(sgd, 200); }},
      {"MLP step in a function, Adam, us", 0, [&] { return Time(adam, 200); }},
      {"MLP step op by op, Sgd, us", 0, [&] { return Time(eager_mlp, 50); }},
      {"100 eager Mul, us", 0, [&] { return Time([&] { Chain(x, one); }, 50); }},
      {"tape over x*x*..., overhead / forward", 2, [&] { return tape_overhead(x); }},
      {"tape over x*c*..., overhead / forward", 2, [&] { return tape_overhead(one); }},
      {"trace, us a node", 5, [&] { return trace_time(false); }},
      {"trace and first call, us a node", 5, [&] { return trace_time(true); }},
  };
  if (argc > 2)
    std::erase_if(rows, [&](Row& row) { return row.name.find(argv[2]) == std::string::npos; });
  for (Row& row : rows) row.measure();
  for (int i = 0; i < repetitions; ++i) {
    for (Row& row : rows) row.measured.push_back(row.measure());
  }
  std::printf("%-44s %9s %9s %9s\n", "", "median", "minimum", "limit");
  for (Row& row : rows) Print(row);
}
