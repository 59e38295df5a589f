#include "executor/cli/tensors/spec.h"

#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/tensors/array_file.h"
#include "executor/cli/tensors/cast.h"
#include "executor/cli/tensors/spec_elements.h"
#include "executor/cli/tensors/spec_generator.h"
#include "executor/values/element.h"
#include "graph/base/annotate.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// For suggestions in errors.
constexpr std::string_view kElementNames[] = {
    "f16", "bf16", "f32",    "f64",    "i8",         "i16",           "i32",       "i64",
    "u8",  "u16",  "u32",    "u64",    "bool",       "c64",           "c128",      "str",
    "i4",  "u4",   "f8e5m2", "f8e4m3", "q8",         "qu8",           "q16",       "qu16",
    "q32", "i2",   "u2",     "f4e2m1", "f8e4m3fnuz", "f8e4m3b11fnuz", "f8e5m2fnuz"};

struct Alias {
  std::string_view numpy, name;
};
constexpr Alias kNumPyNames[] = {{"float16", "f16"},   {"bfloat16", "bf16"},   {"float32", "f32"},
                                 {"float64", "f64"},   {"int8", "i8"},         {"int16", "i16"},
                                 {"int32", "i32"},     {"int64", "i64"},       {"uint8", "u8"},
                                 {"uint16", "u16"},    {"uint32", "u32"},      {"uint64", "u64"},
                                 {"complex64", "c64"}, {"complex128", "c128"}, {"string", "str"},
                                 {"half", "f16"},      {"single", "f32"},      {"double", "f64"}};

std::optional<DataType> ElementType(std::string_view name) {
  for (const Alias& alias : kNumPyNames) {
    if (name == alias.numpy) return ParseDataTypeShortName(alias.name);
  }
  return ParseDataTypeShortName(name);
}

struct TypePrefix {
  std::optional<DataType> dtype;
  std::optional<Shape> shape;  // nothing: the text has no dimensions
};

absl::Status UnknownElement(std::string_view name) {
  ClosestName closest(name);
  for (const std::string_view known : kElementNames) closest.Offer(known);
  for (const Alias& alias : kNumPyNames) closest.Offer(alias.numpy);
  return UsageError(absl::StrCat("'", name, "' is no element type", closest.Hint(), "; there are ",
                                 absl::StrJoin(kElementNames, " ")));
}

// "2x3xf32", "f32", "2x3"
absl::StatusOr<TypePrefix> ParseType(std::string_view text) {
  TypePrefix type;
  Dims dims;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find('x');
    int64_t dim;
    if (absl::ascii_isdigit(rest[0]) && absl::SimpleAtoi(rest.substr(0, end), &dim)) {
      dims.push_back(dim);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      continue;
    }
    type.dtype = ElementType(rest);
    if (!type.dtype) return UnknownElement(rest);
    break;
  }
  absl::StatusOr<Shape> shape = Shape::Make(dims);
  if (!shape.ok()) return UsageError(absl::StrCat("'", text, "': ", shape.status().message()));
  if (!dims.empty() || type.dtype) type.shape = *std::move(shape);
  return type;
}

bool LooksLikeType(std::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && c != '?' && c != '_') return false;
  }
  return !text.empty();
}

// For raw bytes and generators, which bring neither a type nor a shape.
absl::Status NeedsShape(std::string_view value, const SpecHint& hint) {
  return UsageError(absl::StrCat("'", value, "' needs a type and a shape before it, such as ",
                                 SuggestSpec(hint)));
}

absl::StatusOr<Tensor> AllocateFor(DataType dtype, const Shape& shape) {
  absl::StatusOr<Tensor> tensor = Tensor::Allocate(dtype, shape);
  if (!tensor.ok()) return UsageError(tensor.status().message());
  return tensor;
}

// "@file", or "@all.npz[key]".
struct FileName {
  std::string path, key;

  explicit FileName(std::string_view value) : path(value.substr(1)) {
    const size_t open = path.rfind('[');
    if (!absl::EndsWith(path, "]") || open == std::string::npos) return;
    key = path.substr(open + 1, path.size() - open - 2);
    path.resize(open);
  }
  // Of a file that is not there nobody knows: reading it as an array says that it is missing.
  bool is_raw() const {
    std::error_code error;
    return key.empty() && !absl::EndsWith(path, ".npy") && !absl::EndsWith(path, ".npz") &&
           std::filesystem::exists(path, error) && !LooksLikeNumPy(path);
  }
};

