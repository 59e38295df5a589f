// Attributes of ops as a whole, ops that are made anew, settings of contexts, monitoring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "proto/attr_value.pb.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string TextOf(TF_Buffer* buffer) {
  std::string text(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);
  return text;
}

pb::NameAttrList Serialized(const TFE_Op* op) {
  CheckedStatus status;
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(op), buffer, status);
  EXPECT_EQ(status.text(), "OK");
  pb::NameAttrList list;
  EXPECT_TRUE(list.ParseFromString(TextOf(buffer)));
  return list;
}

class EagerAttrsTest : public ::testing::Test {
 protected:
  CheckedStatus status_;
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  const Handle x_ = Of<float>({2}, {1, 2});
};

TEST_F(EagerAttrsTest, AttributesGoFromOpToOp) {
  const Op from = NewOp(ctx_, "MatMul", {}), to = NewOp(ctx_, "MatMul", {});
  TFE_OpSetAttrBool(from.get(), "transpose_a", 1);
  TFE_OpSetAttrBool(from.get(), "transpose_b", 1);
  TFE_OpSetAttrBool(to.get(), "transpose_a", 0);
  TFE_OpAddAttrs(to.get(), TFE_OpGetAttrs(from.get()));
  const pb::NameAttrList list = Serialized(to.get());
  EXPECT_EQ(list.name(), "MatMul");
  EXPECT_FALSE(list.attr().at("transpose_a").b());  // was set before
  EXPECT_TRUE(list.attr().at("transpose_b").b());
  TFE_OpAddAttrs(to.get(), nullptr);
  TFE_OpAddAttrs(nullptr, TFE_OpGetAttrs(from.get()));
  EXPECT_EQ(TFE_OpGetAttrs(nullptr), nullptr);
}

TEST_F(EagerAttrsTest, SerializedAttributesHaveTypesOfInputsAndDefaults) {
  const Op op = NewOp(ctx_, "Sum", {x_.get()});
  const pb::NameAttrList list = Serialized(op.get());
  EXPECT_EQ(list.attr().at("T").type(), pb::DT_FLOAT);
  EXPECT_EQ(list.attr().at("Tidx").type(), pb::DT_INT32);
  EXPECT_FALSE(list.attr().at("keep_dims").b());
}

