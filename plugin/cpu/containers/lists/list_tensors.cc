// Lists made of one tensor, and tensors made of all elements of a list.
#include <algorithm>
#include <cstring>
#include <optional>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct TensorsState : NodeFacts {
  explicit TensorsState(const Prepare& p) : NodeFacts(p) {}
  DataType type = DataType::kInvalid;
  int64_t elements = -1;       // how many there must be; -1: any number
  PartialShape element_shape;  // of TensorListConcat
};

// The elements at `places` of the list, one below the other. Those that were never set are zeros.
absl::Status StackPlaces(const TensorsState& s, const StepArgs& args, const TensorList& list,
                         absl::Span<const int64_t> places, int shape_input) {
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, ShapeInput(args, shape_input));
  TENON_ASSIGN_OR_RETURN(PartialShape partial, list.element_shape.Merge(asked));
  // The first elements that were set decide the dimensions that nothing else knows.
  for (size_t k = 0; k < places.size() && !partial.fully_defined(); ++k) {
    const Tensor element = list.Get(places[k]);
    if (!element.initialized()) continue;
    TENON_ASSIGN_OR_RETURN(partial, partial.Merge(element.shape()));
  }
  const std::optional<Shape> shape = partial.ToShape();
  if (!shape.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the shape of the elements is not known: ", partial.ToString(), ", and none was set"));
  }
  Dims dims = {static_cast<int64_t>(places.size())};
  dims.insert(dims.end(), shape->dims().begin(), shape->dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  const ElementCopy copy(s.type);
  const int64_t size = shape->num_elements();
  for (size_t k = 0; k < places.size(); ++k) {
    const auto at = static_cast<int64_t>(k) * size;
    const Tensor element = list.Get(places[k]);
    if (!element.initialized()) {
      copy.Zero(data, at, size);
      continue;
    }
    if (!(element.shape() == *shape)) {
      return absl::InvalidArgumentError(absl::StrCat("element ", places[k], " has shape ",
                                                     element.shape().ToString(),
                                                     " where others have ", shape->ToString()));
    }
    copy(element.data(), 0, data, at, size);
  }
  return absl::OkStatus();
}

absl::Status RunStack(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  TENON_RETURN_IF_ERROR(list->CheckType(s.type));
  if (s.elements != -1 && s.elements != list->size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the list has ", list->size(), " elements where 'num_elements' says ", s.elements));
  }
  std::vector<int64_t> places(list->size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  return StackPlaces(s, args, *list, places, 1);
}

absl::Status RunGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  TENON_RETURN_IF_ERROR(list->CheckType(s.type));
  const Tensor indices = args.run_state->Input(1);
  std::vector<int64_t> places(indices.num_elements());
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = indices.IntAt(static_cast<int64_t>(i));
    if (places[i] < 0 || places[i] >= list->size()) {
      return absl::InvalidArgumentError(absl::StrCat("indices[", i, "] = ", places[i],
                                                     " in a list of ", list->size(), " elements"));
    }
  }
  return StackPlaces(s, args, *list, places, 2);
}

absl::Status SetList(const StepArgs& args, ObjectRef<TensorList> list) {
  TENON_ASSIGN_OR_RETURN(Tensor handle, ListTensor(std::move(list)));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

// Input 0, whose rows become elements.
absl::StatusOr<Tensor> TakeRows(const StepArgs& args, int i) {
  TENON_ASSIGN_OR_RETURN(Tensor rows, args.run_state->TakeInput(i));
  if (rows.shape().rank() >= 1) return rows;
  return absl::InvalidArgumentError("the tensor must have at least one dimension");
}

absl::Status RunFromTensor(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeInput(args, 1));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, TakeRows(args, 0));
  auto list = ObjectRef<TensorList>::Make(s.type, std::move(shape));
  const Shape row = RowShape(rows.shape());
  TENON_RETURN_IF_ERROR(list->CheckShape(row));
  TENON_RETURN_IF_ERROR(list->Resize(rows.shape().dim(0)));
  for (int64_t i = 0; i < list->size(); ++i) list->Set(i, RowOf(rows, i, row));
  return SetList(args, std::move(list));
}

