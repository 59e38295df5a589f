// TF_SetAttr… and TF_OperationGetAttr… against each other.
#include <algorithm>
#include <cstring>

#include "executor/api/base/attr_checks.h"
#include "proto/attr_value.pb.h"
#include "tests/executor/api/c_api_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

// Any op keeps attributes whose names begin with '_'.
class Attrs : public testing::GraphFixture {
 protected:
  Attrs() : desc_(New("NoOp", "n")) {}
  TF_OperationDescription* desc() { return desc_; }
  TF_Operation* Done() { return oper_ = Finish(desc_); }
  TF_Operation* oper() { return oper_; }
  TF_AttrMetadata Metadata(const char* name) {
    const TF_AttrMetadata data = TF_OperationGetAttrMetadata(oper_, name, s());
    ExpectOk();
    return data;
  }
  void ExpectMetadata(const char* name, bool is_list, int64_t list_size, TF_AttrType type,
                      int64_t total_size) {
    const TF_AttrMetadata data = Metadata(name);
    EXPECT_EQ(is_list, data.is_list);
    EXPECT_EQ(list_size, data.list_size);
    EXPECT_EQ(type, data.type);
    EXPECT_EQ(total_size, data.total_size);
  }
  void ExpectInvalid(const std::string& text) {
    EXPECT_EQ(TF_INVALID_ARGUMENT, code());
    EXPECT_THAT(message(), StartsWith(text));
  }

 private:
  TF_OperationDescription* desc_;
  TF_Operation* oper_ = nullptr;
};

TEST_F(Attrs, String) {
  TF_SetAttrString(desc(), "_v", "bunny", 5);
  Done();
  ExpectMetadata("_v", false, -1, TF_ATTR_STRING, 5);
  char value[8] = "xxxxxxx";
  TF_OperationGetAttrString(oper(), "_v", value, 5, s());
  ExpectOk();
  EXPECT_STREQ("bunnyxx", value);
  TF_OperationGetAttrString(oper(), "_v", value, 2, s());
  EXPECT_STREQ("bunnyxx", value);
  TF_OperationGetAttrString(oper(), "_w", value, 2, s());
  ExpectInvalid("Operation 'n' has no attr named '_w'.");
  int64_t number;
  TF_OperationGetAttrInt(oper(), "_v", &number, s());
  ExpectInvalid("AttrValue had value with type 'string' when 'int' expected");
}

TEST_F(Attrs, StringList) {
  const void* values[] = {"bugs", "", "bunny"};
  const size_t lengths[] = {4, 0, 5};
  TF_SetAttrStringList(desc(), "_v", values, lengths, 3);
  Done();
  ExpectMetadata("_v", true, 3, TF_ATTR_STRING, 9);
  void* got[3];
  size_t sizes[3];
  char storage[9];
  TF_OperationGetAttrStringList(oper(), "_v", got, sizes, 3, storage, sizeof(storage), s());
  ExpectOk();
  EXPECT_EQ("bugs", std::string(static_cast<char*>(got[0]), sizes[0]));
  EXPECT_EQ(0, sizes[1]);
  EXPECT_EQ("bunny", std::string(static_cast<char*>(got[2]), sizes[2]));
  // Nothing is written where not all fit.
  std::fill_n(got, 3, nullptr);
  std::fill_n(sizes, 3, 99);
  std::fill_n(storage, 9, '-');
  TF_OperationGetAttrStringList(oper(), "_v", got, sizes, 3, storage, 8, s());
  ExpectInvalid("Not enough storage to hold the requested list of strings");
  EXPECT_THAT(got, ::testing::Each(nullptr));
  EXPECT_THAT(sizes, ::testing::Each(99));
  EXPECT_THAT(storage, ::testing::Each('-'));
  TF_OperationGetAttrStringList(oper(), "_v", got, sizes, 1, storage, 4, s());
  ExpectOk();
}

