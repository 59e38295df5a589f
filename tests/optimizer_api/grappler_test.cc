// The graph-optimization C interface, case by case as TensorFlow's own tests have it, with its
// messages.
#include "tensorflow/c/experimental/grappler/grappler.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/op_registry.h"
#include "gtest/gtest.h"
#include "optimizer_api/grappler_item.h"
#include "optimizer_api/plugin_optimizer.h"
#include "proto/op_def.pb.h"
#include "proto/op_info.pb.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

void Optimize(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status*) {}

template <int kVariant>
void Init(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  TF_SetStatus(status, TF_OK, "");
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = Optimize;
  params->device_type = "TESTA";
  params->optimizer_configs->remapping = TF_TriState_Off;
  if (kVariant == 1) params->device_type = "TESTB";
  if (kVariant == 2) params->device_type = nullptr;
  if (kVariant == 3) params->optimizer->optimize_func = nullptr;
  if (kVariant == 4) params->optimizer->struct_size = 0;
  if (kVariant == 5) TF_SetStatus(status, TF_INTERNAL, "no graph for you");
  if (kVariant == 6) throw std::runtime_error("thrown");
}

// A chain of n AddN nodes on `device`, fed by a Const of shape [10,1].
Graph MakeGraph(const std::string& device) {
  Graph g;
  const Tensor value = *Tensor::Allocate(DataType::kFloat, Shape({10, 1}));
  std::vector<Graph::NewAttr> placeholder;
  placeholder.push_back({"dtype", attr::Type(DataType::kFloat)});
  placeholder.push_back({"shape", attr::Shape(PartialShape{10, 1})});
  Output last{*g.AddNode("x", "Placeholder", {}, std::move(placeholder), device), 0};
  const NodeId c = *g.AddNode("c", "NoOp", {}, {}, device);
  EXPECT_TRUE(g.MakeConst(c, value).ok());
  for (const char* name : {"AddN", "AddN_1"}) {
    const Output inputs[] = {last, {c, 0}};
    std::vector<Graph::NewAttr> attrs;
    attrs.push_back({"N", attr::Int(2)});
    attrs.push_back({"T", attr::Type(DataType::kFloat)});
    last = {*g.AddNode(name, "AddN", inputs, std::move(attrs), device), 0};
  }
  return g;
}

constexpr char kDevice[] = "/job:localhost/replica:0/task:0/device:TESTA:0";

TEST(Grappler, SuccessfulRegistration) {
  absl::StatusOr<PluginOptimizer> optimizer = InitPluginOptimizer(Init<0>, "plugin.so");
  ASSERT_TRUE(optimizer.ok()) << optimizer.status();
  EXPECT_EQ(optimizer->device_type, "TESTA");
  ASSERT_TRUE(RegisterPluginOptimizer(*optimizer).ok());
  const auto found = PluginOptimizersFor(MakeGraph(kDevice));
  ASSERT_EQ(found.size(), 1u);
  const auto off = PassesSwitchedOff(found);
  ASSERT_EQ(off.size(), 1u);
  EXPECT_EQ(off[0].first, "remapping");
  EXPECT_THAT(off[0].second, ::testing::HasSubstr("plugin.so"));
  EXPECT_TRUE(PluginOptimizersFor(MakeGraph("/device:CPU:0")).empty());
  EXPECT_EQ(PluginOptimizersFor({"CPU", "TESTA"}).size(), 1u);
  EXPECT_TRUE(PluginOptimizersFor({"CPU"}).empty());
  RemovePluginOptimizers("plugin.so");
  EXPECT_TRUE(PluginOptimizersFor(MakeGraph(kDevice)).empty());
}

TEST(Grappler, MultiplePluginRegistration) {
  ASSERT_TRUE(RegisterPluginOptimizer(*InitPluginOptimizer(Init<0>, "a.so")).ok());
  ASSERT_TRUE(RegisterPluginOptimizer(*InitPluginOptimizer(Init<1>, "b.so")).ok());
  const absl::Status twice = RegisterPluginOptimizer(*InitPluginOptimizer(Init<0>, "a.so"));
  EXPECT_EQ(twice.message(), "PluginGraphOptimizer with device_type TESTA is registered twice.");
  // Another plug-in for the device type: both run, in the order of their registration.
  ASSERT_TRUE(RegisterPluginOptimizer(*InitPluginOptimizer(Init<0>, "c.so")).ok());
  EXPECT_FALSE(PluginOptimizersInUse("a.so"));
  {
    const auto found = PluginOptimizersFor(MakeGraph(kDevice));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0]->plugin, "a.so");
    EXPECT_EQ(found[1]->plugin, "c.so");
    EXPECT_TRUE(PluginOptimizersInUse("a.so"));
    EXPECT_FALSE(PluginOptimizersInUse("b.so"));
  }
  for (const char* plugin : {"a.so", "b.so", "c.so"}) RemovePluginOptimizers(plugin);
}

