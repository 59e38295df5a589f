#include "tests/executor/graph_text_util.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

namespace tenon::testing {

std::unique_ptr<Session> MakeSession(std::string text, int opt_level) {
  SessionOptions options;
  options.opt_level = opt_level;
  options.threads = 1;
  return MakeSession(std::move(text), std::move(options));
}

std::unique_ptr<Session> MakeSession(std::string text, SessionOptions options) {
  // For the sanitizer of threads: the tests of sessions, with each unit as a task.
  if (std::getenv("TENON_TEST_TASKS") != nullptr) {
    if (options.workers == nullptr) options.threads = std::max(options.threads, 3);
    options.inter_op = InterOp::kAlways;
  }
  absl::StatusOr<std::unique_ptr<Session>> session =
      Session::Create(Parse(std::move(text)), {}, options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::string Placeholder(std::string_view name, std::string_view shape, std::string_view type) {
  return absl::Substitute(
      "node { name: '$0' op: 'Placeholder' attr { key: 'dtype' value { type: $2 } } attr { key: "
      "'shape' value { shape { $1 } } } }\n",
      name, shape, type);
}

std::string Node(std::string_view name, std::string_view op, std::vector<std::string> inputs,
                 std::string_view attrs, std::string_view type) {
  std::string text = absl::Substitute("node { name: '$0' op: '$1' ", name, op);
  for (const std::string& in : inputs) absl::StrAppend(&text, "input: '", in, "' ");
  if (!type.empty()) absl::StrAppend(&text, "attr { key: 'T' value { type: ", type, " } } ");
  return absl::StrCat(text, attrs, " }\n");
}

std::string Op(std::string_view name, std::string_view op, std::vector<std::string> inputs,
               std::string_view attrs) {
  return Node(name, op, std::move(inputs), attrs, "");
}

std::string Const(std::string_view name, std::string_view type, std::string_view value,
                  std::string_view extra) {
  return absl::Substitute(
      "node { name: '$0' op: 'Const' $3 attr { key: 'dtype' value { type: $1 } } attr { key: "
      "'value' value { tensor { dtype: $1 $2 } } } }\n",
      name, type, value, extra);
}

std::string Type(std::string_view name, std::string_view type) {
  return absl::Substitute("attr { key: '$0' value { type: $1 } } ", name, type);
}
std::string Types(std::string_view name, std::vector<std::string> types) {
  std::string list;
  for (const std::string& t : types) absl::StrAppend(&list, " type: ", t);
  return absl::Substitute("attr { key: '$0' value { list {$1 } } } ", name, list);
}
std::string Func(std::string_view name, std::string_view function, std::string_view attrs) {
  return absl::Substitute("attr { key: '$0' value { func { name: '$1' $2 } } } ", name, function,
                          attrs);
}

std::string Call(std::string_view name, std::string_view function, std::vector<std::string> inputs,
                 int outputs, std::string_view op) {
  int args = 0;
  for (const std::string& in : inputs) args += in[0] != '^';
  return Node(name, op, std::move(inputs),
              Types("Tin", std::vector<std::string>(args, "DT_FLOAT")) +
                  Types("Tout", std::vector<std::string>(outputs, "DT_FLOAT")) +
                  Func("f", function),
              "");
}

std::string Library(std::vector<std::string> functions) {
  std::string text = "library {\n";
  for (const std::string& f : functions) absl::StrAppend(&text, f);
  return text + "}\n";
}
std::string Function(std::string_view name, std::vector<std::string> args,
                     std::vector<std::string> results, std::string nodes, std::string_view ret,
                     std::string_view attrs) {
  std::string text = absl::Substitute("function { signature { name: '$0' ", name);
  for (const std::string& a : args)
    absl::StrAppend(&text, "input_arg { name: '", a, "' type: DT_FLOAT } ");
  for (const std::string& r : results)
    absl::StrAppend(&text, "output_arg { name: '", r, "' type: DT_FLOAT } ");
  for (size_t at = nodes.find("node {"); at != nodes.npos; at = nodes.find("node {", at + 9))
    nodes.replace(at, 6, "node_def {");
  return absl::StrCat(text, "}\n", nodes, ret, attrs, " }\n");
}
std::string Ret(std::string_view result, std::string_view source) {
  return absl::Substitute("ret { key: '$0' value: '$1' } ", result, source);
}

std::string DenseNodes(std::string_view w, std::string_view b) {
  return Const("w", "DT_FLOAT",
               absl::StrCat("tensor_shape { dim { size: 2 } dim { size: 2 } } float_val: [", w,
                            "]")) +
         Const("b", "DT_FLOAT",
               absl::StrCat("tensor_shape { dim { size: 2 } } float_val: [", b, "]")) +
         Node("product", "MatMul", {"a", "w:output:0"}) +
         Node("sum", "BiasAdd", {"product:product:0", "b:output:0"}) +
         Node("relu", "Relu", {"sum:output:0"});
}
std::string DenseFunction(std::string_view w, std::string_view b, std::string_view attrs) {
  return Function("dense", {"a"}, {"r"}, DenseNodes(w, b), Ret("r", "relu:activations:0"), attrs);
}

std::string VarHandle(std::string_view name, std::string_view shared_name) {
  return Op(
      name, "VarHandleOp", {},
      absl::StrCat(Type("dtype", "DT_FLOAT"), "attr { key: 'shared_name' value { s: '", shared_name,
                   "' } } attr { key: 'shape' value { shape { unknown_rank: true } } } "));
}

std::string Loop(std::string_view prefix, std::string body, std::string_view i, std::string_view x,
                 std::string_view n) {
  const auto enter = [&](std::string_view name, std::string_view from, std::string_view constant) {
    return Node(absl::StrCat(prefix, name), "Enter", {std::string(from)},
                absl::StrCat("attr { key: 'frame_name' value { s: '", prefix,
                             "frame' } } attr { key: 'is_constant' value { b: ", constant, " } }"));
  };
  const auto p = [&](std::string_view name) { return absl::StrCat(prefix, name); };
  const std::string two = "attr { key: 'N' value { i: 2 } }";
  return enter("enter_i", i, "false") + enter("enter_x", x, "false") + enter("n", n, "true") +
         enter("one", "one", "true") + Node(p("i"), "Merge", {p("enter_i"), p("next_i")}, two) +
         Node(p("x"), "Merge", {p("enter_x"), p("next_x")}, two) +
         Node(p("less"), "Less", {p("i"), p("n")}) +
         Node(p("cond"), "LoopCond", {p("less")}, "", "") +
         Node(p("switch_i"), "Switch", {p("i"), p("cond")}) +
         Node(p("switch_x"), "Switch", {p("x"), p("cond")}) +
         Node(p("step"), "AddV2", {p("switch_i:1"), p("one")}) + body +
         Node(p("next_i"), "NextIteration", {p("step")}) +
         Node(p("next_x"), "NextIteration", {p("body")}) +
         Node(p("exit_i"), "Exit", {p("switch_i")}) + Node(p("exit_x"), "Exit", {p("switch_x")});
}

std::string Numbers() {
  return Placeholder("n", "") + Const("zero", "DT_FLOAT", "tensor_shape {} float_val: 0") +
         Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
         Const("half", "DT_FLOAT", "tensor_shape {} float_val: 0.5");
}

Tensor Floats(std::vector<float> values, Shape shape) {
  return Tensor::Of<float>(DataType::kFloat, values, std::move(shape));
}
Tensor Bool(bool v) { return Tensor::CopyOf(DataType::kBool, Shape(), &v, 1); }

std::vector<float> Values(const Tensor& t) {
  std::vector<float> values(t.num_elements());
  if (!values.empty())
    std::memcpy(values.data(), t.data(), values.size() * sizeof(float));  // may lie unaligned
  return values;
}

}  // namespace tenon::testing
