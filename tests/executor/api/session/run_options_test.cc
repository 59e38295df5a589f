// RunOptions and RunMetadata of TF_SessionRun, and runs that end before they are done.
#include <chrono>
#include <thread>

#include "tenon/tenon_c.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Float;
using testing::FloatsOf;
using ::testing::HasSubstr;
using testing::OpenSession;

class CRunOptions : public testing::GraphFixture {
 protected:
  TF_Operation* Dequeue() {
    const TF_DataType types[] = {TF_FLOAT};
    TF_OperationDescription* desc = New("FIFOQueueV2", "queue");
    TF_SetAttrTypeList(desc, "component_types", types, 1);
    queue_ = TF_FinishOperation(desc, s());
    desc = New("QueueDequeueV2", "dequeue");
    TF_AddInput(desc, {queue_, 0});
    TF_SetAttrTypeList(desc, "component_types", types, 1);
    return TF_FinishOperation(desc, s());
  }
  TF_Operation* Enqueue(TF_Operation* x) {
    TF_OperationDescription* desc = New("QueueEnqueueV2", "enqueue");
    TF_AddInput(desc, {queue_, 0});
    const TF_Output values[] = {{x, 0}};
    TF_AddInputList(desc, values, 1);
    return TF_FinishOperation(desc, s());
  }
  // A loop that counts without end.
  TF_Output Endless() {
    TF_Operation* zero = ScalarConst("zero", 0);
    TF_Output input{zero, 0}, output;
    TF_WhileParams params = TF_NewWhile(g(), &input, 1, s());
    TF_OperationDescription* desc = TF_NewOperation(params.cond_graph, "Const", "true");
    TF_Tensor* const value = TF_AllocateTensor(TF_BOOL, nullptr, 0, 1);
    *static_cast<bool*>(TF_TensorData(value)) = true;
    TF_SetAttrTensor(desc, "value", value, s());
    TF_SetAttrType(desc, "dtype", TF_BOOL);
    params.cond_output = {TF_FinishOperation(desc, s()), 0};
    TF_DeleteTensor(value);
    desc = TF_NewOperation(params.body_graph, "AddV2", "twice");
    TF_AddInput(desc, params.body_inputs[0]);
    TF_AddInput(desc, params.body_inputs[0]);
    params.body_outputs[0] = {TF_FinishOperation(desc, s()), 0};
    params.name = "endless";
    TF_FinishWhile(&params, s(), &output);
    ExpectOk();
    return output;
  }
  static testing::BufferPtr Timeout(int64_t ms) {
    pb::RunOptions options;
    options.set_timeout_in_ms(ms);
    return testing::BufferOf(options);
  }

  TF_Operation* queue_ = nullptr;
};

TEST_F(CRunOptions, ARunThatWaitsEndsAtItsTimeout) {
  TF_Operation* dequeue = Dequeue();
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* enqueue = Enqueue(x);
  OpenSession session(g());
  EXPECT_EQ(nullptr, session.Run({{}, {{dequeue, 0}}, {}}, Timeout(30).get())[0]);
  EXPECT_EQ(TF_DEADLINE_EXCEEDED, session.code());
  EXPECT_EQ("Timed out waiting for notification", session.message());
  // The session goes on, and nothing was taken.
  const testing::TensorPtr fed = Float(7);
  session.Run({{{{x, 0}, fed.get()}}, {}, {enqueue}});
  EXPECT_THAT(FloatsOf(session.Run({{}, {{dequeue, 0}}, {}}, Timeout(30000).get())[0].get()),
              ElementsAre(7));
}

TEST_F(CRunOptions, ARunThatLoopsEndsAtItsTimeout) {
  const TF_Output endless = Endless();
  OpenSession session(g());
  session.Run({{}, {endless}, {}}, Timeout(30).get());
  EXPECT_EQ(TF_DEADLINE_EXCEEDED, session.code());
  EXPECT_EQ("Timed out waiting for notification", session.message());
}

TEST_F(CRunOptions, TimeoutsOfZeroOrLessAreNone) {
  TF_Operation* one = ScalarConst("one", 1);
  OpenSession session(g());
  for (const int64_t ms : {0, -1, -1000}) {
    session.Run({{}, {{one, 0}}, {}}, Timeout(ms).get());
    EXPECT_EQ(TF_OK, session.code()) << session.message();
  }
}

