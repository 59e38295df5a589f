// Where there is no gradient, and where it is zero: of each op as TensorFlow's Python says it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon::no_gradient_test {
namespace {

Tensor Integers(const Tensor& x) { return ops::Cast(x, DType::kInt32); }
Tensor Truth(const Tensor& x) { return ops::Cast(x, DType::kBool); }
Tensor Row(const Tensor& x) { return ops::Reshape(x, {1, 2}); }

// Of y = f(x) * w * w with respect to x and w the two gradients, then the two of each: '-' where
// there is none, '0' where it is zero, '+' where it is not; ".." of one that there is not. Through
// the call of a function second derivatives are zeros where no path leads, if that is given.
struct Case {
  const char* op;
  std::function<Tensor(Tensor)> f;
  const char* gradients;
  const char* of_function = nullptr;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case>* const cases = new std::vector<Case>{
      {"Floor", [](Tensor x) { return ops::Floor(x); }, "-+..-+"},
      {"Ceil", [](Tensor x) { return ops::Ceil(x); }, "-+..-+"},
      {"Round", [](Tensor x) { return ops::Round(x); }, "-+..-+"},
      {"Rint", [](Tensor x) { return ops::Rint(x); }, "-+..-+"},
      {"Sign", [](Tensor x) { return ops::Sign(x); }, "0+--0+", "0+000+"},
      {"Less", [](Tensor x) { return x < 1; }, "-0..-0"},
      {"LessEqual", [](Tensor x) { return x <= 1; }, "-0..-0"},
      {"Greater", [](Tensor x) { return x > 1; }, "-+..-+"},
      {"GreaterEqual", [](Tensor x) { return x >= 1; }, "-+..-+"},
      {"Equal", [](Tensor x) { return x == 1; }, "-0..-0"},
      {"NotEqual", [](Tensor x) { return x != 1; }, "-+..-+"},
      {"ApproximateEqual", [](Tensor x) { return ops::ApproximateEqual(x, x); }, "-+..-+"},
      {"ArgMax", [](Tensor x) { return ops::ArgMax(x, 0); }, "-+..-+"},
      {"ArgMin", [](Tensor x) { return ops::ArgMin(x, 0); }, "-0..-0"},
      {"Cast to kInt32", [](Tensor x) { return ops::Cast(x, DType::kInt32); }, "-+..-+"},
      {"Cast to kInt64", [](Tensor x) { return ops::Cast(x, DType::kInt64); }, "-+..-+"},
      {"Cast to kBool", [](Tensor x) { return ops::Cast(x, DType::kBool); }, "-+..-+"},
      {"Cast there and back", [](Tensor x) { return ops::Cast(Integers(x), DType::kFloat); },
       "-+..-+"},
      {"StopGradient", [](Tensor x) { return StopGradient(x); }, "-+..-+"},
      {"Identity", [](Tensor x) { return ops::Identity(x); }, "++-+++", "++0+++"},
      {"FloorDiv", [](Tensor x) { return ops::FloorDiv(x, 2.F); }, "-+..-+"},
      {"FloorMod", [](Tensor x) { return x % 2; }, "++-+++", "++0+++"},
      {"TruncateDiv", [](Tensor x) { return ops::TruncateDiv(Integers(x), 2); }, "-+..-+"},
      {"ZerosLike", [](Tensor x) { return ops::ZerosLike(x); }, "-0..-0"},
      {"OnesLike", [](Tensor x) { return ops::OnesLike(x); }, "-+..-+"},
      {"Shape", [](Tensor x) { return ops::Shape(x); }, "-+..-+"},
      {"Size", [](Tensor x) { return ops::Size(x); }, "-+..-+"},
      {"Rank", [](Tensor x) { return ops::Rank(x); }, "-+..-+"},
      {"IsNan", [](Tensor x) { return ops::IsNan(x); }, "-0..-0"},
      {"IsInf", [](Tensor x) { return ops::IsInf(x); }, "-0..-0"},
      {"IsFinite", [](Tensor x) { return ops::IsFinite(x); }, "-+..-+"},
      {"Bucketize",
       [](Tensor x) {
         return ops::Bucketize(x, {1, 2});
       },
       "-+..-+"},
      {"InTopKV2", [](Tensor x) { return ops::InTopKV2(Row(x), Tensor::Of<int>({0}), 1); },
       "-0..-0"},
      {"indices of TopKV2", [](Tensor x) { return ops::TopKV2(x, 1).indices; }, "-+..-+"},
      {"Where", [](Tensor x) { return ops::Where(x); }, "-+..-+"},
      {"Unique", [](Tensor x) { return ops::Unique(Integers(x)).y; }, "-+..-+"},
      {"HistogramFixedWidth",
       [](Tensor x) { return ops::HistogramFixedWidth(x, Tensor::Of<float>({0, 4}), 3); },
       "-+..-+"},
      {"LogicalNot", [](Tensor x) { return ops::LogicalNot(Truth(x)); }, "-0..-0"},
      {"Any", [](Tensor x) { return ops::Any(Truth(x), 0); }, "-+..-+"},
      {"LowerBound", [](Tensor x) { return ops::LowerBound(Tensor::Of<float>({{1, 2}}), Row(x)); },
       "-+..-+"},
      {"NextAfter", [](Tensor x) { return ops::NextAfter(x, 9.F); }, "++-+++", "++0+++"},
  };
  return *cases;
}

Tensor Product(const Case& of, const Tensor& x, const Tensor& w) {
  return ops::Cast(of.f(x), DType::kFloat) * w * w;
}

char Mark(const Tensor& gradient) {
  if (!gradient.defined()) return '-';
  for (const float value : gradient.data<float>()) {
    if (value != 0) return '+';
  }
  return '0';
}

// The gradients of `y` by x and w, and theirs: of tapes, one within the other.
std::vector<Tensor> OfTapes(const std::function<Tensor(Tensor, Tensor)>& y, const Tensor& x,
                            const Tensor& w) {
  GradientTape outer({.persistent = true});
  outer.Watch(x);
  outer.Watch(w);
  std::vector<Tensor> all;
  {
    GradientTape inner;
    inner.Watch(x);
    inner.Watch(w);
    all = inner.Gradient(y(x, w), {x, w});
  }
  for (size_t i = 0; i < 2; ++i) {
    if (!all[i].defined()) continue;
    for (const Tensor& second : outer.Gradient(all[i], {x, w})) all.push_back(second);
  }
  return all;
}

std::vector<Tensor> OfGraphs(const std::function<Tensor(Tensor, Tensor)>& y, const Tensor& x,
                             const Tensor& w) {
  std::vector<Tensor> all = Gradients({y(x, w)}, {x, w});
  for (size_t i = 0; i < 2; ++i) {
    if (!all[i].defined()) continue;
    for (const Tensor& second : Gradients({all[i]}, {x, w})) all.push_back(second);
  }
  return all;
}

std::string Marks(const std::vector<Tensor>& all) {
  std::string marks{Mark(all[0]), Mark(all[1])};
  size_t next = 2;
  for (size_t i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k) marks += all[i].defined() ? Mark(all[next++]) : '.';
  }
  return marks;
}

