// Shapes that TensorFlow's kernels take, and refuse, where no shape function has looked at them: of
// ops that are executed alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class EagerShapesTest : public ::testing::Test {
 protected:
  std::string Error(const char* op, std::initializer_list<TFE_TensorHandle*> inputs,
                    const std::function<void(TFE_Op*)>& set = {}) {
    return ErrorOf(context_.get(), op, inputs, set);
  }
  Handle Run(const char* op, std::initializer_list<TFE_TensorHandle*> inputs,
             const std::function<void(TFE_Op*)>& set = {}) {
    return RunOp(context_.get(), op, inputs, set);
  }

  const ContextPointer context_ = NewContext();
  const Handle four_ = Of<float>({4}, {1, 2, 3, 4}), scalar_ = Of<float>({}, {5});
  const Handle one_ = Of<int32_t>({}, {1}), minus_one_ = Of<int32_t>({}, {-1});
  const Handle ones_ = Of<int32_t>({1}, {1});
};

TEST_F(EagerShapesTest, ReshapeTakesAScalarForOneDimension) {
  EXPECT_THAT(DimsOf(Run("Reshape", {scalar_.get(), one_.get()}).get()), ElementsAre(1));
  const Handle square = Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(DimsOf(Run("Reshape", {square.get(), minus_one_.get()}).get()), ElementsAre(4));
  const Handle matrix = Of<int32_t>({1, 2}, {2, 2});
  EXPECT_THAT(Error("Reshape", {four_.get(), matrix.get()}), StartsWith("3 "));
}

TEST_F(EagerShapesTest, SlicesTakeVectorsOnly) {
  EXPECT_THAT(Error("Slice", {four_.get(), one_.get(), ones_.get()}),
              StartsWith("3 Expected begin and size arguments to be 1-D tensors of size 1, but got "
                         "shapes [] and [1] instead."));
  EXPECT_THAT(Error("StridedSlice", {four_.get(), one_.get(), one_.get(), one_.get()}),
              StartsWith("3 Expected begin, end, and strides to be 1D equal size tensors, but got "
                         "shapes [], [], and [] instead."));
  EXPECT_THAT(Error("TensorStridedSliceUpdate",
                    {four_.get(), one_.get(), one_.get(), one_.get(), scalar_.get()}),
              StartsWith("3 Expected begin, end, and strides to be 1D equal size tensors"));
  EXPECT_THAT(Values<float>(Run("Slice", {four_.get(), ones_.get(), ones_.get()}).get()),
              ElementsAre(2));
}

TEST_F(EagerShapesTest, TileAndEmptyTakeVectorsOnly) {
  EXPECT_THAT(Error("Tile", {four_.get(), one_.get()}),
              StartsWith("3 Expected multiples to be 1-D, but got shape []"));
  const auto floats = [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); };
  EXPECT_THAT(Error("Empty", {one_.get()}, floats),
              StartsWith("3 shape must be a vector of int32, got shape []"));
  EXPECT_THAT(DimsOf(Run("Empty", {ones_.get()}, floats).get()), ElementsAre(1));
}

TEST_F(EagerShapesTest, ReverseGivesAScalarBack) {
  const Handle yes = Run("Equal", {one_.get(), one_.get()});
  EXPECT_THAT(Values<float>(Run("Reverse", {scalar_.get(), yes.get()}).get()), ElementsAre(5));
  EXPECT_THAT(Error("Reverse", {four_.get(), yes.get()}), HasSubstr("'dims' must be 1-dimension"));
}

TEST_F(EagerShapesTest, ReduceJoinTakesAxesOfAnyShape) {
  const Handle texts = OfStrings({2, 2}, {"a", "b", "c", "d"});
  const Handle axes = Of<int32_t>({1, 2}, {0, 1});
  EXPECT_THAT(Strings(Run("ReduceJoin", {texts.get(), axes.get()}).get()), ElementsAre("acbd"));
  const Handle two = Of<int32_t>({}, {2}), low = Of<int32_t>({}, {-3});
  EXPECT_THAT(Error("ReduceJoin", {texts.get(), two.get()}),
              StartsWith("11 Invalid reduction dimension 2 for input with 2 dimension(s)"));
  EXPECT_THAT(Error("ReduceJoin", {texts.get(), low.get()}),
              StartsWith("11 Invalid reduction dimension -3 for input with 2 dimension(s)"));
}

// FAILED_PRECONDITION, where others are INVALID_ARGUMENT.
TEST_F(EagerShapesTest, CodesOfVectorsAndColours) {
  EXPECT_THAT(Error("Cross", {four_.get(), four_.get()}),
              StartsWith("9 Cross-products are only defined for 3-element vectors"));
  EXPECT_THAT(Error("Cross", {scalar_.get(), scalar_.get()}), StartsWith("3 "));
  EXPECT_THAT(Error("RGBToHSV", {four_.get()}), StartsWith("9 "));
  EXPECT_THAT(Error("HSVToRGB", {four_.get()}), StartsWith("9 "));
  EXPECT_THAT(Error("HSVToRGB", {scalar_.get()}), StartsWith("3 "));
}

TEST_F(EagerShapesTest, FakeParamHasTheShapeOfItsAttribute) {
  const auto of = [&](std::vector<int64_t> dims, int rank) {
    return DimsOf(Run("FakeParam", {}, [&](TFE_Op* op) {
                    CheckedStatus status;
                    TFE_OpSetAttrType(op, "dtype", TF_INT32);
                    TFE_OpSetAttrShape(op, "shape", dims.data(), rank, status);
                  }).get());
  };
  EXPECT_THAT(of({2, 3}, 2), ElementsAre(2, 3));
  EXPECT_THAT(of({2, -1}, 2), ElementsAre(2, 0));
  EXPECT_THAT(of({}, -1), IsEmpty());
}

// The name of the op, which is that of its node, is in the summary: a second one has it too.
TEST_F(EagerShapesTest, TensorSummaryNamesTheOp) {
  for (int round = 0; round < 2; ++round) {
    const Handle value = Of<float>({1}, {static_cast<float>(round)});
    const std::vector<std::string> summary = Strings(Run("TensorSummary", {value.get()}).get());
    ASSERT_EQ(summary.size(), 1);
    EXPECT_THAT(summary[0], HasSubstr(":\rTensorSummaryB"));  // field 7, 13 bytes, then field 8
  }
}

}  // namespace
}  // namespace tenon::eager
