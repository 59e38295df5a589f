// Variables, by reference (version 1) and as resources, and assignments to the whole of them.
#include <cstring>

#include "graph/base/node_note.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/device_memory.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {
namespace {

// TensorFlow's name for a variable that nobody keeps but the tensors with its handle: each run of
// the op makes another one.
constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

class AnonymousVariable final : public Variable {
 public:
  explicit AnonymousVariable(DataType dtype) : Variable(kAnonymousName, dtype) {}
  bool anonymous() const override { return true; }
};

absl::Status RunAnonymous(const void* state, const StepArgs& args) {
  const DataType dtype = *static_cast<const DataType*>(state);
  TENON_ASSIGN_OR_RETURN(
      Tensor handle,
      HandleTensor(DataType::kResource, ObjectRef<Object>::Adopt(new AnonymousVariable(dtype))));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status SetVariable(Prepare& p, bool by_reference) {
  TENON_ASSIGN_OR_RETURN(const std::string_view container, p.AttrString("container"));
  TENON_ASSIGN_OR_RETURN(const std::string_view shared_name, p.AttrString("shared_name"));
  TENON_ASSIGN_OR_RETURN(const DataType dtype, p.AttrType("dtype"));
  if (!by_reference && shared_name == kAnonymousName) {
    p.set_dynamic_output(0, Shape());
    p.set_run(&RunAnonymous, std::make_shared<const DataType>(dtype));
    return absl::OkStatus();
  }
  const VariableName name = NameOfVariable(by_reference, container, shared_name, p.node_name());
  // A variable without a name is of whatever type is assigned to it.
  const DataType only = name.name.empty() ? DataType::kInvalid : dtype;
  ObjectRef<Variable> variable = p.session().resources().LookupOrCreate<Variable>(
      name.container, name.name,
      [&] { return ObjectRef<Variable>::Make(name.name, only, by_reference); });
  return SetHandle(p, ObjectRef<Object>::Adopt(variable.release()));
}

absl::Status PrepareVarHandle(Prepare& p) { return SetVariable(p, /*by_reference=*/false); }
absl::Status PrepareVariable(Prepare& p) { return SetVariable(p, /*by_reference=*/true); }

absl::Status WrongType(const Variable& variable, DataType has, DataType wanted) {
  return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name(), "' holds ",
                                                 DataTypeName(has), " where ", DataTypeName(wanted),
                                                 " is wanted"));
}

// TensorFlow's words for a variable by handle.
absl::Status WrongAssignment(DataType has, DataType given) {
  return absl::InvalidArgumentError(
      absl::StrCat("Trying to assign variable with wrong dtype. Expected ", DataTypeSpecName(has),
                   " got ", DataTypeSpecName(given)));
}

// Output 0 is input 0, a variable by reference; the step changes what it holds.
absl::Status PassReference(Prepare& p) {
  p.set_output_shape(0, Shape());
  p.Alias(0, 0);
  return absl::OkStatus();
}

struct AssignState : NodeFacts {
  explicit AssignState(const Prepare& p) : NodeFacts(p) {}
  bool validate_shape = false;
};

absl::Status RunAssign(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AssignState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(1));
  const DataType type = value.dtype();
  const Shape shape = value.shape();
  return variable->Assign(
      std::move(value), DeviceOf(*args.run_state), [&](const Tensor& old) -> absl::Status {
        // The type of the value that is there. Without one a variable by handle takes any type, as
        // in TensorFlow, and one by reference the declared type.
        const DataType declared = s.outputs.empty() ? DataType::kInvalid : variable->dtype();
        const DataType holds = old.initialized() ? old.dtype() : declared;
        if (holds != DataType::kInvalid && holds != type)
          return s.outputs.empty() ? WrongAssignment(holds, type)
                                   : WrongType(*variable, holds, type);
        if (s.validate_shape && old.initialized() && !(old.shape() == shape)) {
          return absl::InvalidArgumentError(absl::StrCat("the value has shape ", shape.ToString(),
                                                         ", variable '", variable->name(), "' has ",
                                                         old.shape().ToString(), " and keeps it"));
        }
        return absl::OkStatus();
      });
}

absl::Status PrepareAssign(Prepare& p) {
  auto s = std::make_shared<AssignState>(p);
  TENON_ASSIGN_OR_RETURN(s->validate_shape, p.AttrBool("validate_shape"));
  if (p.num_outputs() == 1) TENON_RETURN_IF_ERROR(PassReference(p));
  p.set_run(&RunAssign, std::move(s));
  return absl::OkStatus();
}

