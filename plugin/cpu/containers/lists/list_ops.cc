// Making lists and changing single elements of them.
#include <cstring>
#include <optional>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct ListState : NodeFacts {
  explicit ListState(const Prepare& p) : NodeFacts(p) {}
  DataType type = DataType::kInvalid;
  bool resize = false;
};

absl::Status RunEmpty(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeInput(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t most, IntInput(args, 1));
  auto list = ObjectRef<TensorList>::Make(s.type, std::move(shape));
  list->max_elements = most;
  TENON_ASSIGN_OR_RETURN(Tensor handle, ListTensor(std::move(list)));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunReserve(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeInput(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t size, IntInput(args, 1));
  auto list = ObjectRef<TensorList>::Make(s.type, std::move(shape));
  TENON_RETURN_IF_ERROR(list->Resize(size));
  TENON_ASSIGN_OR_RETURN(Tensor handle, ListTensor(std::move(list)));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunLength(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(list->size());
  return absl::OkStatus();
}

absl::Status RunResize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const int64_t size, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(args, 0));
  TENON_RETURN_IF_ERROR(own.list->Resize(size));
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

absl::Status OutOfList(int64_t index, int64_t size) {
  return absl::InvalidArgumentError(
      absl::StrCat("there is no element ", index, " in a list of ", size));
}

absl::Status RunSetItem(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t index, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(args, 0));
  TENON_RETURN_IF_ERROR(own.list->CheckType(s.type));
  const int64_t size = own.list->size();
  if (index < 0 || (index >= size && !s.resize)) return OutOfList(index, size);
  TENON_ASSIGN_OR_RETURN(Tensor item, args.run_state->TakeInput(2));
  // Checks come before Resize, so a refused item leaves the list as it was.
  TENON_RETURN_IF_ERROR(own.list->CheckShape(item.shape()));
  if (index >= size) TENON_RETURN_IF_ERROR(own.list->Resize(index + 1));
  own.list->Set(index, std::move(item));
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

// Zeros stand for an element that was never set.
absl::StatusOr<Tensor> ElementOrZeros(const TensorList& list, Tensor element, const StepArgs& args,
                                      int shape_input) {
  if (element.initialized()) return element;
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, ShapeInput(args, shape_input));
  TENON_ASSIGN_OR_RETURN(const PartialShape partial, list.ElementShape(asked));
  const std::optional<Shape> shape = partial.ToShape();
  if (!shape.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the element was never set, and its shape is not known: ", partial.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Allocate(list.element_dtype, *shape));
  std::memset(zeros.data(), 0, zeros.bytes());
  return zeros;
}

absl::Status RunGetItem(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  TENON_RETURN_IF_ERROR(list->CheckType(s.type));
  TENON_ASSIGN_OR_RETURN(const int64_t index, IntInput(args, 1));
  if (index < 0 || index >= list->size()) return OutOfList(index, list->size());
  TENON_ASSIGN_OR_RETURN(Tensor item, ElementOrZeros(*list, list->Get(index), args, 2));
  args.run_state->SetOutput(0, std::move(item));
  return absl::OkStatus();
}

absl::Status RunPushBack(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(args, 0));
  TENON_RETURN_IF_ERROR(own.list->CheckType(s.type));
  TENON_ASSIGN_OR_RETURN(Tensor item, args.run_state->TakeInput(1));
  TENON_RETURN_IF_ERROR(own.list->CheckShape(item.shape()));
  TENON_RETURN_IF_ERROR(own.list->PushBack(std::move(item)));
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

absl::Status RunPopBack(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(args, 0));
  TENON_RETURN_IF_ERROR(own.list->CheckType(s.type));
  if (own.list->size() == 0) return absl::InvalidArgumentError("the list is empty");
  TENON_RETURN_IF_ERROR(ShapeInput(args, 1).status());  // also where the element has one
  TENON_ASSIGN_OR_RETURN(Tensor item, ElementOrZeros(*own.list, own.list->PopBack(), args, 1));
  args.run_state->SetOutput(0, std::move(own.handle));
  args.run_state->SetOutput(1, std::move(item));
  return absl::OkStatus();
}

