// Executes an op that hands its data to one of its outputs. Private to executor/api/eager/execute/.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/callable.h"

namespace tenon::eager {

// Switch and _SwitchN. No node comes after an op that is executed alone, so an output that is not
// chosen is no dead value: as in TensorFlow, it is a tensor of the type with no elements.
class SwitchCall final : public Callable {
 public:
  // `node` must be an op with FlowRole::kSwitch, and its types be set.
  static std::shared_ptr<Callable> Make(const CallNode& node);

  // Input 1 chooses the output. Of _SwitchN, a number that no output has chooses the last output.
  // All outputs are in host memory. INVALID_ARGUMENT if input 1 is no scalar. Other errors are
  // those of BringInput and Tensor::Allocate.
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;

 private:
  explicit SwitchCall(const CallNode& node)
      : Callable(node.types.outputs, nullptr), op_(node.def->name) {}

  const std::string op_;
};

}  // namespace tenon::eager
