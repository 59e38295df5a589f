// Variables that nobody changes any more are constants of what is prepared.
#include "executor/state/fixed_variables.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "executor/session/session.h"
#include "executor/state/variable_use.h"
#include "graph/ir/shared_const.h"
#include "plugin/kernels/variable.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kDtype = Type("dtype", "DT_FLOAT");

std::string Read(std::string_view name, std::string_view handle) {
  return Op(name, "ReadVariableOp", {std::string(handle)}, kDtype);
}

// A function whose argument v is a handle.
std::string OfHandle(std::string_view name, std::vector<std::string> args,
                     std::vector<std::string> results, std::string nodes, std::string_view ret,
                     std::string_view attrs = "") {
  return absl::StrReplaceAll(
      Function(name, std::move(args), std::move(results), std::move(nodes), ret, attrs),
      {{"name: 'v' type: DT_FLOAT", "name: 'v' type: DT_RESOURCE"}});
}

constexpr char kNoInline[] = "attr { key: '_noinline' value { b: true } }";

// v and what sets it, and a function "scale" of v and a: a times v.
std::string Begin() {
  return VarHandle("v", "v") + Placeholder("x", "dim { size: 2 }") +
         Op("set", "AssignVariableOp", {"v", "x"}, kDtype);
}

std::string Scale(std::string_view attrs = "") {
  return OfHandle("scale", {"v", "a"}, {"r"},
                  Read("read", "v") + Node("mul", "Mul", {"a", "read:value:0"}),
                  Ret("r", "mul:z:0"), attrs);
}

std::string CallOfHandle(std::string_view name, std::string_view function, std::string_view a) {
  return Op(name, "StatefulPartitionedCall", {"v", std::string(a)},
            Types("Tin", {"DT_RESOURCE", "DT_FLOAT"}) + Types("Tout", {"DT_FLOAT"}) +
                Func("f", function));
}

class Fixed : public ::testing::Test {
 protected:
  // The variable is 2, 3.
  void Make(const std::string& text, int opt_level = 1) {
    session_ = MakeSession(text, opt_level);
    ASSERT_TRUE(session_->Run({{"x", Floats({2, 3}, {2})}}, {"^set"}).ok());
  }

  std::vector<float> Run(const std::string& fetch) {
    const auto values = session_->Run({{"x", Floats({10, 100}, {2})}}, {fetch});
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? Values((*values)[0]) : std::vector<float>();
  }

  // Changes the variable as no node does.
  void Overwrite() {
    const auto variable = session_->resources().LookupOrCreate<Variable>(
        "", "v", [] { return ObjectRef<Variable>(); });
    ASSERT_TRUE(variable.get() != nullptr);
    const auto keep = [](const Tensor&) { return absl::OkStatus(); };
    ASSERT_TRUE(variable->Assign(Floats({-1, -1}, {2}), nullptr, keep).ok());
  }

  size_t Constants() const { return session_->fixed_variables()->constants().size(); }

  std::unique_ptr<Session> session_;
};

TEST_F(Fixed, AreConstantsInCallsThatAreInlined) {
  Make(Begin() + CallOfHandle("c", "scale", "x") + Node("y", "Neg", {"c"}) + Library({Scale()}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  Overwrite();
  EXPECT_THAT(Run("y"), ElementsAre(-20, -300));
  const Graph& graph = OptimizedGraph(*session_->Prepare({"x"}, {"y"}).value());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) EXPECT_NE(graph.op_name(n), "ReadVariableOp");
  }
}

TEST_F(Fixed, AreInMemoryOnce) {
  Make(Begin() + Read("y", "v"));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  const FixedVariables& fixed = *session_->fixed_variables();
  ASSERT_EQ(Constants(), 1);
  const Tensor constant = fixed.graph().ConstValue(fixed.constants().begin()->second).value();
  const auto variable =
      session_->resources().LookupOrCreate<Variable>("", "v", [] { return ObjectRef<Variable>(); });
  EXPECT_EQ(variable->Get().value().data(), constant.data());
}

