#include "graph/shapes/shape_inference.h"

#include "graph/base/annotate.h"
#include "graph/base/run_time_error.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// Elements may lie unaligned in a file's bytes.
template <typename T>
void AppendInts(const Tensor& t, Dims* out) {
  const int64_t n = t.num_elements();
  const char* p = static_cast<const char*>(t.data());
  for (int64_t i = 0; i < n; ++i) {
    T v;
    std::memcpy(&v, p + i * sizeof(T), sizeof(T));
    out->push_back(static_cast<int64_t>(v));
  }
}

std::optional<Dims> IntsOf(const Tensor& t) {
  if (t.num_elements() > kMaxShapeValueElements) return std::nullopt;
  Dims out;
  switch (t.dtype()) {
    case DataType::kInt8:
      AppendInts<int8_t>(t, &out);
      return out;
    case DataType::kUint8:
      AppendInts<uint8_t>(t, &out);
      return out;
    case DataType::kInt16:
      AppendInts<int16_t>(t, &out);
      return out;
    case DataType::kUint16:
      AppendInts<uint16_t>(t, &out);
      return out;
    case DataType::kInt32:
      AppendInts<int32_t>(t, &out);
      return out;
    case DataType::kUint32:
      AppendInts<uint32_t>(t, &out);
      return out;
    case DataType::kInt64:
    case DataType::kUint64:
      AppendInts<int64_t>(t, &out);
      return out;
    default:
      return std::nullopt;
  }
}

template <typename T>
absl::StatusOr<T> Named(std::string_view name, absl::StatusOr<T> got) {
  if (got.ok()) return got;
  return Annotate(got.status(), absl::StrCat("attr '", name, "' "));
}

absl::Status RankLimitError(int64_t rank) {
  return absl::InvalidArgumentError(
      absl::StrCat("a shape of ", rank, " dimensions; the limit is ", kMaxRank));
}

absl::Status RankError(std::string_view wanted, int rank, int actual) {
  return absl::InvalidArgumentError(
      absl::StrCat("Shape must be ", wanted, " ", rank, " but is rank ", actual));
}

}  // namespace

InferenceContext::InferenceContext(const OpDef& op, const AttrSet& attrs, const NodeTypes& types,
                                   Infos inputs, std::shared_ptr<const void> attr_owner)
    : op_(op),
      attrs_(attrs),
      types_(types),
      inputs_(std::move(inputs)),
      outputs_(types.outputs.size()),
      attr_owner_(std::move(attr_owner)) {}

const TensorInfo& InferenceContext::Nothing() {
  static const TensorInfo* const nothing = new TensorInfo;
  return *nothing;
}

std::optional<Dims> InferenceContext::input_as_ints(int i) const {
  values_read_ |= Bit(i);
  return AsInts(input_info(i));
}

std::optional<Dims> InferenceContext::AsInts(const TensorInfo& info) {
  return info.value != nullptr ? IntsOf(*info.value) : info.partial_value;
}

absl::StatusOr<PartialShape> InferenceContext::input_as_shape(int i) const {
  shapes_read_ |= Bit(i);
  const std::optional<Dims> dims = AsInts(input_info(i));
  TENON_ASSIGN_OR_RETURN(const PartialShape vector, WithRank(input(i), 1));
  // A known -1 of a constant means any size, as an unknown element does: both are kUnknownDim.
  if (dims) {
    for (const int64_t dim : *dims) {
      if (dim < kUnknownDim)
        return absl::InvalidArgumentError(absl::StrCat(kInvalidShapeValue, dim));
    }
    return PartialShape::Make(*dims);
  }
  const int64_t rank = vector.dim(0);
  if (rank > kMaxRank) return RankLimitError(rank);
  return rank >= 0 ? PartialShape::UnknownOfRank(static_cast<int>(rank)) : PartialShape();
}

absl::StatusOr<PartialShape> InferenceContext::input_as_any_shape(int i) const {
  if (input(i).rank() != 0) return input_as_shape(i);
  const std::optional<Dims> value = input_as_ints(i);
  if (!value || value->empty() || value->front() == -1) return PartialShape();
  return absl::InvalidArgumentError("a shape must be a vector, or a scalar of -1");
}

bool InferenceContext::HasAttr(std::string_view name) const {
  const AttrDef* def = op_.FindAttr(name);
  return attrs_.Find(name) != nullptr || (def != nullptr && def->has_default);
}

absl::StatusOr<AttrValue> InferenceContext::AttrOf(std::string_view name) const {
  if (const AttrValue* v = attrs_.Find(name)) return *v;
  const AttrDef* def = op_.FindAttr(name);
  if (def != nullptr && def->has_default) return AttrValue(def->default_wire);
  return absl::InvalidArgumentError(absl::StrCat("missing attr '", name, "'"));
}

