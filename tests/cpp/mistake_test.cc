// What programs do wrong, and what the library says to it.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

// The error of the call; of the code TF_OK if there is none.
template <typename Call>
Error ErrorOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {TF_OK, "no error"};
}

bool Has(const Error& error, const std::string& text) {
  return error.message().find(text) != std::string::npos;
}

template <typename Call>
void ExpectMovedFrom(const std::string& type, const Call& call) {
  const Error error = ErrorOf(call);
  EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION) << type << ": " << error.what();
  EXPECT_TRUE(Has(error, "This " + type + " is empty")) << error.what();
}

TEST(CppMistake, MovedFromFunctionSaysSo) {
  Function f([](Tensor x) { return x + 1; });
  Function kept = std::move(f);
  ExpectMovedFrom("Function", [&] { f(Tensor(1.f)); });
  ExpectMovedFrom("Function", [&] { f.Concrete(Tensor(1.f)); });
  ExpectMovedFrom("Function", [&] { f.trace_count(); });
  ExpectMovedFrom("Function", [&] { f.TraceReport(); });
  ConcreteFunction concrete = kept.Concrete(Tensor(1.f));
  const ConcreteFunction other = std::move(concrete);
  ExpectMovedFrom("ConcreteFunction", [&] { concrete(Tensor(1.f)); });
  ExpectMovedFrom("ConcreteFunction", [&] { concrete.name(); });
  ExpectMovedFrom("ConcreteFunction", [&] { concrete.graph_def(); });
  ExpectMovedFrom("ConcreteFunction", [&] { concrete.inputs(); });
  concrete = other;
  EXPECT_EQ(Tensor(concrete(Tensor(1.f))).item<float>(), 2);
}

TEST(CppMistake, MovedFromVariableSaysSo) {
  Variable v(1.f);
  Variable kept = std::move(v);
  ExpectMovedFrom("Variable", [&] { v.Read(); });
  ExpectMovedFrom("Variable", [&] { v.name(); });
  ExpectMovedFrom("Variable", [&] { v.Assign(2.f); });
  ExpectMovedFrom("Variable", [&] { v + 1; });
  ExpectMovedFrom("Variable", [&] {
    GradientTape tape;
    tape.Gradient(kept * 2.f, {v});
  });
  ExpectMovedFrom("Variable", [&] {
    Function f([](Variable argument) { return argument + 1; });
    f(v);
  });
  ExpectMovedFrom("Variable", [&] { SaveCheckpoint("/tmp/unused", {&v}); });
  EXPECT_FALSE(v == kept);
  v = kept;
  EXPECT_EQ(v.Read().item<float>(), 1);
}

TEST(CppMistake, MovedFromSessionSaysSo) {
  Function f([](Tensor x) { return x + 1; });
  Session session = Session::FromGraphDef(f.Concrete(Tensor(1.f)).graph_def());
  Session kept = std::move(session);
  ExpectMovedFrom("Session", [&] { session.Run({}, {"output_0"}); });
  ExpectMovedFrom("Session", [&] { session.inputs(); });
  ExpectMovedFrom("Session", [&] { session.Explain(); });
  ExpectMovedFrom("Session", [&] { session.Cancel(); });
  Callable callable = kept.MakeCallable({"arg_0"}, {"output_0"});
  const Callable other = std::move(callable);
  ExpectMovedFrom("Callable", [&] { callable({Tensor(1.f)}); });
  ExpectMovedFrom("Callable", [] { Callable()({}); });
  EXPECT_EQ(other({Tensor(1.f)})[0].item<float>(), 2);
}

TEST(CppMistake, MovedFromAdamAndTensorSaySo) {
  Variable v(1.f);
  optim::Adam adam;
  const optim::Adam kept = std::move(adam);
  ExpectMovedFrom("Adam", [&] { adam.Apply({Tensor(1.f)}, {&v}); });
  Tensor tensor(1.f);
  const Tensor same = std::move(tensor);
  EXPECT_EQ(ErrorOf([&] { tensor + 1; }).code(), TF_INVALID_ARGUMENT);
  EXPECT_TRUE(Has(ErrorOf([&] { tensor.shape(); }), "This Tensor is empty"));
}

