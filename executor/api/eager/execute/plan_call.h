// Executes a function, or an op that calls functions, by a plan. Private to
// executor/api/eager/execute/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/api/eager/call_node.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/context.h"
#include "executor/session/executable.h"

namespace tenon::eager {

// A compiled graph of one node, a placeholder for each input of the node, and the functions that
// the node calls, directly or through others. Compiled once; plans are made for each list of
// shapes.
class PlanCall final : public Callable {
 public:
  // The context must outlive the PlanCall. `device`: the device string of the node; nodes of its
  // functions without a device string inherit it. Empty: none. NOT_FOUND if a function that the
  // node names does not exist, INVALID_ARGUMENT if the graph or a function has a defect that is not
  // MayBeUnused (graph/verify/defect.h); the errors of Executable::Make.
  static absl::StatusOr<std::shared_ptr<Callable>> Make(Context& context, CallNode node,
                                                        const std::string& device);

  // Copies inputs that are in the memory of a device to the host, whatever call.policy is. All
  // outputs are in host memory. CANCELLED if call.cancellation was cancelled before the start, or
  // while the function runs, where it notices that (cancellation.h). Other errors are those of
  // ValueOnHost and of Executable::Run. Those of Executable::Run name nodes in TensorFlow's way:
  // "{{function_node F}} … [[{{node n}}]]".
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;

 private:
  PlanCall(Context& context, const CallNode& node, std::string function,
           std::unique_ptr<Executable> executable)
      : Callable(node.types.outputs, nullptr),
        notes_(context.graph_notes()),
        node_(node.name),
        function_(std::move(function)),
        executable_(std::move(executable)) {}
  absl::Status Explained(const absl::Status& status) const;

  GraphNotes& notes_;
  const std::string node_;      // the name of the node in the graph
  const std::string function_;  // the name of the function; empty for an op
  const std::unique_ptr<Executable> executable_;
};

}  // namespace tenon::eager
