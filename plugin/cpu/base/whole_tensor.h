// Helpers of kernels that work on whole tensors (plugin/kernels/kernel.h): variables, lists,
// tables, queues.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/resource.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The facts of a node that most of these kernels need at run time: the node's name and the base
// types of its inputs and outputs (T for a reference to T).
struct NodeFacts {
  explicit NodeFacts(const Prepare& p);
  std::string name;
  TypeVector inputs, outputs;
};

// Makes all outputs dynamic, or output 0 a scalar, and sets the run function and its state.
void SetWholeRun(Prepare& p, RunFn run, std::shared_ptr<const void> state);
void SetScalarRun(Prepare& p, RunFn run, std::shared_ptr<const void> state);

// A preparation that leaves all outputs to the run function. The run state is a `State` made from
// the Prepare: NodeFacts or a class derived from NodeFacts.
template <RunFn kRun, typename State = NodeFacts>
absl::Status PrepareWhole(Prepare& p) {
  SetWholeRun(p, kRun, std::make_shared<State>(p));
  return absl::OkStatus();
}
// A preparation of a node whose only output is a scalar: the run function writes the element to
// args.out[0]. The run state is a `State` as above.
template <RunFn kRun, typename State = NodeFacts>
absl::Status PrepareScalar(Prepare& p) {
  SetScalarRun(p, kRun, std::make_shared<State>(p));
  return absl::OkStatus();
}

// Returns the row of a stateful kernel on whole tensors: CpuKernelSpec::stateful and whole_tensors
// are set.
CpuKernelSpec WholeTensorKernel(const char* op, PrepareFn prepare);
// The same, but only for nodes with one of `types` in attribute `attr`.
CpuKernelSpec WholeTensorKernel(const char* op, std::string_view attr, uint64_t types,
                                PrepareFn prepare);

// Returns the object in input i, a tensor of resources or variants; null if the input's element
// holds no object. The input owns the object, which lives until the run function returns.
// INVALID_ARGUMENT unless input i has exactly one element.
absl::StatusOr<Object*> ObjectInput(const StepArgs& args, int i);

// The same as a T, never null. INVALID_ARGUMENT, with both kinds, if there is no object or the
// object is no T.
template <typename T>
absl::StatusOr<T*> InputAs(const StepArgs& args, int i) {
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, i));
  T* wanted = ObjectAs<T>(object);
  if (wanted != nullptr) return wanted;
  return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be a ", T::kKind, ", it is ",
                                                 object == nullptr ? "nothing" : "a ",
                                                 object == nullptr ? "" : object->kind()));
}

// Where a node's resource lies among those of its session. The names live as long as the node's
// attributes and the preparation.
struct ResourcePlace {
  std::string_view container, name;
  ResourceManager* manager;
};
// Returns the container that attribute container says, and the name that attribute shared_name
// says, or the node's name if shared_name is empty. INVALID_ARGUMENT if the node has no such
// attributes.
absl::StatusOr<ResourcePlace> PlaceOfResource(const Prepare& p);

// Returns the session's resource of kind T::kKind at the node's ResourcePlace. If there is none
// yet, `make` creates it from its name, under the resource manager's lock: `make` must not call the
// manager. Returns the errors of PlaceOfResource.
template <typename T>
absl::StatusOr<ObjectRef<T>> SharedResource(
    const Prepare& p, absl::FunctionRef<ObjectRef<T>(std::string_view name)> make) {
  TENON_ASSIGN_OR_RETURN(const ResourcePlace place, PlaceOfResource(p));
  return place.manager->LookupOrCreate<T>(place.container, place.name,
                                          [&] { return make(place.name); });
}

// Makes output 0 a scalar handle, of type resource, that shares ownership of `resource`. The handle
// is known before the run: a constant of the plan. RESOURCE_EXHAUSTED if memory is short.
absl::Status SetHandle(Prepare& p, ObjectRef<Object> resource);

// The run state and the run function that close input 0, a queue or a barrier. Attribute
// cancel_pending_enqueues says whether waiting enqueues are cancelled.
struct CloseState : NodeFacts {
  explicit CloseState(const Prepare& p);
  bool cancel_pending;
};
template <typename T>
absl::Status RunClose(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(T * closed, InputAs<T>(args, 0));
  closed->Close(static_cast<const CloseState*>(state)->cancel_pending);
  return absl::OkStatus();
}

// Returns a scalar of type `type`, resource or variant, that shares ownership of `object`.
// RESOURCE_EXHAUSTED if memory is short.
absl::StatusOr<Tensor> HandleTensor(DataType type, ObjectRef<Object> object);

// Returns the element of input i, of a type of Tensor::IntAt (not uint32 or uint64).
// INVALID_ARGUMENT unless the input has exactly one element.
absl::StatusOr<int64_t> IntInput(const StepArgs& args, int i);
// Returns the list of types in attribute `name`. INVALID_ARGUMENT if there is no such list.
absl::StatusOr<TypeVector> TypesOf(const Prepare& p, std::string_view name);
// Returns the shape in input i, of type int32 or int64: a vector of dimensions, -1 for an unknown
// dimension. A scalar -1 stands for an unknown rank. INVALID_ARGUMENT for any other scalar, an
// input of higher rank, or a shape that PartialShape::Make refuses.
absl::StatusOr<PartialShape> ShapeInput(const StepArgs& args, int i);

}  // namespace tenon::cpu