// A gradient for another number of inputs.
// Errors name the line of the program that made the mistake.
TEST(CppMistake, IsShownAtItsLine) {
  const auto expect = [](unsigned line, const auto& call) {
    const Error error = ErrorOf(call);
    EXPECT_NE(error.code(), TF_OK) << line;
    EXPECT_EQ(error.where(), "mistake_test.cc:" + std::to_string(line)) << error.what();
  };
  const Tensor x(1.f), two = Tensor::Of<float>({1, 2});
  const auto below = [](Tensor a, Tensor) { return a < 5.f; };
  const auto short_body = [](Tensor a, Tensor) { return a + 1; };
  expect(__LINE__, [&] { While(below, short_body, x, x); });
  Function loop([&](Tensor t) { return std::get<0>(While(below, short_body, t, t)); });
  expect(__LINE__ - 1, [&] { loop(x); });
  expect(__LINE__, [&] { Tensor::Of<float>({{1, 2}, {3}}); });
  expect(__LINE__, [&] { Tensor::Of<float>({{{1, 2}}, {{3}}}); });
  expect(__LINE__, [&] { Tensor::Of<float>(Shape{3}, {1, 2}); });
  expect(__LINE__, [&] { ops::Neg({{1, 2}, {3}}); });
  const Tensor positive = two > 0.f;
  expect(__LINE__ - 1, [&] { return positive ? 1 : 2; });
  expect(__LINE__, [&] { return Tensor::Of<bool>({true, false}) ? 1 : 2; });

  Tensor moved(1.f);
  const Tensor kept = std::move(moved);
  Variable v(x), gone(x);
  const Variable taken = std::move(gone);
  Function f([](Tensor t) { return t + 1; });
  expect(__LINE__, [&] { moved.dtype(); });
  expect(__LINE__, [&] { moved.shape(); });
  expect(__LINE__, [&] { moved.device(); });
  expect(__LINE__, [&] { x + moved; });
  expect(__LINE__, [&] { moved&& Tensor(true); });
  expect(__LINE__, [&] { moved.To("/CPU:0"); });
  expect(__LINE__, [&] { f(moved); });
  expect(__LINE__, [&] { v.Assign(moved); });
  expect(__LINE__, [&] { Variable w(moved); });
  const auto same = [&] { return x; };
  expect(__LINE__, [&] { Cond(moved, same, same); });
  expect(__LINE__, [&] { gone.Read(); });
  expect(__LINE__, [&] { gone.name(); });
  expect(__LINE__, [&] { x + gone; });
}

// Calls that do not know their place, as operators and loops do not, name the op before them.
TEST(CppMistake, OfAMovedTensorInATraceHasAPlace) {
  const auto in_trace = [](int line, const std::function<Tensor(Tensor)>& use) {
    const Function f([&](Tensor x) { return use(x); });
    const Error error = ErrorOf([&] { f(Tensor(1.f)); });
    EXPECT_EQ(error.where(), "mistake_test.cc:" + std::to_string(line)) << error.what();
    EXPECT_NE(error.message().find("behind the op that is called here"), std::string::npos)
        << error.message();
  };
  in_trace(__LINE__ + 1, [](Tensor x) {
    Tensor y = x * 2.f;
    const Tensor kept = std::move(y);
    return y ? kept : x;
  });
  in_trace(__LINE__ + 1, [](Tensor x) {
    Tensor y = x * 2.f;
    const Tensor kept = std::move(y);
    return !y;
  });
  in_trace(__LINE__ + 1, [](Tensor x) {
    Tensor y = x * 2.f;
    const Tensor kept = std::move(y);
    return While([](Tensor v) { return v < 3.f; }, [](Tensor v) { return v * 2.f; }, y);
  });
}

// What the standard library makes does not know where the program asked for it.
TEST(CppMistake, IsNotShownInTheStandardLibrary) {
  std::optional<Variable> v;
  v.emplace(Tensor::Of<float>({1, 2}));
  const auto other = std::make_unique<Variable>(Tensor(1.f), VariableOptions{}, Where::current());
  for (const Variable& variable : {*v, *other}) {
    const Error error = ErrorOf([&] { Op("MatMul").Input(variable).Input(variable).RunOne(); });
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
    EXPECT_TRUE(error.where().starts_with("mistake_test.cc:")) << error.what();
  }
  const auto made = std::make_unique<Variable>(Tensor(1.f));
  const Error error = ErrorOf([&] {
    Function f([&](Tensor x) { return ops::Reshape(*made, {2, 2}) + x; });
    f(Tensor(1.f));
  });
  EXPECT_TRUE(error.where().empty() || error.where().starts_with("mistake_test.cc:"))
      << error.what();
}

