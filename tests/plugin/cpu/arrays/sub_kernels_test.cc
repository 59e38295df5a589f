// Kernels made of other kernels refuse parts that they could not run.
#include "plugin/cpu/arrays/sub_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/session_state.h"

namespace tenon::cpu {
namespace {

class NoState : public SessionState {
 public:
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view, const std::function<std::shared_ptr<NodeState>()>& make) override {
    return make();
  }
  std::shared_ptr<const void> GetPacked(
      const void*, std::string_view,
      const std::function<std::shared_ptr<const void>()>& make) override {
    return make();
  }
};

// A value that preparation sets would not be in the part's buffer.
TEST(SubKernels, RefuseAPartWithAValue) {
  const AttrSet attrs;
  NodeTypes types;
  types.inputs = {DataType::kInt32};
  types.outputs = {DataType::kInt32};
  NoState session;
  Workers workers(1);
  Prepare p("node", *OpRegistry::Global().Find("Identity"), attrs, types,
            {{Shape({2, 3}), nullptr, false}}, session, workers);
  SubKernels parts(p);
  const std::string type = attr::Type(DataType::kInt32);
  const absl::StatusOr<SubTensor> shape =
      parts.Call("Shape", {{"T", type}, {"out_type", type}}, DataType::kInt32, {parts.Input(0)});
  EXPECT_EQ(shape.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(shape.status().message()), ::testing::HasSubstr("Shape as a part"));
  EXPECT_TRUE(parts.Call("Neg", {{"T", type}}, DataType::kInt32, {parts.Input(0)}).ok());
}

}  // namespace
}  // namespace tenon::cpu
