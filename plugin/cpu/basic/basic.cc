// Ops without arithmetic: constants, the same tensor under another shape, and shapes as values.
#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareConst(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const AttrValue attr, p.AttrOf("value"));
  TENON_ASSIGN_OR_RETURN(const std::string_view wire, attr.AsTensorWire());
  TENON_ASSIGN_OR_RETURN(Tensor value, TensorFromWire(wire));
  if (value.dtype() != p.output_type(0)) {
    return p.Invalid(absl::StrCat("attribute 'value' is ", DataTypeName(value.dtype()),
                                  " where 'dtype' says ", DataTypeName(p.output_type(0))));
  }
  p.set_output_shape(0, value.shape());
  p.set_output_value(0, std::move(value));
  return absl::OkStatus();
}

absl::Status PrepareNoOp(Prepare&) { return absl::OkStatus(); }

absl::Status PrepareIdentity(Prepare& p) {
  for (int i = 0; i < p.num_outputs(); ++i) {
    p.set_output_shape(i, p.input_shape(i));
    p.Alias(i, i);
  }
  return absl::OkStatus();
}

// Two lists of types, of which TensorFlow checks here that they are the same.
absl::Status PrepareSameTypes(Prepare& p) {
  for (int i = 0; i < std::min(p.num_inputs(), p.num_outputs()); ++i) {
    if (p.input_type(i) == p.output_type(i)) continue;
    return absl::InternalError(absl::StrCat("Input and output types for position ", i,
                                            " do not match: ", DataTypeSpecName(p.input_type(i)),
                                            " vs. ", DataTypeSpecName(p.output_type(i))));
  }
  return PrepareIdentity(p);
}

absl::Status AliasAs(Prepare& p, absl::StatusOr<Shape> shape) {
  if (!shape.ok()) return shape.status();
  p.set_output_shape(0, *std::move(shape));
  p.Alias(0, 0);
  return absl::OkStatus();
}

absl::Status PrepareReshape(Prepare& p) {
  const int64_t n = p.input_shape(0).num_elements();
  // As in TensorFlow, a scalar is a shape of one dimension where no shape function has looked at
  // it.
  if (p.input_shape(1).rank() > 1)
    return p.Invalid("the new shape must be a vector, or a scalar for one dimension");
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(1));
  // Of the dimensions other than 0 and -1; a 0 in the new shape lets the tensor's zeros be left out
  // of the division below.
  int64_t known = 1;
  int missing = -1;
  bool has_zero = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (missing >= 0) {
        return p.Invalid(
            absl::StrCat("Only one input size may be -1, not both ", missing, " and ", i));
      }
      missing = static_cast<int>(i);
    } else if (dims[i] == 0) {
      has_zero = true;
    } else if (dims[i] < 0 || __builtin_mul_overflow(known, dims[i], &known)) {
      return p.Invalid(absl::StrCat("dimension ", i, " of the new shape cannot be ", dims[i]));
    }
  }
  if (missing >= 0) {
    int64_t elements = 1;
    for (int64_t d : p.input_shape(0).dims()) elements *= d == 0 && has_zero ? 1 : d;
    dims[missing] = elements / known;
  }
  absl::StatusOr<Shape> out = CheckedShape(p, dims);
  if (out.ok() && out->num_elements() != n) {
    const std::string values =
        absl::StrCat("Input to reshape is a tensor with ", n, " values, but the requested shape ");
    return p.Invalid(missing >= 0
                         ? absl::StrCat(values, "requires a multiple of ", has_zero ? 0 : known)
                         : absl::StrCat(values, "has ", out->num_elements()));
  }
  return AliasAs(p, std::move(out));
}

// The range of the values goes on as it is.
absl::Status PrepareQuantizedReshape(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckScalars(p, 2, 4));
  for (int i = 1; i < 3; ++i) {
    p.set_output_shape(i, Shape());
    p.Alias(i, i + 1);
  }
  return PrepareReshape(p);
}

