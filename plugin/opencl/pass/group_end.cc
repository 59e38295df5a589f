#include "group_end.h"

#include <algorithm>
#include <cstring>

#include "../ops/row_ends.h"

namespace opencl {
namespace {

// Fields of TensorProto.
constexpr int kTensorShape = 2, kTensorContent = 4, kTensorInts = 7, kTensorInt64s = 10;

// The number of elements of a TensorShapeProto; -1 for an unknown one.
int64_t ElementsOf(std::string_view shape) {
  constexpr int64_t kMostAxes = 64;
  constexpr int kDim = 2, kUnknownRank = 3, kSize = 1;
  int64_t count = 1;
  FieldReader reader(shape);
  for (Field part; reader.Next(&part);) {
    if (part.number == kUnknownRank && part.varint != 0) return -1;
    if (part.number != kDim) continue;
    int64_t size = 0;
    FieldReader dim(part.content);
    for (Field field; dim.Next(&field);)
      if (field.number == kSize) size = static_cast<int64_t>(field.varint);
    if (size < 0 || size > kMostAxes) return -1;  // no list of axes
    count *= size;
    if (count > kMostAxes) return -1;
  }
  return count;
}

std::optional<std::vector<int64_t>> IntsOf(std::string_view tensor, TF_DataType type) {
  const size_t bytes = type == TF_INT64 ? sizeof(int64_t) : sizeof(int32_t);
  std::vector<int64_t> values;
  int64_t count = 1;
  FieldReader reader(tensor);
  for (Field field; reader.Next(&field);) {
    if (field.number == kTensorShape) count = ElementsOf(field.content);
    if (field.number == kTensorContent) {
      for (std::string_view rest = field.content; rest.size() >= bytes; rest.remove_prefix(bytes)) {
        int64_t wide = 0;
        int32_t narrow = 0;
        std::memcpy(bytes == 8 ? static_cast<void*>(&wide) : &narrow, rest.data(), bytes);
        values.push_back(bytes == 8 ? wide : narrow);
      }
    }
    if (field.number != (type == TF_INT64 ? kTensorInt64s : kTensorInts)) continue;
    FieldReader packed(field.content);
    if (packed.AtEnd()) values.push_back(static_cast<int64_t>(field.varint));
    while (!packed.AtEnd()) values.push_back(static_cast<int64_t>(packed.Varint()));
  }
  if (count < 0 || static_cast<int64_t>(values.size()) > count) return std::nullopt;
  // The last value that is there stands for all that are not.
  values.resize(static_cast<size_t>(count), values.empty() ? 0 : values.back());
  return values;
}

// The node that reduces these axes of a tensor of `rank` dimensions; NULL if none does.
const char* ReducingOp(std::vector<int64_t> axes, int64_t rank, bool keeps) {
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return nullptr;
  if (axes.empty() || axes.front() < 0 || axes.back() >= rank) return nullptr;
  if (axes.size() == 1 && axes[0] == rank - 1)
    return keeps ? "_OpenCLFusedRowsKept" : "_OpenCLFusedRows";
  return static_cast<int64_t>(axes.size()) == rank && !keeps ? "_OpenCLFusedAll" : nullptr;
}

// The integers of a Const of int32 or int64. Nothing for another node.
std::optional<std::vector<int64_t>> ConstantInts(const NodeView& node) {
  const std::optional<std::string_view> tensor = node.Tensor("value");
  const std::optional<TF_DataType> type = node.Type("dtype");
  if (node.op != "Const" || !tensor || (type != TF_INT32 && type != TF_INT64)) return std::nullopt;
  return IntsOf(*tensor, *type);
}

}  // namespace

std::optional<GroupEnd> GroupEndOf(
    const NodeView& node, const NodeShape& elements,
    const std::function<const NodeView*(std::string_view input)>& constant_of) {
  const std::optional<TF_DataType> type = node.Type("T");
  const bool controlled = std::any_of(node.inputs.begin(), node.inputs.end(),
                                      [](auto input) { return input.empty() || input[0] == '^'; });
  if (!type || !elements || elements->empty() || controlled) return std::nullopt;
  GroupEnd end;
  end.end = node.op;
  end.type = *type;
  if ((node.op == "Softmax" || node.op == "LogSoftmax") && node.inputs.size() == 1) return end;
  if (node.op == "_TenonLayerNorm" && node.inputs.size() == 3) {
    const std::optional<float> epsilon = node.Float("epsilon");
    if (!epsilon || type != TF_FLOAT) return std::nullopt;
    end.end = "LayerNorm";
    end.epsilon = *epsilon;
    end.inputs = 2;
    return end;
  }
  if (FindReduction(node.op, *type) == nullptr || node.inputs.size() != 2) return std::nullopt;
  const NodeView* const axes = constant_of(node.inputs[1]);
  const auto numbers = axes == nullptr ? std::nullopt : ConstantInts(*axes);
  const char* const op = numbers ? ReducingOp(*numbers, static_cast<int64_t>(elements->size()),
                                              node.Bool("keep_dims").value_or(false))
                                 : nullptr;
  if (op == nullptr) return std::nullopt;
  end.op = op;
  return end;
}

}  // namespace opencl