TEST_F(EagerAttrsTest, AttrValueProtos) {
  const Op op = NewOp(ctx_, "Cast", {x_.get()});
  TFE_OpSetAttrValueProto(op.get(), "DstT", "\xff\xff", 2, status_);
  EXPECT_EQ(status_.text(), "3 Unparseable AttrValue proto");
  pb::AttrValue value;
  value.set_type(pb::DT_INT32);
  const std::string bytes = value.SerializeAsString();
  TFE_OpSetAttrValueProto(op.get(), "DstT", bytes.data(), bytes.size(), status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_THAT(Values<int32_t>(Execute(op.get(), 1)[0].get()), ElementsAre(1, 2));
  TFE_OpSetAttrValueProto(op.get(), nullptr, bytes.data(), bytes.size(), status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
}

TEST_F(EagerAttrsTest, AnOpIsMadeAnew) {
  const Op op = NewOp(ctx_, "MatMul", {x_.get()});
  TFE_OpSetAttrBool(op.get(), "transpose_a", 1);
  TFE_OpReset(op.get(), "Neg", "/CPU:0", status_);
  EXPECT_EQ(status_.text(), "OK");
  EXPECT_STREQ(TFE_OpGetName(op.get(), status_), "Neg");
  EXPECT_STREQ(TFE_OpGetDevice(op.get(), status_), "/device:CPU:0");
  EXPECT_EQ(TFE_OpGetFlatInputCount(op.get(), status_), 0);
  TFE_OpAddInput(op.get(), x_.get(), status_);
  EXPECT_THAT(Values<float>(Execute(op.get(), 1)[0].get()), ElementsAre(-1, -2));
  TFE_OpReset(op.get(), "NoSuchOp", nullptr, status_);
  EXPECT_EQ(status_.code(), TF_NOT_FOUND);
  EXPECT_STREQ(TFE_OpGetName(op.get(), status_), "Neg");
  TFE_OpReset(op.get(), "Neg", nullptr, status_);
  EXPECT_STREQ(TFE_OpGetDevice(op.get(), status_), "");
}

// Attributes of every kind, given as lists, functions and shapes.
TEST_F(EagerAttrsTest, KindsOfAttributes) {
  const Op op = NewOp(ctx_, "AddV2", {});
  const int64_t ints[] = {1, 2}, dims[] = {2, -1};
  const float floats[] = {0.5f};
  const unsigned char bools[] = {0, 2};
  const TF_DataType types[] = {TF_INT8};
  const void* const strings[] = {"ab", "c"};
  const size_t lengths[] = {2, 1};
  const int64_t* shapes[] = {dims, nullptr};
  const int ranks[] = {2, -1};
  const Op function = NewOp(ctx_, "Neg", {});
  TFE_OpSetAttrInt(function.get(), "of_function", 7);
  const TFE_Op* functions[] = {function.get(), function.get()};
  TFE_OpSetAttrIntList(op.get(), "ints", ints, 2);
  TFE_OpSetAttrFloatList(op.get(), "floats", floats, 1);
  TFE_OpSetAttrBoolList(op.get(), "bools", bools, 2);
  TFE_OpSetAttrTypeList(op.get(), "types", types, 1);
  TFE_OpSetAttrStringList(op.get(), "strings", strings, lengths, 2);
  TFE_OpSetAttrShapeList(op.get(), "shapes", shapes, ranks, 2, status_);
  EXPECT_EQ(status_.text(), "OK");
  TFE_OpSetAttrShape(op.get(), "shape", dims, 2, status_);
  EXPECT_EQ(status_.text(), "OK");
  TFE_OpSetAttrFunction(op.get(), "function", function.get());
  TFE_OpSetAttrFunctionName(op.get(), "named", "Neg", 3);
  TFE_OpSetAttrFunctionList(op.get(), "functions", functions, 2);
  TFE_OpSetAttrFloat(op.get(), "float", 1.5f);
  TFE_OpSetAttrString(op.get(), "string", "x", SIZE_MAX);  // there is no such text: sets nothing
  TFE_OpSetAttrFunctionName(op.get(), "named", "Neg", SIZE_MAX);
  TFE_OpSetAttrString(op.get(), "string", "x\0y", 3);
  const pb::NameAttrList list = Serialized(op.get());
  const auto& attr = list.attr();
  EXPECT_THAT(attr.at("ints").list().i(), ElementsAre(1, 2));
  EXPECT_THAT(attr.at("floats").list().f(), ElementsAre(0.5f));
  EXPECT_THAT(attr.at("bools").list().b(), ElementsAre(false, true));
  EXPECT_THAT(attr.at("types").list().type(), ElementsAre(pb::DT_INT8));
  EXPECT_THAT(attr.at("strings").list().s(), ElementsAre("ab", "c"));
  ASSERT_EQ(attr.at("shapes").list().shape_size(), 2);
  EXPECT_EQ(attr.at("shapes").list().shape(0).dim(1).size(), -1);
  EXPECT_TRUE(attr.at("shapes").list().shape(1).unknown_rank());
  EXPECT_EQ(attr.at("shape").shape().dim(0).size(), 2);
  EXPECT_EQ(attr.at("function").func().attr().at("of_function").i(), 7);
  EXPECT_EQ(attr.at("named").func().name(), "Neg");
  EXPECT_EQ(attr.at("functions").list().func_size(), 2);
  EXPECT_EQ(attr.at("float").f(), 1.5f);
  EXPECT_EQ(attr.at("string").s(), std::string("x\0y", 3));
}

TEST_F(EagerAttrsTest, PoliciesAreOfAThread) {
  EXPECT_EQ(TFE_ContextGetDevicePlacementPolicy(ctx_), TFE_DEVICE_PLACEMENT_SILENT);
  TFE_ContextSetThreadLocalDevicePlacementPolicy(ctx_, TFE_DEVICE_PLACEMENT_EXPLICIT);
  EXPECT_EQ(TFE_ContextGetDevicePlacementPolicy(ctx_), TFE_DEVICE_PLACEMENT_EXPLICIT);
  const ContextPointer other = NewContext([](TFE_ContextOptions* options) {
    TFE_ContextOptionsSetDevicePlacementPolicy(options, TFE_DEVICE_PLACEMENT_WARN);
  });
  EXPECT_EQ(TFE_ContextGetDevicePlacementPolicy(other.get()), TFE_DEVICE_PLACEMENT_WARN);
}

TEST_F(EagerAttrsTest, Settings) {
  TFE_ContextSetSoftDevicePlacement(ctx_, 1, status_);
  EXPECT_EQ(status_.text(), "OK");
  const auto on_gpu = [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetDevice(op, "/GPU:0", status);
  };
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Neg", {x_.get()}, on_gpu).get()), ElementsAre(-1, -2));
  TFE_ContextSetSoftDevicePlacement(ctx_, 0, status_);
  EXPECT_THAT(ErrorOf(ctx_, "Neg", {x_.get()}, on_gpu), StartsWith("3 Could not satisfy device"));
  TFE_SetLogicalCpuDevices(ctx_, 2, "/job:localhost/replica:0/task:0", status_);
  EXPECT_EQ(status_.code(), TF_UNIMPLEMENTED);
  TFE_ContextSetServerDef(ctx_, 0, nullptr, 0, status_);
  EXPECT_EQ(status_.code(), TF_UNIMPLEMENTED);
  TFE_ContextSetServerDef(nullptr, 0, nullptr, 0, status_);
  EXPECT_EQ(status_.code(), TF_INVALID_ARGUMENT);
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_HostAddressSpace(ctx_, buffer);
  EXPECT_EQ(TextOf(buffer), "/job:localhost/replica:0/task:0");
  const char bad[] = {'\xff', '\xff'};
  TFE_ContextOptions* const options = TFE_NewContextOptions();
  TFE_ContextOptionsSetConfig(options, bad, 2, status_);
  EXPECT_EQ(status_.text(), "3 Unparseable ConfigProto");
  // An entry of device_count whose name is longer than the entry.
  TFE_ContextOptionsSetConfig(options, "\x0a\x02\x0a\x7f", 4, status_);
  EXPECT_EQ(status_.text(), "3 Unparseable ConfigProto");
  TFE_DeleteContextOptions(options);
}

TEST(MonitoringTest, CountersAndGauges) {
  CheckedStatus status;
  TFE_MonitoringCounter1* const counter =
      TFE_MonitoringNewCounter1("test/counter", status, "of tests", "label");
  ASSERT_EQ(status.text(), "OK");
  TFE_MonitoringCounterCell* const a = TFE_MonitoringGetCellCounter1(counter, "a");
  TFE_MonitoringCounterCellIncrementBy(a, 3);
  TFE_MonitoringCounterCellIncrementBy(a, -5);
  TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringGetCellCounter1(counter, "b"), 1);
  EXPECT_EQ(TFE_MonitoringCounterCellValue(a), 3);
  EXPECT_EQ(TFE_MonitoringGetCellCounter1(counter, "a"), a);
  EXPECT_EQ(TFE_MonitoringGetCellCounter1(counter, nullptr), nullptr);
  TFE_MonitoringDeleteCounter1(counter);

  TFE_MonitoringStringGauge2* const gauge =
      TFE_MonitoringNewStringGauge2("test/gauge", status, "of tests", "x", "y");
  TFE_MonitoringStringGaugeCell* const cell = TFE_MonitoringGetCellStringGauge2(gauge, "1", "2");
  TFE_MonitoringStringGaugeCellSet(cell, "text");
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_MonitoringStringGaugeCellValue(cell, buffer);
  EXPECT_EQ(TextOf(buffer), "text");
  TFE_MonitoringDeleteStringGauge2(gauge);

  TFE_MonitoringBoolGauge0* const flag =
      TFE_MonitoringNewBoolGauge0("test/flag", status, "of tests");
  TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringGetCellBoolGauge0(flag), true);
  EXPECT_TRUE(TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringGetCellBoolGauge0(flag)));
  TFE_MonitoringDeleteBoolGauge0(flag);
  TFE_MonitoringIntGauge0* const number =
      TFE_MonitoringNewIntGauge0("test/number", status, "of tests");
  TFE_MonitoringIntGaugeCellSet(TFE_MonitoringGetCellIntGauge0(number), 5);
  EXPECT_EQ(TFE_MonitoringIntGaugeCellValue(TFE_MonitoringGetCellIntGauge0(number)), 5);
  TFE_MonitoringDeleteIntGauge0(number);
  EXPECT_EQ(TFE_MonitoringNewCounter0(nullptr, status, ""), nullptr);
  EXPECT_EQ(status.code(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(TFE_MonitoringCounterCellValue(nullptr), 0);
}

// The bytes are those that TensorFlow 2.21 gives for the same values.
TEST(MonitoringTest, Samplers) {
  CheckedStatus status;
  TFE_MonitoringBuckets* const buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 3);
  TFE_MonitoringSampler0* const sampler =
      TFE_MonitoringNewSampler0("test/sampler", buckets, status, "of tests");
  TFE_MonitoringDeleteBuckets(buckets);
  TFE_MonitoringSamplerCell* const cell = TFE_MonitoringGetCellSampler0(sampler);
  for (const double value : {0.5, 1.0, 1.5, 2.0, 4.0, 100.0})
    TFE_MonitoringSamplerCellAdd(cell, value);
  TF_Buffer* const buffer = TF_NewBuffer();
  TFE_MonitoringSamplerCellValue(cell, buffer);
  std::string hex;
  for (const char c : TextOf(buffer)) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[c & 15];
  }
  EXPECT_EQ(hex,
            "09000000000000e03f110000000000005940190000000000001840210000000000405b402900000000c093"
            "c3403220000000000000f03f00000000000000400000000000001040ffffffffffffef7f3a200000000000"
            "00f03f0000000000000040000000000000f03f0000000000000040");
  TFE_MonitoringDeleteSampler0(sampler);
}

}  // namespace
}  // namespace tenon::eager
