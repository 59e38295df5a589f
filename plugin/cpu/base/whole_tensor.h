// What kernels that work on whole tensors have in common: variables, lists, tables, queues.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// What most of them need to know of their node.
struct NodeFacts {
  explicit NodeFacts(const Prepare& p);
  std::string name;
  TypeVector inputs, outputs;
};

// All outputs are set by the run, whose state is NodeFacts or a class that begins with them.
template <RunFn kRun, typename State = NodeFacts>
absl::Status PrepareWhole(Prepare& p) {
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(kRun, std::make_shared<State>(p));
  return absl::OkStatus();
}
// Output 0 is a scalar, which the run writes to its memory.
template <RunFn kRun, typename State = NodeFacts>
absl::Status PrepareScalar(Prepare& p) {
  p.set_output_shape(0, Shape());
  p.set_run(kRun, std::make_shared<State>(p));
  return absl::OkStatus();
}

CpuKernelSpec WholeTensorKernel(const char* op, PrepareFn prepare);
// The same for some types only, which attribute `attr` names.
CpuKernelSpec WholeTensorKernel(const char* op, std::string_view attr, uint64_t types,
                                PrepareFn prepare);

// The object that scalar input i holds; null if it holds none. INVALID_ARGUMENT for no scalar.
absl::StatusOr<Object*> ObjectInput(const StepArgs& args, int i);

// The same as a T; INVALID_ARGUMENT says what it is instead. It lives as long as the run function.
template <typename T>
absl::StatusOr<T*> InputAs(const StepArgs& args, int i) {
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, i));
  T* wanted = ObjectAs<T>(object);
  if (wanted != nullptr) return wanted;
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a ", T::kKind, ", it is ",
                                                 object == nullptr ? "nothing" : "a ",
                                                 object == nullptr ? "" : object->kind()));
}

// The resource that attributes container and shared_name, or else the node's name, stand for; made
// by `make` at first use.
template <typename T>
absl::StatusOr<ObjectRef<T>> SharedResource(
    const Prepare& p, absl::FunctionRef<ObjectRef<T>(std::string_view name)> make) {
  TENON_ASSIGN_OR_RETURN(const std::string_view container, p.AttrString("container"));
  TENON_ASSIGN_OR_RETURN(const std::string_view shared, p.AttrString("shared_name"));
  const std::string_view name = shared.empty() ? p.node_name() : shared;
  return p.session().resources().template LookupOrCreate<T>(container, name,
                                                            [&] { return make(name); });
}

// Output 0 is the resource's handle, which is known before the run: a constant of the plan.
absl::Status SetHandle(Prepare& p, ObjectRef<Object> resource);

// Closes a queue or a barrier, input 0, as attribute cancel_pending_enqueues says.
struct CloseState : NodeFacts {
  explicit CloseState(const Prepare& p)
      : NodeFacts(p), cancel_pending(p.AttrBool("cancel_pending_enqueues").value_or(false)) {}
  bool cancel_pending;
};
template <typename T>
absl::Status RunClose(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(T * closed, InputAs<T>(args, 0));
  closed->Close(static_cast<const CloseState*>(state)->cancel_pending);
  return absl::OkStatus();
}

// How long a run waits for what only another one can do.
inline constexpr absl::Duration kPatience = absl::Seconds(60);

// A scalar that holds the object.
absl::StatusOr<Tensor> HandleTensor(DataType type, ObjectRef<Object> object);

// The one element of an int32 or int64 input; INVALID_ARGUMENT if it has not exactly one.
absl::StatusOr<int64_t> IntInput(const StepArgs& args, int i);
// The types that attribute `name` lists.
absl::StatusOr<TypeVector> TypesOf(const Prepare& p, std::string_view name);
// Dimensions of which some may be -1; a scalar -1 stands for an unknown rank.
absl::StatusOr<PartialShape> ShapeInput(const StepArgs& args, int i);

}  // namespace tenon::cpu
