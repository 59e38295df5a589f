// TensorFlow's cases for attributes in the kernel C API: what a kernel may ask about its node while
// it is created.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/c_api/c_api_internal.h"
#include "graph/tensor/tensor_proto.h"
#include "proto/attr_value.pb.h"
#include "tests/plugin/host/c_api/kernel_node_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::RegisterTestKernel;
using testing::RegisterTestOp;
using testing::S;
using testing::TestNode;

void NoCompute(void*, TF_OpKernelContext*) {}

using CreateFn = void* (*)(TF_OpKernelConstruction*);

void CreateWithAttr(const std::string& type, const std::string& wire, CreateFn create) {
  static int number = 0;
  const std::string op = absl::StrCat("AttrOp", ++number);
  RegisterTestOp(op, {}, {}, {absl::StrCat("Attr: ", type)});
  RegisterTestKernel(op, "CPU", create, NoCompute);
  auto kernel = TestNode(op, {{"Attr", wire}}, "FakeNode").CreateKernel();
  ASSERT_TRUE(kernel.ok()) << kernel.status();
}

void ExpectSizes(TF_OpKernelConstruction* ctx, int32_t list, int32_t total) {
  int32_t list_size = -7;
  int32_t total_size = -7;
  S status;
  TF_OpKernelConstruction_GetAttrSize(ctx, "Attr", &list_size, &total_size, status);
  EXPECT_EQ(status.code(), TF_OK) << status.message();
  EXPECT_EQ(list_size, list);
  EXPECT_EQ(total_size, total);
}

TEST(TestKernelAttr, GetNodeDefAndNames) {
  CreateWithAttr("int", attr::Int(1), [](TF_OpKernelConstruction* ctx) -> void* {
    S status;
    TF_Buffer* node_def = TF_OpKernelConstruction_GetNodeDef(ctx, status);
    EXPECT_EQ(BufferBytes(*node_def), "wire of FakeNode");
    TF_DeleteBuffer(node_def);
    const TF_StringView name = TF_OpKernelConstruction_GetName(ctx);
    EXPECT_EQ(std::string(name.data, name.len), "FakeNode");
    EXPECT_TRUE(TF_OpKernelConstruction_HasAttr(ctx, "Attr", status));
    EXPECT_FALSE(TF_OpKernelConstruction_HasAttr(ctx, "Other", status));
    return nullptr;
  });
}

TEST(TestKernelAttr, Errors) {
  CreateWithAttr("int", attr::Int(int64_t{1} << 40), [](TF_OpKernelConstruction* ctx) -> void* {
    S status;
    float f = 3;
    TF_OpKernelConstruction_GetAttrFloat(ctx, "A", &f, status);
    EXPECT_EQ(status.code(), TF_NOT_FOUND);
    EXPECT_EQ(status.message(), "No attr named 'A' in NodeDef:\n\t [[{{node FakeNode}}]]");
    TF_OpKernelConstruction_GetAttrFloat(ctx, "Attr", &f, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "AttrValue had value with type 'int' when 'float' expected");
    EXPECT_EQ(f, 3);
    int32_t i = 5;
    TF_OpKernelConstruction_GetAttrInt32(ctx, "Attr", &i, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "Attr Attr has value 1099511627776 out of range for an int32");
    EXPECT_EQ(i, 5);
    TF_OpKernelConstruction_GetAttrInt32List(ctx, "Attr", &i, 1, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "Attribute 'Attr' is not a list.");
    TF_OpKernelConstruction_GetAttrInt32List(ctx, "A", &i, 1, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "Operation 'FakeNode' has no attr named 'A'.");
    TF_OpKernelConstruction_GetAttrTensorList(ctx, "Attr", nullptr, 0, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "AttrValue had value with type 'int' when 'list(tensor)' expected");
    TF_OpKernelConstruction_GetAttrTensorList(ctx, "A", nullptr, 0, status);
    EXPECT_EQ(status.code(), TF_NOT_FOUND);
    TF_OpKernelConstruction_GetAttrBool(ctx, "_internal", nullptr, status);
    EXPECT_EQ(status.message(), "No attr named '_internal' in NodeDef:");
    TF_OpKernelConstruction_GetAttrBool(ctx, nullptr, nullptr, status);
    EXPECT_EQ(status.message(), "No attr named '' in NodeDef:\n\t [[{{node FakeNode}}]]");
    int64_t wide = 0;
    TF_OpKernelConstruction_GetAttrInt64(ctx, "Attr", &wide, status);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(wide, int64_t{1} << 40);
    int32_t list = 0;
    int32_t total = 0;
    TF_OpKernelConstruction_GetAttrSize(ctx, "A", &list, &total, status);
    EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
    EXPECT_EQ(status.message(), "Operation 'FakeNode' has no attr named 'A'.");
    EXPECT_EQ(list, -1);
    EXPECT_EQ(total, -1);
    // A status that is not OK stays, and nothing is said of the attribute.
    TF_SetStatus(status, TF_ABORTED, "from before");
    list = total = 0;
    TF_OpKernelConstruction_GetAttrSize(ctx, "Attr", &list, &total, status);
    EXPECT_EQ(status.code(), TF_ABORTED);
    EXPECT_EQ(status.message(), "from before");
    EXPECT_EQ(list, -1);
    EXPECT_EQ(total, -1);
    return nullptr;
  });
}

