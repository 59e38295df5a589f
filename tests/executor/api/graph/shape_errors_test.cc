// What the C API answers for nodes whose shapes are wrong, against TensorFlow's answers: one node
// per line of a table, fields separated by tabs.
//   Slice <TAB> @Index type: DT_INT32 … <TAB> <DT_FLOAT[4,?] <TAB> <DT_INT32[2]={0,1} … <TAB>
//   #message
// `@` an attribute in text form, `<` an input (with its value if it is constant), `*2` says that
// the next two inputs are one list, `#` the message, with newlines and tabs as in C.
#include <fstream>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "proto/attr_value.pb.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using testing::GraphPtr;
using testing::StatusPtr;

class ShapeErrors : public ::testing::Test {
 protected:
  void SetAttr(TF_OperationDescription* desc, std::string_view name, std::string_view text) {
    pb::AttrValue value;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &value)) << text;
    const std::string wire = value.SerializeAsString();
    TF_SetAttrValueProto(desc, std::string(name).c_str(), wire.data(), wire.size(), status_.get());
  }

  // "DT_INT32[2]={0,1}".
  TF_Output Input(std::string_view text, const std::string& name) {
    const size_t at = text.find_first_of("[?");
    const std::string type(text.substr(0, at));
    const std::string_view shape = text.substr(at, text[at] == '?' ? 1 : text.find(']') - at + 1);
    const std::string_view value = text.substr(at + shape.size());
    TF_OperationDescription* const desc =
        TF_NewOperation(graph_.get(), value.empty() ? "Placeholder" : "Const", name.c_str());
    SetAttr(desc, "dtype", absl::StrCat("type: ", type));
    std::string dims;
    if (shape.size() > 2) {
      for (std::string_view d : absl::StrSplit(shape.substr(1, shape.size() - 2), ','))
        absl::StrAppend(&dims, "dim { size: ", d == "?" ? "-1" : d, " } ");
    }
    if (value.empty()) {
      SetAttr(desc, "shape",
              absl::StrCat("shape { ", shape == "?" ? "unknown_rank: true" : dims, "}"));
    } else {
      std::string elements;
      const std::string_view list = value.substr(2, value.size() - 3);
      for (std::string_view element : absl::StrSplit(list, ',', absl::SkipEmpty()))
        absl::StrAppend(&elements, type == "DT_INT32" ? "int_val: " : "int64_val: ", element, " ");
      SetAttr(
          desc, "value",
          absl::StrCat("tensor { dtype: ", type, " tensor_shape { ", dims, "} ", elements, "}"));
    }
    TF_Operation* const oper = TF_FinishOperation(desc, status_.get());
    EXPECT_NE(nullptr, oper) << text << ": " << TF_Message(status_.get());
    return {oper, 0};
  }

  // Checks the node of one line.
  void Check(const std::string& line) {
    graph_.reset(TF_NewGraph());
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    std::vector<TF_Output> inputs;
    for (const std::string& field : fields) {
      if (field[0] == '<')
        inputs.push_back(Input(field.substr(1), absl::StrCat("in", inputs.size())));
    }
    TF_OperationDescription* const desc = TF_NewOperation(graph_.get(), fields[0].c_str(), "o");
    size_t next = 0, in_list = 0;
    std::string wanted;
    for (const std::string& field : fields) {
      const std::string_view rest = std::string_view(field).substr(1);
      if (field[0] == '@') {
        const size_t space = rest.find(' ');
        SetAttr(desc, rest.substr(0, space), rest.substr(space + 1));
      } else if (field[0] == '*') {
        ASSERT_TRUE(absl::SimpleAtoi(rest, &in_list));
        TF_AddInputList(desc, inputs.data() + next, static_cast<int>(in_list));
        next += in_list;
      } else if (field[0] == '<' && in_list > 0) {
        --in_list;
      } else if (field[0] == '<') {
        TF_AddInput(desc, inputs[next++]);
      } else if (field[0] == '#') {
        ASSERT_TRUE(absl::CUnescape(rest, &wanted));
      }
    }
    EXPECT_EQ(nullptr, TF_FinishOperation(desc, status_.get())) << line;
    EXPECT_EQ(TF_INVALID_ARGUMENT, TF_GetCode(status_.get())) << line;
    EXPECT_EQ(wanted, TF_Message(status_.get())) << line;
  }

 private:
  const StatusPtr status_{TF_NewStatus()};
  GraphPtr graph_;
};

TEST_F(ShapeErrors, AreThoseOfTensorFlow) {
  std::ifstream table("tests/golden/ops/shape_errors.txt");
  int lines = 0;
  for (std::string line; std::getline(table, line); ++lines) Check(line);
  EXPECT_GT(lines, 500);
}

class ShapeErrorsOfNodes : public testing::GraphFixture {};

// Control inputs have no shape. The text is TensorFlow's.
TEST_F(ShapeErrorsOfNodes, LeaveOutControlInputs) {
  const std::vector<int64_t> image = {1, 4, 4, 1};
  TF_Operation* const x = Placeholder("x", TF_FLOAT, &image);
  TF_Operation *const block = Placeholder("block"), *const pads = Placeholder("pads");
  TF_Operation* const before = Placeholder("c");
  TF_OperationDescription* const desc = New("SpaceToBatchND", "s");
  for (TF_Operation* const input : {x, block, pads}) TF_AddInput(desc, {input, 0});
  TF_AddControlInput(desc, before);
  EXPECT_EQ(nullptr, TF_FinishOperation(desc, s()));
  EXPECT_EQ(
      "block_shape must have rank 1. for '{{node s}} = SpaceToBatchND[T=DT_FLOAT, "
      "Tblock_shape=DT_INT32, Tpaddings=DT_INT32](x, block, pads, ^c)' with input shapes: "
      "[1,4,4,1], ?, ?.",
      message());
}

}  // namespace
}  // namespace tenon
