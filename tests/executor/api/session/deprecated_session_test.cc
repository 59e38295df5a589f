// Sessions without a TF_Graph.
#include <google/protobuf/text_format.h>

#include "proto/graph_def.pb.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Float;
using testing::FloatsOf;
using ::testing::HasSubstr;

const char kX[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } ";
const char kNeg[] =
    "node { name: 'n' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }";
const char kNegAgain[] =
    "node { name: 'm' op: 'Neg' input: 'n' attr { key: 'T' value { type: DT_FLOAT } } }";

class CDeprecatedSession : public ::testing::Test {
 protected:
  void SetUp() override {
    session_ = TF_NewDeprecatedSession(nullptr, s());
    ASSERT_EQ(TF_OK, code());
  }
  void TearDown() override { TF_DeleteDeprecatedSession(session_, s()); }

  TF_Status* s() { return status_.get(); }
  TF_Code code() const { return TF_GetCode(status_.get()); }
  std::string message() const { return TF_Message(status_.get()); }
  TF_Code Extend(const std::string& text) {
    pb::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
    const std::string bytes = def.SerializeAsString();
    TF_ExtendGraph(session_, bytes.data(), bytes.size(), s());
    return code();
  }
  // Feeds 1 to each input.
  std::vector<testing::TensorPtr> Run(std::vector<const char*> inputs,
                                      std::vector<const char*> outputs,
                                      std::vector<const char*> targets = {}) {
    const testing::TensorPtr one = Float(1);
    std::vector<TF_Tensor*> values(inputs.size(), one.get()), results(outputs.size());
    TF_Run(session_, nullptr, inputs.data(), values.data(), static_cast<int>(inputs.size()),
           outputs.data(), results.data(), static_cast<int>(outputs.size()), targets.data(),
           static_cast<int>(targets.size()), nullptr, s());
    std::vector<testing::TensorPtr> owned;
    for (TF_Tensor* result : results) owned.emplace_back(result);
    return owned;
  }
  void ExpectError(TF_Code wanted, const std::string& text) {
    EXPECT_EQ(wanted, code());
    EXPECT_THAT(message(), HasSubstr(text));
  }

  testing::StatusPtr status_{TF_NewStatus()};
  TF_DeprecatedSession* session_ = nullptr;
};

TEST_F(CDeprecatedSession, GrowsByGraphDefs) {
  Run({"x"}, {"n"});
  ExpectError(TF_INVALID_ARGUMENT, "Session was not created with a graph before Run()!");
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg)) << message();
  EXPECT_THAT(FloatsOf(Run({"x"}, {"n"})[0].get()), ElementsAre(-1));
  EXPECT_EQ(TF_OK, Extend(kNegAgain)) << message();
  const auto out = Run({"x:0"}, {"n:0", "m"}, {"m", "n:0"});
  EXPECT_THAT(FloatsOf(out[0].get()), ElementsAre(-1));
  EXPECT_THAT(FloatsOf(out[1].get()), ElementsAre(1));
}

TEST_F(CDeprecatedSession, AFailedExtensionAddsNothing) {
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg)) << message();
  Extend(kX);
  ExpectError(TF_INVALID_ARGUMENT,
              "GraphDef argument to Extend includes node 'x', which was created by a previous call "
              "to Create or Extend in this session.");
  Extend("node { name: 'z' op: 'Nope' }");
  ExpectError(TF_NOT_FOUND, "Op type not registered 'Nope'");
  Extend(
      "node { name: 'z' op: 'Neg' input: 'nowhere' attr { key: 'T' value { type: DT_FLOAT } } }");
  ExpectError(TF_INVALID_ARGUMENT, "Node 'z': Unknown input node 'nowhere'");
  TF_ExtendGraph(session_, "\xff\xff", 2, s());
  ExpectError(TF_INVALID_ARGUMENT, "Invalid GraphDef");
  EXPECT_EQ(TF_OK, Extend(""));
  EXPECT_EQ(TF_OK, Extend(kNegAgain)) << message();
  EXPECT_THAT(FloatsOf(Run({"x"}, {"m"})[0].get()), ElementsAre(1));
}