TEST(CppMistake, EmptyTensorsHaveNoGradient) {
  const Tensor x(2.f);
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor y = x * x;
  const auto expect = [](const Error& error, unsigned line) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
    EXPECT_EQ(error.source().line(), line) << error.what();
  };
  expect(ErrorOf([&] { tape.Gradient(y, {Tensor()}); }), __LINE__);
  expect(ErrorOf([&] { tape.Gradient(Tensor(), {x}); }), __LINE__);
  expect(ErrorOf([&] { tape.Gradient(Tensor(), {x}, Tensor(1.f)); }), __LINE__);
  expect(ErrorOf([&] { tape.Watch(Tensor()); }), __LINE__);
  EXPECT_EQ(tape.Gradient(y, {x})[0].item<float>(), 4);
}

TEST(CppMistake, CustomGradientOfAnotherCountSaysBoth) {
  const auto product =
      CustomGradient([](Tensor x, Tensor y) { return x * y; }, [](Tensor dy) { return dy; });
  const auto square =
      CustomGradient([](Tensor x) { return x * x; }, [](Tensor dy) { return std::tuple(dy, dy); });
  const auto slope_of_product = [&](Tensor x, Tensor y) {
    GradientTape tape;
    tape.Watch(x);
    tape.Watch(y);
    return tape.Gradient(product(x, y), {x, y});
  };
  const auto slope_of_square = [&](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(square(x), {x});
  };
  Function traced_product(slope_of_product);
  Function traced_square(slope_of_square);
  const Tensor a(2.f), b(3.f);
  for (const Error& error :
       {ErrorOf([&] { slope_of_product(a, b); }), ErrorOf([&] { traced_product(a, b); })}) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
    EXPECT_TRUE(Has(error, "gives 1 gradient for 2 inputs")) << error.what();
    EXPECT_TRUE(error.where().starts_with("mistake_test.cc:")) << error.where();
  }
  for (const Error& error :
       {ErrorOf([&] { slope_of_square(a); }), ErrorOf([&] { traced_square(a); })}) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
    EXPECT_TRUE(Has(error, "gives 2 gradients for 1 input")) << error.what();
  }
}

TEST(CppMistake, ValueOfASymbolSaysWhatToWrite) {
  Function item([](Tensor x) { return x * x.item<float>(); });
  Function data([](Tensor x) { return x * x.data<float>()[0]; });
  Function vector([](Tensor x) { return x * x.ToVector<float>()[0]; });
  for (const Error& error :
       {ErrorOf([&] { item(Tensor(1.f)); }), ErrorOf([&] { data(Tensor(1.f)); }),
        ErrorOf([&] { vector(Tensor(1.f)); })}) {
    EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION);
    for (const char* const word : {"\"arg_0:0\"", "result", "Cond", "While", "ops::Print"})
      EXPECT_TRUE(Has(error, word)) << error.what();
    EXPECT_TRUE(error.where().starts_with("mistake_test.cc:")) << error.where();
  }
}

void ExpectRefusedVariable(const Error& error, const std::string& how) {
  EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION) << error.what();
  for (const std::string& text : {std::string("\"w\""), how, std::string("created once")})
    EXPECT_TRUE(Has(error, text)) << error.what();
}

TEST(CppMistake, VariablesOfAFunctionAreMadeOnce) {
  Function fresh([](Tensor x) {
    Variable w(Tensor(1.f), {.name = "w"});
    return w.AssignAdd(x).Read();
  });
  ExpectRefusedVariable(ErrorOf([&] { fresh(Tensor(1.f)); }), "lets go of it");
  EXPECT_EQ(fresh.trace_count(), 0);
  std::optional<Variable> kept;
  Function again([&](Tensor x) {
    kept.emplace(Tensor(1.f), VariableOptions{.name = "w"});
    return *kept + x;
  });
  EXPECT_EQ(again(Tensor(1.f)).item<float>(), 2);
  ExpectRefusedVariable(ErrorOf([&] { again(Tensor::Of<float>({1})); }), "not the first");
  EXPECT_EQ(again(Tensor(1.f)).item<float>(), 2);
  Variable v(1.f);
  Function optimizer([&](Tensor gradient) {
    optim::Momentum momentum;
    momentum.Apply({gradient}, {&v});
  });
  EXPECT_TRUE(Has(ErrorOf([&] { optimizer(Tensor(1.f)); }), "lets go of it"));
}

