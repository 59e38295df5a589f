// What variables, tables and queues hold where passes are compared by numbers, and how long that
// may take.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "executor/proof/numeric_verifier.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/proof/planted_pass_util.h"

namespace tenon::testing::proof_state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Numbers are compared wherever |v| becomes v.
std::string Planted(std::string_view name, std::string_view input) {
  return Node(
      name, "Abs", {std::string(input)},
      absl::StrCat("attr { key: '_plant' value { s: 'drop' } } attr { key: '_of' value { s: '",
                   name, "' } }"));
}

SessionOptions WithPlant(PipelineObserver* observer = nullptr) {
  SessionOptions options;
  options.threads = 1;
  options.pipeline.min_graph_nodes = -1;
  options.pipeline.custom_passes = {PlantedPass()};
  options.pipeline.passes = {{"model_pruning", {}}, {"plant", {}}};
  if (observer != nullptr) options.pipeline.observers = {observer};
  return options;
}

const std::string kDtype = Type("dtype", "DT_FLOAT");

// A session whose passes are compared on what it holds.
class ProofState : public ::testing::Test {
 protected:
  void Make(const std::string& text) {
    const std::vector<PassEntry> custom = {PlantedPass()};
    verifier_.emplace(GraphRunner({}, WithPlant()), custom);
    session_ = Session::Create(Parse(text), {}, WithPlant(&*verifier_)).value();
    verifier_->TakeStateOf(session_.get());
  }

  void Run(const std::vector<Session::NamedTensor>& feeds, const std::string& node) {
    const auto run = session_->Run(feeds, {node});
    ASSERT_TRUE(run.ok()) << run.status();
  }

  // Why the planted pass was rolled back; empty if it was not.
  std::string FailureOf(const std::string& fetch) {
    const auto executable = session_->Prepare({}, {fetch});
    EXPECT_TRUE(executable.ok()) << executable.status();
    for (const PassReport& row : OptimizerReport(**executable).passes) {
      if (row.failed) return row.reason;
    }
    return "";
  }

  std::optional<NumericVerifier> verifier_;
  std::unique_ptr<Session> session_;
};

// A variable of two rows, since one row might be positive anyway.
std::string Variable() {
  return Op("v", "VarHandleOp", {},
            absl::StrCat(
                kDtype,
                "attr { key: 'shape' value { shape { dim { size: 2 } dim { size: 2 } } } } "
                "attr { key: 'shared_name' value { s: 'v' } }")) +
         Placeholder("x", "dim { size: 2 } dim { size: 2 }") +
         Op("set", "AssignVariableOp", {"v", "x"}, kDtype) +
         Op("read", "ReadVariableOp", {"v"}, kDtype) + Planted("a", "read") +
         Node("y", "Neg", {"a"});
}

TEST_F(ProofState, IsThatOfTheRun) {
  Make(Variable());
  Run({{"x", Floats({1, 2, 3, 4}, {2, 2})}}, "^set");
  EXPECT_EQ(FailureOf("y"), "");
  EXPECT_GT(verifier_->changes(), 0);
  EXPECT_EQ(verifier_->passes_compared(), verifier_->changes());
  Make(Variable());
  Run({{"x", Floats({1, 2, -3, 4}, {2, 2})}}, "^set");
  EXPECT_THAT(FailureOf("y"), HasSubstr("of output y element [1,0] is 3 where -3 is right"));
}

TEST_F(ProofState, IsMadeUpWhereNobodyKnowsIt) {
  Make(Variable());
  EXPECT_THAT(FailureOf("y"), HasSubstr("changed what the graph answers"));
}

// What reads it takes a root elsewhere.
TEST_F(ProofState, IsMadeUpPositiveForVariances) {
  const std::string epsilon = Const("epsilon", "DT_FLOAT", "tensor_shape {} float_val: 0.001");
  Make(Variable() + epsilon + Node("sum", "AddV2", {"read", "epsilon"}) +
       Node("root", "Rsqrt", {"sum"}) + Node("z", "Mul", {"root", "y"}));
  EXPECT_EQ(FailureOf("z"), "");
  EXPECT_GT(verifier_->changes(), 0);
  EXPECT_EQ(verifier_->passes_compared(), verifier_->changes());
}

