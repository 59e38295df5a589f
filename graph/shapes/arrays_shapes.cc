// Ops that ask for, state or rearrange shapes.
#include <climits>
#include <cmath>
#include <optional>

#include "graph/base/annotate.h"
#include "graph/shapes/shapes.h"
#include "graph/tensor/small_float.h"

namespace tenon::ops {
namespace {

// 2^53: integers below it are exact as doubles.
constexpr double kExactDouble = 9007199254740992;

// The value of a scalar constant as a double, for ops that take float limits too.
std::optional<double> NumberValue(InferenceContext& c, int i) {
  const Tensor* t = c.input_value(i);
  if (t == nullptr || t->num_elements() != 1) {
    const std::optional<int64_t> v = ScalarValue(c, i);
    return v ? std::optional(static_cast<double>(*v)) : std::nullopt;
  }
  if (t->dtype() == DataType::kFloat) {
    float f;
    std::memcpy(&f, t->data(), sizeof(f));
    return f;
  }
  if (t->dtype() == DataType::kDouble) {
    double d;
    std::memcpy(&d, t->data(), sizeof(d));
    return d;
  }
  const std::optional<int64_t> v = ScalarValue(c, i);
  return v ? std::optional(static_cast<double>(*v)) : std::nullopt;
}

// The first inputs are scalars with these names.
absl::Status CheckScalars(InferenceContext& c, std::initializer_list<std::string_view> names) {
  int i = 0;
  for (const std::string_view name : names) {
    const absl::Status scalar = c.WithRank(c.input(i++), 0).status();
    if (!scalar.ok()) return Annotate(scalar, "", absl::StrCat("\n\t for '", name, "'"));
  }
  return absl::OkStatus();
}

void SetDims(InferenceContext& c, int output, const PartialShape& in) {
  c.set_output(output, Vector(in.known_rank() ? in.rank() : kUnknownDim));
  if (in.known_rank()) SetValue(c, output, Dims(in.dims().begin(), in.dims().end()));
}

}  // namespace

absl::Status ShapeShape(InferenceContext& c) {
  SetDims(c, 0, c.input(0));
  return absl::OkStatus();
}

absl::Status ShapeNShape(InferenceContext& c) {
  for (int i = 0; i < std::min(c.num_inputs(), c.num_outputs()); ++i) SetDims(c, i, c.input(i));
  return absl::OkStatus();
}

absl::Status SizeShape(InferenceContext& c) {
  c.set_output(0, Shape());
  SetValue(c, 0, Dims{c.input(0).num_elements()});
  return absl::OkStatus();
}

absl::Status RankShape(InferenceContext& c) {
  c.set_output(0, Shape());
  SetValue(c, 0, Dims{c.input(0).rank()});
  return absl::OkStatus();
}

// The number of elements stays, so one unknown dimension of the asked shape may follow from the
// input's.
absl::Status ReshapeShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(1));
  const PartialShape& in = c.input(0);
  const int64_t elements = in.num_elements();
  if (!out.known_rank()) return absl::OkStatus();
  int64_t known = 1;
  int missing = -1;
  int unknowns = 0;
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) < 0) {
      missing = i;
      ++unknowns;
    } else {
      TENON_ASSIGN_OR_RETURN(known, MultiplyDims(known, out.dim(i)));
    }
  }
  if (unknowns == 0 && elements >= 0 && known != elements) {
    return absl::InvalidArgumentError(absl::StrCat("Cannot reshape a tensor with ", elements,
                                                   " elements to shape ", out.ToString(), " (",
                                                   known, " elements)"));
  }
  if (unknowns == 1 && elements >= 0 && known > 0) {
    if (elements % known != 0) {
      return DivideDim(elements, known, /*evenly=*/true).status();
    }
    out.set_dim(missing, elements / known);
  }
  c.set_output(0, out);
  // A Reshape moves no element, so that a value stays known on its way.
  if (out.rank() <= 1) SetValue(c, 0, c.followed_ints(0));
  return absl::OkStatus();
}

