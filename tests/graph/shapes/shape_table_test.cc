// Shape functions against TensorFlow's, from a table: one node per line, fields separated by tabs.
//   Slice <TAB> @T type: DT_FLOAT … <TAB> <DT_FLOAT[2,?] <TAB> <DT_INT32[2]={0,1} … <TAB> >[2,?]
// `@` an attribute in text form, `<` an input (with its value if it is constant), `>` an output,
// `>error` or (what only runs refuse) `>run`, `#` a remark.
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_registry.h"
#include "graph/shapes/shape_inference.h"
#include "proto/attr_value.pb.h"

namespace tenon {
namespace {

struct Row {
  std::string op;
  std::vector<std::pair<std::string, std::string>> attrs;  // name, wire
  std::vector<DataType> input_types;
  std::vector<TensorInfo> inputs;
  std::vector<PartialShape> outputs;
  bool error = false;
};

PartialShape ParseShape(std::string_view text) {
  if (text == "?") return PartialShape();
  PartialShape shape = Shape();
  text = text.substr(1, text.size() - 2);
  if (text.empty()) return shape;
  for (std::string_view d : absl::StrSplit(text, ',')) {
    int64_t v = kUnknownDim;
    if (d != "?") {
      EXPECT_TRUE(absl::SimpleAtoi(d, &v)) << text;
    }
    shape.push_back(v);
  }
  return shape;
}

template <typename T>
void Append(std::string* bytes, double v) {
  const T t = static_cast<T>(v);
  bytes->append(reinterpret_cast<const char*>(&t), sizeof(t));
}

void AppendElement(DataType type, std::string_view text, std::string* bytes) {
  double v = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &v)) << text;
  switch (type) {
    case DataType::kInt8:
      return Append<int8_t>(bytes, v);
    case DataType::kUint8:
      return Append<uint8_t>(bytes, v);
    case DataType::kBool:
      return Append<bool>(bytes, v);
    case DataType::kInt16:
      return Append<int16_t>(bytes, v);
    case DataType::kUint16:
      return Append<uint16_t>(bytes, v);
    case DataType::kInt32:
      return Append<int32_t>(bytes, v);
    case DataType::kUint32:
      return Append<uint32_t>(bytes, v);
    case DataType::kInt64:
      return Append<int64_t>(bytes, v);
    case DataType::kUint64:
      return Append<uint64_t>(bytes, v);
    case DataType::kFloat:
      return Append<float>(bytes, v);
    case DataType::kDouble:
      return Append<double>(bytes, v);
    default:
      ADD_FAILURE() << "no values of " << DataTypeName(type);
  }
}

TensorInfo ParseInput(std::string_view text, DataType* type) {
  const auto [name, rest] =
      std::pair(text.substr(0, text.find_first_of("[?")), text.substr(text.find_first_of("[?")));
  *type = ParseDataTypeName(name).value_or(DataType::kInvalid);
  TensorInfo info;
  const size_t equal = rest.find('=');
  info.shape = ParseShape(rest.substr(0, equal));
  if (equal == std::string_view::npos) return info;
  std::string bytes;
  const std::string_view list = rest.substr(equal + 2, rest.size() - equal - 3);
  for (std::string_view e : absl::StrSplit(list, ',', absl::SkipEmpty()))
    AppendElement(*type, e, &bytes);
  info.value = std::make_shared<const Tensor>(
      Tensor::CopyOf(*type, *info.shape.ToShape(), bytes.data(), bytes.size()));
  return info;
}

Row ParseRow(const std::string& line) {
  Row row;
  for (std::string_view field : absl::StrSplit(line, '\t')) {
    const std::string_view rest = field.substr(1);
    if (field[0] == '@') {
      const size_t space = rest.find(' ');
      pb::AttrValue value;
      EXPECT_TRUE(
          google::protobuf::TextFormat::ParseFromString(std::string(rest.substr(space)), &value))
          << rest;
      row.attrs.emplace_back(rest.substr(0, space), value.SerializeAsString());
    } else if (field[0] == '<') {
      row.inputs.push_back(ParseInput(rest, &row.input_types.emplace_back()));
    } else if (field[0] == '>') {
      row.error |= rest == "error";
      if (rest != "error" && rest != "run") row.outputs.push_back(ParseShape(rest));
    } else if (field[0] != '#') {
      row.op = std::string(field);
    }
  }
  return row;
}

struct Result {
  absl::Status status;
  std::vector<PartialShape> outputs;
};

Result Infer(const Row& row, const OpDef& op) {
  std::vector<Attr> sorted;
  for (const auto& [name, wire] : row.attrs) sorted.push_back({name, AttrValue(wire)});
  std::sort(sorted.begin(), sorted.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  const AttrSet attrs(std::move(sorted));
  if (const auto wrong = CheckAttrs(op, attrs); !wrong.empty()) {
    return {absl::InvalidArgumentError(wrong[0]), {}};
  }
  const auto types = ResolveTypes(op, attrs);
  if (!types.ok()) return {types.status(), {}};
  if (types->inputs.size() != row.inputs.size())
    return {absl::InvalidArgumentError("number of inputs"), {}};
  InferenceContext::Infos inputs;
  for (const TensorInfo& i : row.inputs) inputs.push_back(&i);
  InferenceContext c(op, attrs, *types, inputs);
  Result result{RunShapeFn(c, "op"), {}};
  for (int i = 0; i < c.num_outputs(); ++i) result.outputs.push_back(c.output(i).shape);
  return result;
}

// `ours` knows all that `theirs` knows. It may know more.
bool KnowsAsMuch(const PartialShape& ours, const PartialShape& theirs) {
  const auto merged = ours.Merge(theirs);
  return merged.ok() && *merged == ours;
}

TEST(ShapeFunctions, KnowWhatTensorFlowKnows) {
  std::ifstream table("tests/golden/ops/shapes.txt");
  ASSERT_TRUE(table.is_open());
  for (std::string line; std::getline(table, line);) {
    const Row row = ParseRow(line);
    const OpDef* op = OpRegistry::Global().Find(row.op);
    ASSERT_NE(op, nullptr) << row.op;
    const Result result = Infer(row, *op);
    EXPECT_EQ(result.status.ok(), !row.error) << line << "\n  ours: " << result.status;
    if (!result.status.ok() || row.error) continue;
    ASSERT_EQ(result.outputs.size(), row.outputs.size()) << line;
    for (size_t i = 0; i < row.outputs.size(); ++i) {
      EXPECT_TRUE(KnowsAsMuch(result.outputs[i], row.outputs[i]))
          << line << "\n  ours: " << i << " is " << result.outputs[i].ToString();
    }
  }
}

// TensorFlow loads these nodes, and refuses them, if at all, when they run. Nothing may follow from
// their outputs.
TEST(ShapeFunctions, LeaveToRunsWhatTensorFlowLeavesToThem) {
  std::ifstream table("tests/golden/ops/run_time_errors.txt");
  ASSERT_TRUE(table.is_open());
  for (std::string line; std::getline(table, line);) {
    const Row row = ParseRow(line);
    const OpDef* op = OpRegistry::Global().Find(row.op);
    ASSERT_NE(op, nullptr) << row.op;
    const Result result = Infer(row, *op);
    EXPECT_TRUE(result.status.ok()) << line << "\n  ours: " << result.status;
    for (const PartialShape& shape : result.outputs)
      EXPECT_FALSE(shape.known_rank()) << line << "\n  ours: " << shape.ToString();
  }
}

}  // namespace
}  // namespace tenon