// Nothing packs a table that is gathered from: the plan reads it where it is.
TEST_F(Fixed, AreReadWhereTheyAre) {
  session_ =
      MakeSession(VarHandle("v", "v") + Placeholder("x", "dim { size: 999 } dim { size: 3 }") +
                      Op("set", "AssignVariableOp", {"v", "x"}, kDtype) +
                      Placeholder("i", "dim { size: 1 }", "DT_INT32") +
                      Op("y", "ResourceGather", {"v", "i"}, kDtype + Type("Tindices", "DT_INT32")),
                  1);
  std::vector<float> values(2997);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  ASSERT_TRUE(session_->Run({{"x", Floats(values, {999, 3})}}, {"^set"}).ok());
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  const Tensor index = Tensor::Of<int32_t>(DataType::kInt32, {998}, Shape({1}));
  const auto row = session_->Run({{"i", index}}, {"y"});
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_THAT(Values((*row)[0]), ElementsAre(2994, 2995, 2996));
  const FixedVariables& fixed = *session_->fixed_variables();
  const Tensor constant = fixed.graph().ConstValue(fixed.constants().begin()->second).value();
  EXPECT_TRUE(constant.shape() == Shape({999, 3}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data()) % kTensorAlignment, 0);
  EXPECT_TRUE(IsAligned(fixed.graph(), constant));
}

TEST_F(Fixed, AreNotThoseThatSomeEntryChanges) {
  const std::string add = OfHandle("add", {"v", "a"}, {"r"},
                                   Op("add", "AssignAddVariableOp", {"v", "a"}, kDtype) +
                                       Op("read", "ReadVariableOp", {"v", "^add"}, kDtype),
                                   Ret("r", "read:value:0"), kNoInline);
  const std::string nested = OfHandle("nested", {"v", "a"}, {"r"}, CallOfHandle("c", "add", "a"),
                                      Ret("r", "c:output:0"), kNoInline);
  const std::string text =
      Begin() + CallOfHandle("more", "nested", "x") + Read("y", "v") + Library({add, nested});
  Make(text);
  ASSERT_TRUE(session_->FixVariables({"y", "more"}).ok());
  EXPECT_EQ(Constants(), 0);
  EXPECT_THAT(Run("more"), ElementsAre(12, 103));
  EXPECT_THAT(Run("y"), ElementsAre(12, 103));
  // Whoever did not say so is refused.
  Make(text);
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(Constants(), 1);
  const absl::Status refused = session_->Prepare({"x"}, {"more"}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("node 'v' (VarHandleOp)"));
  EXPECT_THAT(Run("y"), ElementsAre(2, 3));
}

