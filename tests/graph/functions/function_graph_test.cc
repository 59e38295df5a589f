// Bodies as graphs, and back.
#include "graph/functions/function_graph.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/wire/wire.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Parse;

constexpr char kTIsFloat[] = "attr { key: 'T' value { type: DT_FLOAT } }";

std::string Library(std::string_view functions) {
  return absl::StrCat("library { ", functions, " } versions { producer: 2474 }");
}

// Two arguments, a node with two lists of results, control edges from a node and an argument, a
// result that is an argument, a control output, attributes of the function and of an argument.
std::string Everything() {
  return Library(absl::StrCat(
      "function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } "
      "input_arg { name: 'b' type: DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } "
      "output_arg { name: 's' type: DT_FLOAT } output_arg { name: 't' type: DT_INT32 } "
      "control_output: 'done' } "
      "node_def { name: 'dim' op: 'Const' device: '/device:CPU:0' "
      "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: "
      "DT_INT32 tensor_shape {} int_val: 0 } } } } "
      "node_def { name: 'parts' op: 'Split' input: 'dim:output:0' input: 'a' ",
      kTIsFloat,
      " attr { key: 'num_split' value { i: 2 } } } "
      "node_def { name: 'n' op: 'Neg' input: 'parts:output:1' input: '^dim' input: '^b' ",
      kTIsFloat, "} node_def { name: 'u' op: 'Unique' input: 'n:y:0' ", kTIsFloat,
      " attr { key: 'out_idx' value { type: DT_INT32 } } } "
      "node_def { name: 'wait' op: 'NoOp' input: '^n' } "
      "ret { key: 'r' value: 'u:y:0' } ret { key: 's' value: 'b' } ret { key: 't' value: 'u:idx' } "
      "control_ret { key: 'done' value: 'wait' } attr { key: '_noinline' value { b: true } } "
      "arg_attr { key: 1 value { attr { key: '_user_specified_name' value { s: 'bee' } } } } }"));
}

std::vector<std::string> Lines(const FunctionBody& body) {
  std::vector<std::string> lines;
  for (const BodyNode& node : body.nodes) {
    std::vector<std::string_view> attrs;
    for (const Attr& a : node.attrs().all()) attrs.push_back(a.name);
    lines.push_back(absl::StrCat(node.name, " = ", node.op_name(), "(",
                                 absl::StrJoin(node.inputs, ", "), ") ", absl::StrJoin(attrs, " "),
                                 " @", node.device));
  }
  for (const Attr& r : body.returns) lines.push_back(absl::StrCat(r.name, " is ", r.value.wire()));
  for (const Attr& r : body.control_returns)
    lines.push_back(absl::StrCat("^", r.name, " is ", r.value.wire()));
  return lines;
}

TEST(FunctionGraph, ThereAndBack) {
  Graph owner = Parse(Everything());
  const FunctionEntry& function = *owner.FindFunction("f");
  absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(owner, function);
  ASSERT_TRUE(body.ok()) << body.status();
  const Graph& g = body->graph;
  EXPECT_THAT(VerifyNodes(g), ElementsAre());
  ASSERT_EQ(body->args.size(), 2u);
  EXPECT_EQ(g.name(body->args[1]), "b");
  EXPECT_EQ(g.OutputName(g.inputs(body->results[2])[0]), "u:1");
  EXPECT_EQ(g.OutputName(g.inputs(g.FindNode("n"))[0]), "parts:1");
  EXPECT_THAT(body->effects, ElementsAre(g.FindNode("wait")));
  EXPECT_EQ(g.producer(), 2474);

  const std::string before = *ExportText(owner);
  PutFunctions(owner, {body->Wire()});
  EXPECT_THAT(Verify(owner), ElementsAre());
  EXPECT_THAT(
      Lines(ParseFunctionBody(owner, *owner.FindFunction("f"))),
      ElementsAre("dim = Const() dtype value @/device:CPU:0",
                  "parts = Split(dim:output:0, a) T num_split @",
                  "n = Neg(parts:output:1, ^dim, ^b) T @", "u = Unique(n:y:0) T out_idx @",
                  "wait = NoOp(^n)  @", "r is u:y:0", "s is b", "t is u:idx:0", "^done is wait"));
  const std::string after = *ExportText(owner);
  for (const char* kept : {"_noinline", "_user_specified_name", "control_output: \"done\""}) {
    EXPECT_THAT(before, HasSubstr(kept));
    EXPECT_THAT(after, HasSubstr(kept));
  }
}