TEST_F(Attrs, Numbers) {
  const int64_t ints[] = {1, -2, INT64_MAX};
  const float floats[] = {1.5f, -2.f};
  const unsigned char bools[] = {0, 1, 7};
  const TF_DataType types[] = {TF_FLOAT, TF_STRING};
  TF_SetAttrInt(desc(), "_i", -31);
  TF_SetAttrIntList(desc(), "_is", ints, 3);
  TF_SetAttrFloat(desc(), "_f", 2.5f);
  TF_SetAttrFloatList(desc(), "_fs", floats, 2);
  TF_SetAttrBool(desc(), "_b", 9);
  TF_SetAttrBoolList(desc(), "_bs", bools, 3);
  TF_SetAttrType(desc(), "_t", TF_COMPLEX128);
  TF_SetAttrTypeList(desc(), "_ts", types, 2);
  TF_SetAttrIntList(desc(), "_none", nullptr, 0);
  Done();
  ExpectMetadata("_i", false, -1, TF_ATTR_INT, -1);
  ExpectMetadata("_is", true, 3, TF_ATTR_INT, -1);
  ExpectMetadata("_fs", true, 2, TF_ATTR_FLOAT, -1);
  ExpectMetadata("_b", false, -1, TF_ATTR_BOOL, -1);
  ExpectMetadata("_bs", true, 3, TF_ATTR_BOOL, -1);
  ExpectMetadata("_t", false, -1, TF_ATTR_TYPE, -1);
  EXPECT_EQ(0, Metadata("_none").list_size);
  int64_t i, is[3];
  TF_OperationGetAttrInt(oper(), "_i", &i, s());
  EXPECT_EQ(-31, i);
  TF_OperationGetAttrIntList(oper(), "_is", is, 3, s());
  EXPECT_THAT(is, ElementsAre(1, -2, INT64_MAX));
  float f, fs[2] = {0, 9};
  TF_OperationGetAttrFloat(oper(), "_f", &f, s());
  EXPECT_EQ(2.5f, f);
  TF_OperationGetAttrFloatList(oper(), "_fs", fs, 1, s());
  EXPECT_THAT(fs, ElementsAre(1.5f, 9));
  unsigned char b, bs[3];
  TF_OperationGetAttrBool(oper(), "_b", &b, s());
  EXPECT_EQ(1, b);
  TF_OperationGetAttrBoolList(oper(), "_bs", bs, 3, s());
  EXPECT_THAT(bs, ElementsAre(0, 1, 1));
  TF_DataType t, ts[2];
  TF_OperationGetAttrType(oper(), "_t", &t, s());
  EXPECT_EQ(TF_COMPLEX128, t);
  TF_OperationGetAttrTypeList(oper(), "_ts", ts, 2, s());
  EXPECT_THAT(ts, ElementsAre(TF_FLOAT, TF_STRING));
  ExpectOk();
  TF_OperationGetAttrIntList(oper(), "_i", is, 3, s());
  ExpectInvalid("Value for '_i' is not a list.");
  TF_OperationGetAttrInt(oper(), "_j", &i, s());
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_EQ("No attr named '_j' in NodeDef:", message());
}

TEST_F(Attrs, Shapes) {
  const int64_t a[] = {5, -1, 7}, b[] = {2};
  const int64_t* dims[] = {a, nullptr, b, nullptr};
  const int ranks[] = {3, -1, 1, 0};
  TF_SetAttrShape(desc(), "_s", a, 3);
  TF_SetAttrShape(desc(), "_u", nullptr, -1);
  TF_SetAttrShapeList(desc(), "_ss", dims, ranks, 4);
  Done();
  ExpectMetadata("_s", false, -1, TF_ATTR_SHAPE, 3);
  ExpectMetadata("_u", false, -1, TF_ATTR_SHAPE, -1);
  ExpectMetadata("_ss", true, 4, TF_ATTR_SHAPE, 4);
  int64_t one[3];
  TF_OperationGetAttrShape(oper(), "_s", one, 3, s());
  ExpectOk();
  EXPECT_THAT(one, ElementsAre(5, -1, 7));
  int64_t *got[4], storage[4];
  int got_ranks[4];
  TF_OperationGetAttrShapeList(oper(), "_ss", got, got_ranks, 4, storage, 4, s());
  ExpectOk();
  EXPECT_THAT(got_ranks, ElementsAre(3, -1, 1, 0));
  EXPECT_EQ(7, got[0][2]);
  EXPECT_EQ(2, got[2][0]);
  std::fill_n(got, 4, nullptr);
  std::fill_n(got_ranks, 4, 99);
  std::fill_n(storage, 4, 99);
  TF_OperationGetAttrShapeList(oper(), "_ss", got, got_ranks, 4, storage, 3, s());
  ExpectInvalid("Not enough storage to hold the requested list of shapes");
  EXPECT_THAT(got, ::testing::Each(nullptr));
  EXPECT_THAT(got_ranks, ::testing::Each(99));
  EXPECT_THAT(storage, ::testing::Each(99));
}

