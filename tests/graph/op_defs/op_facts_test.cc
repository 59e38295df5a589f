// What is true of ops: rows that agree with themselves, and what ops of plug-ins state.
#include "graph/op_defs/op_facts.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/op_registry.h"
#include "graph/op_defs/op_row.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

template <typename Check>
void ForEachRow(Check check) {
  for (absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& spec : family) {
      SCOPED_TRACE(spec.name);
      check(spec.facts, *OpRegistry::Global().Find(spec.name));
    }
  }
}

TEST(OpFacts, OfThePlanAgree) {
  ForEachRow([](const OpFacts& op, const OpDef&) {
    EXPECT_LE(op.mover, op.in_plan);
    EXPECT_LE(op.renames, op.in_plan);
    EXPECT_LE(IsControlFlow(op), op.in_plan);
    EXPECT_LE(op.placeholder, op.from_outside);
    EXPECT_LE(op.in_plan, op.calls == CallKind::kNone);
    EXPECT_LE(op.host_args[0] != '\0', op.other_devices != OtherDevices::kNever);
  });
}

TEST(OpFacts, OfRewritesAgreeWithSignatures) {
  ForEachRow([](const OpFacts& op, const OpDef& def) {
    if (op.cwise_arity > 0) {
      EXPECT_EQ(def.inputs.size(), op.cwise_arity);
      EXPECT_EQ(def.outputs.size(), 1);
    }
    if (op.identity || op.monotone != Monotone::kNo) EXPECT_EQ(def.inputs.size(), 1);
    EXPECT_LE(op.monotone != Monotone::kNo, IsUnaryCwise(op));
    EXPECT_LE(op.composes != Composes::kNo, IsUnaryCwise(op));
    EXPECT_LE(op.identity, op.passes_memory);
    EXPECT_LE(IsControlFlow(op), op.passes_memory);
    EXPECT_FALSE(def.is_stateful && NeverFails(op));
  });
}

TEST(OpFacts, OfStateAgree) {
  ForEachRow([](const OpFacts& op, const OpDef& def) {
    EXPECT_LE(op.only_reads || op.repeatable, def.is_stateful);
    EXPECT_LE(op.state != State::kNone, def.is_stateful);
    EXPECT_LE(op.anonymous, op.state != State::kNone);
  });
}

TEST(OpFacts, AreReachedFromNodesAndByName) {
  Graph graph;
  const NodeId n = *graph.AddNode("n", "NoOp", {}, {});
  EXPECT_TRUE(graph.facts(n).mover);
  EXPECT_EQ(&graph.facts(n), &OpRegistry::Global().Facts("NoOp"));
  const NodeId unknown = *graph.AddNode("u", "NobodysOp", {}, {});
  EXPECT_EQ(&graph.facts(unknown), &kNoFacts);
  EXPECT_EQ(&OpRegistry::Global().Facts("NobodysOp"), &kNoFacts);
}

// A plug-in's op of this name that states this list of itself.
absl::StatusOr<OpDef> Stating(std::string_view name, std::string_view list,
                              std::string_view outputs = "y: float") {
  OpDefBuilder builder(name);
  TENON_RETURN_IF_ERROR(builder.AddInput("x: float"));
  TENON_RETURN_IF_ERROR(builder.AddOutput(outputs));
  TENON_RETURN_IF_ERROR(builder.AddAttr(absl::StrCat("tenon_facts: list(string) = ", list)));
  return std::move(builder).Finish();
}

TEST(OpFacts, OpsOfPlugInsStateThem) {
  ASSERT_TRUE(
      OpRegistry::Global()
          .Register(*Stating("StatesMuch", "['elementwise', 'never_fails', 'bfloat16:infer']"))
          .ok());
  const OpFacts& facts = OpRegistry::Global().Facts("StatesMuch");
  EXPECT_TRUE(IsUnaryCwise(facts));
  EXPECT_EQ(facts.dims, DimRule::kLikeFirst);
  EXPECT_TRUE(NeverFails(facts));
  EXPECT_EQ(facts.precision, Precision::kInfer);
  EXPECT_FALSE(facts.mover);
  EXPECT_EQ(OpRegistry::Global().Find("StatesMuch")->facts, &facts);
  OpRegistry::Global().Remove("StatesMuch");
  EXPECT_EQ(&OpRegistry::Global().Facts("StatesMuch"), &kNoFacts);
  ASSERT_TRUE(OpRegistry::Global().Register(*Stating("StatesNothing", "[]")).ok());
  EXPECT_FALSE(NeverFails(OpRegistry::Global().Facts("StatesNothing")));
}

TEST(OpFacts, WhatNoOpCanStateIsAnError) {
  for (const OpDef& op : {*Stating("StatesMore", "['in_plan']"),
                          *Stating("StatesWrong", "['elementwise']", "y: Ref(float)")}) {
    const absl::Status status = OpRegistry::Global().Register(op);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << op.name;
    EXPECT_NE(status.message().find("tenon_facts"), std::string::npos) << status;
    EXPECT_EQ(OpRegistry::Global().Find(op.name), nullptr);
  }
}

}  // namespace
}  // namespace tenon
