// TensorProto's encodings, and what contradicts itself.
#include <google/protobuf/text_format.h>

#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "graph/tensor/tensor_proto.h"
#include "gtest/gtest.h"
#include "proto/tensor.pb.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Wire(const std::string& text) {
  pb::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto.SerializeAsString();
}

template <typename T>
std::vector<T> Values(const std::string& text) {
  const absl::StatusOr<Tensor> tensor = TensorFromWire(Wire(text));
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  std::vector<T> values(static_cast<size_t>(tensor->num_elements()));
  if (tensor->bytes() != 0) std::memcpy(values.data(), tensor->data(), tensor->bytes());
  return values;
}

const std::string k3 = "tensor_shape { dim { size: 3 } } ";

TEST(TensorProto, Lists) {
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT float_val: [1, 2, 3] " + k3), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values<double>("dtype: DT_DOUBLE double_val: [1, 2, 3] " + k3), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values<int32_t>("dtype: DT_INT32 int_val: [1, -2, 3] " + k3), ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<int8_t>("dtype: DT_INT8 int_val: [1, -2, 3] " + k3), ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<uint8_t>("dtype: DT_UINT8 int_val: [1, 255, 3] " + k3),
              ElementsAre(1, 255, 3));
  EXPECT_THAT(Values<int16_t>("dtype: DT_INT16 int_val: [1, -2, 3] " + k3), ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<uint16_t>("dtype: DT_UINT16 int_val: [1, 65535, 3] " + k3),
              ElementsAre(1, 65535, 3));
  EXPECT_THAT(Values<int8_t>("dtype: DT_QINT8 int_val: [1, -2, 3] " + k3), ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<int8_t>("dtype: DT_INT4 int_val: [1, -2, 3] " + k3), ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<int64_t>("dtype: DT_INT64 int64_val: [1, -2, 3] " + k3),
              ElementsAre(1, -2, 3));
  EXPECT_THAT(Values<uint32_t>("dtype: DT_UINT32 uint32_val: [1, 4294967295, 3] " + k3),
              ElementsAre(1, 4294967295u, 3));
  EXPECT_THAT(Values<uint64_t>("dtype: DT_UINT64 uint64_val: [1, 18446744073709551615, 3] " + k3),
              ElementsAre(1, std::numeric_limits<uint64_t>::max(), 3));
  EXPECT_THAT(Values<uint8_t>("dtype: DT_BOOL bool_val: [true, false, true] " + k3),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(Values<uint16_t>("dtype: DT_HALF half_val: [15360, 16384, 49152] " + k3),
              ElementsAre(15360, 16384, 49152));
  EXPECT_THAT(Values<uint16_t>("dtype: DT_BFLOAT16 half_val: [16256, 0, 1] " + k3),
              ElementsAre(16256, 0, 1));
  EXPECT_THAT(Values<uint8_t>("dtype: DT_FLOAT8_E5M2 float8_val: '\\x01\\xff\\x03' " + k3),
              ElementsAre(1, 255, 3));
  EXPECT_THAT(
      Values<std::complex<float>>("dtype: DT_COMPLEX64 scomplex_val: [1, 2, 3, 4, 5, 6] " + k3),
      ElementsAre(std::complex<float>(1, 2), std::complex<float>(3, 4), std::complex<float>(5, 6)));
  EXPECT_THAT(Values<std::complex<double>>("dtype: DT_COMPLEX128 dcomplex_val: [1, 2] " + k3),
              ElementsAre(std::complex<double>(1, 2), std::complex<double>(1, 2),
                          std::complex<double>(1, 2)));
}

TEST(TensorProto, ShortLongAndMissingLists) {
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT float_val: [1, 2] " + k3), ElementsAre(1, 2, 2));
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT float_val: 7 " + k3), ElementsAre(7, 7, 7));
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT " + k3), ElementsAre(0, 0, 0));
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT float_val: [1, 2, 3, 4] " + k3), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values<int64_t>("dtype: DT_INT64 int64_val: [1, 2, 3, 4] " + k3),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(Values<float>("dtype: DT_FLOAT float_val: 7 tensor_shape { }"), ElementsAre(7));
  EXPECT_THAT(
      Values<float>("dtype: DT_FLOAT tensor_content: 'xxxxx' tensor_shape { dim { size: 0 } }"),
      ElementsAre());
}