// Adds to the variable, or subtracts from it.
struct CombineState : NodeFacts {
  explicit CombineState(const Prepare& p) : NodeFacts(p) {}
  ElementOp op = ElementOp::kAdd;
};

absl::Status RunCombine(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CombineState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  const Tensor value = args.run_state->Input(1);
  return variable->Update([&](Tensor& held) -> absl::Status {
    if (!held.initialized()) {
      return variable->NoValue(s.outputs.empty() ? absl::StatusCode::kNotFound
                                                 : absl::StatusCode::kFailedPrecondition);
    }
    if (held.dtype() != value.dtype()) return WrongType(*variable, held.dtype(), value.dtype());
    if (!(held.shape() == value.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the value has shape ", value.shape().ToString(), ", variable '",
                       variable->name(), "' has ", held.shape().ToString()));
    }
    TENON_RETURN_IF_ERROR(MakeWritable(held));
    return CombineInto(s.op, value, held, args.workers);
  });
}

template <ElementOp kOp>
absl::Status PrepareCombine(Prepare& p) {
  auto s = std::make_shared<CombineState>(p);
  s->op = kOp;
  if (p.num_outputs() == 1) TENON_RETURN_IF_ERROR(PassReference(p));
  p.set_run(&RunCombine, std::move(s));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadValue(const Variable& variable, Device* device) {
  TENON_ASSIGN_OR_RETURN(Tensor value, variable.Get(device));
  if (value.initialized()) return value;
  return variable.NoValue(absl::StatusCode::kFailedPrecondition);
}

absl::Status RunRead(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, static_cast<int>(i)));
    TENON_ASSIGN_OR_RETURN(Tensor value, ReadValue(*variable, DeviceOf(*args.run_state)));
    if (value.dtype() != s.outputs[i]) {
      return NoteAnswer(
          WrongType(*variable, value.dtype(), s.outputs[i]), absl::StatusCode::kInvalidArgument,
          absl::StrCat("Trying to read variable with wrong dtype. Expected ",
                       DataTypeSpecName(s.outputs[i]), " got ", DataTypeSpecName(value.dtype())));
    }
    args.run_state->SetOutput(static_cast<int>(i), std::move(value));
  }
  return absl::OkStatus();
}

absl::Status RunIsInitialized(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  *static_cast<bool*>(args.out[0]) = variable->Peek().initialized();
  return absl::OkStatus();
}

absl::Status RunShape(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  const Tensor value = variable->Peek();
  if (!value.initialized()) return variable->NoValue(absl::StatusCode::kNotFound);
  const Shape& shape = value.shape();
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, Shape({shape.rank()})));
  for (int d = 0; d < shape.rank(); ++d) {
    if (s.outputs[0] == DataType::kInt64) {
      static_cast<int64_t*>(out)[d] = shape.dim(d);
    } else if (shape.dim(d) > INT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " is ", shape.dim(d), ", which does not fit int32"));
    } else {
      static_cast<int32_t*>(out)[d] = static_cast<int32_t>(shape.dim(d));
    }
  }
  return absl::OkStatus();
}

struct CountState : NodeFacts {
  explicit CountState(const Prepare& p) : NodeFacts(p) {}
  int64_t limit = 0;
};

// Gives the variable's value and adds one to it.
absl::Status RunCountUpTo(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CountState*>(state);
  TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, 0));
  return variable->Update([&](Tensor& held) -> absl::Status {
    if (!held.initialized()) return variable->NoValue(absl::StatusCode::kFailedPrecondition);
    if (held.dtype() != s.outputs[0]) return WrongType(*variable, held.dtype(), s.outputs[0]);
    if (held.shape().rank() != 0) {
      return absl::InvalidArgumentError(absl::StrCat("variable '", variable->name(),
                                                     "' must be a scalar, its shape is ",
                                                     held.shape().ToString()));
    }
    const int64_t count = held.IntAt(0);
    // The check comes first: at the limit the variable stays as it is.
    if (count >= s.limit)
      return absl::OutOfRangeError(absl::StrCat("the limit of ", s.limit, " is reached"));
    TENON_RETURN_IF_ERROR(MakeWritable(held));
    std::memcpy(args.out[0], held.data(), held.bytes());
    if (held.dtype() == DataType::kInt64) {
      ++*held.flat<int64_t>();
    } else {
      ++*held.flat<int32_t>();
    }
    return absl::OkStatus();
  });
}

absl::Status PrepareCountUpTo(Prepare& p) {
  auto s = std::make_shared<CountState>(p);
  TENON_ASSIGN_OR_RETURN(s->limit, p.AttrInt("limit"));
  p.set_output_shape(0, Shape());
  p.set_run(&RunCountUpTo, std::move(s));
  return absl::OkStatus();
}