TEST_F(Attrs, ShapeProtos) {
  pb::TensorShapeProto shape;
  shape.add_dim()->set_size(3);
  shape.mutable_dim(0)->set_name("rows");
  const std::string wire = shape.SerializeAsString();
  TF_SetAttrTensorShapeProto(desc(), "_s", wire.data(), wire.size(), s());
  ExpectOk();
  const void* protos[] = {wire.data(), nullptr};
  const size_t lengths[] = {wire.size(), 0};
  TF_SetAttrTensorShapeProtoList(desc(), "_ss", protos, lengths, 2, s());
  ExpectOk();
  TF_SetAttrTensorShapeProto(desc(), "_bad", "\xff\xff", 2, s());
  ExpectInvalid("Unparseable TensorShapeProto");
  const int64_t number = 7;
  TF_SetAttrIntList(desc(), "_is", &number, 1);
  TF_SetAttrIntList(desc(), "_none", nullptr, 0);
  Done();
  const testing::BufferPtr one(TF_NewBuffer());
  TF_OperationGetAttrTensorShapeProto(oper(), "_s", one.get(), s());
  ExpectOk();
  EXPECT_EQ(wire, testing::BytesOf(one.get()));
  TF_Buffer* list[2];
  TF_OperationGetAttrTensorShapeProtoList(oper(), "_ss", list, 2, s());
  ExpectOk();
  EXPECT_EQ(wire, testing::BytesOf(list[0]));
  EXPECT_EQ("", testing::BytesOf(list[1]));
  for (TF_Buffer* buffer : list) TF_DeleteBuffer(buffer);
  TF_OperationGetAttrTensorShapeProtoList(oper(), "_none", list, 2, s());
  ExpectOk();
  TF_OperationGetAttrTensorShapeProtoList(oper(), "_is", list, 2, s());
  ExpectInvalid("AttrValue had value with type 'list(int)' when 'list(shape)' expected");
}

TEST_F(Attrs, Tensors) {
  const testing::TensorPtr a = testing::FloatTensor({2}, {1, 2}), b = testing::IntTensor({}, {7});
  TF_Tensor* both[] = {a.get(), b.get()};
  TF_SetAttrTensor(desc(), "_t", a.get(), s());
  ExpectOk();
  TF_SetAttrTensorList(desc(), "_ts", both, 2, s());
  ExpectOk();
  Done();
  ExpectMetadata("_t", false, -1, TF_ATTR_TENSOR, -1);
  TF_Tensor *one = nullptr, *list[2] = {};
  TF_OperationGetAttrTensor(oper(), "_t", &one, s());
  ExpectOk();
  EXPECT_THAT(testing::FloatsOf(one), ElementsAre(1, 2));
  TF_OperationGetAttrTensorList(oper(), "_ts", list, 2, s());
  ExpectOk();
  EXPECT_THAT(testing::IntsOf(list[1]), ElementsAre(7));
  for (TF_Tensor* t : {one, list[0], list[1]}) TF_DeleteTensor(t);
  TF_OperationGetAttrTensor(oper(), "_ts", &one, s());
  ExpectInvalid("AttrValue had value with type 'list(tensor)' when 'tensor' expected");
  EXPECT_EQ(nullptr, one);
}

TEST_F(Attrs, FunctionsAndPlaceholders) {
  TF_SetAttrFuncName(desc(), "_f", "MyFunc", 6);
  TF_SetAttrPlaceholder(desc(), "_p", "N");
  const pb::NodeDef def = NodeDefOf(Done());
  EXPECT_EQ("MyFunc", def.attr().at("_f").func().name());
  EXPECT_EQ("N", def.attr().at("_p").placeholder());
  ExpectMetadata("_f", false, -1, TF_ATTR_FUNC, -1);
  ExpectMetadata("_p", false, -1, TF_ATTR_PLACEHOLDER, -1);
}

TEST_F(Attrs, ValueProtos) {
  pb::AttrValue value;
  value.mutable_list()->add_i(3);
  const std::string wire = value.SerializeAsString();
  TF_SetAttrValueProto(desc(), "_v", wire.data(), wire.size(), s());
  ExpectOk();
  TF_SetAttrValueProto(desc(), "_w", "\xff", 1, s());
  ExpectInvalid("Unparseable AttrValue proto");
  Done();
  const testing::BufferPtr buffer(TF_NewBuffer());
  TF_OperationGetAttrValueProto(oper(), "_v", buffer.get(), s());
  ExpectOk();
  EXPECT_EQ(wire, testing::BytesOf(buffer.get()));
}