TEST(FunctionGraph, EditsArriveInTheBody) {
  Graph owner = Parse(Everything());
  FunctionGraph body = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  // A result that is a constant instead, and a node that is new.
  const float seven = 7;
  ASSERT_TRUE(body.graph
                  .MakeConst(body.results[1],
                             Tensor::CopyOf(DataType::kFloat, Shape(), &seven, sizeof(seven)))
                  .ok());
  const NodeId exp = *body.graph.AddNode("e", "Exp", std::vector<Output>{{body.args[1], 0}},
                                         {{"T", attr::Type(DataType::kFloat)}});
  body.graph.SetInput(body.results[0], 0, {exp, 0});
  PutFunctions(owner, {body.Wire()});
  EXPECT_THAT(Verify(owner), ElementsAre());
  const std::vector<std::string> lines = Lines(ParseFunctionBody(owner, *owner.FindFunction("f")));
  EXPECT_THAT(lines, ::testing::IsSupersetOf({"e = Exp(b) T @", "s/result = Const() dtype value @",
                                              "r is e:y:0", "s is s/result:output:0"}));
}

TEST(FunctionGraph, ArgumentsAndResultsMayGo) {
  Graph owner = Parse(Everything());
  FunctionGraph body = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  // Without 'a' and what is made of it; 'b' becomes the first argument.
  for (const char* name : {"parts", "n", "u", "dim", "a", "r/result", "t/result"})
    body.graph.RemoveNode(body.graph.FindNode(name));
  body.graph.SetInputs(body.graph.FindNode("wait"), {}, {});
  body.args[0] = body.results[0] = body.results[2] = kNoNode;
  PutFunctions(owner, {body.Wire("g")});
  EXPECT_THAT(Verify(owner), ElementsAre());
  const FunctionEntry& g = *owner.FindFunction("g");
  EXPECT_EQ(owner.functions().size(), 2u);
  ASSERT_EQ(g.signature->inputs.size(), 1u);
  EXPECT_EQ(g.signature->inputs[0].name, "b");
  EXPECT_THAT(Lines(ParseFunctionBody(owner, g)),
              ElementsAre("wait = NoOp()  @", "s is b", "^done is wait"));
  const std::string text = *ExportText(owner);
  EXPECT_THAT(text.substr(text.find("name: \"g\"")), HasSubstr("arg_attr {\n      key: 0"));
}

// TensorFlow compares the one with the arguments, and exchanges functions by the other.
TEST(FunctionGraph, AnotherFunctionDoesNotClaimTheInterface) {
  std::string text = Everything();
  text.insert(text.find("attr { key: '_noinline'"),
              "attr { key: '_input_shapes' value { list { shape {} shape {} } } } "
              "attr { key: 'api_implements' value { s: 'lstm' } } ");
  Graph owner = Parse(text);
  const FunctionGraph body = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  EXPECT_NE(body.attrs.Find("api_implements"), nullptr);
  PutFunctions(owner, {body.Wire(), body.Wire("g")});
  const auto attrs = [&](std::string_view function) {
    std::vector<std::string_view> names;
    for (const Attr& a : ParseFunctionBody(owner, *owner.FindFunction(function)).attrs)
      names.push_back(a.name);
    return names;
  };
  EXPECT_THAT(attrs("f"), ElementsAre("_input_shapes", "_noinline", "api_implements"));
  EXPECT_THAT(attrs("g"), ElementsAre("_noinline"));
}