struct DestroyState : NodeFacts {
  explicit DestroyState(const Prepare& p) : NodeFacts(p), resources(p.session().resources()) {}
  ResourceManager& resources;
  bool ignore_missing = true;
};

// A variable loses its value, so that whoever holds its handle finds it without one. Other
// resources lose their name.
absl::Status RunDestroy(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DestroyState*>(state);
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, 0));
  bool was_there = false;
  auto* resource = dynamic_cast<Resource*>(object);
  if (resource != nullptr && resource->anonymous()) return absl::OkStatus();  // others may have it
  if (auto* variable = ObjectAs<Variable>(object)) {
    TENON_RETURN_IF_ERROR(variable->Assign(Tensor(), nullptr, [&](const Tensor& old) {
      was_there = old.initialized();
      return absl::OkStatus();
    }));
  } else if (resource != nullptr) {
    was_there = s.resources.Remove(*resource);
  }
  if (was_there || s.ignore_missing) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no ", resource == nullptr ? "resource" : resource->kind(), " '",
                   resource == nullptr ? "" : resource->name(), "' to destroy"));
}

absl::Status PrepareDestroy(Prepare& p) {
  auto s = std::make_shared<DestroyState>(p);
  TENON_ASSIGN_OR_RETURN(s->ignore_missing, p.AttrBool("ignore_lookup_error"));
  p.set_run(&RunDestroy, std::move(s));
  return absl::OkStatus();
}

// Goes on with the reference that input 0 chooses from the others.
absl::Status RunRefSelect(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  const auto count = static_cast<int64_t>(s.inputs.size()) - 1;
  TENON_ASSIGN_OR_RETURN(const int64_t index, IntInput(args, 0));
  if (index < 0 || index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("'index' must be in [0, ", count, "), it is ", index));
  }
  TENON_ASSIGN_OR_RETURN(Tensor chosen, args.run_state->TakeInput(1 + static_cast<int>(index)));
  args.run_state->SetOutput(0, std::move(chosen));
  return absl::OkStatus();
}

absl::Status RunNothing(const void*, const StepArgs&) { return absl::OkStatus(); }

absl::Status RunIsRefCounting(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, 0));
  const auto* resource = dynamic_cast<const Resource*>(object);
  *static_cast<bool*>(args.out[0]) = resource != nullptr && resource->anonymous();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> VariableKernels() {
  static const CpuKernelSpec specs[] = {
      {"VarHandleOp", {}, PrepareVarHandle, 0, /*stateful=*/true, false, /*copies_objects=*/true},
      {"Variable", {}, PrepareVariable, 0, true},
      {"VariableV2", {}, PrepareVariable, 0, true},
      WholeTensorKernel("AssignVariableOp", "dtype", kEveryType, PrepareAssign),
      WholeTensorKernel("Assign", "T", kEveryType, PrepareAssign),
      WholeTensorKernel("AssignAddVariableOp", "dtype", kNumberTypes,
                        PrepareCombine<ElementOp::kAdd>),
      WholeTensorKernel("AssignSubVariableOp", "dtype", kNumberTypes,
                        PrepareCombine<ElementOp::kSub>),
      WholeTensorKernel("AssignAdd", "T", kNumberTypes, PrepareCombine<ElementOp::kAdd>),
      WholeTensorKernel("AssignSub", "T", kNumberTypes, PrepareCombine<ElementOp::kSub>),
      WholeTensorKernel("ReadVariableOp", PrepareWhole<&RunRead>),
      WholeTensorKernel("_ReadVariablesOp", PrepareWhole<&RunRead>),
      WholeTensorKernel("VarIsInitializedOp", PrepareScalar<&RunIsInitialized>),
      WholeTensorKernel("IsVariableInitialized", PrepareScalar<&RunIsInitialized>),
      WholeTensorKernel("VariableShape", PrepareWhole<&RunShape>),
      WholeTensorKernel("CountUpTo", "T", kEveryType, PrepareCountUpTo),
      WholeTensorKernel("ResourceCountUpTo", "T", kEveryType, PrepareCountUpTo),
      WholeTensorKernel("DestroyResourceOp", PrepareDestroy),
      WholeTensorKernel("RefSelect", "T", kEveryType, PrepareWhole<&RunRefSelect>),
      WholeTensorKernel("DisableCopyOnRead", PrepareWhole<&RunNothing>),
      WholeTensorKernel("IsResourceHandleRefCounting", PrepareScalar<&RunIsRefCounting>),
  };
  return specs;
}

}  // namespace tenon::cpu
