#include "plugin/pjrt/executable.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/pjrt/client.h"
#include "plugin/pjrt/element_type.h"

namespace tenon::pjrt {

LoadedProgram::~LoadedProgram() {
  auto args = Fresh<abi::LoadedArgs>();
  args.executable = executable_;
  api_->Release(fn::LoadedExecutable_Destroy, args);
}

Executable::Executable(std::shared_ptr<const Client> client,
                       std::shared_ptr<const LoadedProgram> program)
    : client_(std::move(client)), api_(client_->shared_api()), program_(std::move(program)) {}

absl::Status Executable::CheckResults(absl::Span<const BufferSpec> results,
                                      std::string_view node) const {
  auto get = Fresh<abi::LoadedGetExecutableArgs>();
  get.loaded = program_->get();
  TENON_RETURN_IF_ERROR(api_->Call(fn::LoadedExecutable_GetExecutable, get, node));
  const absl::Status status = CheckShapes(get.executable, results, node);
  auto destroy = Fresh<abi::ExecutableDestroyArgs>();
  destroy.executable = get.executable;
  api_->Release(fn::Executable_Destroy, destroy);
  return status;
}

absl::Status Executable::CheckShapes(abi::Executable* executable,
                                     absl::Span<const BufferSpec> results,
                                     std::string_view node) const {
  auto count = Fresh<abi::ExecutableCountArgs>();
  count.executable = executable;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Executable_NumOutputs, count, node));
  auto types = Fresh<abi::ExecutableOutputTypesArgs>();
  types.executable = executable;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Executable_OutputElementTypes, types, node));
  auto dims = Fresh<abi::ExecutableOutputDimensionsArgs>();
  dims.executable = executable;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Executable_OutputDimensions, dims, node));
  if (count.count != results.size() || types.num_types != results.size() ||
      dims.num_outputs != results.size()) {
    return api_->Fault(
        absl::StrCat("the compiled program has ", count.count, " results, ", types.num_types,
                     " types and ", dims.num_outputs, " shapes of them, not ", results.size()),
        fn::Executable_OutputDimensions.name);
  }
  if (!results.empty() && (types.types == nullptr || dims.ranks == nullptr))
    return api_->Fault("a list that is NULL", fn::Executable_OutputDimensions.name);
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = results[i].shape;
    TENON_ASSIGN_OR_RETURN(const abi::ElementType type, ToElementType(results[i].type));
    const bool same = types.types[i] == type &&
                      dims.ranks[i] == static_cast<size_t>(shape.rank()) &&
                      (next != nullptr || shape.rank() == 0) &&
                      absl::MakeConstSpan(next, dims.ranks[i]) == shape.dims();
    if (!same) {
      return api_->Fault(absl::StrCat("result ", i, " of the compiled program is not ",
                                      DataTypeShortName(results[i].type), shape.ToString()),
                         fn::Executable_OutputDimensions.name);
    }
    if (shape.rank() > 0) next += dims.ranks[i];
  }
  return absl::OkStatus();
}

absl::Status Executable::Execute(absl::Span<abi::Buffer* const> arguments,
                                 absl::Span<const int64_t> not_donated, absl::Span<Buffer> results,
                                 Event* done, std::string_view node) const {
  auto options = Fresh<abi::ExecuteOptions>();
  options.non_donatable_inputs = not_donated.data();
  options.num_non_donatable_inputs = not_donated.size();
  absl::InlinedVector<abi::Buffer*, 16> made(results.size(), nullptr);
  abi::Buffer* const* const argument_list = arguments.data();
  abi::Buffer** const result_list = made.data();
  abi::Event* event = nullptr;
  auto args = Fresh<abi::ExecuteArgs>();
  args.executable = program_->get();
  args.options = &options;
  args.arguments = &argument_list;
  args.num_devices = 1;
  args.num_arguments = arguments.size();
  args.outputs = &result_list;
  if (done != nullptr) args.complete_events = &event;
  absl::Status status = api_->Call(fn::LoadedExecutable_Execute, args, node);
  // Also after an error: what was made must be destroyed.
  bool whole = true;
  for (size_t i = 0; i < made.size(); ++i) {
    whole &= made[i] != nullptr;
    results[i] = Buffer(client_, made[i]);
  }
  if (event != nullptr) *done = Event(api_, event);
  if (!status.ok() || whole) return status;
  return api_->Fault("a run left a result without a buffer", fn::LoadedExecutable_Execute.name);
}

}  // namespace tenon::pjrt