// Reads an array that must have this type. If it has another one that could be converted, the error
// says how to ask for that.
absl::StatusOr<Tensor> LoadAs(const FileName& file, std::string_view value, DataType as) {
  absl::StatusOr<Tensor> tensor = LoadArray(file.path, file.key, as);
  if (tensor.ok() || as == DataType::kInvalid) return tensor;
  return HintAtCast(tensor.status(), LoadArray(file.path, file.key, DataType::kInvalid), as,
                    absl::StrCat(DataTypeShortName(as), "(", value, ") converts it"));
}

absl::Status OtherShape(const FileName& file, const Shape& has, const Shape& wanted) {
  return WithExit(Exit::kInvalidInput, absl::InvalidArgumentError(absl::StrCat(
                                           file.path, ": has shape ", has.ToString(), " where ",
                                           wanted.ToString(), " is asked for")));
}

absl::StatusOr<Tensor> FromFile(std::string_view value, const TypePrefix& type, bool has_prefix,
                                const SpecHint& hint) {
  const FileName file(value);
  if (file.is_raw()) {
    const std::optional<DataType> dtype = type.dtype ? type.dtype
                                          : hint.dtype == DataType::kInvalid
                                              ? std::nullopt
                                              : std::optional(BaseType(hint.dtype));
    if (!has_prefix || !dtype || !type.shape) return NeedsShape(value, hint);
    return LoadRaw(file.path, *dtype, *type.shape);
  }
  const DataType as = type.dtype ? *type.dtype : BaseType(hint.dtype);
  TENON_ASSIGN_OR_RETURN(Tensor tensor, LoadAs(file, value, as));
  // "f32=@x.npy" gives the element type alone: a scalar type says nothing of the shape.
  if (type.shape && type.shape->rank() > 0 && !(*type.shape == tensor.shape()))
    return OtherShape(file, tensor.shape(), *type.shape);
  return tensor;
}

// For "f32(@x.npy)": the position of the '('; nothing if the text has another form.
std::optional<size_t> CastOpens(std::string_view value) {
  const size_t open = value.find('(');
  const bool is_cast = open != std::string_view::npos && absl::EndsWith(value, ")") &&
                       LooksLikeType(value.substr(0, open)) &&
                       absl::StartsWith(value.substr(open + 1), "@");
  return is_cast ? std::optional(open) : std::nullopt;
}

// Reads the array of a file and converts it.
absl::StatusOr<Tensor> FromCast(std::string_view value, size_t open) {
  TENON_ASSIGN_OR_RETURN(const TypePrefix type, ParseType(value.substr(0, open)));
  const FileName file(value.substr(open + 1, value.size() - open - 2));
  if (!type.dtype || file.is_raw())
    return UsageError(absl::StrCat("'", value, "' converts nothing; f32(@x.npy) does"));
  TENON_ASSIGN_OR_RETURN(const Tensor array, LoadArray(file.path, file.key, DataType::kInvalid));
  if (type.shape->rank() > 0 && !(*type.shape == array.shape()))
    return OtherShape(file, array.shape(), *type.shape);
  absl::StatusOr<Tensor> tensor = Cast(array, *type.dtype);
  if (tensor.ok()) return tensor;
  return WithExit(Exit::kInvalidInput, Annotate(tensor.status(), absl::StrCat(file.path, ": ")));
}

absl::StatusOr<Shape> ShapeOfElements(const SpecElements& elements, const TypePrefix& type,
                                      const SpecHint& hint) {
  const int64_t count = static_cast<int64_t>(elements.tokens.size());
  if (elements.nested && elements.tokens.empty() && !type.shape) {
    TENON_ASSIGN_OR_RETURN(Shape empty, Shape::Make(elements.dims));
    return empty;
  }
  if (!type.shape) {
    if (elements.nested) return Shape::Make(elements.dims);
    const std::optional<Shape> known = hint.shape.ToShape();
    if (count == 1) return known ? *known : Shape();
    return known && known->num_elements() == count ? *known : Shape({count});
  }
  const Shape& shape = *type.shape;
  // A flat list fills any shape; nested brackets must spell the shape itself.
  const bool flat = elements.dims.size() <= 1;
  if (!flat && absl::Span<const int64_t>(elements.dims) != shape.dims()) {
    return absl::InvalidArgumentError(absl::StrCat("the brackets spell shape [",
                                                   absl::StrJoin(elements.dims, ","),
                                                   "], the type says ", shape.ToString()));
  }
  if (count != shape.num_elements() && count != 1) {
    return absl::InvalidArgumentError(absl::StrCat("shape ", shape.ToString(), " takes ",
                                                   shape.num_elements(),
                                                   " elements (or one for all), not ", count));
  }
  return shape;
}

