// TENON_FreezeGraph, beyond what the C++ library's tests of saved functions show.
#include "tenon/tenon_c.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using testing::BufferPtr;
using testing::BytesOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::IntsOf;
using testing::SessionRunner;

class FreezeGraph : public testing::GraphFixture {
 protected:
  // A variable that the node "init" makes 3, with a node "sum" that adds 1 to it, and a node
  // "read".
  void AddCounter(bool init_in_each_run) {
    TF_OperationDescription* node = New("VarHandleOp", "counter");
    TF_SetAttrType(node, "dtype", TF_INT32);
    TF_SetAttrShape(node, "shape", nullptr, 0);
    const TF_Output counter = {Finish(node), 0};
    TF_Operation* const assign = Change("AssignVariableOp", "assign", counter, 3, nullptr);
    node = New("NoOp", "init");
    TF_AddControlInput(node, assign);
    TF_Operation* const init = Finish(node);
    TF_Operation* const sum =
        Change("AssignAddVariableOp", "sum", counter, 1, init_in_each_run ? init : nullptr);
    node = New("ReadVariableOp", "read");
    TF_SetAttrType(node, "dtype", TF_INT32);
    TF_AddInput(node, counter);
    TF_AddControlInput(node, sum);
    Finish(node);
  }

  // Replaces the graph by the frozen one, of which "read" is kept.
  void Freeze() {
    const BufferPtr whole(TF_NewBuffer());
    TF_GraphToGraphDef(g(), whole.get(), s());
    ExpectOk();
    const char* const keep = "read";
    frozen_.reset(TENON_FreezeGraph(whole->data, whole->length, nullptr, 0, &keep, 1, "init", s()));
    ExpectOk();
    ASSERT_NE(frozen_, nullptr);
    TF_ImportGraphDefOptions* const options = TF_NewImportGraphDefOptions();
    TF_ImportGraphDefOptionsSetPrefix(options, "frozen");
    TF_GraphImportGraphDef(g(), frozen_.get(), options, s());
    TF_DeleteImportGraphDefOptions(options);
    ExpectOk();
  }
  std::vector<std::string> FrozenNodes() {
    pb::GraphDef def;
    def.ParseFromString(BytesOf(frozen_.get()));
    std::vector<std::string> names;
    for (const pb::NodeDef& node : def.node()) names.push_back(node.name());
    return names;
  }

 private:
  TF_Operation* Change(const char* op, const char* name, TF_Output variable, int32_t by,
                       TF_Operation* before) {
    TF_Operation* const value = ScalarConst((std::string(name) + "/by").c_str(), by);
    TF_OperationDescription* const node = New(op, name);
    TF_SetAttrType(node, "dtype", TF_INT32);
    TF_AddInput(node, variable);
    TF_AddInput(node, {value, 0});
    if (before != nullptr) TF_AddControlInput(node, before);
    return Finish(node);
  }

  BufferPtr frozen_;
};

TEST_F(FreezeGraph, StateThatStaysIsFilledByANodeOfTheNameOfTheFirst) {
  AddCounter(/*init_in_each_run=*/false);
  Freeze();
  EXPECT_THAT(FrozenNodes(), Contains("init"));
  SessionRunner session(g());
  session.Run({}, {}, {Find("frozen/init")});
  for (const int32_t sum : {4, 5}) {
    const auto read = session.Run({}, {{Find("frozen/read"), 0}});
    EXPECT_THAT(IntsOf(read[0].get()), ElementsAre(sum));
  }
}

TEST_F(FreezeGraph, AnInitializerThatIsNeededFillsStateItself) {
  AddCounter(/*init_in_each_run=*/true);
  const std::vector<std::string> names = Names();
  Freeze();
  // There is no second node that fills.
  EXPECT_THAT(FrozenNodes(), ::testing::UnorderedElementsAreArray(names));
  SessionRunner session(g());
  for (int run = 0; run < 2; ++run) {
    const auto read = session.Run({}, {{Find("frozen/read"), 0}});
    EXPECT_THAT(IntsOf(read[0].get()), ElementsAre(4));
  }
}

}  // namespace
}  // namespace tenon
