#include <limits>

#include "plugin/cpu/containers/staging.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<StagingLimits> StagingLimits::Of(const Prepare& p) {
  StagingLimits limits;
  TENON_ASSIGN_OR_RETURN(limits.capacity, p.AttrInt("capacity"));
  TENON_ASSIGN_OR_RETURN(limits.memory, p.AttrInt("memory_limit"));
  return limits;
}

absl::Status StagingLimits::Check(std::string_view name, int64_t bytes) const {
  if (memory == 0 || bytes <= memory) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("staging area '", name, "' may hold ", memory,
                                                   " bytes, the element has ", bytes));
}

int64_t BytesOf(const StagedTuple& tuple) {
  int64_t bytes = 0;
  for (const Tensor& t : tuple) bytes += t.initialized() ? static_cast<int64_t>(t.bytes()) : 0;
  return bytes;
}

absl::Status NoRoomError(std::string_view name) {
  return absl::DeadlineExceededError(
      absl::StrCat("staging area '", name, "' has had no room for as long as the run may wait"));
}

absl::StatusOr<StagedTuple> TakeTuple(const StepArgs& args, size_t begin, size_t end) {
  StagedTuple tuple;
  for (size_t i = begin; i < end; ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor component, args.run_state->TakeInput(static_cast<int>(i)));
    tuple.push_back(std::move(component));
  }
  return tuple;
}

absl::Status SetTuple(const StepArgs& args, size_t begin, const TypeVector& types,
                      StagedTuple tuple) {
  if (tuple.size() + begin != types.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the staged element has ", tuple.size(),
                                                   " components where ", types.size() - begin,
                                                   " are wanted"));
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i].dtype() != types[begin + i]) {
      return absl::InvalidArgumentError(absl::StrCat("component ", i, " of the staged element is ",
                                                     DataTypeName(tuple[i].dtype()), ", not ",
                                                     DataTypeName(types[begin + i])));
    }
    args.run_state->SetOutput(static_cast<int>(begin + i), std::move(tuple[i]));
  }
  return absl::OkStatus();
}

absl::Status SetCount(const StepArgs& args, int64_t count) {
  const auto number =
      static_cast<int32_t>(std::min<int64_t>(count, std::numeric_limits<int32_t>::max()));
  args.run_state->SetOutput(0, Tensor::Of<int32_t>(DataType::kInt32, {number}, Shape()));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