TEST_F(Attrs, ListsOfSeveralKindsHaveNoSize) {
  pb::AttrValue mixed;
  mixed.mutable_list()->add_s("a");
  mixed.mutable_list()->add_i(1);
  const std::string wire = mixed.SerializeAsString();
  TF_SetAttrValueProto(desc(), "_v", wire.data(), wire.size(), s());
  Done();
  const TF_AttrMetadata data = TF_OperationGetAttrMetadata(oper(), "_v", s());
  EXPECT_EQ(-1, data.total_size);
}

TEST_F(Attrs, EmptyListsHaveTheTypeOfTheOp) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  TF_OperationDescription* desc = New("Squeeze", "sq");
  TF_AddInput(desc, {x, 0});
  TF_Operation* squeeze = Finish(desc);
  const TF_AttrMetadata data = TF_OperationGetAttrMetadata(squeeze, "squeeze_dims", s());
  ExpectOk();
  EXPECT_TRUE(data.is_list);
  EXPECT_EQ(0, data.list_size);
  EXPECT_EQ(TF_ATTR_INT, data.type);
  Done();
}

TEST_F(Attrs, NamesAreSortedAndCounted) {
  TF_Operation* x = Placeholder("x", TF_FLOAT);
  ASSERT_EQ(2, TF_OperationGetNumAttrs(x));
  ASSERT_EQ(5, TF_OperationGetAttrNameLength(x, 0));
  EXPECT_EQ(-1, TF_OperationGetAttrNameLength(x, 2));
  char name[6] = {};
  TF_OperationGetAttrName(x, 0, name, s());
  ExpectOk();
  EXPECT_STREQ("dtype", name);
  TF_OperationGetAttrName(x, 1, name, s());
  EXPECT_STREQ("shape", name);
  TF_OperationGetAttrName(x, 2, name, s());
  EXPECT_EQ(TF_OUT_OF_RANGE, code());
  EXPECT_EQ("Operation only has 2 attributes, can't get the 2th", message());
  Done();
}

TEST_F(Attrs, NullPointersAreErrors) {
  TF_SetAttrInt(desc(), "_i", 1);
  Done();
  int64_t i;
  TF_OperationGetAttrInt(nullptr, "_i", &i, s());
  ExpectInvalid("argument 'oper' is NULL");
  TF_OperationGetAttrInt(oper(), nullptr, &i, s());
  ExpectInvalid("argument 'attr_name' is NULL");
  TF_OperationGetAttrInt(oper(), "_i", nullptr, s());
  ExpectInvalid("argument 'value' is NULL");
  TF_OperationGetAttrMetadata(nullptr, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_OperationGetAttrValueProto(oper(), "_i", nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  TF_OperationGetAttrTensor(oper(), "_i", nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(0, TF_OperationGetNumAttrs(nullptr));
  EXPECT_EQ(-1, TF_OperationGetAttrNameLength(nullptr, 0));
}

TEST(AttrChecks, EachElementOfAListHasTheType) {
  pb::AttrValue value;
  value.mutable_list()->add_s("a");
  const auto check = [&value](const AttrDef& def) {
    const std::string wire = value.SerializeAsString();
    return api::CheckAttr(def, AttrValue(wire));
  };
  AttrDef strings, ints;
  strings.name = ints.name = "v";
  strings.is_list = ints.is_list = true;
  strings.kind = AttrKind::kString;
  strings.allowed_strings = {"a", "b"};
  ints.kind = AttrKind::kInt;
  EXPECT_TRUE(check(strings).ok());
  value.mutable_list()->add_i(3);
  EXPECT_EQ(check(strings),
            absl::InvalidArgumentError("AttrValue had value with type 'list(int)' when "
                                       "'list(string)' expected\n\t for attr 'v'"));
  EXPECT_EQ(check(ints),
            absl::InvalidArgumentError("AttrValue had value with type 'list(string)' when "
                                       "'list(int)' expected\n\t for attr 'v'"));
  // A packed list of no numbers is an empty list of any type.
  const std::string no_ints("\x0a\x02\x1a\x00", 4);
  EXPECT_TRUE(api::CheckAttr(strings, AttrValue(no_ints)).ok());
  EXPECT_TRUE(AttrValue(no_ints).AsStringList()->empty());
  EXPECT_TRUE(AttrValue(no_ints).AsFloatList()->empty());
  ints.is_list = false;
  EXPECT_EQ(check(ints), absl::InvalidArgumentError("AttrValue had value with type 'list(string)' "
                                                    "when 'int' expected\n\t for attr 'v'"));
}

}  // namespace
}  // namespace tenon