DataType DtypeOfElements(const SpecElements& elements, const TypePrefix& type,
                         const SpecHint& hint) {
  if (type.dtype) return *type.dtype;
  if (hint.dtype != DataType::kInvalid) return BaseType(hint.dtype);
  return elements.quoted ? DataType::kString : DataType::kFloat;
}

absl::StatusOr<Tensor> FromElements(std::string_view value, const TypePrefix& type,
                                    const SpecHint& hint) {
  TENON_ASSIGN_OR_RETURN(const SpecElements elements, SplitElements(value));
  TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeOfElements(elements, type, hint));
  const DataType dtype = DtypeOfElements(elements, type, hint);
  if (elements.quoted && dtype != DataType::kString) {
    return absl::InvalidArgumentError(
        absl::StrCat("a string in quotes where ", DataTypeShortName(dtype), " is wanted"));
  }
  TENON_ASSIGN_OR_RETURN(Tensor tensor, AllocateFor(dtype, shape));
  const bool splat = elements.tokens.size() == 1;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    TENON_RETURN_IF_ERROR(StoreElement(tensor, i, elements.tokens[splat ? 0 : i]));
  }
  return tensor;
}

absl::StatusOr<Tensor> FromGenerator(std::string_view value, const TypePrefix& type,
                                     const SpecHint& hint) {
  const std::optional<Shape> known = type.shape ? type.shape : hint.shape.ToShape();
  const DataType dtype = type.dtype ? *type.dtype : BaseType(hint.dtype);
  if (!known || dtype == DataType::kInvalid) return NeedsShape(value, hint);
  TENON_ASSIGN_OR_RETURN(Tensor tensor, AllocateFor(dtype, *known));
  TENON_RETURN_IF_ERROR(Generate(value, tensor));
  return tensor;
}

}  // namespace

bool IsIgnoredSpec(std::string_view spec) {
  return absl::StripAsciiWhitespace(spec) == "(ignored)";
}

absl::StatusOr<NamedSpec> SplitNamedSpec(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return UsageError(
        absl::StrCat("'", text, "' is no NAME=SPEC, such as x=2x2xf32=1,2,3,4 or x=@x.npy"));
  }
  return NamedSpec{text.substr(0, equals), text.substr(equals + 1)};
}

absl::StatusOr<Tensor> ParseSpec(std::string_view spec, const SpecHint& hint) {
  std::string_view value = absl::StripAsciiWhitespace(spec);
  if (const std::optional<size_t> open = CastOpens(value)) return FromCast(value, *open);
  TypePrefix type;
  bool has_prefix = false;
  const size_t equals = value.find('=');
  if (equals != std::string_view::npos && LooksLikeType(value.substr(0, equals))) {
    TENON_ASSIGN_OR_RETURN(type, ParseType(value.substr(0, equals)));
    value = absl::StripAsciiWhitespace(value.substr(equals + 1));
    has_prefix = true;
  }
  if (!type.dtype && !HasSpecs(hint.dtype)) {
    return UsageError(absl::StrCat("no SPEC can write a ", DataTypeName(BaseType(hint.dtype)),
                                   "; feed what the graph computes from it instead"));
  }
  if (value.empty() && !(type.shape && type.shape->num_elements() == 0)) {
    return UsageError(
        absl::StrCat("'", spec, "' has no value; write one such as ", SuggestSpec(hint)));
  }
  const bool file = absl::StartsWith(value, "@");
  absl::StatusOr<Tensor> tensor = file                 ? FromFile(value, type, has_prefix, hint)
                                  : IsGenerator(value) ? FromGenerator(value, type, hint)
                                                       : FromElements(value, type, hint);
  if (tensor.ok() || file) return tensor;
  return UsageError(absl::StrCat("'", spec.substr(0, 80), spec.size() > 80 ? "…" : "",
                                 "': ", tensor.status().message()));
}

bool HasSpecs(DataType dtype) {
  const DataType base = BaseType(dtype);
  return base != DataType::kResource && base != DataType::kVariant;
}

std::string SuggestSpec(const SpecHint& hint) {
  if (!HasSpecs(hint.dtype)) return "(no SPEC)";
  const DataType dtype = hint.dtype == DataType::kInvalid ? DataType::kFloat : BaseType(hint.dtype);
  std::string text;
  for (const int64_t dim : hint.shape.dims()) absl::StrAppend(&text, dim < 0 ? 1 : dim, "x");
  absl::StrAppend(&text, DataTypeShortName(dtype), "=");
  if (dtype == DataType::kString) return text + "\"a\"";
  if (dtype == DataType::kBool) return text + "true";
  // Small integers are the most likely to be valid as indices.
  return text + (IsIntegerLike(dtype) ? "random(seed=1,lo=0,hi=2)" : "random(seed=1)");
}

}  // namespace tenon::cli
