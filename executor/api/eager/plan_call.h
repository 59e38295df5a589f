// Executes a function, or an op that calls functions, by a plan. Private to executor/api/eager/.
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

// A graph of one node and a placeholder for each of its inputs, with the functions that the node
// reaches, compiled once. Plans are made for each list of shapes.
class PlanCall final : public Callable {
 public:
  // The context must outlive the call. `device`: what the node asks for, and with it the nodes of
  // functions that ask for none; empty: nothing.
  // NOT_FOUND for a function that does not exist, INVALID_ARGUMENT for a defect of the graph or of
  // a function; the errors of Executable::Make.
  static absl::StatusOr<std::shared_ptr<Callable>> Make(Context& context, CallNode node,
                                                        const std::string& device);

  // Copies inputs from the memory of devices to the host. A cancellation counts only before the
  // start: CANCELLED. Other errors are those of ValueOnHost and of Executable::Run.
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;

 private:
  PlanCall(TypeVector output_types, std::unique_ptr<Executable> executable)
      : Callable(std::move(output_types), nullptr), executable_(std::move(executable)) {}

  const std::unique_ptr<Executable> executable_;
};

}  // namespace tenon::eager