TEST(TestKernelAttr, String) {
  CreateWithAttr("string", attr::String("bunny"), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, 5);
    char value[6] = "XXXXX";
    S status;
    TF_OpKernelConstruction_GetAttrString(ctx, "Attr", value, 3, status);
    EXPECT_EQ(std::string(value), "bunXX");
    TF_OpKernelConstruction_GetAttrString(ctx, "Attr", value, 5, status);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(std::string(value), "bunny");
    return nullptr;
  });
}

TEST(TestKernelAttr, StringList) {
  const std::vector<std::string_view> strings = {"bugs", "bunny", "duck"};
  CreateWithAttr(
      "list(string)", attr::StringList(strings), [](TF_OpKernelConstruction* ctx) -> void* {
        ExpectSizes(ctx, 3, 13);
        char* values[3];
        size_t lengths[3];
        char storage[13];
        S status;
        TF_OpKernelConstruction_GetAttrStringList(ctx, "Attr", values, lengths, 3, storage,
                                                  sizeof(storage), status);
        EXPECT_EQ(status.code(), TF_OK);
        EXPECT_EQ(std::string(values[1], lengths[1]), "bunny");
        EXPECT_EQ(std::string(values[2], lengths[2]), "duck");
        TF_OpKernelConstruction_GetAttrStringList(ctx, "Attr", values, lengths, 3, storage, 12,
                                                  status);
        EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
        EXPECT_EQ(status.message(), "Not enough storage to hold the requested list of strings");
        EXPECT_EQ(lengths[2], 4u);
        return nullptr;
      });
}

std::string TensorWire() {
  const std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  return *TensorToWire(Tensor::Of<int32_t>(DataType::kInt32, values, Shape({2, 3})));
}

TEST(TestKernelAttr, Tensor) {
  CreateWithAttr("tensor", attr::TensorWire(TensorWire()),
                 [](TF_OpKernelConstruction* ctx) -> void* {
                   ExpectSizes(ctx, -1, -1);
                   TF_Tensor* tensor = nullptr;
                   S status;
                   TF_OpKernelConstruction_GetAttrTensor(ctx, "Attr", &tensor, status);
                   EXPECT_EQ(status.code(), TF_OK) << status.message();
                   EXPECT_EQ(TF_TensorType(tensor), TF_INT32);
                   EXPECT_EQ(TF_Dim(tensor, 1), 3);
                   EXPECT_EQ(static_cast<int32_t*>(TF_TensorData(tensor))[5], 6);
                   TF_DeleteTensor(tensor);
                   return nullptr;
                 });
}

TEST(TestKernelAttr, TensorList) {
  pb::AttrValue value;
  for (int i = 0; i < 2; ++i) value.mutable_list()->add_tensor()->ParseFromString(TensorWire());
  CreateWithAttr("list(tensor)", value.SerializeAsString(),
                 [](TF_OpKernelConstruction* ctx) -> void* {
                   ExpectSizes(ctx, 2, -1);
                   TF_Tensor* tensors[2] = {};
                   S status;
                   TF_OpKernelConstruction_GetAttrTensorList(ctx, "Attr", tensors, 2, status);
                   EXPECT_EQ(status.code(), TF_OK) << status.message();
                   for (TF_Tensor* t : tensors) {
                     EXPECT_EQ(TF_TensorElementCount(t), 6);
                     TF_DeleteTensor(t);
                   }
                   return nullptr;
                 });
}

TEST(TestKernelAttr, Numbers) {
  CreateWithAttr("int", attr::Int(1234), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, -1);
    S status;
    int32_t value = 0;
    TF_OpKernelConstruction_GetAttrInt32(ctx, "Attr", &value, status);
    EXPECT_EQ(status.code(), TF_OK);
    EXPECT_EQ(value, 1234);
    return nullptr;
  });
  CreateWithAttr("float", attr::Float(2.718f), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, -1);
    S status;
    float value = 0;
    TF_OpKernelConstruction_GetAttrFloat(ctx, "Attr", &value, status);
    EXPECT_FLOAT_EQ(value, 2.718f);
    return nullptr;
  });
  CreateWithAttr("bool", attr::Bool(true), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, -1);
    S status;
    TF_Bool value = 0;
    TF_OpKernelConstruction_GetAttrBool(ctx, "Attr", &value, status);
    EXPECT_EQ(value, 1);
    return nullptr;
  });
  CreateWithAttr("type", attr::Type(DataType::kFloat), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, -1);
    S status;
    TF_DataType value = TF_INT32;
    TF_OpKernelConstruction_GetAttrType(ctx, "Attr", &value, status);
    EXPECT_EQ(value, TF_FLOAT);
    return nullptr;
  });
  CreateWithAttr("shape", attr::Shape(PartialShape({1, 3})),
                 [](TF_OpKernelConstruction* ctx) -> void* {
                   ExpectSizes(ctx, -1, 2);
                   return nullptr;
                 });
  CreateWithAttr("shape", attr::Shape(PartialShape()), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, -1, -1);
    return nullptr;
  });
}

