// TF_SetConfig: what a ConfigProto does to a session.
#include "absl/strings/str_replace.h"
#include "tests/executor/api/session/session_util.h"

namespace tenon {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Float;
using testing::FloatsOf;
using ::testing::HasSubstr;
using testing::OpenSession;

class CSessionConfig : public testing::GraphFixture {
 protected:
  TF_Code Set(const std::string& bytes) {
    TF_SetConfig(options_.get(), bytes.data(), bytes.size(), s());
    return code();
  }
  // The names of the CPU devices of a session with this config.
  std::vector<std::string> Cpus(const pb::ConfigProto& config) {
    OpenSession session(g(), config);
    const testing::DeviceListPtr list(TF_SessionListDevices(session.get(), s()));
    return testing::CpuNames(list.get());
  }
  // A Neg of placeholder `x` with a device.
  TF_Operation* NegOn(const char* device, TF_Operation* x) {
    const std::string name = absl::StrReplaceAll(device, {{"/", "."}, {":", "."}});
    TF_OperationDescription* desc = New("Neg", name.c_str());
    TF_AddInput(desc, {x, 0});
    TF_SetDevice(desc, device);
    return TF_FinishOperation(desc, s());
  }

  testing::OptionsPtr options_{TF_NewSessionOptions()};
};

TEST_F(CSessionConfig, BytesThatAreNoConfigProtoAreRefused) {
  for (const char* bytes : {"\xff\xff\xff", "\x10", "\x52\x03\x0a", "\x0a\x07\x0a\x09"}) {
    EXPECT_EQ(TF_INVALID_ARGUMENT, Set(bytes)) << bytes;
    EXPECT_EQ("Unparseable ConfigProto", message());
  }
  TF_SetConfig(options_.get(), nullptr, 3, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_SetConfig(nullptr, "", 0, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(TF_OK, Set("")) << message();
}

TEST_F(CSessionConfig, UnknownFieldsAndEnumeratorsCountForNothing) {
  EXPECT_EQ(TF_OK, Set("\xfa\x3f\x01\x61")) << message();  // field 1023: "a"
  // graph_options.rewrite_options.remapping is 77, and optimizers are unknown.
  EXPECT_EQ(TF_OK, Set(std::string("\x52\x08\x52\x06\x70\x4d\xa2\x06\x01z", 10))) << message();
  TF_Session* const session = TF_NewSession(g(), options_.get(), s());
  ExpectOk();
  TF_DeleteSession(session, s());
}

TEST_F(CSessionConfig, MistakesLeaveTheOptionsAsTheyWere) {
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  EXPECT_EQ(TF_OK, Set(config.SerializeAsString()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, Set("\xff"));
  TF_Session* const session = TF_NewSession(g(), options_.get(), s());
  const testing::DeviceListPtr list(TF_SessionListDevices(session, s()));
  EXPECT_EQ(2u, testing::CpuNames(list.get()).size());
  TF_DeleteSession(session, s());
}

TEST_F(CSessionConfig, DeviceCountSaysHowManyDevicesTheCpuIs) {
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 3;
  (*config.mutable_device_count())["GPU"] = 0;
  EXPECT_THAT(Cpus(config), ElementsAre("/job:localhost/replica:0/task:0/device:CPU:0",
                                        "/job:localhost/replica:0/task:0/device:CPU:1",
                                        "/job:localhost/replica:0/task:0/device:CPU:2"));
  for (const auto& [count, wanted] : {std::pair(0, TF_NOT_FOUND), std::pair(-1, TF_NOT_FOUND),
                                      std::pair(2000000000, TF_INVALID_ARGUMENT)}) {
    (*config.mutable_device_count())["CPU"] = count;
    OpenSession session(g(), config);
    EXPECT_EQ(nullptr, session.get());
    EXPECT_EQ(wanted, session.code()) << session.message();
  }
}

TEST_F(CSessionConfig, OperationsRunOnSeveralCpuDevices) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* far = NegOn("/cpu:1", x);
  TF_Operation* back = Unary("Square", "back", {far, 0});
  const testing::TensorPtr fed = Float(3);
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  OpenSession two(g(), config);
  EXPECT_THAT(FloatsOf(two.Run({{{{x, 0}, fed.get()}}, {{back, 0}}, {}})[0].get()), ElementsAre(9))
      << two.message();
  // With one there is no /cpu:1.
  OpenSession one(g());
  one.Run({{{{x, 0}, fed.get()}}, {{back, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, one.code());
  EXPECT_THAT(one.message(), HasSubstr("/cpu:1"));
}

TEST_F(CSessionConfig, SoftPlacementIsOffAtFirst) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* neg = NegOn("/gpu:0", x);
  const testing::TensorPtr fed = Float(3);
  OpenSession hard(g());
  hard.Run({{{{x, 0}, fed.get()}}, {{neg, 0}}, {}});
  EXPECT_EQ(TF_INVALID_ARGUMENT, hard.code());
  EXPECT_THAT(hard.message(), HasSubstr("gpu"));
  pb::ConfigProto config;
  config.set_allow_soft_placement(true);
  OpenSession soft(g(), config);
  EXPECT_THAT(FloatsOf(soft.Run({{{{x, 0}, fed.get()}}, {{neg, 0}}, {}})[0].get()), ElementsAre(-3))
      << soft.message();
}

TEST_F(CSessionConfig, LogDevicePlacementNamesEachOperationOnce) {
  pb::ConfigProto config;
  config.set_log_device_placement(true);
  ::testing::internal::CaptureStderr();
  OpenSession session(g(), config);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("Device mapping:"));
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_Operation* neg = Unary("Neg", "neg", {x, 0});
  const testing::TensorPtr fed = Float(3);
  const auto log_of = [&](TF_Operation* fetch) {
    ::testing::internal::CaptureStderr();
    session.Run({{{{x, 0}, fed.get()}}, {{fetch, 0}}, {}});
    EXPECT_EQ(TF_OK, session.code()) << session.message();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(
      "info: x: (Placeholder): /job:localhost/replica:0/task:0/device:CPU:0\n"
      "info: neg: (Neg): /job:localhost/replica:0/task:0/device:CPU:0\n",
      log_of(neg));
  TF_Operation* square = Unary("Square", "square", {neg, 0});
  EXPECT_EQ("info: square: (Square): /job:localhost/replica:0/task:0/device:CPU:0\n",
            log_of(square));
  EXPECT_EQ("", log_of(square));
}

TEST_F(CSessionConfig, WhatHasNoEffectIsSaidWithAReason) {
  pb::ConfigProto config;
  config.mutable_gpu_options()->set_allow_growth(true);
  config.mutable_gpu_options()->set_per_process_gpu_memory_fraction(0.5);
  config.set_inter_op_parallelism_threads(7);
  config.mutable_graph_options()->mutable_optimizer_options()->set_global_jit_level(
      pb::OptimizerOptions::ON_1);
  ::testing::internal::CaptureStderr();
  OpenSession session(g(), config);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  EXPECT_THAT(log, HasSubstr("gpu_options.per_process_gpu_memory_fraction, allow_growth has no "
                             "effect: a plug-in decides"));
  EXPECT_THAT(log, HasSubstr("inter_op_parallelism_threads has no effect: the nodes of a run share "
                             "the threads of intra_op_parallelism_threads"));
  EXPECT_THAT(log, HasSubstr("global_jit_level has no effect"));
  // Once a process.
  ::testing::internal::CaptureStderr();
  OpenSession again(g(), config);
  EXPECT_EQ("", ::testing::internal::GetCapturedStderr());
}

// The names of the ops in the graph that runs: (x * 1) * 1 is folded if passes run.
class COptimizerConfig : public CSessionConfig {
 protected:
  std::vector<std::string> OpsThatRun(const pb::ConfigProto& config) {
    TF_Operation* x = Placeholder("x", TF_FLOAT);
    TF_Operation* one = Const("one", testing::FloatTensor({}, {1}).get());
    TF_Output last{x, 0};
    for (const char* name : {"a", "b", "c", "d"}) last = {Binary("Mul", name, last, {one, 0}), 0};
    OpenSession session(g(), config);
    const testing::TensorPtr fed = Float(3);
    pb::RunOptions options;
    options.set_output_partition_graphs(true);
    const testing::BufferPtr metadata(TF_NewBuffer());
    session.Run({{{{x, 0}, fed.get()}}, {last}, {}}, testing::BufferOf(options).get(),
                metadata.get());
    EXPECT_EQ(TF_OK, session.code()) << session.message();
    pb::RunMetadata read;
    EXPECT_TRUE(read.ParseFromString(testing::BytesOf(metadata.get())));
    std::vector<std::string> ops;
    for (const std::string& graph : read.partition_graphs()) {
      pb::GraphDef def;
      EXPECT_TRUE(def.ParseFromString(graph));
      for (const pb::NodeDef& node : def.node()) ops.push_back(node.op());
    }
    return ops;
  }
};

TEST_F(COptimizerConfig, PassesRunAtFirst) {
  EXPECT_THAT(OpsThatRun({}), ::testing::Not(Contains("Mul")));
}

TEST_F(COptimizerConfig, LevelL0SwitchesThemOff) {
  pb::ConfigProto config;
  config.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
      pb::OptimizerOptions::L0);
  EXPECT_THAT(OpsThatRun(config), Contains("Mul"));
}

TEST_F(COptimizerConfig, LevelL0LeavesThePassesThatAreNamed) {
  pb::ConfigProto config;
  auto& optimizer = *config.mutable_graph_options()->mutable_optimizer_options();
  optimizer.set_opt_level(pb::OptimizerOptions::L0);
  optimizer.set_do_common_subexpression_elimination(true);
  config.mutable_graph_options()->mutable_rewrite_options()->set_arithmetic_optimization(
      pb::RewriterConfig::ON);
  EXPECT_THAT(OpsThatRun(config), ::testing::Not(Contains("Mul")));
}

TEST_F(COptimizerConfig, RewriteOptionsAreHeeded) {
  pb::ConfigProto config;
  config.mutable_graph_options()->mutable_rewrite_options()->set_disable_meta_optimizer(true);
  EXPECT_THAT(OpsThatRun(config), Contains("Mul"));
}

TEST_F(CSessionConfig, OperationTimeoutLimitsRunsWithoutOneOfTheirOwn) {
  TF_OperationDescription* desc = New("FIFOQueueV2", "queue");
  const TF_DataType types[] = {TF_FLOAT};
  TF_SetAttrTypeList(desc, "component_types", types, 1);
  TF_Operation* queue = TF_FinishOperation(desc, s());
  desc = New("QueueDequeueV2", "dequeue");
  TF_AddInput(desc, {queue, 0});
  TF_SetAttrTypeList(desc, "component_types", types, 1);
  TF_Operation* dequeue = TF_FinishOperation(desc, s());
  pb::ConfigProto config;
  config.set_operation_timeout_in_ms(30);
  OpenSession session(g(), config);
  EXPECT_EQ(nullptr, session.Run({{}, {{dequeue, 0}}, {}})[0]);
  EXPECT_EQ(TF_DEADLINE_EXCEEDED, session.code());
  EXPECT_EQ("Timed out waiting for notification", session.message());
}

TEST_F(CSessionConfig, TargetsAreThisProcessAlone) {
  for (const auto& [target, wanted] :
       {std::pair("", TF_OK), std::pair("local", TF_NOT_FOUND), std::pair("foo", TF_NOT_FOUND),
        std::pair("grpc://host:1", TF_UNIMPLEMENTED)}) {
    TF_SetTarget(options_.get(), target);
    TF_Session* const session = TF_NewSession(g(), options_.get(), s());
    EXPECT_EQ(wanted, code()) << target << ": " << message();
    EXPECT_EQ(wanted == TF_OK, session != nullptr) << target;
    TF_Status* const status = TF_NewStatus();
    TF_DeleteSession(session, status);
    TF_DeleteStatus(status);
  }
}

}  // namespace
}  // namespace tenon
