// The ops on TensorArrays. What orders them is a float, the flow, which each of them passes on.
// Handles of the third version are resources, of the second one names, of the first one references
// to names.
#include <numeric>
#include <optional>
#include <vector>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/named_arrays.h"
#include "plugin/cpu/containers/lists/tensor_array.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int kFlow = 3;        // the input of ops that write …
constexpr int kUnpackFlow = 2;  // … but for TensorArrayUnpack

struct ArrayFacts : NodeFacts {
  explicit ArrayFacts(const Prepare& p)
      : NodeFacts(p),
        by_name(p.num_inputs() > 0 && p.input_type(0) == DataType::kString),
        makes(p.num_outputs() > 0 ? p.output_type(0) : DataType::kInvalid) {
    if (by_name || BaseType(makes) == DataType::kString) names = NamedArrays::Of(p);
  }
  bool by_name;    // input 0 is a name
  DataType makes;  // the handle, of ops that make an array
  ObjectRef<NamedArrays> names;
};

// The array that input 0 stands for.
absl::StatusOr<ObjectRef<TensorArray>> ArrayInput(const ArrayFacts& s, const StepArgs& args) {
  if (s.by_name) {
    const Tensor handle = args.run_state->Input(0);
    if (handle.num_elements() != 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("a handle must be two strings, its shape is ", handle.shape().ToString()));
    }
    ObjectRef<TensorArray> array = s.names->Find(handle.StringAt(1));
    if (array) return array;
    return absl::InvalidArgumentError(
        absl::StrCat("there is no tensor array '", handle.StringAt(1), "'"));
  }
  TENON_ASSIGN_OR_RETURN(Object * object, ObjectInput(args, 0));
  if (const auto* handle = ObjectAs<ArrayHandle>(object)) return handle->array();
  TENON_ASSIGN_OR_RETURN(TensorArray * array, InputAs<TensorArray>(args, 0));
  return ObjectRef<TensorArray>::Share(array);
}

// Output 0 is a handle of the array, output 1, where there is one, the flow that begins there.
absl::Status SetArray(const ArrayFacts& s, const StepArgs& args, ObjectRef<TensorArray> array) {
  if (s.outputs.size() > 1) *static_cast<float*>(args.out[1]) = 0;
  ObjectRef<Object> object;
  if (s.makes == DataType::kResource) {
    object = ObjectRef<Object>::Adopt(array.release());
  } else {
    auto handle = ObjectRef<ArrayHandle>::Make(s.names, std::move(array));
    if (s.makes == DataType::kString) {
      args.run_state->SetOutput(0, handle->AsStrings());
      return absl::OkStatus();
    }
    object = ObjectRef<Object>::Adopt(handle.release());
  }
  TENON_ASSIGN_OR_RETURN(Tensor handle, HandleTensor(DataType::kResource, std::move(object)));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status PrepareArray(Prepare& p, RunFn run, std::shared_ptr<const ArrayFacts> s) {
  p.set_dynamic_output(0);
  if (p.num_outputs() > 1) p.set_output_shape(1, Shape());
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

struct MakeArray : ArrayFacts {
  using ArrayFacts::ArrayFacts;
  TensorArray::Options options;
};

absl::Status RunMakeArray(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MakeArray*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t size, IntInput(args, 0));
  auto array = ObjectRef<TensorArray>::Make(s.name, s.options);
  TENON_RETURN_IF_ERROR(array->Resize(size));
  return SetArray(s, args, std::move(array));
}

absl::Status PrepareMakeArray(Prepare& p) {
  auto s = std::make_shared<MakeArray>(p);
  TENON_ASSIGN_OR_RETURN(s->options.dtype, p.AttrType("dtype"));
  TENON_ASSIGN_OR_RETURN(s->options.element_shape, p.AttrShape("element_shape"));
  TENON_ASSIGN_OR_RETURN(s->options.dynamic_size, p.AttrBool("dynamic_size"));
  TENON_ASSIGN_OR_RETURN(s->options.clear_after_read, p.AttrBool("clear_after_read"));
  if (p.op().FindAttr("identical_element_shapes") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->options.identical_shapes, p.AttrBool("identical_element_shapes"));
  }
  return PrepareArray(p, &RunMakeArray, std::move(s));
}

struct GradientState : ArrayFacts {
  using ArrayFacts::ArrayFacts;
  std::string source;
};

absl::Status RunGradient(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GradientState*>(state);
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array, ArrayInput(s, args));
  Shape prepended;
  if (s.inputs.size() == 3) {
    TENON_ASSIGN_OR_RETURN(const PartialShape shape, ShapeInput(args, 2));
    if (!shape.fully_defined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'shape_to_prepend' must be known: ", shape.ToString()));
    }
    prepended = *shape.ToShape();
  }
  TENON_ASSIGN_OR_RETURN(ObjectRef<TensorArray> gradient, array->Gradient(s.source, prepended));
  return SetArray(s, args, std::move(gradient));
}