TEST(CppMistake, VariablesThatAreKeptMayBeMadeInATrace) {
  std::optional<Variable> v;
  Function inner([&](Tensor x) {
    if (!v) v.emplace(Tensor(1.f));
    return v->AssignAdd(x).Read();
  });
  Function outer([&](Tensor x) { return inner(x) * 2; });
  EXPECT_EQ(outer(Tensor(1.f)).item<float>(), 4);
  EXPECT_EQ(outer(Tensor(1.f)).item<float>(), 6);
  EXPECT_EQ(v->Read().item<float>(), 3);
  // State of an optimizer that is outside may come with each trace.
  Variable a(Tensor(1.f), {.name = "a"}), b(Tensor(1.f), {.name = "b"});
  optim::Momentum momentum({.learning_rate = 1});
  Function step(
      [&](Tensor gradient, int which) { momentum.Apply({gradient}, {which == 0 ? &a : &b}); });
  step(Tensor(1.f), 0);
  step(Tensor(2.f), 1);
  EXPECT_EQ(a.Read().item<float>(), 0);
  EXPECT_EQ(b.Read().item<float>(), -1);
}

// The attribute is read before the node is begun: nothing is left of it (leaks are found under a
// sanitizer), and the trace goes on.
TEST(CppMistake, SymbolAsAnAttributeSaysSo) {
  std::string error;
  Function f([&](Tensor x) {
    error =
        ErrorOf([&] { Op("Const").Attr("dtype", DType::kFloat).Attr("value", x).RunOne(); }).what();
    return x + 1;
  });
  EXPECT_EQ(f(Tensor(1.f)).item<float>(), 2);
  EXPECT_NE(error.find("is a symbol of a function that is traced"), std::string::npos) << error;
  EXPECT_NE(error.find("mistake_test.cc"), std::string::npos) << error;
}

// The tensors are looked at before the node is begun: nothing is left of it, not even its name.
TEST(CppMistake, EmptyTensorAsADependencySaysSo) {
  Error error{TF_OK, "no error"};
  std::string name;
  Function f([&](Tensor x) {
    error = ErrorOf([&] {
      const ControlDependencies after({Tensor()});
      Op("Neg").Input(x).RunOne();
    });
    const Tensor y = Op("Neg").Input(x).RunOne();
    name = y.name();
    return y;
  });
  EXPECT_EQ(f(Tensor(1.f)).item<float>(), -1);
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
  EXPECT_EQ(name, "Neg:0");
}

TEST(CppMistake, NullForAVariableSaysSo) {
  Function f([](Variable* v) { return v->Read(); });
  const Error error = ErrorOf([&] { f(static_cast<Variable*>(nullptr)); });
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
  EXPECT_TRUE(Has(error, "is null")) << error.what();
  EXPECT_TRUE(error.where().starts_with("mistake_test.cc:")) << error.where();
}

TEST(CppMistake, NullAmongVariablesSaysSo) {
  Variable v(1.f, {.name = "v"});
  const std::vector<Variable*> variables = {&v, nullptr};
  optim::Sgd sgd;
  const std::string prefix = ::testing::TempDir() + "null_variable";
  for (const Error& error : {ErrorOf([&] {
                               sgd.Apply({Tensor(1.f), Tensor(1.f)}, variables);
                             }),
                             ErrorOf([&] { SaveCheckpoint(prefix, variables); }),
                             ErrorOf([&] { RestoreCheckpoint(prefix, variables); })}) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
    EXPECT_TRUE(Has(error, "Variable 1 is null")) << error.what();
  }
  EXPECT_EQ(Tensor(v).item<float>(), 1);
  GradientTape tape;
  const Tensor y = v * v;
  const Error error = ErrorOf([&] { tape.Gradient(y, {static_cast<const Variable*>(nullptr)}); });
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
}

TEST(CppMistake, NullForATextSaysSo) {
  Function f([](Tensor x, const std::string&) { return x; });
  const Error error = ErrorOf([&] { f(Tensor(1.f), static_cast<const char*>(nullptr)); });
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
  EXPECT_TRUE(Has(error, "is null")) << error.what();
}

TEST(CppMistake, NumbersThatDoNotFitAreToldAsTheyAre) {
  const Error error = ErrorOf([] { Tensor(int64_t{1}) + (uint64_t{1} << 63); });
  EXPECT_TRUE(Has(error, "The number 9223372036854775808 is not one of type int64"))
      << error.what();
}