// Element i of the tensor goes to list i.
absl::Status RunPushBackBatch(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  const Tensor handles = args.run_state->Input(0);
  TENON_ASSIGN_OR_RETURN(const Tensor items, args.run_state->TakeInput(1));
  if (items.shape().rank() < 1 || handles.num_elements() != items.shape().dim(0)) {
    return absl::InvalidArgumentError(absl::StrCat("elements ", items.shape().ToString(),
                                                   " for handles ", handles.shape().ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Tensor out, Tensor::Allocate(DataType::kVariant, handles.shape()));
  const Shape shape = RowShape(items.shape());
  for (int64_t i = 0; i < handles.num_elements(); ++i) {
    const auto* list = ObjectAs<TensorList>(handles.ObjectAt(i));
    if (list == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("input 0 holds no list at place ", i));
    TENON_RETURN_IF_ERROR(list->CheckType(s.type));
    TENON_RETURN_IF_ERROR(list->CheckShape(shape));
    // Lists are values: other handles of this one must not see the new element.
    ObjectRef<TensorList> longer = list->Clone();
    TENON_RETURN_IF_ERROR(longer->PushBack(RowOf(items, i, shape)));
    out.SetObject(i, ObjectRef<Object>::Adopt(longer.release()));
  }
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

absl::Status RunConcatLists(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ListState*>(state);
  const Tensor a = args.run_state->Input(0), b = args.run_state->Input(1);
  if (!(a.shape() == b.shape())) {
    return absl::InvalidArgumentError(absl::StrCat("handles ", a.shape().ToString(), " and ",
                                                   b.shape().ToString(),
                                                   " must have the same shape"));
  }
  TENON_ASSIGN_OR_RETURN(const Tensor out, Tensor::Allocate(DataType::kVariant, a.shape()));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto* first = ObjectAs<TensorList>(a.ObjectAt(i));
    const auto* second = ObjectAs<TensorList>(b.ObjectAt(i));
    if (first == nullptr || second == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("an input holds no list at place ", i));
    TENON_RETURN_IF_ERROR(first->CheckType(s.type));
    TENON_RETURN_IF_ERROR(second->CheckType(s.type));
    ObjectRef<TensorList> both = first->Clone();
    TENON_ASSIGN_OR_RETURN(both->element_shape, first->element_shape.Merge(second->element_shape));
    TENON_RETURN_IF_ERROR(both->Resize(first->size() + second->size()));
    for (int64_t k = 0; k < second->size(); ++k) both->Set(first->size() + k, second->Get(k));
    out.SetObject(i, ObjectRef<Object>::Adopt(both.release()));
  }
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

absl::Status RunElementShape(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  const PartialShape& shape = list->element_shape;
  const Dims dims = shape.known_rank() ? Dims(shape.dims().begin(), shape.dims().end()) : Dims{-1};
  const Shape out = shape.known_rank() ? Shape({static_cast<int64_t>(shape.rank())}) : Shape();
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (s.outputs[0] == DataType::kInt64) {
      static_cast<int64_t*>(data)[d] = dims[d];
    } else {
      static_cast<int32_t*>(data)[d] = static_cast<int32_t>(dims[d]);
    }
  }
  return absl::OkStatus();
}

template <RunFn kRun>
absl::Status PrepareList(Prepare& p) {
  auto s = std::make_shared<ListState>(p);
  if (p.op().FindAttr("element_dtype") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->type, p.AttrType("element_dtype"));
  }
  if (p.op().FindAttr("resize_if_index_out_of_bounds") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->resize, p.AttrBool("resize_if_index_out_of_bounds"));
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ListKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("EmptyTensorList", PrepareList<&RunEmpty>),
      WholeTensorKernel("TensorListReserve", PrepareList<&RunReserve>),
      WholeTensorKernel("TensorListLength", PrepareScalar<&RunLength>),
      WholeTensorKernel("TensorListResize", PrepareList<&RunResize>),
      WholeTensorKernel("TensorListSetItem", PrepareList<&RunSetItem>),
      WholeTensorKernel("TensorListGetItem", "element_dtype", kEveryType, PrepareList<&RunGetItem>),
      WholeTensorKernel("TensorListPushBack", PrepareList<&RunPushBack>),
      WholeTensorKernel("TensorListPopBack", "element_dtype", kEveryType, PrepareList<&RunPopBack>),
      WholeTensorKernel("TensorListPushBackBatch", "element_dtype", kEveryType,
                        PrepareList<&RunPushBackBatch>),
      WholeTensorKernel("TensorListConcatLists", PrepareList<&RunConcatLists>),
      WholeTensorKernel("TensorListElementShape", PrepareWhole<&RunElementShape>),
  };
  return specs;
}

}  // namespace tenon::cpu