TEST(Grappler, ConfigsThatDifferOrOverruleTheUserAreTold) {
  const auto told = [](const std::vector<PluginOptimizer>& optimizers, const std::string& user) {
    std::vector<std::shared_ptr<const PluginOptimizer>> pointers;
    for (const PluginOptimizer& o : optimizers)
      pointers.push_back(std::make_shared<const PluginOptimizer>(o));
    ::testing::internal::CaptureStderr();
    WarnOfConfigs(pointers, {user});
    return ::testing::internal::GetCapturedStderr();
  };
  const PluginOptimizer a = *InitPluginOptimizer(Init<0>, "a.so");
  PluginOptimizer b = *InitPluginOptimizer(Init<1>, "b.so");
  EXPECT_EQ(told({a, b}, "constant_folding"), "");
  EXPECT_THAT(told({a}, "remapping"),
              ::testing::HasSubstr("User's config has been changed based on plugin's config: "
                                 "remapping is switched off by the optimizer for TESTA of a.so"));
  b.configs.shape_optimization = TF_TriState_Off;
  EXPECT_THAT(
      told({a, b}, ""),
      ::testing::HasSubstr("Plugins have conflicting configs. Potential performance regression "
                         "may happen: switched off are [remapping] by a.so, "
                         "[shape_optimization, remapping] by b.so"));
}

TEST(Grappler, DeviceTypeNotSet) {
  const absl::Status status = InitPluginOptimizer(Init<2>, "p.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "'device_type' field in TP_OptimizerRegistrationParams must be set.");
}

TEST(Grappler, OptimizeFuncNotSet) {
  const absl::Status status = InitPluginOptimizer(Init<3>, "p.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "'optimize_func' field in TP_Optimizer must be set.");
}

TEST(Grappler, StructSizeNotSet) {
  EXPECT_EQ(InitPluginOptimizer(Init<4>, "p.so").status().message(),
            "struct_size field in TP_Optimizer must be set to TP_OPTIMIZER_STRUCT_SIZE.");
}

TEST(Grappler, StatusAndExceptionOfThePluginAreReturned) {
  const absl::Status status = InitPluginOptimizer(Init<5>, "p.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "no graph for you");
  EXPECT_THAT(std::string(InitPluginOptimizer(Init<6>, "p.so").status().message()),
              ::testing::HasSubstr("thrown"));
}

class AllKernels : public KernelOracle {
 public:
  bool HasKernel(std::string_view, std::string_view, const AttrSet&) const override { return true; }
};

// Two passes on two threads: the first one begins and ends before the second one does.
struct Overlap {
  absl::Notification first_works, second_works, first_is_over;
};
Overlap* overlap = nullptr;

void OptimizeFirst(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status* status) {
  overlap->first_works.Notify();
  overlap->second_works.WaitForNotification();
  TF_SetStatus(status, TF_ABORTED, "");
}

void OptimizeSecond(void*, const TF_Buffer* in, const TF_GrapplerItem*, TF_Buffer*,
                    TF_Status* status) {
  overlap->second_works.Notify();
  overlap->first_is_over.WaitForNotification();
  const std::string* const noted = GraphInPluginPass();
  EXPECT_TRUE(noted != nullptr && noted->data() == in->data);
  TF_SetStatus(status, TF_ABORTED, "");
}

TEST(Grappler, PassesThatOverlapHaveTheirOwnGraphs) {
  Overlap now;
  overlap = &now;
  const auto run = [](decltype(TP_Optimizer::optimize_func) optimize) {
    const AllKernels kernels;
    PluginOptimizer optimizer = *InitPluginOptimizer(Init<0>, "plugin.so");
    optimizer.fns.optimize_func = optimize;
    Graph graph = MakeGraph(kDevice);
    const absl::StatusOr<bool> changed =
        MakePluginPass("pass", std::make_shared<const PluginOptimizer>(optimizer), OptimizerItem(),
                       &kernels)
            ->Run(graph);
    EXPECT_TRUE(changed.ok() && !*changed) << changed.status();
  };
  std::thread first([&] {
    run(OptimizeFirst);
    now.first_is_over.Notify();
  });
  std::thread second([&] {
    now.first_works.WaitForNotification();
    run(OptimizeSecond);
  });
  first.join();
  second.join();
  EXPECT_EQ(GraphInPluginPass(), nullptr);
}

using ListSizeFn = void (*)(const TF_GrapplerItem*, int*, size_t*, TF_Status*);
using ListFn = void (*)(const TF_GrapplerItem*, char**, size_t*, int, void*, size_t, TF_Status*);

std::vector<std::string> ReadList(const TF_GrapplerItem& item, ListSizeFn size_fn, ListFn list_fn) {
  TF_Status* status = TF_NewStatus();
  int n = 0;
  size_t bytes = 0;
  size_fn(&item, &n, &bytes, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK);
  std::vector<char*> values(n);
  std::vector<size_t> lengths(n);
  std::vector<char> storage(bytes);
  list_fn(&item, values.data(), lengths.data(), n, storage.data(), bytes, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  std::vector<std::string> list;
  for (int i = 0; i < n; ++i) list.emplace_back(values[i], lengths[i]);
  if (bytes > 0) {
    list_fn(&item, values.data(), lengths.data(), n, storage.data(), bytes - 1, status);
    EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
    EXPECT_STREQ(TF_Message(status), "Not enough storage to hold the requested list of nodes");
  }
  TF_DeleteStatus(status);
  return list;
}

TEST(TF_GrapplerItem, NodesToPreserve) {
  const Graph g = MakeGraph(kDevice);
  const OptimizerItem names{{"AddN_1:0", "AddN"}, {"x"}, {"c"}};
  const ::TF_GrapplerItem item{&g, &names};
  EXPECT_THAT(ReadList(item, TF_GetNodesToPreserveListSize, TF_GetNodesToPreserveList),
              ::testing::UnorderedElementsAre("AddN_1", "AddN", "x", "c"));
}

TEST(TF_GrapplerItem, NodesMarkedToStayArePreserved) {
  Graph g = MakeGraph(kDevice);
  g.SetAttr(g.FindNode("AddN"), "_grappler_do_not_remove", attr::Bool(true));
  g.SetAttr(g.FindNode("c"), "_grappler_do_not_remove", attr::Bool(false));
  const OptimizerItem names{{"AddN_1:0"}, {"x"}, {}};
  const ::TF_GrapplerItem item{&g, &names};
  EXPECT_THAT(ReadList(item, TF_GetNodesToPreserveListSize, TF_GetNodesToPreserveList),
              ::testing::UnorderedElementsAre("AddN_1", "AddN", "x"));
}

TEST(TF_GrapplerItem, FetchNodes) {
  const Graph g = MakeGraph(kDevice);
  const OptimizerItem names{{"AddN_1:0", "AddN:0"}, {}, {}};
  const ::TF_GrapplerItem item{&g, &names};
  EXPECT_THAT(ReadList(item, TF_GetFetchNodesListSize, TF_GetFetchNodesList),
              ::testing::ElementsAre("AddN_1:0", "AddN:0"));
}

class GraphPropertiesTest : public ::testing::Test {
 protected:
  // Properties of AddN as parsed messages.
  std::vector<pb::OpInfo::TensorProperties> Read(bool inputs, bool valid_feeds, bool values) {
    const OptimizerItem names{{"AddN_1:0"}, {"x"}, {}};
    const ::TF_GrapplerItem item{&graph_, &names};
    ::TF_GraphProperties* properties = TF_NewGraphProperties(&item);
    TF_Status* status = TF_NewStatus();
    TF_InferStatically(properties, valid_feeds, 0, values, values, status);
    EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
    int n = -1;
    (inputs ? TF_GetInputPropertiesListSize : TF_GetOutputPropertiesListSize)(properties, "nobody",
                                                                              &n, status);
    EXPECT_EQ(n, 0);
    (inputs ? TF_GetInputPropertiesListSize : TF_GetOutputPropertiesListSize)(properties, "AddN",
                                                                              &n, status);
    std::vector<TF_Buffer*> buffers;
    for (int i = 0; i < n; ++i) buffers.push_back(TF_NewBuffer());
    (inputs ? TF_GetInputPropertiesList : TF_GetOutputPropertiesList)(properties, "AddN",
                                                                      buffers.data(), n, status);
    EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
    std::vector<pb::OpInfo::TensorProperties> parsed(n);
    for (int i = 0; i < n; ++i) {
      EXPECT_TRUE(parsed[i].ParseFromArray(buffers[i]->data, static_cast<int>(buffers[i]->length)));
      TF_DeleteBuffer(buffers[i]);
    }
    TF_DeleteGraphProperties(properties);
    TF_DeleteStatus(status);
    return parsed;
  }

  Graph graph_ = MakeGraph(kDevice);
};

TEST_F(GraphPropertiesTest, InputProperties) {
  const auto inputs = Read(true, true, true);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].dtype(), pb::DT_FLOAT);
  ASSERT_EQ(inputs[0].shape().dim_size(), 2);
  EXPECT_EQ(inputs[0].shape().dim(0).size(), 10);
  EXPECT_EQ(inputs[0].shape().dim(1).size(), 1);
  EXPECT_FALSE(inputs[0].has_value());
  EXPECT_TRUE(inputs[1].has_value());
}

TEST_F(GraphPropertiesTest, OutputProperties) {
  const auto outputs = Read(false, true, false);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].dtype(), pb::DT_FLOAT);
  EXPECT_EQ(outputs[0].shape().dim_size(), 2);
}

