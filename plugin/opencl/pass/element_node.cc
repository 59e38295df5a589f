#include "element_node.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../base/text.h"
#include "../ops/element_rows.h"
#include "../ops/fused_program.h"

namespace opencl {
namespace {

bool IsKnown(const NodeShape& shape) {
  return shape.has_value() &&
         std::none_of(shape->begin(), shape->end(), [](int64_t dim) { return dim < 0; });
}

bool AreKnownEqual(const std::vector<NodeShape>& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [&](const NodeShape& shape) {
    return IsKnown(shape) && *shape == *shapes[0];
  });
}

bool FitsBias(const std::vector<NodeShape>& shapes) {
  if (shapes.size() != 2 || !shapes[0].has_value() || !IsKnown(shapes[1])) return false;
  return shapes[0]->size() >= 2 && shapes[1]->size() == 1 &&
         shapes[0]->back() == shapes[1]->front();
}

// The bounds of ClipByValue are scalars, or have the shape of the input.
bool FitsClip(const std::vector<NodeShape>& shapes) {
  return shapes.size() == 3 &&
         std::all_of(shapes.begin() + 1, shapes.end(), [&](const NodeShape& s) {
           return s.has_value() && (s->empty() || AreKnownEqual({shapes[0], s}));
         });
}

// The op of the program that computes what the node computes; nothing where the node checks more.
std::optional<std::string> OpFor(const NodeView& node, const std::vector<NodeShape>& shapes) {
  std::string op(node.op);
  if (op == "BiasAdd" || op == "BiasAddV1") {
    const std::string_view format = node.String("data_format").value_or("NHWC");
    if (format != "NHWC" || !FitsBias(shapes)) return std::nullopt;
    return "AddV2";
  }
  if (op == "Select") {
    if (shapes.size() != 3 || !AreKnownEqual(shapes)) return std::nullopt;
    return "SelectV2";
  }
  const bool same = op == "AddN" || FindMapRow(op).operands == Operands::kSameShape;
  if (same && !AreKnownEqual(shapes)) return std::nullopt;
  if (op == "ClipByValue" && !FitsClip(shapes)) return std::nullopt;
  if (op == "Cast" && node.Bool("Truncate").value_or(false)) return std::nullopt;
  if (!node.Bool("incompatible_shape_error").value_or(true)) return std::nullopt;
  return op;
}

// The text of a number of this type; empty for a type that has none.
std::string NumberText(TF_DataType type, const char* bytes) {
  switch (type) {
    case TF_FLOAT: {
      float value = 0;
      std::memcpy(&value, bytes, sizeof(value));
      return std::isfinite(value) ? DecimalText(value, std::chars_format::general, 9) : "";
    }
    case TF_DOUBLE: {
      double value = 0;
      std::memcpy(&value, bytes, sizeof(value));
      return std::isfinite(value) ? DecimalText(value, std::chars_format::general, 17) : "";
    }
    case TF_INT32: {
      int32_t value = 0;
      std::memcpy(&value, bytes, sizeof(value));
      return std::to_string(value);
    }
    default:
      return "";
  }
}

// The bytes of a scalar from a TensorProto, which holds them as tensor_content or in a field of
// numbers. Empty for a tensor that is no scalar.
std::string ScalarBytes(std::string_view tensor, TF_DataType type) {
  constexpr int kShape = 2, kDim = 2, kUnknownRank = 3, kContent = 4, kFloats = 5, kDoubles = 6,
                kInts = 7;
  std::string bytes;
  FieldReader reader(tensor);
  for (Field field; reader.Next(&field);) {
    if (field.number == kShape) {
      FieldReader shape(field.content);
      for (Field part; shape.Next(&part);) {
        if (part.number == kDim || (part.number == kUnknownRank && part.varint != 0)) return "";
      }
    }
    const bool numbers = field.number == kContent ||
                         (field.number == kFloats && type == TF_FLOAT) ||
                         (field.number == kDoubles && type == TF_DOUBLE);
    if (numbers) bytes = field.content;
    if (field.number == kInts && type == TF_INT32) {
      const bool packed = !field.content.empty();
      const auto number =
          static_cast<int32_t>(packed ? FieldReader(field.content).Varint() : field.varint);
      bytes.assign(reinterpret_cast<const char*>(&number), sizeof(number));
    }
  }
  return bytes;
}

}  // namespace

std::optional<ElementNode> ElementNodeOf(const NodeView& node, const ShapeOfInput& shape_of) {
  std::vector<NodeShape> shapes;
  for (const std::string_view input : node.inputs) {
    if (input.empty() || input[0] == '^') return std::nullopt;
    shapes.push_back(shape_of(input));
  }
  const std::optional<TF_DataType> type = node.Type(node.op == "Cast" ? "SrcT" : "T");
  const bool logical = node.op.substr(0, 7) == "Logical";
  if ((!type && !logical) || shapes.empty()) return std::nullopt;
  const std::optional<std::string> op = OpFor(node, shapes);
  const TF_DataType first = logical ? TF_BOOL : *type;
  if (!op || !MayStandInProgram(*op, first)) return std::nullopt;
  ElementNode statement{*op, std::vector<TF_DataType>(shapes.size(), first)};
  if (*op == "SelectV2") statement.operands[0] = TF_BOOL;
  if (*op == "Cast") {
    const std::optional<TF_DataType> to = node.Type("DstT");
    const char* name = to ? NameOfType(*to) : nullptr;
    if (name == nullptr) return std::nullopt;
    statement.head += Joined({"<", name, ">"});
  }
  const MapRow* row = FindMapRow(*op).row;
  if (row != nullptr && row->attr0 != nullptr) {
    const std::optional<float> value = node.Float(row->attr0);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    statement.head += Joined({"[", DecimalText(*value, std::chars_format::general, 9), "]"});
  }
  return statement;
}

std::optional<std::string> ConstantText(const NodeView& node) {
  if (node.op != "Const" || !node.inputs.empty()) return std::nullopt;
  const std::optional<std::string_view> tensor = node.Tensor("value");
  const std::optional<TF_DataType> type = node.Type("dtype");
  if (!tensor || !type) return std::nullopt;
  const std::string bytes = ScalarBytes(*tensor, *type);
  if (bytes.empty() || bytes.size() != TF_DataTypeSize(*type)) return std::nullopt;
  const std::string text = NumberText(*type, bytes.data());
  if (text.empty()) return std::nullopt;
  return text + ":" + NameOfType(*type);
}

}  // namespace opencl