absl::Status ExpandDimsShape(InferenceContext& c) {
  const PartialShape& axis_shape = c.input(1);
  const int64_t elements = axis_shape.num_elements();
  if (elements > 1 || elements == 0) {
    absl::Status status = Invalid("'dim' input must be a tensor with a single value");
    return c.input_value(1) != nullptr ? status : AtRunTime(std::move(status));
  }
  const PartialShape& in = c.input(0);
  const std::optional<int64_t> axis = ScalarValue(c, 1);
  if (!in.known_rank() || (!axis && axis_shape.rank() > 1)) return absl::OkStatus();
  if (!axis) {
    c.set_output(0, PartialShape::UnknownOfRank(in.rank() + 1));
    return absl::OkStatus();
  }
  const std::optional<int> at = AxisIn(*axis, in.rank() + 1);
  if (!at) {
    return Invalid("dim ", *axis, " not in the interval [", -in.rank() - 1, ", ", in.rank(), "].");
  }
  c.set_output(
      0, Concatenate(Concatenate(Subshape(in, 0, *at), Vector(1)), Subshape(in, *at, in.rank())));
  if (in.rank() == 0) SetValue(c, 0, c.followed_ints(0));
  return absl::OkStatus();
}

// Without squeeze_dims all dimensions of 1 go, so one unknown dimension leaves even the rank
// unknown.
absl::Status SqueezeShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.known_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.AttrIntList("squeeze_dims"));
  std::vector<bool> squeezed(in.rank());
  for (const int64_t& a : axes) {
    const std::optional<int> axis = AxisIn(a, in.rank());
    if (!axis) {
      return Invalid("squeeze_dims[", &a - axes.data(), "] not in [", -in.rank(), ",", in.rank(),
                     ").");
    }
    squeezed[*axis] = true;
  }
  PartialShape out = Shape();
  for (int i = 0; i < in.rank(); ++i) {
    if (axes.empty() && in.dim(i) < 0) return absl::OkStatus();  // whether it goes is not known
    if (squeezed[i] && in.dim(i) >= 0 && in.dim(i) != 1) {
      return Invalid("Can not squeeze dim[", i, "], expected a dimension of 1, got ", in.dim(i));
    }
    if (squeezed[i] || (axes.empty() && in.dim(i) == 1)) continue;
    out.push_back(in.dim(i));
  }
  c.set_output(0, out);
  if (in.rank() == 1) SetValue(c, 0, c.followed_ints(0));
  return absl::OkStatus();
}

absl::Status FillShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 0}));
  if (c.input_value(0) != nullptr) {
    const std::optional<Dims> dims = c.input_as_ints(0);
    if (dims && std::ranges::any_of(*dims, [](int64_t d) { return d == -1; }))
      return Invalid("Fill dimensions must be >= 0");
  }
  const std::optional<Dims> sizes = c.followed_ints(0);
  absl::StatusOr<PartialShape> shape = c.input_as_shape(0);
  // Too many elements: TensorFlow refuses the run.
  if (sizes && std::ranges::all_of(*sizes, [](int64_t d) { return d >= kUnknownDim; }))
    shape = AtRunTime(std::move(shape));
  TENON_ASSIGN_OR_RETURN(PartialShape out, std::move(shape));
  c.set_output(0, out);
  const std::optional<int64_t> fill = ScalarValue(c, 1);
  const int64_t count = out.num_elements();
  if (fill && out.rank() <= 1 && count >= 0 && count <= kMaxShapeValueElements)
    SetValue(c, 0, Dims(count, *fill));
  return absl::OkStatus();
}

// Floats below double are counted in float, half and bfloat16 with a rounding after each operation,
// as the kernel does.
double RangeSteps(DataType type, double start, double limit, double delta) {
  if (type == DataType::kDouble || IsInteger(type))
    return std::ceil(std::abs((limit - start) / delta));
  const std::optional<SmallFloat> format = SmallFloatOf(type);
  const auto rounded = [&](float x) {
    return format.has_value() ? static_cast<float>(format->Decode(format->Encode(x))) : x;
  };
  const float span = rounded(static_cast<float>(limit) - static_cast<float>(start));
  return std::ceil(std::abs(rounded(span / static_cast<float>(delta))));
}