TEST_F(Fixed, AreNotThoseThatAnotherNodeOfTheVariableChanges) {
  const std::string text = Begin() + VarHandle("w", "v") +
                           Op("add", "AssignAddVariableOp", {"w", "x"}, kDtype) +
                           Op("y", "ReadVariableOp", {"v", "^add"}, kDtype) + Read("z", "v");
  Make(text);
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(Constants(), 0);
  EXPECT_THAT(Run("y"), ElementsAre(12, 103));
  Make(text);
  ASSERT_TRUE(session_->FixVariables({"z"}).ok());
  EXPECT_EQ(Constants(), 1);
  EXPECT_EQ(session_->Prepare({"x"}, {"^add"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(Fixed, StayVariablesWithoutAnOptimizer) {
  Make(Begin() + Read("y", "v"), 0);
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(session_->fixed_variables(), nullptr);
  Overwrite();
  EXPECT_THAT(Run("y"), ElementsAre(-1, -1));
}

TEST_F(Fixed, AreConstantsInLoops) {
  const std::string types = Types("T", {"DT_RESOURCE", "DT_FLOAT"});
  const std::string few =
      OfHandle("few", {"v", "a"}, {"r"},
               Const("axis", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 0") +
                   Op("sum", "Sum", {"a", "axis:output:0"},
                      Type("T", "DT_FLOAT") + Type("Tidx", "DT_INT32")) +
                   Const("limit", "DT_FLOAT", "tensor_shape {} float_val: 500") +
                   Op("less", "Less", {"sum:output:0", "limit:output:0"}, Type("T", "DT_FLOAT")),
               Ret("r", "less:z:0"));
  std::string body = OfHandle("body", {"v", "a"}, {"w", "r"},
                              Op("same", "Identity", {"v"}, Type("T", "DT_RESOURCE")) +
                                  Read("read", "v") + Node("mul", "Mul", {"a", "read:value:0"}),
                              Ret("w", "same:output:0") + Ret("r", "mul:z:0"));
  const std::string text =
      Begin() +
      Op("loop", "While", {"v", "x"}, types + Func("cond", "few") + Func("body", "body")) +
      Node("y", "Neg", {"loop:1"}) +
      Library({absl::StrReplaceAll(few, {{"output_arg { name: 'r' type: DT_FLOAT",
                                          "output_arg { name: 'r' type: DT_BOOL"}}),
               absl::StrReplaceAll(body,
                                   {{"name: 'w' type: DT_FLOAT", "name: 'w' type: DT_RESOURCE"}})});
  Make(text);
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  ASSERT_EQ(Constants(), 1);
  Overwrite();
  EXPECT_THAT(Run("y"), ElementsAre(-40, -900));
}

// The first pass adds to w and the second to v: the handles have changed places.
TEST_F(Fixed, AreNotThoseThatALoopExchanges) {
  const std::string types = Types("T", {"DT_RESOURCE", "DT_RESOURCE", "DT_FLOAT"});
  const auto handles = [](std::string function) {
    return absl::StrReplaceAll(function,
                               {{"name: 'w' type: DT_FLOAT", "name: 'w' type: DT_RESOURCE"},
                                {"name: 'r' type: DT_FLOAT", "name: 'r' type: DT_RESOURCE"},
                                {"name: 's' type: DT_FLOAT", "name: 's' type: DT_RESOURCE"}});
  };
  const std::string twice = absl::StrReplaceAll(
      handles(OfHandle("twice", {"v", "w", "a"}, {"b"},
                       Const("limit", "DT_FLOAT", "tensor_shape {} float_val: 2") +
                           Op("less", "Less", {"a", "limit:output:0"}, Type("T", "DT_FLOAT")),
                       Ret("b", "less:z:0"))),
      {{"output_arg { name: 'b' type: DT_FLOAT", "output_arg { name: 'b' type: DT_BOOL"}});
  const std::string body = handles(
      OfHandle("body", {"v", "w", "a"}, {"r", "s", "b"},
               Const("one", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                   Const("ones", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: 1") +
                   Op("add", "AssignAddVariableOp", {"w", "ones:output:0"}, kDtype) +
                   Op("first", "Identity", {"w", "^add"}, Type("T", "DT_RESOURCE")) +
                   Node("next", "AddV2", {"a", "one:output:0"}),
               Ret("r", "first:output:0") + Ret("s", "v") + Ret("b", "next:z:0")));
  Make(Begin() + VarHandle("w", "w") + Op("set_w", "AssignVariableOp", {"w", "x"}, kDtype) +
       Const("zero", "DT_FLOAT", "tensor_shape {} float_val: 0") +
       Op("loop", "While", {"v", "w", "zero"},
          types + Func("cond", "twice") + Func("body", "body")) +
       Op("y", "ReadVariableOp", {"v", "^loop"}, kDtype) + Library({twice, body}));
  ASSERT_TRUE(session_->Run({{"x", Floats({5, 5}, {2})}}, {"^set_w"}).ok());
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_THAT(Run("y"), ElementsAre(3, 4));
}

// A handle that a call returns may be a variable's, unless the function makes it of a table.
TEST_F(Fixed, AreThoseBesideTablesThatFunctionsMake) {
  const auto gives_handle = [](std::string function) {
    return absl::StrReplaceAll(std::move(function),
                               {{"name: 'r' type: DT_FLOAT", "name: 'r' type: DT_RESOURCE"}});
  };
  const std::string make = gives_handle(
      Function("make", {}, {"r"},
               Op("table", "MutableHashTableV2", {},
                  Type("key_dtype", "DT_STRING") + Type("value_dtype", "DT_INT64")) +
                   Op("same", "Identity", {"table:table_handle:0"}, Type("T", "DT_RESOURCE")),
               Ret("r", "same:output:0")));
  const std::string again = gives_handle(
      Function("again", {}, {"r"},
               Op("call", "StatefulPartitionedCall", {},
                  Types("Tin", {}) + Types("Tout", {"DT_RESOURCE"}) + Func("f", "make")),
               Ret("r", "call:output:0")));
  const std::string give = gives_handle(
      OfHandle("give", {"v"}, {"r"}, Op("same", "Identity", {"v"}, Type("T", "DT_RESOURCE")),
               Ret("r", "same:output:0")));
  const auto uses = [](std::string_view call) {
    return Begin() + std::string(call) + Op("size", "LookupTableSizeV2", {"handle"}) +
           Op("wide", "Cast", {"size"}, Type("SrcT", "DT_INT64") + Type("DstT", "DT_FLOAT")) +
           Read("read", "v") + Node("y", "AddV2", {"read", "wide"});
  };
  for (const char* function : {"make", "again"}) {
    Make(uses(Op("handle", "StatefulPartitionedCall", {},
                 Types("Tin", {}) + Types("Tout", {"DT_RESOURCE"}) + Func("f", function))) +
         Library({make, again}));
    ASSERT_TRUE(session_->FixVariables({"y"}).ok());
    EXPECT_EQ(Constants(), 1) << function;
    EXPECT_THAT(Run("y"), ElementsAre(2, 3));
  }
  Make(
      uses(Op("handle", "StatefulPartitionedCall", {"v"},
              Types("Tin", {"DT_RESOURCE"}) + Types("Tout", {"DT_RESOURCE"}) + Func("f", "give"))) +
      Library({give}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(Constants(), 0);
}

// The branch that is not taken stays dead, though nothing in it needs the predicate any more.
TEST_F(Fixed, LeaveBranchesDead) {
  const std::string give =
      OfHandle("give", {"v"}, {"r"}, Read("read", "v"), Ret("r", "read:value:0"));
  const std::string negate =
      OfHandle("negate", {"v"}, {"r"}, Read("read", "v") + Node("neg", "Neg", {"read:value:0"}),
               Ret("r", "neg:y:0"));
  Make(Begin() + Placeholder("p", "", "DT_BOOL") +
       Op("y", "If", {"p", "v"},
          Type("Tcond", "DT_BOOL") + Types("Tin", {"DT_RESOURCE"}) + Types("Tout", {"DT_FLOAT"}) +
              Func("then_branch", "give") + Func("else_branch", "negate")) +
       Library({give, negate}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  ASSERT_EQ(Constants(), 1);
  Overwrite();
  for (const bool taken : {true, false}) {
    const auto values = session_->Run({{"p", Bool(taken)}}, {"y"});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_THAT(Values((*values)[0]), taken ? ElementsAre(2, 3) : ElementsAre(-2, -3));
  }
}

TEST_F(Fixed, AreGatheredFrom) {
  Make(Begin() + Const("i", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 1") +
       Op("gather", "ResourceGather", {"v", "i"}, kDtype + Type("Tindices", "DT_INT32")) +
       Node("y", "Neg", {"gather"}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  Overwrite();
  EXPECT_THAT(Run("y"), ElementsAre(-3));
}

TEST_F(Fixed, AreThoseOfVersionOneThatIdentitiesRead) {
  const std::string variable = Op(
      "w", "VariableV2", {}, kDtype + "attr { key: 'shape' value { shape { dim { size: 2 } } } }");
  const std::string types = Type("T", "DT_FLOAT");
  Make(absl::StrReplaceAll(Begin(), {{"name: 'set'", "name: 'set_v'"}}) + variable +
       Op("set", "Assign", {"w", "x"}, types) + Op("read", "Identity", {"w"}, types) +
       Op("add", "AssignAdd", {"w", "x"}, types) + Node("y", "Neg", {"read"}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(Constants(), 1);
  EXPECT_THAT(Run("y"), ElementsAre(-2, -3));
  EXPECT_EQ(session_->Prepare({"x"}, {"add"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// By the name of the node that has no shared name.
TEST_F(Fixed, AreNotThoseOfVersionOneThatAnotherNodeChanges) {
  const std::string facts = kDtype + "attr { key: 'shape' value { shape { dim { size: 2 } } } } ";
  const std::string types = Type("T", "DT_FLOAT");
  Make(absl::StrReplaceAll(Begin(), {{"name: 'set'", "name: 'set_v'"}}) +
       Op("w", "VariableV2", {}, facts) +
       Op("w2", "VariableV2", {}, facts + "attr { key: 'shared_name' value { s: 'w' } }") +
       Op("set", "Assign", {"w", "x"}, types) + Op("add", "AssignAdd", {"w2", "x"}, types) +
       Op("read", "Identity", {"w", "^add"}, types) + Node("y", "Neg", {"read"}));
  ASSERT_TRUE(session_->FixVariables({"y"}).ok());
  EXPECT_EQ(Constants(), 0);
  EXPECT_THAT(Run("y"), ElementsAre(-12, -103));
}

}  // namespace
}  // namespace tenon::testing