absl::Status PrepareGradient(Prepare& p) {
  auto s = std::make_shared<GradientState>(p);
  TENON_ASSIGN_OR_RETURN(s->source, p.AttrString("source"));
  return PrepareArray(p, &RunGradient, std::move(s));
}

absl::Status RunWrite(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  TENON_ASSIGN_OR_RETURN(const int64_t i, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(2));
  return array->Write(i, std::move(value));
}

absl::Status CheckType(const TensorArray& array, DataType type) {
  if (array.dtype() == type) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("array '", array.name(), "' holds ",
                                                 DataTypeName(array.dtype()), " elements, not ",
                                                 DataTypeName(type)));
}

absl::Status RunRead(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArrayFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array, ArrayInput(s, args));
  TENON_RETURN_IF_ERROR(CheckType(*array, s.outputs[0]));
  TENON_ASSIGN_OR_RETURN(const int64_t i, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(Tensor value, array->Read(i));
  args.run_state->SetOutput(0, std::move(value));
  return absl::OkStatus();
}

struct ShapeState : ArrayFacts {
  using ArrayFacts::ArrayFacts;
  PartialShape element_shape;
};

// Without any element its shape must be known.
absl::StatusOr<Shape> ShapeOfNone(TensorArray& array, const PartialShape& asked) {
  const std::optional<Shape> shape = asked.ToShape();
  if (shape.has_value()) return *shape;
  return absl::UnimplementedError(
      absl::StrCat("array '", array.name(),
                   "' gives no elements, and their shape is not known: ", asked.ToString()));
}

// Elements of these numbers, one above the other.
absl::Status Gather(const ShapeState& s, const StepArgs& args, TensorArray& array,
                    absl::Span<const int64_t> indices) {
  TENON_RETURN_IF_ERROR(CheckType(array, s.outputs[0]));
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, array.element_shape().Merge(s.element_shape));
  const auto count = static_cast<int64_t>(indices.size());
  // All are read before their shapes are compared: after an error elements that are cleared by
  // reading are gone all the same.
  std::vector<Tensor> elements;
  for (const int64_t i : indices) {
    TENON_ASSIGN_OR_RETURN(Tensor element, array.Read(i));
    elements.push_back(std::move(element));
  }
  Shape shape;
  if (count > 0) {
    shape = elements[0].shape();
  } else {
    TENON_ASSIGN_OR_RETURN(shape, ShapeOfNone(array, asked));
  }
  if (!asked.CompatibleWith(shape)) {
    return absl::InvalidArgumentError(absl::StrCat("elements have shape ", shape.ToString(),
                                                   " where ", asked.ToString(), " is wanted"));
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(Stacked(count, shape)));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  const ElementCopy copy(s.outputs[0]);
  for (int64_t k = 0; k < count; ++k) {
    if (!(elements[k].shape() == shape)) {
      return absl::InvalidArgumentError(absl::StrCat("element ", indices[k], " has shape ",
                                                     elements[k].shape().ToString(),
                                                     " where others have ", shape.ToString()));
    }
    copy(elements[k].data(), 0, data, k * shape.num_elements(), shape.num_elements());
  }
  return absl::OkStatus();
}

absl::Status RunArrayGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ShapeState*>(state);
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array, ArrayInput(s, args));
  const Tensor numbers = args.run_state->Input(1);
  if (numbers.shape().rank() != 1) return absl::InvalidArgumentError("'indices' must be a vector");
  std::vector<int64_t> indices(numbers.num_elements());
  for (size_t k = 0; k < indices.size(); ++k) indices[k] = numbers.IntAt(static_cast<int64_t>(k));
  return Gather(s, args, *array, indices);
}

absl::Status RunPack(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ShapeState*>(state);
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array, ArrayInput(s, args));
  TENON_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  std::vector<int64_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  return Gather(s, args, *array, all);
}

absl::Status RunArrayScatter(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  const Tensor indices = args.run_state->Input(1);
  TENON_ASSIGN_OR_RETURN(const Tensor rows, args.run_state->TakeInput(2));
  if (rows.shape().rank() < 1 || indices.shape().rank() != 1 ||
      indices.num_elements() != rows.shape().dim(0)) {
    return absl::InvalidArgumentError(absl::StrCat("indices ", indices.shape().ToString(),
                                                   " for values ", rows.shape().ToString()));
  }
  const Shape shape = RowShape(rows.shape());
  for (int64_t i = 0; i < indices.num_elements(); ++i)
    TENON_RETURN_IF_ERROR(array->Write(indices.IntAt(i), RowOf(rows, i, shape)));
  return absl::OkStatus();
}

absl::Status RunUnpack(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, args.run_state->TakeInput(1));
  if (rows.shape().rank() < 1) return absl::InvalidArgumentError("a scalar has no rows");
  TENON_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  const int64_t count = rows.shape().dim(0);
  if (count != size && !array->dynamic_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " rows for an array of ", size, " elements"));
  }
  const Shape shape = RowShape(rows.shape());
  for (int64_t i = 0; i < count; ++i) TENON_RETURN_IF_ERROR(array->Write(i, RowOf(rows, i, shape)));
  return absl::OkStatus();
}

// All elements one behind the other along their first dimension, and how long each is.
absl::Status RunArrayConcat(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ShapeState*>(state);
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array, ArrayInput(s, args));
  TENON_RETURN_IF_ERROR(CheckType(*array, s.outputs[0]));
  TENON_ASSIGN_OR_RETURN(const int64_t count, array->Size());
  std::vector<Tensor> elements;
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor element, array->Read(i));
    if (element.shape().rank() < 1)
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " is a scalar"));
    if (__builtin_add_overflow(total, element.shape().dim(0), &total))
      return absl::InvalidArgumentError("the elements have too many rows");
    elements.push_back(std::move(element));
  }
  Shape row;
  if (count > 0) {
    row = RowShape(elements[0].shape());
  } else {
    TENON_ASSIGN_OR_RETURN(row, ShapeOfNone(*array, s.element_shape));
  }
  if (!s.element_shape.CompatibleWith(row)) {
    return absl::InvalidArgumentError(absl::StrCat("rows have shape ", row.ToString(), " where ",
                                                   s.element_shape.ToString(), " is wanted"));
  }
  Dims dims = {total};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, out));
  TENON_ASSIGN_OR_RETURN(void* lengths, args.run_state->AllocateOutput(1, Shape({count})));
  const ElementCopy copy(s.outputs[0]);
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& element = elements[i];
    if (!(RowShape(element.shape()) == row)) {
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " has shape ",
                                                     element.shape().ToString(),
                                                     " where the first has rows ", row.ToString()));
    }
    copy(element.data(), 0, data, at, element.num_elements());
    at += element.num_elements();
    static_cast<int64_t*>(lengths)[i] = element.shape().dim(0);
  }
  return absl::OkStatus();
}

absl::Status RunArraySplit(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  TENON_ASSIGN_OR_RETURN(const Tensor rows, args.run_state->TakeInput(1));
  const Tensor lengths = args.run_state->Input(2);
  if (rows.shape().rank() < 1 || lengths.shape().rank() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lengths ", lengths.shape().ToString(), " for a value of shape ", rows.shape().ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  if (size != lengths.num_elements() && !array->dynamic_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(lengths.num_elements(), " lengths for an array of ", size, " elements"));
  }
  Shape part = rows.shape();
  const int64_t row = RowShape(part).num_elements(), total = part.dim(0);
  int64_t left = total;
  for (int64_t i = 0; i < lengths.num_elements(); ++i) {
    // All lengths are checked before the first part is written.
    const int64_t length = lengths.IntAt(i);
    if (length < 0 || length > left) {
      return absl::InvalidArgumentError(absl::StrCat("lengths[", i, "] = ", length, " where ", left,
                                                     " of ", total, " rows are left"));
    }
    left -= length;
  }
  if (left > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the lengths leave out ", left, " of ", total, " rows"));
  }
  int64_t begin = 0;
  for (int64_t i = 0; i < lengths.num_elements(); ++i) {
    part.set_dim(0, lengths.IntAt(i));
    TENON_RETURN_IF_ERROR(array->Write(i, PartOf(rows, begin * row, part)));
    begin += part.dim(0);
  }
  return absl::OkStatus();
}

absl::Status RunArraySize(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  TENON_ASSIGN_OR_RETURN(const int64_t size, array->Size());
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(size);
  return absl::OkStatus();
}

absl::Status RunCloseArray(const void* state, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const ObjectRef<TensorArray> array,
                         ArrayInput(*static_cast<const ArrayFacts*>(state), args));
  array->Close();
  return absl::OkStatus();
}

// The flow, input kIn, goes on as it came.
template <RunFn kRun, int kIn>
absl::Status RunFlow(const void* state, const StepArgs& args) {
  const Shape flow = args.run_state->Input(kIn).shape();
  if (flow.rank() == 0) return kRun(state, args);
  return absl::InvalidArgumentError(
      absl::StrCat("'flow_in' must be a scalar, its shape is ", flow.ToString()));
}
template <RunFn kRun, int kIn = kFlow>
absl::Status PrepareFlow(Prepare& p) {
  p.set_output_shape(0, Shape());
  p.Alias(0, kIn);
  p.set_run(&RunFlow<kRun, kIn>, std::make_shared<ArrayFacts>(p));
  return absl::OkStatus();
}

absl::Status PrepareShaped(Prepare& p, std::string_view attr, RunFn run) {
  auto s = std::make_shared<ShapeState>(p);
  TENON_ASSIGN_OR_RETURN(s->element_shape, p.AttrShape(attr));
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}
absl::Status PrepareGather(Prepare& p) {
  return PrepareShaped(p, "element_shape", &RunArrayGather);
}
absl::Status PreparePack(Prepare& p) { return PrepareShaped(p, "element_shape", &RunPack); }
absl::Status PrepareConcat(Prepare& p) {
  return PrepareShaped(p, "element_shape_except0", &RunArrayConcat);
}

}  // namespace

absl::Span<const CpuKernelSpec> TensorArrayKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("TensorArray", PrepareMakeArray),
      WholeTensorKernel("TensorArrayV2", PrepareMakeArray),
      WholeTensorKernel("TensorArrayV3", PrepareMakeArray),
      WholeTensorKernel("TensorArrayGrad", PrepareGradient),
      WholeTensorKernel("TensorArrayGradV2", PrepareGradient),
      WholeTensorKernel("TensorArrayGradV3", PrepareGradient),
      WholeTensorKernel("TensorArrayGradWithShape", PrepareGradient),
      WholeTensorKernel("TensorArrayWrite", "T", kEveryType, PrepareFlow<&RunWrite>),
      WholeTensorKernel("TensorArrayWriteV2", "T", kEveryType, PrepareFlow<&RunWrite>),
      WholeTensorKernel("TensorArrayWriteV3", "T", kEveryType, PrepareFlow<&RunWrite>),
      WholeTensorKernel("TensorArrayRead", "dtype", kEveryType, PrepareWhole<&RunRead, ArrayFacts>),
      WholeTensorKernel("TensorArrayReadV2", "dtype", kEveryType,
                        PrepareWhole<&RunRead, ArrayFacts>),
      WholeTensorKernel("TensorArrayReadV3", "dtype", kEveryType,
                        PrepareWhole<&RunRead, ArrayFacts>),
      WholeTensorKernel("TensorArrayGather", "dtype", kEveryType, PrepareGather),
      WholeTensorKernel("TensorArrayGatherV2", "dtype", kEveryType, PrepareGather),
      WholeTensorKernel("TensorArrayGatherV3", "dtype", kEveryType, PrepareGather),
      WholeTensorKernel("TensorArrayScatter", "T", kEveryType, PrepareFlow<&RunArrayScatter>),
      WholeTensorKernel("TensorArrayScatterV2", "T", kEveryType, PrepareFlow<&RunArrayScatter>),
      WholeTensorKernel("TensorArrayScatterV3", "T", kEveryType, PrepareFlow<&RunArrayScatter>),
      WholeTensorKernel("TensorArrayConcat", "dtype", kEveryType, PrepareConcat),
      WholeTensorKernel("TensorArrayConcatV2", "dtype", kEveryType, PrepareConcat),
      WholeTensorKernel("TensorArrayConcatV3", "dtype", kEveryType, PrepareConcat),
      WholeTensorKernel("TensorArraySplit", "T", kEveryType, PrepareFlow<&RunArraySplit>),
      WholeTensorKernel("TensorArraySplitV2", "T", kEveryType, PrepareFlow<&RunArraySplit>),
      WholeTensorKernel("TensorArraySplitV3", "T", kEveryType, PrepareFlow<&RunArraySplit>),
      WholeTensorKernel("TensorArraySize", PrepareScalar<&RunArraySize, ArrayFacts>),
      WholeTensorKernel("TensorArraySizeV2", PrepareScalar<&RunArraySize, ArrayFacts>),
      WholeTensorKernel("TensorArraySizeV3", PrepareScalar<&RunArraySize, ArrayFacts>),
      WholeTensorKernel("TensorArrayClose", PrepareWhole<&RunCloseArray, ArrayFacts>),
      WholeTensorKernel("TensorArrayCloseV2", PrepareWhole<&RunCloseArray, ArrayFacts>),
      WholeTensorKernel("TensorArrayCloseV3", PrepareWhole<&RunCloseArray, ArrayFacts>),
      WholeTensorKernel("TensorArrayPack", "dtype", kEveryType, PreparePack),
      WholeTensorKernel("TensorArrayUnpack", "T", kEveryType, PrepareFlow<&RunUnpack, kUnpackFlow>),
  };
  return specs;
}

}  // namespace tenon::cpu