TEST(TensorProto, Strings) {
  const auto strings = [](const std::string& text) {
    const absl::StatusOr<Tensor> tensor = TensorFromWire(Wire("dtype: DT_STRING " + text + k3));
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    std::vector<std::string> values;
    for (int64_t i = 0; tensor.ok() && i < tensor->num_elements(); ++i)
      values.emplace_back(tensor->StringAt(i));
    return values;
  };
  const std::string longer(100, 'x');
  EXPECT_THAT(strings("string_val: ['a', '', '" + longer + "'] "), ElementsAre("a", "", longer));
  EXPECT_THAT(strings("string_val: '" + longer + "' "), ElementsAre(longer, longer, longer));
  EXPECT_THAT(strings(""), ElementsAre("", "", ""));
  EXPECT_THAT(strings("tensor_content: '\\001\\000\\002abc' "), ElementsAre("a", "", "bc"));
}

// Only repetitions take more memory than the file has bytes: a long last string alone is fine.
TEST(TensorProto, LongLastString) {
  constexpr int kStrings = 1 << 17;
  const std::string longest(1 << 25, 'x');  // times kStrings: 4 TiB
  pb::TensorProto proto;
  proto.set_dtype(pb::DT_STRING);
  for (int i = 0; i + 1 < kStrings; ++i) proto.add_string_val("a");
  proto.add_string_val(longest);
  proto.mutable_tensor_shape()->add_dim()->set_size(kStrings);
  const absl::StatusOr<Tensor> tensor = TensorFromWire(proto.SerializeAsString());
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->StringAt(kStrings - 1), longest);
  proto.mutable_tensor_shape()->mutable_dim(0)->set_size(1 << 23);
  EXPECT_EQ(TensorFromWire(proto.SerializeAsString()).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(TensorProto, UnpackedAndMixedRuns) {
  // Field 7 (int_val): 5, then a packed run of 6 and 7.
  const std::string wire =
      Wire("dtype: DT_INT32 " + k3) + std::string("\x38\x05\x3a\x02\x06\x07", 6);
  const absl::StatusOr<Tensor> tensor = TensorFromWire(wire);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(std::vector<int32_t>(tensor->flat<int32_t>(), tensor->flat<int32_t>() + 3),
              ElementsAre(5, 6, 7));
}

TEST(TensorProto, AShapeMayComeInPieces) {
  const std::string dims[] = {std::string("\x12\x00", 2),
                              std::string("\x12\x04\x12\x02\x08\x02", 6),
                              std::string("\x12\x04\x12\x02\x08\x03", 6)};
  const std::string values = std::string("\x08\x03\x3a\x01\x07", 5);  // int32, one value: 7
  for (const auto& [pieces, shape] :
       {std::pair(dims[1], Shape({2})), std::pair(dims[1] + dims[2], Shape({2, 3})),
        std::pair(dims[0] + dims[1] + dims[0] + dims[2] + dims[1], Shape({2, 3, 2}))}) {
    const absl::StatusOr<Tensor> tensor = TensorFromWire(values + pieces);
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->shape(), shape);
  }
}

TEST(TensorProto, ContentIsViewedAndKeepsItsOwner) {
  auto owner = std::make_shared<std::string>(
      Wire("dtype: DT_INT32 tensor_content: '\\001\\000\\000\\000' tensor_shape { }"));
  const std::weak_ptr<std::string> alive = owner;
  absl::StatusOr<Tensor> tensor = TensorFromWire(*owner, owner);
  ASSERT_TRUE(tensor.ok());
  EXPECT_GE(tensor->flat<char>(), owner->data());
  EXPECT_LT(tensor->flat<char>(), owner->data() + owner->size());
  EXPECT_FALSE(tensor->buffer()->owned());
  owner.reset();
  EXPECT_FALSE(alive.expired());
  tensor = Tensor();
  EXPECT_TRUE(alive.expired());
}

// A byte other than 0 and 1 would be no bool to C++.
TEST(TensorProto, BoolContentIsMadeZeroOrOne) {
  EXPECT_THAT(Values<uint8_t>("dtype: DT_BOOL tensor_content: '\\000\\002\\377' " + k3),
              ElementsAre(0, 1, 1));
}

struct Bad {
  std::string text;
  absl::StatusCode code;
  std::string message;
};

