// Moving small computations from a device to the CPU: where the kernels' memory decides.
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/kernels/kernel_registry.h"
#include "tests/executor/far_device_util.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Const;
using testing::FarDevice;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Type;

constexpr char kPlugin[] = "plugin_variables_test";

// A kernel that is never run.
void Register(const char* op, std::vector<std::string> host = {}) {
  auto kernel = std::make_shared<KernelDef>();
  kernel->op = op;
  kernel->device_type = "FAR";
  kernel->plugin = kPlugin;
  kernel->host_memory_args = std::move(host);
  kernel->fns.compute = [](void*, TF_OpKernelContext*) {};
  KernelRegistry::Global().Register(std::move(kernel));
}

class PinToHost : public ::testing::Test {
 protected:
  void SetUp() override {
    Register("Square");
    Register("Mul");
    Register("Shape", {"output"});
    Register("Reshape", {"shape"});
  }
  void TearDown() override {
    session_.reset();
    KernelRegistry::Global().RemovePlugin(kPlugin);
  }
  // The type of the device where a node goes with these passes.
  std::string PlaceOf(const std::string& text, const std::string& passes, std::string_view node) {
    SessionOptions options;
    options.threads = 1;
    options.pipeline.min_graph_nodes = -1;
    options.pipeline.passes = ParsePassSpecs(passes).value();
    session_ = Session::Create(Parse(text), {cpu_.get(), &far_}, options).value();
    const Executable& e = *session_->Prepare({"x"}, {"y"}).value();
    const NodePlacement& placement = PlacementReport(e)[OptimizedGraph(e).FindNode(node)];
    return std::string(placement.device->type());
  }

  std::unique_ptr<Device> cpu_ = MakeCpuDevice();
  FarDevice far_;
  std::unique_ptr<Session> session_;
};

// y = Reshape(square, Shape(square) * ones); `product` is what else the product's node says.
std::string ShapeArithmetic(std::string_view product) {
  return Placeholder("x", "dim { size: 20 } dim { size: 20 }") + Node("square", "Square", {"x"}) +
         Node("shape", "Shape", {"square"}, Type("out_type", "DT_INT32")) +
         Const("ones", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: 1") +
         Node("product", "Mul", {"shape", "ones"}, product, "DT_INT32") +
         Node("y", "Reshape", {"square", "product"}, Type("Tshape", "DT_INT32"));
}

// The device's kernel gives the shape in host memory, and another one reads it there.
TEST_F(PinToHost, ArithmeticOfShapesGoesToTheHost) {
  const std::string graph = ShapeArithmetic("");
  EXPECT_EQ(PlaceOf(graph, "model_pruning", "product"), "FAR");
  EXPECT_EQ(PlaceOf(graph, "pin_to_host_optimization", "product"), "CPU");
  EXPECT_EQ(PlaceOf(graph, "pin_to_host_optimization", "ones"), "CPU");
  for (const char* large : {"square", "shape", "y"})
    EXPECT_EQ(PlaceOf(graph, "pin_to_host_optimization", large), "FAR") << large;
}

TEST_F(PinToHost, WhatAsksForItsDeviceStays) {
  EXPECT_EQ(
      PlaceOf(ShapeArithmetic("device: '/device:FAR:0'"), "pin_to_host_optimization", "product"),
      "FAR");
}

// The free one comes first: it does the work of both.
TEST_F(PinToHost, WhatIsMergedWithANodeThatAsksForItsDeviceStays) {
  const std::string graph =
      Placeholder("x", "dim { size: 20 } dim { size: 20 }") + Node("square", "Square", {"x"}) +
      Node("shape", "Shape", {"square"}, Type("out_type", "DT_INT32")) +
      Const("ones", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: 1") +
      Node("free", "Mul", {"shape", "ones"}, "", "DT_INT32") +
      Node("asks", "Mul", {"shape", "ones"}, "device: '/device:FAR:0'", "DT_INT32") +
      Node("once", "Reshape", {"square", "free"}, Type("Tshape", "DT_INT32")) +
      Node("y", "Reshape", {"once", "asks"}, Type("Tshape", "DT_INT32"));
  EXPECT_EQ(PlaceOf(graph, "pin_to_host_optimization", "free"), "CPU");
  EXPECT_EQ(
      PlaceOf(graph, "common_subgraph_elimination,pin_to_host_optimization,model_pruning", "free"),
      "FAR");
}

}  // namespace
}  // namespace tenon
