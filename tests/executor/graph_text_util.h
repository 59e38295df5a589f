// Small graphs, sessions and tensors for the executor's tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "tests/support/parse_graph.h"

namespace tenon::testing {

// A session of the text on the CPU, with one thread. With TENON_TEST_TASKS in the environment all
// have three threads at least and InterOp::kAlways.
std::unique_ptr<Session> MakeSession(std::string text, int opt_level = 0);
std::unique_ptr<Session> MakeSession(std::string text, SessionOptions options);

// One node as text. `shape` is the inside of a TensorShapeProto, `value` that of a TensorProto
// (without dtype), `attrs` and `extra` anything.
std::string Placeholder(std::string_view name, std::string_view shape,
                        std::string_view type = "DT_FLOAT");
std::string Node(std::string_view name, std::string_view op, std::vector<std::string> inputs,
                 std::string_view attrs = "", std::string_view type = "DT_FLOAT");
// A node whose attributes are all given.
std::string Op(std::string_view name, std::string_view op, std::vector<std::string> inputs,
               std::string_view attrs = "");
std::string Const(std::string_view name, std::string_view type, std::string_view value,
                  std::string_view extra = "");

// Attributes: a type, a list of types, a function.
std::string Type(std::string_view name, std::string_view type);
std::string Types(std::string_view name, std::vector<std::string> types);
std::string Func(std::string_view name, std::string_view function, std::string_view attrs = "");
// A call of a function of floats.
std::string Call(std::string_view name, std::string_view function, std::vector<std::string> inputs,
                 int outputs = 1, std::string_view op = "PartitionedCall");
// The library, and a function of it: of floats, with nodes as above; `attrs` are its own.
std::string Library(std::vector<std::string> functions);
std::string Function(std::string_view name, std::vector<std::string> args,
                     std::vector<std::string> results, std::string nodes, std::string_view ret,
                     std::string_view attrs = "");
std::string Ret(std::string_view result, std::string_view source);
// Relu(a W + b) as nodes of a body with the argument a; its result is "relu:activations:0". And a
// function "dense" of it. `w` are four numbers, `b` two.
std::string DenseNodes(std::string_view w, std::string_view b);
std::string DenseFunction(std::string_view w, std::string_view b, std::string_view attrs = "");
// The handle of a variable of floats of any shape.
std::string VarHandle(std::string_view name, std::string_view shared_name);

// A loop of version 1: i and x go round while i < n. Its nodes begin with `prefix`; `body` are
// nodes that make "body" of "switch_x:1". "exit_i" and "exit_x" are its results.
std::string Loop(std::string_view prefix, std::string body, std::string_view i, std::string_view x,
                 std::string_view n);
// What it begins with: a placeholder n, constants zero, one and half.
std::string Numbers();

Tensor Floats(std::vector<float> values, Shape shape);
Tensor Bool(bool v);
std::vector<float> Values(const Tensor& t);

}  // namespace tenon::testing