TEST_F(GraphPropertiesTest, FedPlaceholderIsUnknownUnlessTrusted) {
  EXPECT_TRUE(Read(true, false, false)[0].shape().unknown_rank());
}

TEST_F(GraphPropertiesTest, ResultsStayAfterAnError) {
  graph_.SetAttr(graph_.FindNode("x"), "shape", attr::Shape(PartialShape{3, 1}));
  const OptimizerItem names{{"AddN_1:0"}, {"x"}, {}};
  const ::TF_GrapplerItem item{&graph_, &names};
  ::TF_GraphProperties* properties = TF_NewGraphProperties(&item);
  TF_Status* status = TF_NewStatus();
  TF_InferStatically(properties, 0, 0, 1, 1, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  // The declared shape of x does not fit that of c.
  TF_InferStatically(properties, 1, 0, 0, 0, status);
  EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT) << TF_Message(status);
  TF_Buffer* buffer = TF_NewBuffer();
  TF_GetOutputPropertiesList(properties, "c", &buffer, 1, status);
  pb::OpInfo::TensorProperties parsed;
  EXPECT_TRUE(parsed.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
  EXPECT_TRUE(parsed.has_value());
  TF_DeleteBuffer(buffer);
  TF_DeleteStatus(status);
  TF_DeleteGraphProperties(properties);
}

// Multiplies what it is given.
struct Product : NodeEvaluator {
  absl::StatusOr<std::vector<Tensor>> Evaluate(const Graph& graph, NodeId n,
                                               absl::Span<const Tensor> inputs, size_t) override {
    ++calls;
    if (graph.op_name(n) != "Mul") return absl::UnimplementedError("no product");
    return std::vector<Tensor>{Tensor::Of<float>(
        DataType::kFloat, {inputs[0].flat<float>()[0] * inputs[1].flat<float>()[0]}, Shape())};
  }
  int calls = 0;
};

// As TensorFlow: small numbers are computed, and what profiles noted of shapes counts.
TEST(TF_InferStatically, AggressiveInferenceComputesAndBelievesNotes) {
  const Graph graph = testing::Parse(R"(
      node { name: 'a' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 3 } } } }
      node { name: 'product' op: 'Mul' input: ['a', 'a'] attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }
      node { name: 'noted' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }
             attr { key: '_same_output_for_iterations' value { b: true } }
             attr { key: '_output_shape_vector' value { list { shape { dim { size: 4 } } } } } }
      node { name: 'after' op: 'Exp' input: 'noted' attr { key: 'T' value { type: DT_FLOAT } } })");
  Product product;
  OptimizerItem names{{"after:0"}, {"x"}, {}};
  names.evaluator = &product;
  const ::TF_GrapplerItem item{&graph, &names};
  TF_Status* status = TF_NewStatus();
  for (const bool aggressive : {false, true}) {
    ::TF_GraphProperties* properties = TF_NewGraphProperties(&item);
    TF_InferStatically(properties, 1, aggressive, 1, 1, status);
    const auto read = [&](const char* node) {
      TF_Buffer* buffer = TF_NewBuffer();
      TF_GetOutputPropertiesList(properties, node, &buffer, 1, status);
      pb::OpInfo::TensorProperties parsed;
      EXPECT_TRUE(parsed.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
      TF_DeleteBuffer(buffer);
      return parsed;
    };
    EXPECT_EQ(read("product").has_value(), aggressive);
    EXPECT_EQ(read("after").shape().unknown_rank(), !aggressive);
    if (aggressive) {
      EXPECT_EQ(read("after").shape().dim(0).size(), 4);
      EXPECT_EQ(product.calls, 1);  // nothing that is known already, or follows from what is fed
    }
    TF_DeleteGraphProperties(properties);
  }
  TF_DeleteStatus(status);
}

