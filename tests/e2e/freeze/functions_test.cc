// Variables that calls, branches and loops of a frozen SavedModel take.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/e2e/saved_model_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Two calls of one function, which returns the handle that it takes. What the second gives back is
// written.
TEST(Freeze, TellsTheVariablesOfTwoCallsApart) {
  const std::string dtype = "attr { key: 'dtype' value { type: DT_FLOAT } }";
  const auto call = [](const std::string& name, const std::string& variable) {
    const std::string types = "value { list { type: DT_RESOURCE } } } ";
    return TextNode(name, "StatefulPartitionedCall", "input: '" + variable + "'",
                    "attr { key: 'Tin' " + types + "attr { key: 'Tout' " + types +
                        "attr { key: 'f' value { func { name: 'same' } } }");
  };
  const std::string model = WriteSavedModel(
      "two_calls",
      TextVarHandle("a", "a") + TextVarHandle("b", "b") + call("of_a", "a") + call("of_b", "b") +
          TextNode("read", "ReadVariableOp", "input: 'of_a'", dtype) +
          TextNode("add", "AssignAddVariableOp", "input: 'of_b' input: 'x'", dtype) +
          TextNode("y", "Mul", "input: 'read' input: 'x' input: '^add'",
                   "attr { key: 'T' value { type: DT_FLOAT } }") +
          "library { function { signature { name: 'same' input_arg { name: 'h' type: DT_RESOURCE } "
          "output_arg { name: 'r' type: DT_RESOURCE } } ret { key: 'r' value: 'h' } } }\n",
      {"a", "b"});
  const std::string out = TempPath("two_calls.pb");
  EXPECT_THAT(GraphRun({"freeze", model, "-o", out}).err,
              HasSubstr("variable 'b' is written by node 'add'"));
  const json frozen = Document({"freeze", model, "-o", out, "--keep-state"});
  EXPECT_EQ(frozen["kept"], json({"b"}));
}

// What a branch chooses, or a loop exchanges, and is written then: no result is a value here and a
// handle there.
TEST(Freeze, KeepsAllVariablesThatShareAResult) {
  const std::string two = "value { list { type: DT_RESOURCE type: DT_RESOURCE } } } ";
  const auto function = [](const std::string& name, const std::string& results) {
    return "function { signature { name: '" + name +
           "' input_arg { name: 'h' type: DT_RESOURCE } input_arg { name: 'k' type: DT_RESOURCE "
           "} " +
           results + " }\n";
  };
  const std::string one_result = "output_arg { name: 'r' type: DT_RESOURCE } } ";
  const std::string branch =
      TextNode("p", "Const", "",
               "attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'value' value { tensor { "
               "dtype: DT_BOOL tensor_shape { } bool_val: true } } }") +
      TextNode("both", "If", "input: 'p' input: 'a' input: 'b'",
               "attr { key: 'Tcond' value { type: DT_BOOL } } attr { key: 'Tin' " + two +
                   "attr { key: 'Tout' value { list { type: DT_RESOURCE } } } "
                   "attr { key: 'then_branch' value { func { name: 'first' } } } "
                   "attr { key: 'else_branch' value { func { name: 'second' } } }") +
      "library { " + function("first", one_result + "ret { key: 'r' value: 'h' }") +
      function("second", one_result + "ret { key: 'r' value: 'k' }") + "}\n";
  const std::string loop =
      TextNode("both", "While", "input: 'a' input: 'b'",
               "attr { key: 'T' " + two +
                   "attr { key: 'cond' value { func { name: 'never' } } } "
                   "attr { key: 'body' value { func { name: 'swap' } } }") +
      "library { " +
      function("swap",
               "output_arg { name: 'r' type: DT_RESOURCE } output_arg { name: 's' type: "
               "DT_RESOURCE } } ret { key: 'r' value: 'k' } ret { key: 's' value: 'h' }") +
      function("never",
               "output_arg { name: 'r' type: DT_BOOL } } ret { key: 'r' value: 'c:output:0' } "
               "node_def { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } } "
               "attr { key: 'value' value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: "
               "false } } } }") +
      "}\n";
  for (const std::string& shared : {branch, loop}) {
    const std::string model =
        WriteSavedModel("shared_result",
                        TextVarHandle("a", "a") + TextVarHandle("b", "b") + shared +
                            TextNode("add", "AssignAddVariableOp", "input: 'both' input: 'x'",
                                     "attr { key: 'dtype' value { type: DT_FLOAT } }") +
                            TextNode("read", "ReadVariableOp", "input: 'a' input: '^add'",
                                     "attr { key: 'dtype' value { type: DT_FLOAT } }") +
                            TextNode("y", "Mul", "input: 'read' input: 'x'",
                                     "attr { key: 'T' value { type: DT_FLOAT } }"),
                        {"a", "b"});
    const std::string out = TempPath("shared_result.pb");
    EXPECT_THAT(GraphRun({"freeze", model, "-o", out}).err, HasSubstr("is written by node 'add'"));
    const json frozen = Document({"freeze", model, "-o", out, "--keep-state"});
    EXPECT_EQ(frozen["kept"], json({"a", "b"})) << shared;
  }
}

TEST(Freeze, LooksIntoTheBodyOfAFor) {
  const std::string number =
      "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor { dtype: "
      "DT_INT32 tensor_shape { } int_val: 1 } } }";
  const std::string model = WriteSavedModel(
      "for_body",
      TextVarHandle("a", "a") + TextNode("one", "Const", "", number) +
          TextNode("loop", "For", "input: 'one' input: 'one' input: 'one' input: 'a'",
                   "attr { key: 'T' value { list { type: DT_RESOURCE } } } "
                   "attr { key: 'body' value { func { name: 'add' } } }") +
          TextNode("read", "ReadVariableOp", "input: 'a' input: '^loop'",
                   "attr { key: 'dtype' value { type: DT_FLOAT } }") +
          TextNode("y", "Mul", "input: 'read' input: 'x'",
                   "attr { key: 'T' value { type: DT_FLOAT } }") +
          "library { function { signature { name: 'add' input_arg { name: 'i' type: DT_INT32 } "
          "input_arg { name: 'h' type: DT_RESOURCE } output_arg { name: 'r' type: DT_RESOURCE } } "
          "node_def { name: 'v' op: 'Cast' input: 'i' attr { key: 'SrcT' value { type: DT_INT32 } "
          "} "
          "attr { key: 'DstT' value { type: DT_FLOAT } } } "
          "node_def { name: 'w' op: 'AssignAddVariableOp' input: 'h' input: 'v:y:0' "
          "attr { key: 'dtype' value { type: DT_FLOAT } } } "
          "ret { key: 'r' value: 'h' } } }\n",
      {"a"});
  EXPECT_THAT(GraphRun({"freeze", model, "-o", TempPath("for_body.pb")}).err,
              HasSubstr("variable 'a' is written by node 'w' (AssignAddVariableOp) of function"));
}

}  // namespace
}  // namespace tenon::testing