TEST_F(CRunOptions, ClosingEndsRunsThatWaitOrLoop) {
  TF_Operation* dequeue = Dequeue();
  const TF_Output endless = Endless();
  OpenSession session(g());
  for (const TF_Output fetch : {TF_Output{dequeue, 0}, endless}) {
    std::thread([&] {
      const testing::StatusPtr status(TF_NewStatus());
      TF_Tensor* result = nullptr;
      std::thread closer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const testing::StatusPtr closed(TF_NewStatus());
        TF_CloseSession(session.get(), closed.get());
        EXPECT_EQ(TF_OK, TF_GetCode(closed.get()));
      });
      TF_SessionRun(session.get(), nullptr, nullptr, nullptr, 0, &fetch, &result, 1, nullptr, 0,
                    nullptr, status.get());
      EXPECT_EQ(TF_CANCELLED, TF_GetCode(status.get())) << TF_Message(status.get());
      EXPECT_EQ(nullptr, result);
      closer.join();
    }).join();
  }
}

TEST_F(CRunOptions, BytesThatAreNoRunOptionsAreRefused) {
  TF_Operation* one = ScalarConst("one", 1);
  OpenSession session(g());
  session.Run({{}, {{one, 0}}, {}}, testing::BufferOf(std::string("\xff")).get());
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ("Unparseable RunOptions proto", session.message());
  const testing::BufferPtr full = testing::BufferOf(std::string("a"));
  session.Run({{}, {{one, 0}}, {}}, nullptr, full.get());
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_EQ("Passing non-empty run_metadata is invalid.", session.message());
  // A trace level that there is not counts as full.
  session.Run({{}, {{one, 0}}, {}}, testing::BufferOf(std::string("\x08\x63")).get());
  EXPECT_EQ(TF_OK, session.code()) << session.message();
}

TEST_F(CRunOptions, ThreadPoolsMustBeThoseOfTheSession) {
  TF_Operation* one = ScalarConst("one", 1);
  pb::ConfigProto config;
  for (const int pools : {0, 3}) {
    config.clear_session_inter_op_thread_pool();
    for (int i = 0; i < pools; ++i) config.add_session_inter_op_thread_pool();
    OpenSession session(g(), config);
    for (const int pool : {-2, -1, 0, 2, 3}) {
      pb::RunOptions options;
      options.set_inter_op_thread_pool(pool);
      session.Run({{}, {{one, 0}}, {}}, testing::BufferOf(options).get());
      const bool known = pool >= -1 && pool < std::max(pools, 1);
      EXPECT_EQ(known ? TF_OK : TF_INVALID_ARGUMENT, session.code()) << pools << " " << pool;
      if (!known)
        EXPECT_EQ(absl::StrCat("Invalid inter_op_thread_pool: ", pool), session.message());
    }
  }
}

class CRunMetadata : public CRunOptions {
 protected:
  pb::RunMetadata MetadataOf(OpenSession& session, const OpenSession::Call& call,
                             const pb::RunOptions& options) {
    const testing::BufferPtr metadata(TF_NewBuffer());
    session.Run(call, testing::BufferOf(options).get(), metadata.get());
    EXPECT_NE(nullptr, metadata->data);
    pb::RunMetadata read;
    EXPECT_TRUE(read.ParseFromString(testing::BytesOf(metadata.get())));
    return read;
  }
};

TEST_F(CRunMetadata, TracesTellWhenNodesRan) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* product = Binary("MatMul", "product", {x, 0}, {x, 0});
  TF_OperationDescription* node = TF_NewOperation(g(), "Neg", "neg");
  TF_AddInput(node, {product, 0});
  TENON_SetNodePlace(node, "train.cc:42");
  TF_Operation* neg = TF_FinishOperation(node, s());
  OpenSession session(g());
  const testing::TensorPtr fed = testing::FloatTensor({2, 2}, {1, 2, 3, 4});
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  const int64_t before = std::chrono::duration_cast<std::chrono::microseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  const pb::RunMetadata metadata =
      MetadataOf(session, {{{{x, 0}, fed.get()}}, {{neg, 0}, {product, 0}}, {}}, options);
  ASSERT_EQ(1, metadata.step_stats().dev_stats_size());
  const pb::DeviceStepStats& device = metadata.step_stats().dev_stats(0);
  EXPECT_EQ("/job:localhost/replica:0/task:0/device:CPU:0", device.device());
  ASSERT_EQ(2, device.node_stats_size());
  EXPECT_EQ("product", device.node_stats(0).node_name());
  EXPECT_EQ("product = MatMul(x, x)", device.node_stats(0).timeline_label());
  EXPECT_EQ("neg", device.node_stats(1).node_name());
  EXPECT_EQ("neg = Neg(product) at train.cc:42", device.node_stats(1).timeline_label());
  int64_t last = before - 1000000;
  for (const pb::NodeExecStats& node : device.node_stats()) {
    EXPECT_GE(node.all_start_micros(), last);
    EXPECT_LE(node.all_start_micros(), before + 600000000);
    EXPECT_EQ(node.all_start_micros(), node.all_start_nanos() / 1000);
    EXPECT_GE(node.all_end_rel_nanos(), node.op_end_rel_nanos());
    EXPECT_GE(node.op_end_rel_nanos(), 0);
    last = node.all_start_micros();
    ASSERT_EQ(1, node.output_size());
    EXPECT_EQ(pb::DT_FLOAT, node.output(0).tensor_description().dtype());
    EXPECT_EQ(16, node.output(0).tensor_description().allocation_description().requested_bytes());
  }
  EXPECT_EQ(0, metadata.partition_graphs_size());
}