absl::Status PrepareExpandDims(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims dim, InputIntsOfAnyRank(p, 1));
  if (dim.size() != 1) return p.Invalid("'dim' must have one element");
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, dim[0], in.rank() + 1));
  Dims dims(in.dims().begin(), in.dims().end());
  dims.insert(dims.begin() + axis, 1);
  return AliasAs(p, CheckedShape(p, dims));
}

absl::Status PrepareSqueeze(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, p.AttrIntList("squeeze_dims"));
  std::vector<bool> drop(in.rank(), false);
  for (int64_t d : wanted) {
    TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, d, in.rank()));
    if (in.dim(axis) != 1)
      return p.Invalid(
          absl::StrCat("dimension ", axis, " is ", in.dim(axis), ", only 1 can be squeezed"));
    drop[axis] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (wanted.empty() ? in.dim(i) != 1 : !drop[i]) out.push_back(in.dim(i));
  }
  return AliasAs(p, std::move(out));
}

absl::Status PrepareEnsureShape(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const PartialShape wanted, p.AttrShape("shape"));
  const Shape& in = p.input_shape(0);
  if (!wanted.CompatibleWith(in)) {
    return p.Invalid(
        absl::StrCat("shape ", in.ToString(), " is not compatible with ", wanted.ToString()));
  }
  return AliasAs(p, in);
}

absl::Status PrepareBitcast(Prepare& p) {
  const int64_t from = static_cast<int64_t>(DataTypeSize(p.input_type(0)));
  const int64_t to = static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  const Shape& in = p.input_shape(0);
  Dims dims(in.dims().begin(), in.dims().end());
  if (from > to) {
    dims.push_back(from / to);
  } else if (from < to) {
    if (dims.empty() || dims.back() != to / from) {
      return p.Invalid(absl::StrCat("the last dimension must be ", to / from, " to become ",
                                    DataTypeName(p.output_type(0))));
    }
    dims.pop_back();
  }
  return AliasAs(p, CheckedShape(p, dims));
}

absl::Status PrepareShape(Prepare& p) {
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Shape& in = p.input_shape(i);
    TENON_RETURN_IF_ERROR(SetInts(p, i, in.dims(), Shape({in.rank()})));
  }
  return absl::OkStatus();
}

absl::Status PrepareSize(Prepare& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return SetInts(p, 0, {&n, 1}, Shape());
}

absl::Status PrepareRank(Prepare& p) {
  const int64_t rank = p.input_shape(0).rank();
  return SetInts(p, 0, {&rank, 1}, Shape());
}

// How the bytes of an element say whether it is zero.
struct ElementBytes {
  size_t size;
  size_t part;    // of a complex number, which has two; else the size
  bool is_float;  // the sign of a zero does not count
};

absl::Status RunNumberToBool(const void* state, const StepArgs& args) {
  const auto& element = *static_cast<const ElementBytes*>(state);
  const auto* bytes = static_cast<const uint8_t*>(args.in[0]);
  bool any = false;
  for (size_t i = 0; i < element.size; ++i) {
    const bool has_sign = element.is_float && (i + 1) % element.part == 0;
    any |= (bytes[i] & (has_sign ? 0x7f : 0xff)) != 0;
  }
  *static_cast<bool*>(args.out[0]) = any;
  return absl::OkStatus();
}

absl::Status RunStringToBool(const void*, const StepArgs& args) {
  const auto* string = static_cast<const TF_TString*>(args.in[0]);
  *static_cast<bool*>(args.out[0]) = TF_TString_GetSize(string) != 0;
  return absl::OkStatus();
}