// Row i of the tensor becomes element indices[i]; the list grows as needed.
absl::Status SetRows(const Tensor& rows, const Tensor& indices, TensorList& list) {
  const Shape row = RowShape(rows.shape());
  TENON_RETURN_IF_ERROR(list.CheckShape(row));
  if (indices.num_elements() != rows.shape().dim(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(indices.num_elements(), " indices for ", rows.shape().dim(0), " rows"));
  }
  int64_t size = list.size();
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    if (indices.IntAt(i) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", indices.IntAt(i), " is negative"));
    }
    size = std::max(size, indices.IntAt(i) + 1);
  }
  TENON_RETURN_IF_ERROR(list.Resize(size));
  for (int64_t i = 0; i < indices.num_elements(); ++i)
    list.Set(indices.IntAt(i), RowOf(rows, i, row));
  return absl::OkStatus();
}

absl::Status RunScatter(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeInput(args, 2));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, TakeRows(args, 0));
  const Tensor indices = args.run_state->Input(1);
  auto list = ObjectRef<TensorList>::Make(s.type, std::move(shape));
  int64_t wanted = -1;
  if (s.inputs.size() == 4) {
    TENON_ASSIGN_OR_RETURN(wanted, IntInput(args, 3));
    if (wanted < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("'num_elements' must be -1 or at least 0, it is ", wanted));
    }
    if (wanted > 0) TENON_RETURN_IF_ERROR(list->Resize(wanted));
  }
  TENON_RETURN_IF_ERROR(SetRows(rows, indices, *list));
  if (wanted >= 0 && list->size() > wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("index ", list->size() - 1, " in a list of 'num_elements' ", wanted));
  }
  return SetList(args, std::move(list));
}

absl::Status RunScatterInto(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(OwnList own, TakeList(args, 0));
  TENON_RETURN_IF_ERROR(own.list->CheckType(s.type));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, TakeRows(args, 1));
  TENON_RETURN_IF_ERROR(SetRows(rows, args.run_state->Input(2), *own.list));
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

absl::Status RunSplit(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  TENON_ASSIGN_OR_RETURN(PartialShape shape, ShapeInput(args, 1));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, TakeRows(args, 0));
  const Tensor lengths = args.run_state->Input(2);
  if (lengths.shape().rank() != 1) return absl::InvalidArgumentError("'lengths' must be a vector");
  auto list = ObjectRef<TensorList>::Make(s.type, std::move(shape));
  TENON_RETURN_IF_ERROR(list->Resize(lengths.num_elements()));
  Shape part = rows.shape();
  const int64_t row = RowShape(part).num_elements(), total = part.dim(0);
  int64_t begin = 0;
  for (int64_t i = 0; i < list->size(); ++i) {
    const int64_t length = lengths.IntAt(i);
    if (length < 0 || length > total - begin) {
      return absl::InvalidArgumentError(absl::StrCat("lengths[", i, "] = ", length, " where ",
                                                     total - begin, " of ", total,
                                                     " rows are left"));
    }
    part.set_dim(0, length);
    TENON_RETURN_IF_ERROR(list->CheckShape(part));
    list->Set(i, PartOf(rows, begin * row, part));
    begin += length;
  }
  if (begin != total) {
    return absl::InvalidArgumentError(
        absl::StrCat("the lengths add up to ", begin, ", there are ", total, " rows"));
  }
  return SetList(args, std::move(list));
}