absl::StatusOr<int64_t> InferenceContext::AttrInt(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsInt());
}
absl::StatusOr<bool> InferenceContext::AttrBool(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsBool());
}
absl::StatusOr<float> InferenceContext::AttrFloat(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsFloat());
}
absl::StatusOr<std::string_view> InferenceContext::AttrString(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsString());
}
absl::StatusOr<DataType> InferenceContext::AttrType(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsType());
}
absl::StatusOr<PartialShape> InferenceContext::AttrShape(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsShape());
}
absl::StatusOr<std::vector<int64_t>> InferenceContext::AttrIntList(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsIntList());
}

absl::StatusOr<std::vector<DataType>> InferenceContext::AttrTypeList(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue v, AttrOf(name));
  return Named(name, v.AsTypeList());
}

absl::StatusOr<PartialShape> InferenceContext::WithRank(const PartialShape& s, int rank) const {
  if (!s.known_rank() && rank > kMaxRank) return RankLimitError(rank);
  if (!s.known_rank()) return rank < 0 ? s : PartialShape::UnknownOfRank(rank);
  if (s.rank() == rank) return s;
  return RankError("rank", rank, s.rank());
}

absl::StatusOr<PartialShape> InferenceContext::WithRankAtLeast(const PartialShape& s,
                                                               int rank) const {
  if (!s.known_rank() || s.rank() >= rank) return s;
  return RankError("at least rank", rank, s.rank());
}

absl::StatusOr<PartialShape> InferenceContext::WithRankAtMost(const PartialShape& s,
                                                              int rank) const {
  if (!s.known_rank() || s.rank() <= rank) return s;
  return RankError("at most rank", rank, s.rank());
}

absl::StatusOr<int64_t> InferenceContext::MergeDim(int64_t a, int64_t b) const {
  if (a < 0) return b;
  if (b < 0 || a == b) return a;
  return absl::InvalidArgumentError(
      absl::StrCat("Dimensions must be equal, but are ", a, " and ", b));
}

absl::StatusOr<int64_t> InferenceContext::WithSize(int64_t dim, int64_t size) const {
  if (dim < 0 || dim == size) return size;
  return absl::InvalidArgumentError(absl::StrCat("Dimension must be ", size, " but is ", dim));
}

absl::StatusOr<PartialShape> InferenceContext::Broadcast(const PartialShape& a,
                                                         const PartialShape& b) const {
  if (!a.known_rank() || !b.known_rank()) return PartialShape();
  const int rank = std::max(a.rank(), b.rank());
  PartialShape out = PartialShape::UnknownOfRank(rank);
  for (int i = rank; i > 0; --i) {
    const int64_t x = i <= a.rank() ? a.dim(-i) : 1;
    const int64_t y = i <= b.rank() ? b.dim(-i) : 1;
    int64_t dim;
    if (x == 1 || y == 1) {
      dim = x == 1 ? y : x;
    } else if (x >= 0 && y >= 0) {
      TENON_ASSIGN_OR_RETURN(dim, MergeDim(x, y));
    } else {
      // The unknown dimension is 1 or equal to the other. Beside a known one above 1 the result is
      // known; beside a 0 the result may be 0, or invalid.
      dim = std::max(x, y) > 1 ? std::max(x, y) : kUnknownDim;
    }
    out.set_dim(rank - i, dim);
  }
  return out;
}

absl::Status CallShapeFn(InferenceContext& c) {
  if (!c.op().shape_fn) return absl::OkStatus();
  absl::Status status = c.op().shape_fn(c);
  // A function may multiply dimensions to more elements than int64 holds: no tensor can have such a
  // shape.
  for (int i = 0; status.ok() && i < c.num_outputs(); ++i) {
    status = PartialShape::Make(c.output(i).shape.dims()).status();
  }
  if (status.ok() || !IsAtRunTime(status)) return status;
  // TensorFlow finds this error when the node runs, so the graph must load.
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i) = TensorInfo();
  return absl::OkStatus();
}

absl::Status RunShapeFn(InferenceContext& c, std::string_view node_name) {
  absl::Status status = CallShapeFn(c);
  if (status.ok()) return status;
  std::string where = absl::StrCat(", in op ", c.op().name);
  if (!node_name.empty()) absl::StrAppend(&where, " of node '", node_name, "'");
  if (c.num_inputs() > 0) absl::StrAppend(&where, " with input shapes: ");
  // An op such as AddN may have thousands of inputs.
  constexpr int kMostShapes = 20;
  for (int i = 0; i < std::min(c.num_inputs(), kMostShapes); ++i) {
    absl::StrAppend(&where, i > 0 ? ", " : "", c.input(i).ToString());
  }
  if (c.num_inputs() > kMostShapes) where += " …";
  return Annotate(status, "", where);
}

}  // namespace tenon
