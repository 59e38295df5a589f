// Nodes that TensorFlow loads though they cannot run: they hinder nobody who does not ask for them,
// and say what is wrong with them to whoever does, whatever the optimizer would make of them.
#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::run_time_errors_test {
namespace {

using testing::Call;
using testing::Const;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Function;
using ::testing::HasSubstr;
using testing::Library;
using testing::MakeSession;
using testing::Node;
using testing::Op;
using testing::Placeholder;
using testing::Ret;
using testing::Type;

constexpr char kTwoByThree[] = "dim { size: 2 } dim { size: 3 }";

std::string Ints(std::string_view name, std::vector<int> values) {
  std::string value = absl::StrCat("tensor_shape { dim { size: ", values.size(), " } } int_val: [");
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&value, i > 0 ? ", " : "", values[i]);
  return Const(name, "DT_INT32", value + "]");
}

std::string Int(std::string_view name, int value) {
  return Const(name, "DT_INT32", absl::StrCat("tensor_shape { } int_val: ", value));
}

// A node "bad" of an input "x" of 2 x 3 floats, with its constants; `out` is its output in a body.
struct Case {
  std::string op, nodes, out;
};

std::string Attr(std::string_view name, std::string_view value) {
  return absl::StrCat(" attr { key: '", name, "' value { ", value, " } }");
}

std::vector<Case> Cases(std::string_view suffix) {
  const auto in = [&](std::string_view name) { return absl::StrCat(name, suffix); };
  const std::string index = Type("Index", "DT_INT32");
  return {
      {"Slice",
       Ints("begin", {1, 0}) + Ints("size", {2, 3}) +
           Node("bad", "Slice", {"x", in("begin"), in("size")}, index),
       "output"},
      {"Slice",
       Ints("begin", {-1, 0}) + Ints("size", {1, 3}) +
           Node("bad", "Slice", {"x", in("begin"), in("size")}, index),
       "output"},
      {"Transpose",
       Ints("perm", {1, 1}) +
           Node("bad", "Transpose", {"x", in("perm")}, Type("Tperm", "DT_INT32")),
       "y"},
      {"Cumsum",
       Int("axis", 2) + Node("bad", "Cumsum", {"x", in("axis")}, Type("Tidx", "DT_INT32")), "out"},
      {"GatherV2",
       Ints("rows", {0, 1}) + Int("axis", 0) +
           Op("bad", "GatherV2", {"x", in("rows"), in("axis")},
              Type("Tparams", "DT_FLOAT") + Type("Tindices", "DT_INT32") +
                  Type("Taxis", "DT_INT32") + Attr("batch_dims", "i: 1")),
       "output"},
      {"MatrixSetDiagV3",
       Int("k", 0) +
           Const("diagonal", "DT_FLOAT", "tensor_shape { dim { size: 3 } } float_val: [1, 2, 3]") +
           Node("bad", "MatrixSetDiagV3", {"x", in("diagonal"), in("k")}),
       "output"},
      {"TensorScatterUpdate",
       Const("at", "DT_INT32",
             "tensor_shape { dim { size: 1 } dim { size: 3 } } int_val: [0, 0, 0]") +
           Const("new", "DT_FLOAT", "tensor_shape { dim { size: 1 } } float_val: 1") +
           Node("bad", "TensorScatterUpdate", {"x", in("at"), in("new")},
                Type("Tindices", "DT_INT32")),
       "output"},
  };
}

const std::string& Apart() {
  static const auto* const text = new std::string(
      Const("one", "DT_FLOAT", "tensor_shape { } float_val: 1") + Node("apart", "Neg", {"one"}));
  return *text;
}

void ExpectRuns(Session& session, const std::string& fetch) {
  const auto out = session.Run({}, {fetch});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(testing::Values((*out)[0]), ElementsAre(-1));
}

void ExpectFails(Session& session, const std::string& fetch) {
  const auto out = session.Run({{"x", Floats({1, 2, 3, 4, 5, 6}, {2, 3})}}, {fetch});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << fetch << out.status();
  EXPECT_THAT(out.status().message(), HasSubstr("node 'bad'")) << fetch;
}