// A pass may ask with room for as many as it likes.
TEST_F(GraphPropertiesTest, AsManyAsThereIsRoomFor) {
  const OptimizerItem names{{"AddN_1:0"}, {"x"}, {}};
  const ::TF_GrapplerItem item{&graph_, &names};
  ::TF_GraphProperties* properties = TF_NewGraphProperties(&item);
  TF_Status* status = TF_NewStatus();
  TF_InferStatically(properties, 1, 0, 0, 0, status);
  const std::pair<int, int> cases[] = {{-1, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 2}};
  for (const auto& [room, filled] : cases) {
    TF_Buffer* buffers[3] = {TF_NewBuffer(), TF_NewBuffer(), TF_NewBuffer()};
    TF_GetInputPropertiesList(properties, "AddN", buffers, room, status);
    EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(buffers[i]->length > 0, i < filled) << room;
      TF_DeleteBuffer(buffers[i]);
    }
  }
  TF_GetOutputPropertiesList(properties, "nobody", nullptr, 1, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK);
  TF_DeleteStatus(status);
  TF_DeleteGraphProperties(properties);
}

TEST(TF_FunctionLibraryDefinition, LookUpOpDef) {
  TF_Status* status = TF_NewStatus();
  TF_Buffer graph{"", 0, nullptr};
  ::TF_FunctionLibraryDefinition* library = TF_NewFunctionLibraryDefinition(&graph, status);
  ASSERT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_Buffer* bytes = TF_NewBuffer();
  TF_LookUpOpDef(library, "Add", bytes, status);
  ASSERT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  EXPECT_EQ(std::string(static_cast<const char*>(bytes->data), bytes->length),
            OpDefToWire(*OpRegistry::Global().Find("Add")));
  TF_Buffer* none = TF_NewBuffer();
  TF_LookUpOpDef(library, "NoSuchOp", none, status);
  EXPECT_EQ(TF_GetCode(status), TF_NOT_FOUND);
  EXPECT_THAT(TF_Message(status),
              ::testing::HasSubstr("Op type not registered 'NoSuchOp' in binary running on"));
  EXPECT_THAT(TF_Message(status),
              ::testing::EndsWith("as contrib ops are lazily registered when the module is first "
                                "accessed."));
  TF_DeleteBuffer(none);
  TF_DeleteBuffer(bytes);
  TF_DeleteFunctionLibraryDefinition(library);
  TF_Buffer garbage{"\xff\xff\xff", 3, nullptr};
  for (const TF_Buffer* bytes :
       {static_cast<const TF_Buffer*>(&garbage), static_cast<const TF_Buffer*>(nullptr)}) {
    EXPECT_EQ(TF_NewFunctionLibraryDefinition(bytes, status), nullptr);
    EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
    EXPECT_STREQ(TF_Message(status), "Unparseable tensorflow.GraphDef proto");
  }
  // A node whose name is cut off.
  TF_Buffer cut{"\x0a\x03\x0a\x09x", 5, nullptr};
  EXPECT_EQ(TF_NewFunctionLibraryDefinition(&cut, status), nullptr);
  EXPECT_EQ(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_DeleteStatus(status);
}

}  // namespace
}  // namespace tenon