// A pass may let nodes read the Identity of a result in the place of its source.
TEST(FunctionGraph, ResultsThatNodesReadStay) {
  Graph owner = Parse(Everything());
  FunctionGraph body = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  const NodeId result = body.results[1], waiting = body.graph.FindNode("wait");
  body.graph.SetInput(body.graph.FindNode("u"), 0, {result, 0});
  body.graph.SetInput(waiting, 0, {body.results[0], kControlPort});
  PutFunctions(owner, {body.Wire()});
  EXPECT_THAT(Verify(owner), ElementsAre());
  EXPECT_THAT(Lines(ParseFunctionBody(owner, *owner.FindFunction("f"))),
              AllOf(Contains("u = Unique(s/result:output:0) T out_idx @"),
                    Contains("s/result = Identity(b) T @"), Contains("wait = NoOp(^r/result)  @"),
                    Contains("s is s/result:output:0"), Contains("t is u:idx:0")));
}

// Protobuf adds up parts of a message, and ignores what has a field's number but not its type.
TEST(FunctionGraph, SignaturesInParts) {
  const auto field = [](uint32_t number, const std::string& bytes) {
    std::string out;
    WireWriter(&out).Bytes(number, bytes);
    return out;
  };
  const auto arg = [&](uint32_t number, const std::string& name) {
    std::string out = field(1, name);
    WireWriter(&out).Varint(3, 1);
    return field(number, out);
  };
  std::string stray;
  for (int i = 0; i < 9; ++i) WireWriter(&stray).Varint(2, 1);
  const std::string f = field(1, field(1, "f") + stray + arg(2, "a") + arg(3, "r")) +
                        field(1, arg(2, "b")) + field(4, field(1, "r") + field(2, "b"));
  Graph owner = ImportBytes(field(2, field(1, f)), "test.pb")->graph;
  FunctionGraph body = *FunctionGraph::Make(owner, *owner.FindFunction("f"));
  ASSERT_EQ(body.args.size(), 2u);
  body.graph.RemoveNode(body.args[0]);
  body.args[0] = kNoNode;
  PutFunctions(owner, {body.Wire("g")});
  const FunctionEntry& g = *owner.FindFunction("g");
  ASSERT_EQ(g.signature->inputs.size(), 1u);
  EXPECT_EQ(g.signature->inputs[0].name, "b");
  EXPECT_THAT(Lines(ParseFunctionBody(owner, g)), ElementsAre("r is b"));
}

TEST(FunctionGraph, WhatCannotBeOne) {
  const auto make = [](std::string_view function) {
    Graph owner;
    absl::StatusOr<Imported> imported = ImportBytes(Library(function), "test.pbtxt");
    EXPECT_TRUE(imported.ok()) << imported.status();
    return FunctionGraph::Make(imported->graph, imported->graph.functions()[0]).status();
  };
  EXPECT_THAT(std::string(make("function { signature { name: 'f' input_arg { name: 'a' type_attr: "
                               "'T' } attr { name: 'T' type: 'type' } } }")
                              .message()),
              HasSubstr("attributes or lists"));
  EXPECT_EQ(
      make("function { signature { name: 'f' } node_def { name: 'n' op: 'NoSuchOp' } }").code(),
      absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(make("function { signature { name: 'f' output_arg { name: 'r' type: "
                               "DT_FLOAT } } }")
                              .message()),
              HasSubstr("result 'r'"));
  EXPECT_THAT(
      std::string(make("function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } } "
                       "node_def { name: 'n' op: 'Neg' input: 'b' attr { key: 'T' value { type: "
                       "DT_FLOAT } } } }")
                      .message()),
      HasSubstr("'b' names no node"));
}

}  // namespace
}  // namespace tenon