TEST(RunTimeErrors, HinderOnlyWhoeverAsks) {
  for (const Case& c : Cases("")) {
    for (const int opt_level : {0, 1, 2}) {
      SCOPED_TRACE(absl::StrCat(c.op, " at level ", opt_level));
      auto session =
          MakeSession(Placeholder("x", kTwoByThree) + c.nodes + Apart() +
                          Node("behind", "Relu", {"bad"}) + Node("waits", "Neg", {"one", "^bad"}) +
                          Node("like", "Rank", {"bad"}) + Node("zeros", "ZerosLike", {"bad"}),
                      opt_level);
      ASSERT_NE(session, nullptr);
      ExpectRuns(*session, "apart");
      for (const char* fetch : {"bad", "behind", "waits", "like", "zeros"})
        ExpectFails(*session, fetch);
      ExpectRuns(*session, "apart");
    }
  }
}

TEST(RunTimeErrors, OfConstants) {
  const std::string x =
      Const("x", "DT_FLOAT",
            absl::StrCat("tensor_shape { ", kTwoByThree, " } float_val: [1, 2, 3, 4, 5, 6]"));
  for (const Case& c : Cases("")) {
    for (const int opt_level : {0, 1, 2}) {
      SCOPED_TRACE(absl::StrCat(c.op, " at level ", opt_level));
      auto session =
          MakeSession(x + c.nodes + Apart() + Node("waits", "Neg", {"one", "^bad"}), opt_level);
      ASSERT_NE(session, nullptr);
      ExpectRuns(*session, "apart");
      for (const char* fetch : {"bad", "waits"}) {
        const auto out = session->Run({}, {fetch});
        EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << out.status();
        EXPECT_THAT(out.status().message(), HasSubstr("node 'bad'"));
      }
    }
  }
}

TEST(RunTimeErrors, InBodies) {
  for (const Case& c : Cases(":output:0")) {
    for (const int opt_level : {0, 1, 2}) {
      SCOPED_TRACE(absl::StrCat(c.op, " at level ", opt_level));
      auto session = MakeSession(
          Placeholder("x", kTwoByThree) + Apart() + Call("y", "body", {"x"}) +
              Node("waits", "Neg", {"one", "^y"}) +
              Library({Function("body", {"x"}, {"r"}, c.nodes, Ret("r", "bad:" + c.out + ":0"))}),
          opt_level);
      ASSERT_NE(session, nullptr);
      ExpectRuns(*session, "apart");
      for (const char* fetch : {"y", "waits"}) ExpectFails(*session, fetch);
    }
  }
}

// What a list's element or number of elements cannot be.
TEST(RunTimeErrors, OfLists) {
  const std::string element = Type("element_dtype", "DT_FLOAT");
  const std::string list =
      Int("any", -1) + Int("many", 2) +
      Op("empty", "EmptyTensorList", {"any", "many"}, element + Type("shape_type", "DT_INT32")) +
      Op("list", "TensorListPushBack", {"empty", "x"}, element);
  const std::string nodes[] = {
      Int("shape", 5) + Op("bad", "TensorListPopBack", {"list", "shape"}, element) +
          Node("fetch", "Neg", {"bad:1"}),
      Ints("shape", {-3, 3}) + Op("bad", "TensorListPopBack", {"list", "shape"}, element) +
          Node("fetch", "Neg", {"bad:1"}),
      Ints("shape", {2, 3}) +
          Op("bad", "TensorListStack", {"list", "shape"}, element + Attr("num_elements", "i: -2")) +
          Node("fetch", "Neg", {"bad"}),
  };
  for (const std::string& bad : nodes) {
    for (const int opt_level : {0, 1, 2}) {
      auto session = MakeSession(Placeholder("x", kTwoByThree) + list + bad + Apart(), opt_level);
      ASSERT_NE(session, nullptr) << bad;
      ExpectRuns(*session, "apart");
      ExpectFails(*session, "fetch");
    }
  }
}

}  // namespace
}  // namespace tenon::run_time_errors_test