// The elements one behind the other along their first dimension, and how long each is. Elements
// that were never set are zeros, as long as `leading` or the shape says.
absl::Status Concat(const TensorsState& s, const StepArgs& args, const PartialShape& asked,
                    const Tensor& leading) {
  TENON_ASSIGN_OR_RETURN(const TensorList* list, InputAs<TensorList>(args, 0));
  TENON_RETURN_IF_ERROR(list->CheckType(s.type));
  // The first dimension may differ from element to element.
  const auto rest_of = [](const PartialShape& shape) {
    return shape.known_rank() ? PartialShape(shape.dims().subspan(1)) : PartialShape();
  };
  TENON_ASSIGN_OR_RETURN(const PartialShape known, list->element_shape.Merge(asked));
  if (known.known_rank() && known.rank() < 1)
    return absl::InvalidArgumentError("scalars cannot be concatenated");
  PartialShape rest = rest_of(known);
  for (int64_t i = 0; i < list->size(); ++i) {
    const Tensor element = list->Get(i);
    if (!element.initialized()) continue;
    if (element.shape().rank() < 1)
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " is a scalar"));
    TENON_ASSIGN_OR_RETURN(rest, rest.Merge(RowShape(element.shape())));
  }
  const std::optional<Shape> row = rest.ToShape();
  if (!row.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the elements' shape behind the first dimension is not known: ", rest.ToString()));
  }
  TENON_ASSIGN_OR_RETURN(void* lengths, args.run_state->AllocateOutput(1, Shape({list->size()})));
  int64_t total = 0;
  for (int64_t i = 0; i < list->size(); ++i) {
    const Tensor element = list->Get(i);
    int64_t length = known.known_rank() ? known.dim(0) : kUnknownDim;
    if (element.initialized()) {
      length = element.shape().dim(0);
    } else if (i < leading.num_elements() && leading.initialized()) {
      length = leading.IntAt(i);
    }
    if (length < 0 || __builtin_add_overflow(total, length, &total)) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", i, " was never set, and its length is not known"));
    }
    static_cast<int64_t*>(lengths)[i] = length;
  }
  Dims dims = {total};
  dims.insert(dims.end(), row->dims().begin(), row->dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  const ElementCopy copy(s.type);
  int64_t at = 0;
  for (int64_t i = 0; i < list->size(); ++i) {
    const Tensor element = list->Get(i);
    const int64_t size = static_cast<const int64_t*>(lengths)[i] * row->num_elements();
    if (element.initialized()) {
      copy(element.data(), 0, data, at, size);
    } else {
      copy.Zero(data, at, size);
    }
    at += size;
  }
  return absl::OkStatus();
}

absl::Status RunConcat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TensorsState*>(state);
  return Concat(s, args, s.element_shape, Tensor());
}

absl::Status RunConcatV2(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, ShapeInput(args, 1));
  return Concat(*static_cast<const TensorsState*>(state), args, asked, args.run_state->Input(2));
}

template <RunFn kRun>
absl::Status PrepareTensors(Prepare& p) {
  auto s = std::make_shared<TensorsState>(p);
  TENON_ASSIGN_OR_RETURN(s->type, p.AttrType("element_dtype"));
  if (p.op().FindAttr("num_elements") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->elements, p.AttrInt("num_elements"));
  }
  if (p.op().FindAttr("element_shape") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->element_shape, p.AttrShape("element_shape"));
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ListTensorKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("TensorListStack", "element_dtype", kEveryType, PrepareTensors<&RunStack>),
      WholeTensorKernel("TensorListGather", "element_dtype", kEveryType,
                        PrepareTensors<&RunGather>),
      WholeTensorKernel("TensorListFromTensor", "element_dtype", kEveryType,
                        PrepareTensors<&RunFromTensor>),
      WholeTensorKernel("TensorListScatter", "element_dtype", kEveryType,
                        PrepareTensors<&RunScatter>),
      WholeTensorKernel("TensorListScatterV2", "element_dtype", kEveryType,
                        PrepareTensors<&RunScatter>),
      WholeTensorKernel("TensorListScatterIntoExistingList", "element_dtype", kEveryType,
                        PrepareTensors<&RunScatterInto>),
      WholeTensorKernel("TensorListSplit", "element_dtype", kEveryType, PrepareTensors<&RunSplit>),
      WholeTensorKernel("TensorListConcat", "element_dtype", kEveryType,
                        PrepareTensors<&RunConcat>),
      WholeTensorKernel("TensorListConcatV2", "element_dtype", kEveryType,
                        PrepareTensors<&RunConcatV2>),
  };
  return specs;
}

}  // namespace tenon::cpu