// start, limit, delta -> [ceil((limit - start) / delta)].
absl::Status RangeShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckScalars(c, {"start", "limit", "delta"}));
  const std::optional<double> start = NumberValue(c, 0), limit = NumberValue(c, 1),
                              delta = NumberValue(c, 2);
  c.set_output(0, Vector(kUnknownDim));
  if (delta && *delta == 0) {
    // TensorFlow looks at the step only where start and limit are known too.
    absl::Status status = absl::InvalidArgumentError("Requires delta != 0");
    return start && limit ? status : AtRunTime(std::move(status));
  }
  if (!start || !limit || !delta) return absl::OkStatus();
  if ((*delta > 0 && *start > *limit) || (*delta < 0 && *start < *limit)) {
    return *delta > 0 ? Invalid("Requires start <= limit when delta > 0: ", *start, "/", *limit)
                      : Invalid("Requires start >= limit when delta < 0: ", *start, "/", *limit);
  }
  // Integers beyond a double's precision are left to the kernel.
  const double count = RangeSteps(c.output_type(0), *start, *limit, *delta);
  if (!(count < kExactDouble && std::abs(*start) < kExactDouble && std::abs(*limit) < kExactDouble))
    return absl::OkStatus();
  const int64_t n = static_cast<int64_t>(count);
  c.set_output(0, Vector(n));
  if (!IsInteger(c.output_type(0)) || n > kMaxShapeValueElements) return absl::OkStatus();
  Dims values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<int64_t>(*start + static_cast<double>(i) * *delta));
  SetValue(c, 0, std::move(values));
  return absl::OkStatus();
}

absl::Status LinSpaceShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(CheckScalars(c, {"start", "stop", "num"}));
  const std::optional<int64_t> num = ScalarValue(c, 2);
  if (num && *num <= 0) return Invalid("Requires num > 0: ", *num);
  const int64_t count = num.value_or(kUnknownDim);
  c.set_output(0, Vector(count));
  return absl::OkStatus();
}

// Each dimension times its multiple.
absl::Status TileShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape multiples, c.input_as_shape(1));
  PartialShape in = c.input(0);
  if (in.known_rank()) {
    TENON_RETURN_IF_ERROR(c.WithRank(multiples, in.rank()).status());
  } else if (multiples.known_rank()) {
    in = PartialShape::UnknownOfRank(multiples.rank());
  }
  if (!in.known_rank()) return absl::OkStatus();
  for (int i = 0; i < in.rank(); ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t d, MultiplyDims(in.dim(i), multiples.dim(i)));
    in.set_dim(i, d);
  }
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

absl::Status BroadcastToShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.input_as_shape(1));
  const PartialShape& in = c.input(0);
  if (out.known_rank() && in.known_rank()) {
    TENON_RETURN_IF_ERROR(c.WithRankAtMost(in, out.rank()).status());
    for (int i = 1; i <= in.rank(); ++i) {
      const int64_t from = in.dim(-i), to = out.dim(-i);
      if (to < 0 && from > 1) out.set_dim(out.rank() - i, from);
      if (from < 0 || to < 0 || from == to || from == 1) continue;
      absl::Status status = Invalid("Dimensions must be equal, but are ", from, " and ", to);
      // TensorFlow's function lets a dimension of 0 pass; its kernel does not.
      return from == 0 ? AtRunTime(std::move(status)) : status;
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The value is the broadcast of two shapes, each given as a vector; errors are left to the kernel.
absl::Status BroadcastArgsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  const int64_t x = c.input(0).dim(0), y = c.input(1).dim(0);
  c.set_output(0, Vector(x < 0 || y < 0 ? kUnknownDim : std::max(x, y)));
  if (x < 0 || y < 0) return absl::OkStatus();
  const std::optional<Dims> a = c.input_as_ints(0), b = c.input_as_ints(1);
  if (!a || !b) return absl::OkStatus();
  const absl::StatusOr<PartialShape> sum = c.Broadcast(PartialShape(*a), PartialShape(*b));
  if (sum.ok()) SetValue(c, 0, Dims(sum->dims().begin(), sum->dims().end()));
  return absl::OkStatus();
}

absl::Status BroadcastGradientArgsShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {1, 1}));
  c.set_output(0, Vector(kUnknownDim));
  c.set_output(1, Vector(kUnknownDim));
  return absl::OkStatus();
}