TEST_F(CRunMetadata, WithoutATraceThereIsNone) {
  TF_Operation* one = ScalarConst("one", 1);
  OpenSession session(g());
  const pb::RunMetadata metadata = MetadataOf(session, {{}, {{one, 0}}, {}}, {});
  EXPECT_FALSE(metadata.has_step_stats());
}

TEST_F(CRunMetadata, PartitionGraphsAreTheGraphsThatRun) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* unused = Unary("Square", "unused", {x, 0});
  TF_OperationDescription* desc = New("Neg", "far");
  TF_AddInput(desc, {x, 0});
  TF_SetDevice(desc, "/cpu:1");
  TF_Operation* far = Finish(desc);
  TF_Operation* back = Unary("Exp", "back", {far, 0});
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  OpenSession session(g(), config);
  const testing::TensorPtr fed = Float(0);
  pb::RunOptions options;
  options.set_output_partition_graphs(true);
  const pb::RunMetadata metadata =
      MetadataOf(session, {{{{x, 0}, fed.get()}}, {{back, 0}}, {}}, options);
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  ASSERT_EQ(2, metadata.partition_graphs_size());
  std::vector<std::string> nodes;
  for (const std::string& graph : metadata.partition_graphs()) {
    pb::GraphDef def;
    ASSERT_TRUE(def.ParseFromString(graph));
    for (const pb::NodeDef& node : def.node())
      nodes.push_back(
          absl::StrCat(node.device().substr(node.device().find("CPU")), " ", node.op()));
  }
  EXPECT_THAT(nodes, ::testing::UnorderedElementsAre("CPU:0 Placeholder", "CPU:0 _Send",
                                                     "CPU:0 _Recv", "CPU:0 Exp", "CPU:1 _Recv",
                                                     "CPU:1 Neg", "CPU:1 _Send"));
  EXPECT_NE(nullptr, unused);
}

TEST_F(CRunMetadata, AFailedRunTellsWhatItDid) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  TF_OperationDescription* desc = New("CheckNumerics", "check");
  TF_AddInput(desc, {neg, 0});
  TF_SetAttrString(desc, "message", "is bad", 6);
  TF_Operation* check = Finish(desc);
  OpenSession session(g());
  const testing::TensorPtr fed = Float(std::numeric_limits<float>::infinity());
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::SOFTWARE_TRACE);
  const pb::RunMetadata metadata =
      MetadataOf(session, {{{{x, 0}, fed.get()}}, {{check, 0}}, {}}, options);
  EXPECT_EQ(TF_INVALID_ARGUMENT, session.code());
  EXPECT_THAT(session.message(), HasSubstr("is bad"));
  EXPECT_EQ(1, metadata.step_stats().dev_stats_size());
}

TEST_F(CRunMetadata, SessionMetadataComesBack) {
  TF_Operation* one = ScalarConst("one", 1);
  pb::ConfigProto config;
  config.mutable_experimental()->mutable_session_metadata()->set_name("model");
  config.mutable_experimental()->mutable_session_metadata()->set_version(3);
  OpenSession session(g(), config);
  const pb::RunMetadata metadata = MetadataOf(session, {{}, {{one, 0}}, {}}, {});
  EXPECT_EQ("model", metadata.session_metadata().name());
  EXPECT_EQ(3, metadata.session_metadata().version());
}

}  // namespace
}  // namespace tenon