TEST_F(CDeprecatedSession, NamesAreChecked) {
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg));
  const char kUnknown[] = "specified in either feed_devices or fetch_devices was not found";
  Run({"x"}, {"q"});
  ExpectError(TF_INVALID_ARGUMENT, kUnknown);
  Run({"q"}, {"n"});
  ExpectError(TF_INVALID_ARGUMENT, kUnknown);
  Run({"x"}, {"n:a"});
  ExpectError(TF_INVALID_ARGUMENT, kUnknown);
  Run({"x"}, {}, {"q"});
  ExpectError(TF_NOT_FOUND, "Some target nodes not found: q");
  Run({"x"}, {"n:1"});
  ExpectError(TF_OUT_OF_RANGE, "Node 'n' (type: 'Neg', num of outputs: 1) does not have output 1");
  Run({"x"}, {"^n"});
  ExpectError(TF_OUT_OF_RANGE, "does not have output -1");
  Run({}, {});
  ExpectError(TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  Run({}, {"n"});
  ExpectError(TF_INVALID_ARGUMENT, "You must feed a value for placeholder tensor 'x'");
  Run({"x"}, {nullptr});
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CDeprecatedSession, RunsInParts) {
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg + kNegAgain));
  const char* inputs[] = {"x"};
  const char* outputs[] = {"n", "m:0"};
  const char* handle = nullptr;
  TF_PRunSetup(session_, inputs, 1, outputs, 2, nullptr, 0, &handle, s());
  ASSERT_EQ(TF_OK, code()) << message();
  const testing::TensorPtr two = Float(2);
  TF_Tensor* values[] = {two.get()};
  TF_Tensor* results[2];
  TF_PRun(session_, handle, inputs, values, 1, outputs, results, 1, nullptr, 0, s());
  EXPECT_EQ(TF_OK, code()) << message();
  EXPECT_THAT(FloatsOf(testing::TensorPtr(results[0]).get()), ElementsAre(-2));
  TF_PRun(session_, handle, nullptr, nullptr, 0, outputs + 1, results, 1, nullptr, 0, s());
  EXPECT_EQ(TF_OK, code()) << message();
  EXPECT_THAT(FloatsOf(testing::TensorPtr(results[0]).get()), ElementsAre(2));
  TF_DeletePRunHandle(handle);
}

TEST_F(CDeprecatedSession, ListsItsDevices) {
  const testing::DeviceListPtr list(TF_DeprecatedSessionListDevices(session_, s()));
  EXPECT_THAT(testing::CpuNames(list.get()),
              ::testing::ElementsAre("/job:localhost/replica:0/task:0/device:CPU:0"));
}

TEST_F(CDeprecatedSession, ClosedAndDeletedOnesAreRefused) {
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg));
  TF_CloseDeprecatedSession(session_, s());
  EXPECT_EQ(TF_OK, code());
  Run({"x"}, {"n"});
  ExpectError(TF_CANCELLED, "Session has been closed.");
  Extend(kNegAgain);
  ExpectError(TF_CANCELLED, "Session has been closed.");
  TF_DeleteDeprecatedSession(session_, s());
  EXPECT_EQ(TF_OK, code());
  Run({"x"}, {"n"});
  ExpectError(TF_INVALID_ARGUMENT, "deleted");
  TF_DeleteDeprecatedSession(session_, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  session_ = nullptr;
  Run({"x"}, {"n"});
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
}

TEST_F(CDeprecatedSession, ResetClosesTheSessionsOfTheProcess) {
  EXPECT_EQ(TF_OK, Extend(std::string(kX) + kNeg));
  const testing::GraphPtr graph(TF_NewGraph());
  testing::OpenSession other(graph.get());
  const char* containers[] = {"c"};
  TF_Reset(nullptr, containers, 1, s());
  EXPECT_EQ(TF_OK, code()) << message();
  Run({"x"}, {"n"});
  ExpectError(TF_CANCELLED, "Session has been closed.");
  other.Run({{}, {}, {}});
  EXPECT_EQ(TF_CANCELLED, other.code());
  // A new one is open.
  testing::OpenSession fresh(graph.get());
  fresh.Run({{}, {}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, fresh.code());
  const testing::OptionsPtr options(TF_NewSessionOptions());
  TF_SetTarget(options.get(), "nope");
  TF_Reset(options.get(), nullptr, 0, s());
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_EQ(nullptr, TF_NewDeprecatedSession(options.get(), s()));
  EXPECT_EQ(TF_NOT_FOUND, code());
}

}  // namespace
}  // namespace tenon
