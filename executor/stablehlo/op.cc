#include "executor/stablehlo/op.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/lowerer.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace {

template <typename T>
void AppendAll(const Tensor& t, Ints* out) {
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    T value;
    std::memcpy(&value, static_cast<const char*>(t.data()) + i * sizeof(T), sizeof(T));
    out->push_back(static_cast<int64_t>(value));
  }
}

}  // namespace

bool SameElements(const Tensor& a, const Tensor& b) {
  return a.initialized() && b.initialized() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

const Shape& Op::InShape(int i) {
  Entry& entry = InEntry(i);
  if (entry.known.initialized()) return entry.known.shape();
  if (entry.value) return entry.value.shape;
  static const Shape* const none = new Shape;
  b.Fail(Unimplemented(absl::StrCat("input ", i, " has no value that a program can hold")));
  return *none;
}

Entry& Op::InEntry(int i) {
  if (i >= 0 && i < num_inputs()) return *inputs_[i];
  b.Fail(Unimplemented(absl::StrCat("there is no input ", i)));
  return missing_;
}

const Value& Op::In(int i) {
  Entry& entry = InEntry(i);
  if (!entry.value) lowerer_.Write(entry);
  if (!entry.value)
    b.Fail(Unimplemented(absl::StrCat("input ", i, " has no value that a program can hold")));
  return entry.value;
}

Value Op::Constant(Tensor elements) {
  Entry entry;
  entry.known = std::move(elements);
  lowerer_.Write(entry);
  return entry.value;
}

const Tensor* Op::Known(int i) const {
  if (i < 0 || i >= num_inputs()) return nullptr;
  const Tensor& known = inputs_[i]->known;
  return known.initialized() ? &known : nullptr;
}

absl::StatusOr<Ints> Op::IntsOf(int i) const {
  const Tensor* known = Known(i);
  if (known == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("input ", i, " must be known when the program is compiled", Describe()));
  }
  Ints out;
  if (known->dtype() == DataType::kUint32) {
    AppendAll<uint32_t>(*known, &out);
  } else if (known->dtype() == DataType::kUint64) {
    AppendAll<uint64_t>(*known, &out);
  } else {
    for (int64_t k = 0; k < known->num_elements(); ++k) out.push_back(known->IntAt(k));
  }
  return out;
}

absl::StatusOr<int64_t> Op::IntOf(int i) const {
  TENON_ASSIGN_OR_RETURN(const Ints ints, IntsOf(i));
  if (ints.size() != 1) return Unimplemented(absl::StrCat("input ", i, " is no single number"));
  return ints.front();
}

absl::StatusOr<Ints> Op::AxesOf(int i, int rank) const {
  TENON_ASSIGN_OR_RETURN(Ints axes, IntsOf(i));
  for (int64_t& axis : axes) {
    const int64_t given = axis;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank)
      return Invalid(absl::StrCat("axis ", given, " is not in [", -rank, ", ", rank, ")"));
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) return Invalid("an axis is named twice");
  return axes;
}

absl::StatusOr<int64_t> Op::AxisOf(int i, int rank) const {
  TENON_ASSIGN_OR_RETURN(const Ints axes, AxesOf(i, rank));
  if (axes.size() != 1) return Unimplemented(absl::StrCat("input ", i, " is no single axis"));
  return axes.front();
}

absl::StatusOr<Shape> Op::OutShape(int i) const {
  if (const std::optional<Shape> shape = outputs_[i].info.shape.ToShape()) return *shape;
  return Unimplemented(absl::StrCat("the shape of output ", i, ", ",
                                    outputs_[i].info.shape.ToString(), ", depends on values"));
}

void Op::Out(int i, Value v) {
  Entry& out = outputs_[i];
  if (!out.info.shape.CompatibleWith(v.shape) || v.dtype != OutType(i)) {
    b.Fail(absl::InternalError(absl::StrCat("the lowering gives ", DataTypeName(v.dtype),
                                            v.shape.ToString(), " where ", DataTypeName(OutType(i)),
                                            out.info.shape.ToString(), " is right", Describe())));
  }
  out.info.shape = PartialShape(v.shape);
  out.value = std::move(v);
}

void Op::Forward(int to, int from) {
  const Entry& in = *inputs_[from];
  Entry& out = outputs_[to];
  out.value = in.value;
  out.known = in.known;
  out.list = in.list;
  out.info = in.info;
}

absl::Status Op::OutInts(int i, IntSpan values, const Shape& shape) {
  Tensor known;
  if (OutType(i) == DataType::kInt64) {
    known = Tensor::Of<int64_t>(DataType::kInt64, values, shape);
  } else {
    std::vector<int32_t> narrow;
    for (const int64_t value : values) {
      if (value != static_cast<int32_t>(value))
        return absl::InvalidArgumentError(absl::StrCat("the result ", value, " is beyond int32"));
      narrow.push_back(static_cast<int32_t>(value));
    }
    known = Tensor::Of<int32_t>(DataType::kInt32, narrow, shape);
  }
  SetKnown(outputs_[i], std::move(known));
  return absl::OkStatus();
}

void Op::Check(const Value& ok, std::string_view message, absl::StatusCode code) {
  lowerer_.AddCheck(*this, ok, message, code);
}

void Op::CheckAll(const Value& ok, std::string_view message, absl::StatusCode code) {
  Ints dims;
  for (int i = 0; i < ok.rank(); ++i) dims.push_back(i);
  const Value yes = b.Full(DataType::kBool, Shape(), 1);
  Check(b.Reduce("and", ok, yes, dims), message, code);
}

absl::Status Op::Unimplemented(std::string_view why) const {
  return absl::UnimplementedError(absl::StrCat("no lowering: ", why, Describe()));
}

absl::Status Op::Invalid(std::string_view why) const {
  return absl::InvalidArgumentError(absl::StrCat(why, Describe()));
}

std::string Op::Describe() const {
  std::string out = absl::StrCat(", in op ", name(), " of node '", frame_.prefix, shapes_.node(),
                                 "' with inputs");
  constexpr int kMost = 8;
  for (int i = 0; i < std::min(num_inputs(), kMost); ++i) {
    absl::StrAppend(&out, i > 0 ? ", " : " ", DataTypeShortName(InType(i)),
                    inputs_[i]->info.shape.ToString());
  }
  if (num_inputs() > kMost) absl::StrAppend(&out, " and ", num_inputs() - kMost, " more");
  return out;
}

}  // namespace tenon::stablehlo