TEST(CppMistake, MapOfAnotherCountSaysBoth) {
  const Tensor xs = Tensor::Of<float>({1, 2, 3});
  const auto map = [](Tensor of) {
    int calls = 0;
    return Map([&](Tensor x) { return std::vector<Tensor>(calls++ == 0 ? 2 : 1, x); }, of)[0];
  };
  Function traced(map);
  for (const Error& error : {ErrorOf([&] { map(xs); }), ErrorOf([&] { traced(xs); })}) {
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
    EXPECT_TRUE(Has(error, "Map: the function gives 1 tensors, and gave 2 before")) << error.what();
  }
}

TEST(CppMistake, EmptyTensorForACustomGradientSaysSo) {
  const auto first = CustomGradient([](Tensor x, Tensor) { return x; },
                                    [](Tensor dy) { return std::tuple(dy, dy); });
  const Tensor x(2.f);
  GradientTape tape;
  tape.Watch(x);
  const Error error = ErrorOf([&] { first(Tensor(), x); });
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
  const Error second = ErrorOf([&] { first(x, Tensor()); });
  EXPECT_EQ(second.code(), TF_INVALID_ARGUMENT) << second.what();
  EXPECT_TRUE(second.where().starts_with("mistake_test.cc:")) << second.where();
}

TEST(CppMistake, NamesThatNoNodeMayHaveAreRefused) {
  const Tensor x(1.f);
  const auto expect = [&](const char* whose, const std::string& name, const auto& call) {
    const Error error = ErrorOf(call);
    EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
    EXPECT_TRUE(Has(error, '"' + name + "\" is no name of " + whose)) << error.what();
    EXPECT_NE(error.where().find("mistake_test.cc"), std::string::npos) << error.what();
  };
  const auto scoped = [&](const char* outer, const char* name) {
    return [&x, outer, name] {
      Function([&](Tensor y) {
        const NameScope around(outer);
        const NameScope scope(name);
        return y + 1;
      })(x);
    };
  };
  expect("a scope", "bad name!", scoped("", "bad name!"));
  expect("a scope", "_begin", scoped("", "_begin"));
  for (const char* const name : {"a\\b", "a>", "a>_b"}) expect("a scope", name, scoped("", name));
  EXPECT_EQ(ErrorOf(scoped("", "a>b")).code(), TF_OK);
  EXPECT_EQ(ErrorOf(scoped("outer", "_begin")).code(), TF_OK);
  expect("a Function", "", [&] { Function([](Tensor y) { return y; }, {.name = ""}); });
  expect("a node", "a b",
         [&] { Function([](Tensor y) { return Op("Neg").Input(y).Name("a b").RunOne(); })(x); });
  expect("an argument", "x:0", [&] {
    Function([](Tensor y) { return y; }).Concrete(TensorSpec(DType::kFloat, {}, "x:0"));
  });
  expect("a Function", "f!", [&] { Function([](Tensor y) { return y; }, {.name = "f!"}); });
  expect("a Variable", "my weights", [&] { Variable(x, {.name = "my weights"}); });
}

TEST(CppMistake, ADeviceThatThereIsNotFailsTheCallAndNotTheTrace) {
  const Function f([](Tensor x) {
    const Tensor here = x + 1;
    const Device device("/GPU:7");
    return here * 2;
  });
  const ConcreteFunction traced = f.Concrete(Tensor(1.f));
  EXPECT_NE(traced.graph_def().find("/device:GPU:7"), std::string::npos);
  const Error error = ErrorOf([&] { f(Tensor(1.f)); });
  EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT);
  EXPECT_TRUE(Has(error, "There is no device \"/device:GPU:7\"")) << error.what();
  EXPECT_EQ(error.op(), "Mul");
  EXPECT_NE(error.where().find("mistake_test.cc"), std::string::npos) << error.what();
  const Function branches([](Tensor x) {
    return Cond(
        x > 0, [&] { return x; },
        [&] {
          const Device device("/CPU:3");
          return x + 1;
        });
  });
  EXPECT_EQ(ErrorOf([&] { branches(Tensor(1.f)); }).code(), TF_INVALID_ARGUMENT);
  for (const char* const name : {"", "/CPU:0", "/device:CPU:*", "/device:CPU", "/job:localhost"}) {
    const Function there([name](Tensor x) {
      const Device device(name);
      return x + 1;
    });
    EXPECT_EQ(ErrorOf([&] { there(Tensor(1.f)); }).code(), TF_OK) << name;
  }
}

}  // namespace
}  // namespace tenon