// Output dimension i is input dimension perm[i]. A dimension that is named twice is the kernel's to
// refuse.
absl::Status TransposeShape(InferenceContext& c) {
  PartialShape in = c.input(0);
  const PartialShape& perm_shape = c.input(1);
  const std::optional<Dims> perm = ConstantInts(c, 1);
  const int64_t length = perm ? static_cast<int64_t>(perm->size()) : perm_shape.num_elements();
  if (length > kMaxRank)
    return absl::InvalidArgumentError(
        absl::StrCat("perm of ", length, " elements is no permutation"));
  if (const absl::Status vector = c.WithRank(perm_shape, 1).status(); !vector.ok()) {
    // TensorFlow looks at it only where something is known of the rank.
    const bool looks = in.known_rank() || (length >= 0 && perm_shape.rank() != 0);
    return looks ? vector : AtRunTime(vector);
  }
  if (!in.known_rank() && length < 0) return absl::OkStatus();
  if (length >= 0 && in.known_rank()) {
    TENON_RETURN_IF_ERROR(c.WithSize(length, in.rank()).status());
  } else if (length >= 0) {
    in = PartialShape::UnknownOfRank(static_cast<int>(length));
  }
  PartialShape out = PartialShape::UnknownOfRank(in.rank());
  if (perm) {
    for (int i = 0; i < in.rank(); ++i) {
      const std::optional<int> axis = AxisIn((*perm)[i], in.rank());
      if (!axis) {
        absl::Status status =
            Invalid("perm dim ", (*perm)[i], " is out of range of input rank ", in.rank());
        return c.input(0).known_rank() ? status : AtRunTime(std::move(status));
      }
      out.set_dim(i, in.dim(*axis));
    }
  } else if (in.rank() <= 1) {  // one dimension has one order
    out = in;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ReverseShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  // TensorFlow's first Reverse takes no more dimensions.
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtMost(c.input(0), 8));
  if (const int64_t rank = c.input(1).dim(0); rank >= 0) {
    TENON_ASSIGN_OR_RETURN(in, c.WithRank(in, static_cast<int>(std::min<int64_t>(rank, INT_MAX))));
  }
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

absl::Status ReverseV2Shape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  const PartialShape& in = c.input(0);
  if (const std::optional<Dims> axes = ConstantInts(c, 1); axes && in.known_rank()) {
    std::set<int> seen;
    for (const int64_t& a : *axes) {
      const std::optional<int> axis = AxisIn(a, in.rank());
      if (!axis) {
        return Invalid("'axis'[", &a - axes->data(), "] = ", a, " is out of valid range [0, ",
                       in.rank() - 1);
      }
      if (!seen.insert(*axis).second) return Invalid("axis ", *axis, " specified more than once.");
    }
  }
  c.set_output(0, in);
  return absl::OkStatus();
}

absl::Status ReverseSequenceShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(RequireRanks(c, {-1, 1}));
  PartialShape in = c.input(0);
  TENON_ASSIGN_OR_RETURN(const int64_t seq_dim, c.AttrInt("seq_dim"));
  TENON_ASSIGN_OR_RETURN(const int64_t batch_dim, c.AttrInt("batch_dim"));
  if (!in.known_rank()) return absl::OkStatus();
  if (batch_dim < 0) return Invalid("batch_dim must be >=0, got ", batch_dim);
  if (batch_dim >= in.rank())
    return Invalid("batch_dim must be < input rank: ", batch_dim, " vs. ", in.rank());
  if (seq_dim >= in.rank())
    return Invalid("seq_dim must be < input rank: ", seq_dim, " vs. ", in.rank());
  TENON_ASSIGN_OR_RETURN(const int64_t batch,
                         c.MergeDim(in.dim(static_cast<int>(batch_dim)), c.input(1).dim(0)));
  c.set_output(0, ReplaceDim(std::move(in), static_cast<int>(batch_dim), batch));
  return absl::OkStatus();
}

absl::Status RollShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRankAtLeast(c.input(0), 1));
  for (int i : {1, 2}) TENON_RETURN_IF_ERROR(c.WithRankAtMost(c.input(i), 1).status());
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), c.input(2)).status());
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

}  // namespace tenon::ops
