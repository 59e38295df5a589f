// Elements of a tensor as text, in two notations of TensorFlow: a flat one for messages, in which
// brackets mark the rows, and nested lists of which the middle is left out.
#include "plugin/cpu/base/tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/tensor/object.h"
#include "graph/tensor/small_float.h"
#include "plugin/cpu/base/element.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

// 6 digits if they say it all, else the 9 that always do.
std::string FloatText(float x) {
  if (std::isnan(x)) return "nan";
  float back = 0;
  std::string text = absl::StrFormat("%.6g", x);
  return absl::SimpleAtof(text, &back) && back == x ? text : absl::StrFormat("%.9g", x);
}

std::string DoubleText(double x) {
  if (std::isnan(x)) return "nan";
  double back = 0;
  std::string text = absl::StrFormat("%.15g", x);
  return absl::SimpleAtod(text, &back) && back == x ? text : absl::StrFormat("%.17g", x);
}

std::string StringText(const TF_TString& s) {
  return absl::Utf8SafeCEscape({TF_TString_GetDataPointer(&s), TF_TString_GetSize(&s)});
}

// Of resources and variants the kind: "<tensor list>".
std::string ObjectText(const Object* object) {
  return object == nullptr ? "?" : absl::StrCat("<", object->kind(), ">");
}

// Elements of these types appear as "?", and without brackets for dimensions.
bool IsPrinted(DataType type) { return !IsComplex(type) && type != DataType::kQint32; }

std::string ElementText(DataType type, const void* data, int64_t i) {
  if (!IsPrinted(type)) return "?";
  switch (type) {
    case DataType::kString:
      return StringText(static_cast<const TF_TString*>(data)[i]);
    case DataType::kResource:
    case DataType::kVariant:
      return ObjectText(static_cast<const Object* const*>(data)[i]);
    case DataType::kQint16:
      return absl::StrCat(PlainElement<int16_t>().As<int16_t>(data, i));
    case DataType::kQuint16:
      return absl::StrCat(PlainElement<uint16_t>().As<uint16_t>(data, i));
    case DataType::kBool:
    case DataType::kUint4:
    case DataType::kUint2:
      return absl::StrCat(static_cast<const uint8_t*>(data)[i]);
    case DataType::kInt4:
    case DataType::kInt2:
      return absl::StrCat(static_cast<const int8_t*>(data)[i]);
    case DataType::kDouble:
      return DoubleText(static_cast<const double*>(data)[i]);
    default:
      break;
  }
  if (IsFloating(type)) {
    float value = 0;
    VisitFloat(type, [&](auto element) { value = element.template As<float>(data, i); });
    return FloatText(value);
  }
  // The 8-bit floats have no element access in VisitFloat: a table decodes them.
  if (const std::optional<SmallFloat> format = SmallFloatOf(type)) {
    return FloatText(static_cast<float>(format->Decode(static_cast<const uint8_t*>(data)[i])));
  }
  std::string text;
  VisitElement(type, [&](auto element) {
    using Integer = typename decltype(element)::Ordered;
    if constexpr (std::is_integral_v<Integer>)
      text = absl::StrCat(element.template As<Integer>(data, i));
  });
  return text;
}

}  // namespace

std::string SummarizeTensor(DataType type, const Shape& shape, const void* data,
                            int64_t max_entries) {
  const int64_t n = shape.num_elements();
  const int64_t limit = max_entries < 0 ? n : std::min(max_entries, n);
  // Elements of what stands in brackets: a row, a matrix of rows, and so on.
  std::vector<int64_t> blocks;
  int64_t block = 1;
  for (int d = shape.rank() - 1; d >= 1 && n > 0 && IsPrinted(type); --d)
    blocks.push_back(block *= shape.dim(d));

  std::string text;
  for (int64_t i = 0; i < limit; ++i) {
    // Rows are parted by their brackets, elements of a row by a space.
    if (i > 0 && (blocks.empty() || i % blocks[0] != 0)) text += ' ';
    for (const int64_t b : blocks) text.append(i % b == 0 ? "[" : "");
    absl::StrAppend(&text, ElementText(type, data, i));
    const bool last = i + 1 == limit;
    // A row that the limit cuts has its dots inside of its brackets, other tensors behind all
    // brackets.
    if (last && !blocks.empty() && limit % blocks[0] != 0) text += "...";
    for (const int64_t b : blocks) text.append(last || (i + 1) % b == 0 ? "]" : "");
  }
  if (limit < n) text += "...";
  return text;
}

namespace {

std::string QuotedText(DataType type, const void* data, int64_t i) {
  const std::string text = ElementText(type, data, i);
  return type == DataType::kString ? absl::StrCat("\"", text, "\"") : text;
}

// What stands between two places of dimension `d`.
void AppendGap(int d, int rank, std::string* text) {
  if (d == rank - 1) return text->push_back(' ');
  text->append(rank - d - 1, '\n');
  text->append(d + 1, ' ');
}

void AppendDimension(DataType type, const Shape& shape, const void* data, int64_t most, int d,
                     int64_t first, std::string* text) {
  if (d == shape.rank()) {
    text->append(QuotedText(type, data, first));
    return;
  }
  int64_t stride = 1;
  for (int k = d + 1; k < shape.rank(); ++k) stride *= shape.dim(k);
  const int64_t size = shape.dim(d);
  // The first and the last `most` places are shown.
  const bool cut = size > 2 * most;
  text->push_back('[');
  for (int64_t i = 0; i < size; ++i) {
    if (cut && i == most) {
      AppendGap(d, shape.rank(), text);
      text->append("...");
      i = size - most;
      // With `most` 0 there is no last place.
      if (i == size) break;
    }
    if (i > 0) AppendGap(d, shape.rank(), text);
    AppendDimension(type, shape, data, most, d + 1, first + i * stride, text);
  }
  text->push_back(']');
}

}  // namespace

std::string FormatTensor(DataType type, const Shape& shape, const void* data, int64_t max_entries) {
  const int64_t n = shape.num_elements();
  const int64_t most = max_entries < 0 ? n : std::min(max_entries, n);
  std::string text;
  if (type == DataType::kBool && most == 0) return text;
  if (shape.rank() > 0 && IsPrinted(type)) {
    AppendDimension(type, shape, data, most, 0, 0, &text);
    return text;
  }
  for (int64_t i = 0; i < most; ++i) {
    if (i > 0) text.push_back(' ');
    text += QuotedText(type, data, i);
  }
  if (most < n) text += "...";
  return shape.rank() > 0 ? absl::StrCat("[", text, "]") : text;
}

}  // namespace tenon::cpu