TEST_F(ProofState, StaysAsItIs) {
  Make(Variable() + Op("add", "AssignAddVariableOp", {"v", "one"}, kDtype) +
       Const("one", "DT_FLOAT", "tensor_shape { dim { size: 2 } dim { size: 2 } } float_val: 1") +
       Op("after", "ReadVariableOp", {"v", "^add"}, kDtype) + Planted("b", "after") +
       Node("more", "Neg", {"b"}));
  Run({{"x", Floats({1, 2, 3, 4}, {2, 2})}}, "^set");
  EXPECT_EQ(FailureOf("more"), "");
  EXPECT_GT(verifier_->runs(), 1);
  EXPECT_THAT(Values(session_->Run({}, {"read"}).value()[0]), ElementsAre(1, 2, 3, 4));
}

TEST_F(ProofState, HasTablesAndQueues) {
  const std::string queue = Op("q", "FIFOQueueV2", {},
                               Types("component_types", {"DT_FLOAT"}) +
                                   "attr { key: 'shapes' value { list { shape {} } } }");
  const std::string put = Placeholder("x", "") + Op("put", "QueueEnqueueV2", {"q", "x"},
                                                    Types("Tcomponents", {"DT_FLOAT"}));
  const std::string take =
      Op("take", "QueueDequeueV2", {"q"}, Types("component_types", {"DT_FLOAT"})) +
      Planted("a", "take") + Node("y", "Neg", {"a"});
  const std::string types = Type("key_dtype", "DT_FLOAT") + Type("value_dtype", "DT_FLOAT");
  const std::string table = Op("t", "MutableHashTableV2", {}, types);
  const std::string insert = Op("insert", "LookupTableInsertV2", {"t", "x", "x"},
                                Type("Tin", "DT_FLOAT") + Type("Tout", "DT_FLOAT"));
  const std::string find = Const("key", "DT_FLOAT", "tensor_shape {} float_val: -5") +
                           Const("none", "DT_FLOAT", "tensor_shape {} float_val: 1") +
                           Op("find", "LookupTableFindV2", {"t", "key", "none"},
                              Type("Tin", "DT_FLOAT") + Type("Tout", "DT_FLOAT")) +
                           Planted("b", "find") + Node("z", "Neg", {"b"});
  Make(queue + put + take + table + insert + find);
  Run({{"x", Floats({-5}, {})}}, "^put");
  Run({{"x", Floats({-5}, {})}}, "^insert");
  EXPECT_THAT(FailureOf("y"), HasSubstr("is 5 where -5 is right"));
  EXPECT_THAT(FailureOf("z"), HasSubstr("is 5 where -5 is right"));
  EXPECT_THAT(Values(session_->Run({}, {"take"}).value()[0]), ElementsAre(-5));
}

TEST_F(ProofState, IsNotReadWhenTimeIsUp) {
  Make(Variable());
  verifier_->set_time_limit(0);
  EXPECT_EQ(FailureOf("y"), "");
  EXPECT_EQ(verifier_->runs(), 0);
  EXPECT_GT(verifier_->changes(), 0);
  EXPECT_EQ(verifier_->passes_compared(), 0);
  EXPECT_EQ(verifier_->passes_cut_short(), verifier_->changes());
}

// Nothing tells how such a graph answers.
TEST_F(ProofState, IsNotReadForNodesWithoutValues) {
  Make(Variable() + Op("fill", "AssignVariableOp", {"v", "y"}, kDtype));
  Run({{"x", Floats({1, 2, 3, 4}, {2, 2})}}, "^set");
  EXPECT_EQ(FailureOf("^fill"), "");
  EXPECT_EQ(verifier_->changes(), 0);
}

}  // namespace
}  // namespace tenon::testing::proof_state_test