TEST(CppNoGradient, IsWhereTensorFlowHasNone) {
  const Tensor x = Tensor::Of<float>({1.5F, 2.25F}), w = 3.F;
  for (const Case& of : Cases()) {
    SCOPED_TRACE(of.op);
    const auto y = [&of](const Tensor& a, const Tensor& b) { return Product(of, a, b); };
    EXPECT_EQ(Marks(OfTapes(y, x, w)), of.gradients) << "tapes around ops";
    Function traced(y);
    EXPECT_EQ(Marks(OfTapes([&](const Tensor& a, const Tensor& b) { return traced(a, b); }, x, w)),
              of.of_function != nullptr ? of.of_function : of.gradients)
        << "tapes around a function";
    for (const auto& [kind, gradients] : {std::pair("tapes", &OfTapes), {"Gradients", &OfGraphs}}) {
      std::vector<bool> are_there;
      Function within([&](const Tensor& a, const Tensor& b) {
        std::vector<Tensor> there;
        for (const Tensor& gradient : gradients(y, a, b)) {
          are_there.push_back(gradient.defined());
          if (gradient.defined()) there.push_back(gradient);
        }
        return there;
      });
      const std::vector<Tensor> there = within(x, w);
      std::vector<Tensor> all;
      size_t next = 0;
      for (const bool is_there : are_there) all.push_back(is_there ? there[next++] : Tensor());
      EXPECT_EQ(Marks(all), of.gradients) << kind << " in a trace";
    }
  }
}

// y = f(x) * w is linear: the gradient by w does not depend on w, whatever else the way back gives.
TEST(CppNoGradient, OfOneGradientIsNotThatOfTheOthers) {
  const Tensor x = Tensor::Of<float>({1.5F, 2.25F}), w = 3.F;
  const auto marks = [&](const auto& f) {
    return Marks(OfTapes([&](const Tensor& a, const Tensor& b) { return f(a) * b; }, x, w));
  };
  EXPECT_EQ(marks([](const Tensor& t) { return ops::Floor(t); }), "-+..--");
  EXPECT_EQ(marks([](const Tensor& t) { return StopGradient(t); }), "-+..--");
  EXPECT_EQ(marks([](const Tensor& t) { return t; }), "++-++-");
  // The same of one tape that goes back through its own gradients.
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  tape.Watch(w);
  const std::vector<Tensor> first = tape.Gradient(ops::Floor(x) * w, {x, w});
  const std::vector<Tensor> second = tape.Gradient(first[1], {x, w});
  EXPECT_FALSE(first[0].defined() || second[0].defined() || second[1].defined());
}

TEST(CppNoGradient, OfWhatDoesNotDependOnTheSource) {
  const Tensor x = 1.F, other = 2.F;
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor y = x * 2, z = other * 3;
  EXPECT_FALSE(tape.Gradient(z, {x})[0].defined());
  EXPECT_FALSE(tape.Gradient(y, {other})[0].defined());
  EXPECT_EQ(tape.Gradient({y, z}, {x, other})[0].item<float>(), 2);
  Function within([&](Tensor a) {
    EXPECT_FALSE(Gradients({Tensor(other) * 3}, {a})[0].defined());
    return Gradients({a * 2, Tensor(other) * 3}, {a})[0];
  });
  EXPECT_EQ(within(x).item<float>(), 2);
}

}  // namespace
}  // namespace tenon::no_gradient_test