TEST(TestKernelAttr, Lists) {
  const std::vector<int64_t> ints = {1, 2, 3, 4};
  CreateWithAttr("list(int)", attr::IntList(ints), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, 4, -1);
    S status;
    int32_t narrow[4] = {};
    int64_t wide[2] = {};
    TF_OpKernelConstruction_GetAttrInt32List(ctx, "Attr", narrow, 4, status);
    EXPECT_THAT(narrow, ElementsAre(1, 2, 3, 4));
    TF_OpKernelConstruction_GetAttrInt64List(ctx, "Attr", wide, 2, status);
    EXPECT_THAT(wide, ElementsAre(1, 2));
    float f = 0;
    TF_OpKernelConstruction_GetAttrFloatList(ctx, "Attr", &f, 1, status);
    EXPECT_EQ(status.message(),
              "AttrValue had value with type 'list(int)' when 'list(float)' expected");
    return nullptr;
  });
  const std::vector<float> floats = {1.414f, 2.718f};
  CreateWithAttr("list(float)", attr::FloatList(floats), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, 2, -1);
    S status;
    float values[2] = {};
    TF_OpKernelConstruction_GetAttrFloatList(ctx, "Attr", values, 2, status);
    EXPECT_THAT(values, ElementsAre(1.414f, 2.718f));
    return nullptr;
  });
  const bool bools[] = {true, false, true};
  CreateWithAttr("list(bool)", attr::BoolList(bools), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, 3, -1);
    S status;
    TF_Bool values[3] = {};
    TF_OpKernelConstruction_GetAttrBoolList(ctx, "Attr", values, 3, status);
    EXPECT_THAT(values, ElementsAre(1, 0, 1));
    return nullptr;
  });
  const std::vector<DataType> types = {DataType::kFloat, DataType::kInt8};
  CreateWithAttr("list(type)", attr::TypeList(types), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, 2, -1);
    S status;
    TF_DataType values[2] = {};
    TF_OpKernelConstruction_GetAttrTypeList(ctx, "Attr", values, 2, status);
    EXPECT_THAT(values, ElementsAre(TF_FLOAT, TF_INT8));
    return nullptr;
  });
  const std::vector<int64_t> wide_ints = {7, -8, 6'000'000'000};
  CreateWithAttr("list(int)", attr::IntList(wide_ints), [](TF_OpKernelConstruction* ctx) -> void* {
    S status;
    int32_t values[3] = {};
    TF_OpKernelConstruction_GetAttrInt32List(ctx, "Attr", values, 2, status);
    EXPECT_EQ(status.code(), TF_OK) << status.message();
    EXPECT_THAT(values, ElementsAre(7, -8, 0));
    TF_OpKernelConstruction_GetAttrInt32List(ctx, "Attr", values, 3, status);
    EXPECT_EQ(status.code(), TF_OK) << status.message();
    EXPECT_THAT(values, ElementsAre(7, -8, 1705032704));  // the lower half, as in TensorFlow
    return nullptr;
  });
  CreateWithAttr("list(int)", attr::IntList({}), [](TF_OpKernelConstruction* ctx) -> void* {
    ExpectSizes(ctx, 0, -1);
    S status;
    int32_t value = 0;
    TF_OpKernelConstruction_GetAttrInt32(ctx, "Attr", &value, status);
    EXPECT_EQ(status.message(), "AttrValue missing value with expected type 'int'");
    TF_OpKernelConstruction_GetAttrFloatList(ctx, "Attr", nullptr, 1, status);
    EXPECT_EQ(status.code(), TF_OK);
    return nullptr;
  });
}

TEST(TestKernelAttr, FunctionAndDefaults) {
  CreateWithAttr("func", attr::Func("body"), [](TF_OpKernelConstruction* ctx) -> void* {
    S status;
    TF_Buffer* buffer = TF_OpKernelConstruction_GetAttrFunction(ctx, "Attr", status);
    pb::NameAttrList list;
    EXPECT_TRUE(list.ParseFromArray(buffer->data, static_cast<int>(buffer->length)));
    EXPECT_EQ(list.name(), "body");
    TF_DeleteBuffer(buffer);
    return nullptr;
  });
  RegisterTestOp("WithDefault", {}, {}, {"Attr: int = 17"});
  RegisterTestKernel(
      "WithDefault", "CPU",
      [](TF_OpKernelConstruction* ctx) -> void* {
        S status;
        int64_t value = 0;
        TF_OpKernelConstruction_GetAttrInt64(ctx, "Attr", &value, status);
        EXPECT_EQ(value, 17);
        return nullptr;
      },
      NoCompute);
  EXPECT_TRUE(TestNode("WithDefault", {}).CreateKernel().ok());
}

}  // namespace
}  // namespace tenon
