// Executes an If or a Case whose branches do not all fit the call. Private to
// executor/api/eager/execute/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/eager_op.h"

namespace tenon::eager {

// Whether this may be an error of a function that has other arguments or results than its caller.
bool MayBeMisfit(const absl::Status& status);

// A callable for each branch, made as if the op had no other branch. As in TensorFlow, a branch
// whose function has other arguments or results than the op is an error of the calls that take it.
class BranchCall final : public Callable {
 public:
  // `op` must be an If or a Case (CallKind), `types` the types of its outputs, and all its
  // functions must exist. The context must outlive the BranchCall. `device` as in PlanCall::Make.
  // INVALID_ARGUMENT and INTERNAL of a branch, the codes of one that does not fit, are kept for the
  // calls that take the branch. Any other error of a branch is returned.
  static absl::StatusOr<std::shared_ptr<Callable>> Make(Context& context, const TFE_Op& op,
                                                        const TypeVector& types,
                                                        const std::string& device);

  // Input 0 chooses the branch: of an If as ToBool says, of a Case by its number; a number that no
  // branch has chooses the last one. INVALID_ARGUMENT if input 0 of an If is a scalar of a type
  // that ToBool does not take, or if input 0 of a Case is no scalar of int32. The error of the
  // branch that is chosen if that branch does not fit. Other errors are those of ValueOnHost and of
  // PlanCall::Run.
  absl::Status Run(Inputs inputs, absl::Span<Tensor> outputs, const CallContext& call) override;

 private:
  using Branch = absl::StatusOr<std::shared_ptr<Callable>>;
  BranchCall(TypeVector output_types, bool binary, std::vector<Branch> branches)
      : Callable(std::move(output_types), nullptr),
        binary_(binary),
        branches_(std::move(branches)) {}

  const bool binary_;
  const std::vector<Branch> branches_;  // of an If: else, then
};

}  // namespace tenon::eager
