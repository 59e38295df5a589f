#include "tests/plugin/host/c_api/kernel_node_util.h"

#include <deque>

#include "graph/base/status_macros.h"

namespace tenon::testing {

void RegisterTestOp(const std::string& name, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs,
                    const std::vector<std::string>& attrs) {
  if (OpRegistry::Global().Find(name) != nullptr) return;
  OpDefBuilder builder(name);
  for (const std::string& spec : attrs) ASSERT_TRUE(builder.AddAttr(spec).ok()) << spec;
  for (const std::string& spec : inputs) ASSERT_TRUE(builder.AddInput(spec).ok()) << spec;
  for (const std::string& spec : outputs) ASSERT_TRUE(builder.AddOutput(spec).ok()) << spec;
  absl::StatusOr<OpDef> op = std::move(builder).Finish();
  ASSERT_TRUE(op.ok()) << op.status();
  ASSERT_TRUE(OpRegistry::Global().Register(*std::move(op)).ok());
}

struct TestNode::State {
  std::string name;
  const OpDef* op = nullptr;
  std::map<std::string, std::string> attr_storage;
  AttrSet attrs;
  NodeTypes types;
  std::vector<std::string> input_names;
};

TestNode::TestNode(const std::string& op, std::map<std::string, std::string> attrs,
                   const std::string& name, std::vector<std::string> input_names) {
  static auto* const states = new std::deque<State>;
  state_ = &states->emplace_back();
  state_->name = name;
  state_->op = OpRegistry::Global().Find(op);
  state_->attr_storage = std::move(attrs);
  state_->input_names = std::move(input_names);
  EXPECT_NE(state_->op, nullptr) << op;
  std::vector<Attr> list;
  for (const auto& [key, wire] : state_->attr_storage) list.push_back({key, AttrValue(wire)});
  state_->attrs = AttrSet(std::move(list));
  absl::StatusOr<NodeTypes> types = ResolveTypes(*state_->op, state_->attrs);
  EXPECT_TRUE(types.ok()) << types.status();
  if (types.ok()) state_->types = *std::move(types);
}

KernelNode TestNode::Node() const {
  KernelNode node;
  node.name = state_->name;
  node.op = state_->op;
  node.attrs = &state_->attrs;
  node.types = &state_->types;
  node.node_def_wire = "wire of " + state_->name;
  node.input_names = state_->input_names;
  node.device_name = "/job:localhost/replica:0/task:0/device:CPU:0";
  node.graph_def_version = 1234;
  return node;
}

absl::StatusOr<std::unique_ptr<PluginKernel>> TestNode::CreateKernel(const std::string& device_type,
                                                                     Device* device) const {
  TENON_ASSIGN_OR_RETURN(auto def, KernelRegistry::Global().Find(
                                       state_->name, state_->op->name, state_->attrs, state_->op,
                                       device_type, device == nullptr ? "" : device->plugin()));
  return PluginKernel::Create(std::move(def), Node(), device);
}

Computed RunKernel(PluginKernel& kernel, std::vector<Tensor> inputs, int num_outputs,
                   double timeout_s) {
  Computed result;
  result.outputs.resize(num_outputs);
  std::vector<ComputeArgs::Input> args_inputs;
  for (Tensor& input : inputs) args_inputs.push_back({&input, true});
  ComputeArgs args;
  args.inputs = args_inputs;
  std::vector<Tensor*> args_outputs;
  for (Tensor& output : result.outputs) args_outputs.push_back(&output);
  args.outputs = args_outputs;
  args.step_id = 43;
  args.timeout_s = timeout_s;
  ContextPtr context = NewContext();
  result.status = kernel.Compute(args, context);
  return result;
}

void RegisterTestKernel(const std::string& op, const std::string& device_type,
                        void* (*create)(TF_OpKernelConstruction*),
                        void (*compute)(void*, TF_OpKernelContext*), void (*destroy)(void*)) {
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(op.c_str(), device_type.c_str(), create, compute, destroy);
  TF_Status* status = TF_NewStatus();
  TF_RegisterKernelBuilder("TestKernel", builder, status);
  EXPECT_EQ(TF_GetCode(status), TF_OK) << TF_Message(status);
  TF_DeleteStatus(status);
}

}  // namespace tenon::testing