// A scalar by its value, any other tensor by whether it has elements.
absl::Status PrepareToBool(Prepare& p) {
  p.set_output_shape(0, Shape());
  const DataType type = BaseType(p.input_type(0));
  if (p.input_shape(0).rank() != 0) {
    TENON_ASSIGN_OR_RETURN(Tensor any, Tensor::Allocate(DataType::kBool, Shape()));
    *any.flat<bool>() = p.input_shape(0).num_elements() != 0;
    p.set_output_value(0, std::move(any));
  } else if (type == DataType::kBool) {
    p.Alias(0, 0);
  } else if (type == DataType::kString) {
    p.set_run(RunStringToBool);
  } else {
    const size_t size = DataTypeSize(type);
    const bool complex = HasType(kComplexTypes, type);
    p.set_run(RunNumberToBool,
              std::make_shared<const ElementBytes>(ElementBytes{
                  size, complex ? size / 2 : size, complex || HasType(kFloatTypes, type)}));
  }
  return absl::OkStatus();
}

// Which of the devices' types the node runs on; their number if none.
absl::Status PrepareDeviceIndex(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names,
                         p.AttrStringList("device_names"));
  const auto index =
      static_cast<int32_t>(std::find(names.begin(), names.end(), "CPU") - names.begin());
  p.set_output_shape(0, Shape());
  p.set_output_value(0, Tensor::CopyOf(DataType::kInt32, Shape(), &index, sizeof(index)));
  return absl::OkStatus();
}

// Products in TensorFloat-32 are allowed, but no CPU has them.
absl::Status PrepareTensorFloat32Enabled(Prepare& p) {
  const bool enabled = true;
  p.set_output_shape(0, Shape());
  p.set_output_value(0, Tensor::CopyOf(DataType::kBool, Shape(), &enabled, sizeof(enabled)));
  return absl::OkStatus();
}

// Seconds since 1970.
absl::Status RunTimestamp(const void*, const StepArgs& args) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  *static_cast<double*>(args.out[0]) = now.count();
  return absl::OkStatus();
}

absl::Status PrepareTimestamp(Prepare& p) {
  p.set_output_shape(0, Shape());
  p.set_run(&RunTimestamp);
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BasicKernels() {
  static const CpuKernelSpec specs[] = {
      {"Const", {}, PrepareConst},
      {"HostConst", {}, PrepareConst},
      {"NoOp", {}, PrepareNoOp},
      {"Identity", {}, PrepareIdentity},
      {"IdentityN", {}, PrepareIdentity},
      {"Snapshot", {{"T", kEveryType}}, PrepareIdentity},
      {"StopGradient", {}, PrepareIdentity},
      {"PreventGradient", {}, PrepareIdentity},
      {"GuaranteeConst", {}, PrepareIdentity},
      {"PlaceholderWithDefault", {}, PrepareIdentity},
      {"DeepCopy", {}, PrepareIdentity},
      {"Copy", {}, PrepareIdentity},
      {"CopyHost", {}, PrepareIdentity},
      {"DebugGradientIdentity", {}, PrepareIdentity},
      {"_EagerConst", {}, PrepareIdentity},
      {"_ArrayToList", {}, PrepareSameTypes},
      {"_ListToArray", {}, PrepareSameTypes},
      {"DeviceIndex", {}, PrepareDeviceIndex},
      {"IsTensorFloat32Enabled", {}, PrepareTensorFloat32Enabled},
      {"Timestamp", {}, PrepareTimestamp, 0, true},
      {"Reshape", {}, PrepareReshape, 1 << 1},
      {"QuantizedReshape", {{"T", kEveryType}}, PrepareQuantizedReshape, 1 << 1},
      {"ExpandDims", {}, PrepareExpandDims, 1 << 1},
      {"Squeeze", {}, PrepareSqueeze},
      {"EnsureShape", {}, PrepareEnsureShape},
      {"Bitcast", {}, PrepareBitcast},
      {"Shape", {}, PrepareShape},
      {"ShapeN", {}, PrepareShape},
      {"Size", {}, PrepareSize},
      {"Rank", {}, PrepareRank},
      {"ToBool",
       {{"T", kNumberTypes | TypeBits(DataType::kBool, DataType::kString)}},
       PrepareToBool},
  };
  return specs;
}

}  // namespace tenon::cpu