TEST(TensorProto, Refuses) {
  using enum absl::StatusCode;
  const std::vector<Bad> cases = {
      {"dtype: DT_FLOAT tensor_content: '1234567' " + k3, kInvalidArgument,
       "has 7 bytes where a DT_FLOAT tensor of shape [3] has 12"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -5 } }", kInvalidArgument, "-5"},
      {"dtype: DT_FLOAT tensor_shape { dim { size: -1 } }", kInvalidArgument, "must be known"},
      {"dtype: DT_FLOAT tensor_shape { unknown_rank: true }", kInvalidArgument, "must be known"},
      {"dtype: DT_FLOAT float_val: 1 tensor_shape { dim { size: 9223372036854775807 } dim { size: "
       "2 } }",
       kInvalidArgument, "2^63-1"},
      {"dtype: DT_FLOAT float_val: 1 tensor_shape { dim { size: 9223372036854775807 } }",
       kResourceExhausted, "9223372036854775807"},
      {"dtype: DT_FLOAT float_val: 1 tensor_shape { dim { size: 1000000000000 } }",
       kResourceExhausted, "the limit is"},
      {"dtype: DT_STRING string_val: 'x' tensor_shape { dim { size: 1000000000000 } }",
       kResourceExhausted, "the limit is"},
      {"dtype: DT_STRING tensor_content: '\\001\\000\\003abc' " + k3, kInvalidArgument,
       "does not hold the strings"},
      {"dtype: DT_STRING tensor_content: '\\001' " + k3, kInvalidArgument,
       "does not hold the strings"},
      {"tensor_shape { }", kInvalidArgument, "no usable dtype"},
      {"dtype: DT_FLOAT_REF tensor_shape { }", kInvalidArgument, "no usable dtype"},
      {"dtype: DT_RESOURCE tensor_shape { }", kUnimplemented, "DT_RESOURCE"},
      {"dtype: DT_VARIANT tensor_shape { }", kUnimplemented, "DT_VARIANT"},
  };
  for (const Bad& bad : cases) {
    const absl::Status status = TensorFromWire(Wire(bad.text)).status();
    EXPECT_EQ(status.code(), bad.code) << bad.text << ": " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message)) << bad.text;
    EXPECT_EQ(CheckTensorWire(Wire(bad.text)).status(), status) << bad.text;
  }
  EXPECT_EQ(TensorFromWire("\x08").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(TensorFromWire(Wire("dtype: DT_FLOAT " + k3) + "\x2a\x03xyz").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(TensorFromWire(Wire("dtype: DT_INT32 " + k3) + "\x3a\x01\xff").status().code(),
            absl::StatusCode::kDataLoss);
}

// Attributes as TensorFlow's C API writes them: dtype, bytes of the element, TensorProto in hex.
struct AsAttribute {
  DataType dtype;
  std::string element, wire;
};
TEST(TensorProto, OneElementOfAnAttributeStandsInItsList) {
  const AsAttribute cases[] = {
      {DataType::kFloat, "f1f2f3f4", "080112002a04f1f2f3f4"},
      {DataType::kInt32, "f1f2f3f4", "080312003a0af1e5cfa7ffffffffff01"},
      {DataType::kUint8, "f1", "080412003a02f101"},
      {DataType::kInt16, "f1f2", "080512003a0af1e5ffffffffffffff01"},
      {DataType::kInt8, "f1", "080612003a0af1ffffffffffffffff01"},
      {DataType::kComplex64, "f1f2f3f4f5f6f7f8", "080812004a08f1f2f3f4f5f6f7f8"},
      {DataType::kInt64, "f1f2f3f4f5f6f7f8", "08091200520af1e5cfa7dfdefdfbf801"},
      {DataType::kBool, "01", "080a12005a0101"},
      {DataType::kQint8, "f1", "080b12003a0af1ffffffffffffffff01"},
      {DataType::kBfloat16, "f1f2", "080e12006a03f1e503"},
      {DataType::kHalf, "f1f2", "081312006a03f1e503"},
      {DataType::kUint32, "f1f2f3f4",
       "081612008201"
       "05f1e5cfa70f"},
      {DataType::kUint64, "f1f2f3f4f5f6f7f8", "081712008a010af1e5cfa7dfdefdfbf801"},
      {DataType::kFloat8E5m2, "f1", "08181200920101f1"},
      {DataType::kInt4, "fe", "081d12003a0afeffffffffffffffff01"},
  };
  for (const AsAttribute& c : cases) {
    const std::string element = absl::HexStringToBytes(c.element);
    const Tensor t = Tensor::CopyOf(c.dtype, Shape(), element.data(), element.size());
    const auto wire = TensorToAttrWire(t);
    ASSERT_TRUE(wire.ok()) << wire.status();
    EXPECT_EQ(c.wire, absl::BytesToHexString(*wire));
    const auto back = TensorFromWire(*wire);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(element, std::string(back->flat<char>(), back->bytes()));
  }
}

TEST(TensorProto, SeveralElementsOfAnAttributeStandInContent) {
  Tensor strings = *Tensor::Allocate(DataType::kString, {2});
  strings.SetString(0, "ab");
  strings.SetString(1, "cde");
  EXPECT_EQ("0807120412020802220702036162636465",
            absl::BytesToHexString(*TensorToAttrWire(strings)));
  const Tensor ints = Tensor::Of<int32_t>(DataType::kInt32, {1, 2}, {2});
  EXPECT_EQ(*TensorToWire(ints), *TensorToAttrWire(ints));
  EXPECT_FALSE(TensorToAttrWire(Tensor()).ok());
}

// What is true of it decodes: each length that is cut off or added is either refused or still
// right.
TEST(TensorProto, SmallTensorsAsWrittenDecode) {
  const auto check = [](const std::string& wire) {
    const bool small = IsSmallAsWritten(wire);
    if (small) EXPECT_TRUE(TensorFromWire(wire).ok()) << absl::BytesToHexString(wire);
    return small;
  };
  const auto damaged = [&](const std::string& wire) {
    for (size_t n = 0; n < wire.size(); ++n) check(wire.substr(0, n));
    for (size_t i = 0; i < wire.size(); ++i) {
      for (const int flip : {1, 2, 4, 16, 64, 128}) {
        std::string other = wire;
        other[i] = static_cast<char>(other[i] ^ flip);
        check(other);
      }
    }
    EXPECT_FALSE(check(wire + wire));
  };
  for (const DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64, DataType::kUint8,
        DataType::kHalf, DataType::kBfloat16, DataType::kComplex64, DataType::kBool,
        DataType::kQint8, DataType::kFloat8E5m2}) {
    const std::vector<char> bytes(6 * DataTypeSize(type), 1);
    const std::string one =
        *TensorToAttrWire(Tensor::CopyOf(type, {}, bytes.data(), DataTypeSize(type)));
    EXPECT_TRUE(check(one)) << DataTypeName(type);
    damaged(one);
    const std::string many =
        *TensorToAttrWire(Tensor::CopyOf(type, {2, 3}, bytes.data(), bytes.size()));
    EXPECT_EQ(check(many), type != DataType::kBool) << DataTypeName(type);
    damaged(many);
  }
  const std::vector<float> zeros(300);
  EXPECT_FALSE(check(*TensorToAttrWire(Tensor::Of<float>(DataType::kFloat, zeros, {300}))));
  EXPECT_FALSE(check(*TensorToAttrWire(Tensor::Of<float>(DataType::kFloat, {}, {0}))));
  EXPECT_FALSE(check(*TensorToAttrWire(*Tensor::Allocate(DataType::kString, {}))));
  EXPECT_FALSE(check(""));
}

TEST(TensorProto, WritesWhatItReads) {
  const std::vector<std::string> texts = {
      "dtype: DT_FLOAT float_val: [1, 2, 3] " + k3,
      "dtype: DT_STRING string_val: ['a', 'b', 'c'] " + k3,
      "dtype: DT_BOOL bool_val: true tensor_shape { }",
      "dtype: DT_COMPLEX128 dcomplex_val: [1, 2] tensor_shape { }",
      "dtype: DT_INT64 tensor_shape { dim { size: 0 } dim { size: 4 } }",
  };
  for (const std::string& text : texts) {
    const absl::StatusOr<Tensor> tensor = TensorFromWire(Wire(text));
    ASSERT_TRUE(tensor.ok()) << text;
    const absl::StatusOr<std::string> wire = TensorToWire(*tensor);
    ASSERT_TRUE(wire.ok()) << text;
    const absl::StatusOr<Tensor> again = TensorFromWire(*wire);
    ASSERT_TRUE(again.ok()) << text;
    EXPECT_EQ(again->dtype(), tensor->dtype());
    EXPECT_EQ(again->shape(), tensor->shape());
    EXPECT_EQ(*TensorToWire(*again), *wire);
  }
  EXPECT_EQ(TensorToWire(Tensor()).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon
