// Ops that are made, filled and executed through the eager C API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/executor/api/eager/eager_util.h"

namespace tenon::eager {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EagerOpsTest : public ::testing::Test {
 protected:
  const ContextPointer context_ = NewContext();
  TFE_Context* const ctx_ = context_.get();
  const Handle floats_ = Of<float>({2}, {1, 2}), ints_ = Of<int32_t>({2}, {3, 4});
};

TEST_F(EagerOpsTest, AddsTwoTensors) {
  const Handle sum = RunOp(ctx_, "AddV2", {floats_.get(), floats_.get()});
  EXPECT_THAT(Values<float>(sum.get()), ElementsAre(2, 4));
  EXPECT_THAT(DimsOf(sum.get()), ElementsAre(2));
  EXPECT_EQ(TFE_TensorHandleDataType(sum.get()), TF_FLOAT);
}

TEST_F(EagerOpsTest, OneOpServesEachTypeAndShape) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Values<float>(RunOp(ctx_, "AddV2", {floats_.get(), floats_.get()}).get()),
                ElementsAre(2, 4));
    EXPECT_THAT(Values<int32_t>(RunOp(ctx_, "AddV2", {ints_.get(), ints_.get()}).get()),
                ElementsAre(6, 8));
    const Handle scalar = Of<float>({}, {10});
    EXPECT_THAT(Values<float>(RunOp(ctx_, "AddV2", {floats_.get(), scalar.get()}).get()),
                ElementsAre(11, 12));
  }
}

// The values of some inputs decide shapes: each value needs a preparation of its own.
TEST_F(EagerOpsTest, ValuesThatDecideShapesCount) {
  const Handle x = Of<float>({4}, {1, 2, 3, 4});
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<int32_t>& dims : {std::vector<int32_t>{2, 2}, {4, 1}, {1, 4}}) {
      const Handle shape = Of<int32_t>({2}, dims);
      const Handle result = RunOp(ctx_, "Reshape", {x.get(), shape.get()});
      EXPECT_THAT(DimsOf(result.get()), ElementsAre(dims[0], dims[1]));
    }
  }
}

TEST_F(EagerOpsTest, AttributesDecide) {
  const Handle m = Of<float>({2, 2}, {1, 2, 3, 4});
  const auto transposed = [](TFE_Op* op) { TFE_OpSetAttrBool(op, "transpose_a", 1); };
  EXPECT_THAT(Values<float>(RunOp(ctx_, "MatMul", {m.get(), m.get()}).get()),
              ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(Values<float>(RunOp(ctx_, "MatMul", {m.get(), m.get()}, transposed).get()),
              ElementsAre(10, 14, 14, 20));
}

TEST_F(EagerOpsTest, TheFirstValueOfAnAttributeCounts) {
  const Handle cast = RunOp(ctx_, "Cast", {floats_.get()}, [](TFE_Op* op) {
    TFE_OpSetAttrType(op, "DstT", TF_INT32);
    TFE_OpSetAttrType(op, "DstT", TF_INT64);
    TFE_OpSetAttrType(op, "SrcT", TF_BOOL);  // the input has said float
  });
  EXPECT_THAT(Values<int32_t>(cast.get()), ElementsAre(1, 2));
}

TEST_F(EagerOpsTest, AttributesThatTheOpLacksAreIgnored) {
  const Handle sum = RunOp(ctx_, "AddV2", {floats_.get(), floats_.get()}, [](TFE_Op* op) {
    TFE_OpSetAttrType(op, "_of_the_caller", TF_FLOAT);
    TFE_OpSetAttrInt(op, "no_such_attribute", 3);
  });
  EXPECT_THAT(Values<float>(sum.get()), ElementsAre(2, 4));
}

TEST_F(EagerOpsTest, AListOfInputsSetsItsLength) {
  CheckedStatus status;
  const Op op = NewOp(ctx_, "Pack", {});
  TFE_TensorHandle* inputs[] = {floats_.get(), floats_.get(), floats_.get()};
  TFE_OpAddInputList(op.get(), inputs, 3, status);
  ASSERT_EQ(status.text(), "OK");
  EXPECT_EQ(TFE_OpGetInputLength(op.get(), "values", status), 3);
  EXPECT_EQ(TFE_OpGetOutputLength(op.get(), "output", status), 1);
  EXPECT_EQ(TFE_OpGetFlatInputCount(op.get(), status), 3);
  EXPECT_EQ(TFE_OpGetFlatInput(op.get(), 1, status), floats_.get());
  EXPECT_EQ(status.text(), "OK");
  EXPECT_EQ(TFE_OpGetInputLength(op.get(), "none", status), -1);
  EXPECT_EQ(status.text(), "3 Input 'none' not found");
  EXPECT_EQ(TFE_OpGetOutputLength(op.get(), "none", status), -1);
  EXPECT_EQ(status.text(), "3 Output 'none' not found");
  const std::vector<Handle> results = Execute(op.get(), 1);
  EXPECT_THAT(DimsOf(results[0].get()), ElementsAre(3, 2));
}

// A caller that adds a list one by one sets its attributes himself, as with TensorFlow.
TEST_F(EagerOpsTest, AListAddedOneByOneNeedsItsAttributes) {
  const auto set = [](TFE_Op* op) {
    TFE_OpSetAttrInt(op, "N", 2);
    TFE_OpSetAttrType(op, "T", TF_FLOAT);
  };
  const Handle packed = RunOp(ctx_, "Pack", {floats_.get(), floats_.get()}, set);
  EXPECT_THAT(DimsOf(packed.get()), ElementsAre(2, 2));
  EXPECT_THAT(ErrorOf(ctx_, "Pack", {floats_.get(), floats_.get()}),
              StartsWith("3 OpKernel 'Pack' has constraint on attr 'T' not in NodeDef '[]'"));
}

// Codes as TensorFlow's: of an op with a kernel for each type, of one whose kernel takes all types,
// of one without a kernel, of one with references, and of placeholders.
TEST_F(EagerOpsTest, MissingAttributesHaveTensorFlowsCodes) {
  for (const char* const op : {"Pack", "GatherV2", "Transpose", "Unique", "ResourceGather",
                               "TensorListStack", "Concat", "DynamicStitch"})
    EXPECT_THAT(ErrorOf(ctx_, op, {}),
                AllOf(StartsWith("3 OpKernel '"), HasSubstr("' has constraint on attr '")));
  for (const char* const op : {"Identity", "Reshape", "IdentityN", "Placeholder", "ShapeN"})
    EXPECT_THAT(ErrorOf(ctx_, op, {}), StartsWith("5 No attr named '"));
  EXPECT_THAT(ErrorOf(ctx_, "CudnnRNN", {}), StartsWith("3 NodeDef missing attr 'T' from Op<"));
  EXPECT_THAT(ErrorOf(ctx_, "RiscWhile", {}),
              StartsWith("3 NodeDef missing attrs 'T', 'cond', 'body' from Op<"));
  EXPECT_THAT(ErrorOf(ctx_, "RpcCheckStatus", {}),
              StartsWith("3 NodeDef expected inputs 'resource' do not match 0 inputs specified;"));
  EXPECT_THAT(ErrorOf(ctx_, "TensorArraySize", {}),
              StartsWith("3 NodeDef expected inputs 'string_ref, float' do not match 0 inputs"));
  EXPECT_THAT(ErrorOf(ctx_, "PlaceholderV2", {},
                      [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); }),
              StartsWith("3 NodeDef missing attr 'shape' from Op<"));
}

TEST_F(EagerOpsTest, AnOpGivesSeveralResults) {
  const Handle x = Of<float>({4}, {1, 2, 3, 4}), axis = Of<int32_t>({}, {0});
  const Op op = NewOp(ctx_, "Split", {axis.get(), x.get()});
  TFE_OpSetAttrInt(op.get(), "num_split", 2);
  const std::vector<Handle> parts = Execute(op.get(), 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(Values<float>(parts[0].get()), ElementsAre(1, 2));
  EXPECT_THAT(Values<float>(parts[1].get()), ElementsAre(3, 4));
}

TEST_F(EagerOpsTest, RoomForResults) {
  CheckedStatus status;
  const Op op = NewOp(ctx_, "AddV2", {floats_.get(), floats_.get()});
  TFE_TensorHandle* results[2] = {};
  int count = 0;
  TFE_Execute(op.get(), results, &count, status);
  EXPECT_EQ(status.text(), "3 Expecting 1 outputs, but *num_retvals is 0");
  count = 2;  // more than needed
  TFE_Execute(op.get(), results, &count, status);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_EQ(count, 1);
  TFE_DeleteTensorHandle(results[0]);
}

// As in TensorFlow, a variable without a value takes one of any type.
TEST_F(EagerOpsTest, ADestroyedVariableTakesAnotherType) {
  const Handle variable = RunOp(ctx_, "VarHandleOp", {}, [](TFE_Op* op) {
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    CheckedStatus status;
    TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
    TFE_OpSetAttrString(op, "shared_name", "changing", 8);
  });
  const auto error_of = [&](const char* name, TFE_TensorHandle* value, TF_DataType type) {
    const Op op = NewOp(ctx_, name, {variable.get()});
    CheckedStatus status;
    if (value != nullptr) TFE_OpAddInput(op.get(), value, status);
    if (std::string_view(name) == "ReadVariableOp") TFE_OpSetAttrType(op.get(), "dtype", type);
    TFE_TensorHandle* result[1];
    int count = 1;
    TFE_Execute(op.get(), result, &count, status);
    if (count == 1 && status.text() == "OK") TFE_DeleteTensorHandle(result[0]);
    return status.text();
  };
  EXPECT_EQ(error_of("AssignVariableOp", floats_.get(), TF_FLOAT), "OK");
  EXPECT_EQ(error_of("AssignVariableOp", ints_.get(), TF_INT32),
            "3 Trying to assign variable with wrong dtype. Expected float got int32");
  EXPECT_EQ(error_of("DestroyResourceOp", nullptr, TF_FLOAT), "OK");
  EXPECT_EQ(error_of("AssignVariableOp", ints_.get(), TF_INT32), "OK");
  EXPECT_EQ(error_of("ReadVariableOp", nullptr, TF_INT32), "OK");
  EXPECT_EQ(error_of("ReadVariableOp", nullptr, TF_FLOAT),
            "3 Trying to read variable with wrong dtype. Expected float got int32");
  EXPECT_EQ(error_of("AssignVariableOp", floats_.get(), TF_FLOAT),
            "3 Trying to assign variable with wrong dtype. Expected int32 got float");
}

TEST_F(EagerOpsTest, AnExecutedOpHasNoInputs) {
  const Op op = NewOp(ctx_, "AddV2", {floats_.get(), floats_.get()});
  EXPECT_EQ(Execute(op.get(), 1).size(), 1u);
  CheckedStatus status;
  EXPECT_EQ(TFE_OpGetFlatInputCount(op.get(), status), 0);
  Execute(op.get(), 1, status);
  EXPECT_THAT(status.text(), StartsWith("3 NodeDef expected inputs 'float, float' do not match 0 "
                                        "inputs specified; Op<name=AddV2; "));
  TFE_OpAddInput(op.get(), floats_.get(), status);
  TFE_OpAddInput(op.get(), floats_.get(), status);
  EXPECT_THAT(Values<float>(Execute(op.get(), 1)[0].get()), ElementsAre(2, 4));
}

TEST_F(EagerOpsTest, ErrorsHaveTensorFlowsWords) {
  TFE_TensorHandle *f = floats_.get(), *i = ints_.get();
  const Handle three = Of<float>({3}, {1, 2, 3}), m = Of<float>({2, 2}, {1, 2, 3, 4});
  const Handle wide = Of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(ErrorOf(ctx_, "AddV2", {f, three.get()}),
              StartsWith("3 Incompatible shapes: [2] vs. [3]"));
  EXPECT_THAT(ErrorOf(ctx_, "MatMul", {m.get(), wide.get()}),
              StartsWith("3 Matrix size-incompatible: In[0]: [2,2], In[1]: [3,2]"));
  EXPECT_EQ(ErrorOf(ctx_, "AddV2", {f, i}),
            "3 cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but "
            "is a int32 tensor");
  EXPECT_THAT(ErrorOf(ctx_, "AddV2", {f}),
              AllOf(StartsWith("3 NodeDef expected inputs 'float, float' do not match 1 inputs "
                               "specified; Op<name=AddV2; "),
                    EndsWith("; NodeDef: {{node AddV2}}")));
  EXPECT_EQ(ErrorOf(ctx_, "Cast", {f}), "5 No attr named 'DstT' in NodeDef:\n\t [[{{node Cast}}]]");
  CheckedStatus status;
  EXPECT_EQ(TFE_NewOp(ctx_, "NoSuchOp", status), nullptr);
  EXPECT_THAT(status.text(),
              StartsWith("5 'NoSuchOp' is neither a type of a primitive operation nor a name of a "
                         "function registered in binary running on "));
}

TEST_F(EagerOpsTest, ErrorsOfValuesHaveTensorFlowsWords) {
  TFE_TensorHandle *f = floats_.get(), *i = ints_.get();
  const Handle zero = Of<int32_t>({}, {0}), two = Of<int32_t>({}, {2}),
               twice = Of<int32_t>({2}, {0, 0}),
               huge = Of<int32_t>({3}, {1 << 30, 1 << 30, 1 << 30});
  EXPECT_THAT(ErrorOf(ctx_, "FloorMod", {i, zero.get()}), StartsWith("3 Integer division by zero"));
  EXPECT_THAT(ErrorOf(ctx_, "TruncateMod", {i, zero.get()}),
              StartsWith("13 Unexpected error in binary operator"));
  EXPECT_THAT(ErrorOf(ctx_, "TruncateMod", {i, zero.get()}),
              StartsWith("13 Unexpected error in binary operator"));
  EXPECT_THAT(ErrorOf(ctx_, "ArgMax", {f, two.get()}),
              StartsWith("3 Expected dimension in the range [-1, 1), but got 2"));
  EXPECT_THAT(ErrorOf(ctx_, "Sum", {f, two.get()}),
              StartsWith("3 Invalid reduction dimension (2 for input with 1 dimension(s)"));
  EXPECT_THAT(ErrorOf(ctx_, "Sum", {f, twice.get()}),
              StartsWith("3 Invalid reduction arguments: Axes contains duplicate dimension: 0"));
  EXPECT_THAT(ErrorOf(ctx_, "Fill", {huge.get(), zero.get()}), StartsWith("3 "));
  const auto to_bool = [](TFE_Op* op) { TFE_OpSetAttrType(op, "DstT", TF_BOOL); };
  const Handle flag = RunOp(ctx_, "Cast", {two.get()}, to_bool), one = Of<float>({1}, {1});
  EXPECT_THAT(ErrorOf(ctx_, "Reverse", {one.get(), flag.get()}),
              StartsWith("3 'dims' must be 1-dimension, not 0"));
}

TEST_F(EagerOpsTest, MissingTypesAreToldFirst) {
  EXPECT_EQ(ErrorOf(ctx_, "Const", {}),
            "5 No attr named 'dtype' in NodeDef:\n\t [[{{node Const}}]]");
}

TEST_F(EagerOpsTest, TypesOfAttributes) {
  CheckedStatus status;
  unsigned char is_list = 2;
  EXPECT_EQ(TFE_OpNameGetAttrType(ctx_, "Pack", "T", &is_list, status), TF_ATTR_TYPE);
  EXPECT_EQ(is_list, 0);
  EXPECT_EQ(TFE_OpNameGetAttrType(ctx_, "Squeeze", "squeeze_dims", &is_list, status), TF_ATTR_INT);
  EXPECT_EQ(is_list, 1);
  EXPECT_EQ(status.text(), "OK");
  EXPECT_EQ(TFE_OpNameGetAttrType(ctx_, "Pack", "none", &is_list, status), TF_ATTR_INT);
  EXPECT_EQ(status.text(), "3 Attribute 'none' does not exist for this operation");
  TFE_OpNameGetAttrType(ctx_, "NoSuchOp", "T", &is_list, status);
  EXPECT_EQ(status.code(), TF_NOT_FOUND);
}

TEST_F(EagerOpsTest, StringsAndTensorAttributes) {
  const Handle joined = RunOp(ctx_, "StringJoin", {}, [](TFE_Op* op) {
    CheckedStatus status;
    const Handle a = OfStrings({}, {"ab"}), b = OfStrings({}, {"cd"});
    TFE_TensorHandle* inputs[] = {a.get(), b.get()};
    TFE_OpAddInputList(op, inputs, 2, status);
    TFE_OpSetAttrString(op, "separator", "-", 1);
  });
  EXPECT_THAT(Strings(joined.get()), ElementsAre("ab-cd"));
  const Handle constant = RunOp(ctx_, "Const", {}, [this](TFE_Op* op) {
    CheckedStatus status;
    TF_Tensor* const value = TFE_TensorHandleResolve(floats_.get(), status);
    TFE_OpSetAttrTensor(op, "value", value, status);
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TF_DeleteTensor(value);
  });
  EXPECT_THAT(Values<float>(constant.get()), ElementsAre(1, 2));
}

// An output that is not chosen has no elements, as in TensorFlow.
TEST_F(EagerOpsTest, SwitchesGiveTheirDataToOneOutput) {
  const auto sizes = [&](TFE_Op* op, int outputs) {
    std::vector<int64_t> sizes;
    for (const Handle& result : Execute(op, outputs)) {
      EXPECT_EQ(TF_FLOAT, TFE_TensorHandleDataType(result.get()));
      EXPECT_EQ(1, DimsOf(result.get()).size());
      sizes.push_back(DimsOf(result.get())[0]);
    }
    return sizes;
  };
  for (const bool choice : {false, true}) {
    const Handle pred = NewHandle(TF_BOOL, {}, &choice, 1);
    const Op op = NewOp(ctx_, "Switch", {floats_.get(), pred.get()});
    EXPECT_THAT(sizes(op.get(), 2), ElementsAre(choice ? 0 : 2, choice ? 2 : 0));
  }
  // A number that no output has chooses the last one.
  for (const auto& [number, chosen] :
       {std::pair<int32_t, int64_t>{-1, 2}, {0, 0}, {1, 1}, {2, 2}, {3, 2}}) {
    const Handle index = Of<int32_t>({}, {number});
    const Op op = NewOp(ctx_, "_SwitchN", {floats_.get(), index.get()});
    TFE_OpSetAttrInt(op.get(), "num_outs", 3);
    EXPECT_THAT(sizes(op.get(), 3),
                ElementsAre(chosen == 0 ? 2 : 0, chosen == 1 ? 2 : 0, chosen == 2 ? 2 : 0));
  }
  const bool choices[] = {true, false};
  const Handle vector = NewHandle(TF_BOOL, {2}, choices, 2);
  EXPECT_EQ("3 The second input must be a scalar, but it has shape [2]",
            ErrorOf(ctx_, "Switch", {floats_.get(), vector.get()}));
}

TEST_F(EagerOpsTest, DevicesOfOps) {
  CheckedStatus status;
  const Op op = NewOp(ctx_, "AddV2", {floats_.get(), floats_.get()});
  EXPECT_STREQ(TFE_OpGetDevice(op.get(), status), "");
  TFE_OpSetDevice(op.get(), "/CPU:0", status);
  EXPECT_STREQ(TFE_OpGetDevice(op.get(), status), "/device:CPU:0");
  TFE_OpSetDevice(op.get(), "foo", status);
  EXPECT_THAT(status.text(), StartsWith("3 Malformed device specification 'foo' in eager op"));
  TFE_OpSetDevice(op.get(), "/GPU:0", status);
  EXPECT_EQ(status.text(), "OK");
  Execute(op.get(), 1, status);
  EXPECT_THAT(status.text(),
              StartsWith("3 Could not satisfy device specification '/device:GPU:0'. "
                         "enable_soft_placement=0. Supported device types [CPU]. All available "
                         "devices [/job:localhost/replica:0/task:0/device:CPU:0"));
  TFE_OpSetDevice(op.get(), "/job:localhost/replica:0/task:0/device:CPU:0", status);
  const std::vector<Handle> sum = Execute(op.get(), 1);
  EXPECT_STREQ(TFE_TensorHandleDeviceName(sum[0].get(), status),
               "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST_F(EagerOpsTest, SoftPlacementTakesWhatIsThere) {
  const char config[] = {7 << 3, 1};  // allow_soft_placement
  const ContextPointer soft = NewContext([&](TFE_ContextOptions* options) {
    CheckedStatus status;
    TFE_ContextOptionsSetConfig(options, config, sizeof(config), status);
    EXPECT_EQ(status.text(), "OK");
  });
  const Handle sum = RunOp(soft.get(), "AddV2", {floats_.get(), floats_.get()}, [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetDevice(op, "/GPU:0", status);
  });
  EXPECT_THAT(Values<float>(sum.get()), ElementsAre(2, 4));
}

// An op that holds the last reference to an input may write its result there.
TEST_F(EagerOpsTest, TheMemoryOfADeletedInputIsUsedAgain) {
  CheckedStatus status;
  for (const bool deleted : {true, false}) {
    Handle x = RunOp(ctx_, "AddV2", {floats_.get(), floats_.get()});
    TF_Tensor* value = TFE_TensorHandleResolve(x.get(), status);
    const void* const before = TF_TensorData(value);
    TF_DeleteTensor(value);
    const Op op = NewOp(ctx_, "AddV2", {x.get(), floats_.get()});
    if (deleted) x.reset();
    const std::vector<Handle> sum = Execute(op.get(), 1);
    EXPECT_THAT(Values<float>(sum[0].get()), ElementsAre(3, 6));
    value = TFE_TensorHandleResolve(sum[0].get(), status);
    EXPECT_EQ(TF_TensorData(value) == before, deleted);
    TF_DeleteTensor(value);
  }
}

// As in TensorFlow: seeds make a sequence, which begins anew when caches are cleared.
TEST_F(EagerOpsTest, RandomOpsKeepTheirStateUntilCachesAreCleared) {
  const Handle shape = Of<int32_t>({1}, {4});
  const auto draw = [&] {
    return Values<float>(RunOp(ctx_, "RandomUniform", {shape.get()}, [](TFE_Op* op) {
                           TFE_OpSetAttrInt(op, "seed", 1);
                           TFE_OpSetAttrInt(op, "seed2", 2);
                           TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
                         }).get());
  };
  const std::vector<float> first = draw(), second = draw();
  EXPECT_NE(first, second);
  TFE_ContextClearCaches(ctx_);
  EXPECT_EQ(draw(), first);
  EXPECT_EQ(draw(), second);
}

TEST_F(EagerOpsTest, VariablesKeepValues) {
  const Handle variable = RunOp(ctx_, "VarHandleOp", {}, [](TFE_Op* op) {
    CheckedStatus status;
    TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
    TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
    TFE_OpSetAttrString(op, "shared_name", "v", 1);
  });
  ASSERT_EQ(TFE_TensorHandleDataType(variable.get()), TF_RESOURCE);
  const auto read = [&] {
    return Values<float>(RunOp(ctx_, "ReadVariableOp", {variable.get()}, [](TFE_Op* op) {
                           TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
                         }).get());
  };
  for (const char* const name : {"AssignVariableOp", "AssignAddVariableOp"}) {
    const Op assign = NewOp(ctx_, name, {variable.get(), floats_.get()});
    EXPECT_TRUE(Execute(assign.get(), 0).empty());
  }
  EXPECT_THAT(read(), ElementsAre(2, 4));
}

// TensorFlow's name for variables that only their handles keep.
TEST_F(EagerOpsTest, AnonymousVariablesAreAllDifferent) {
  const auto make = [&] {
    return RunOp(ctx_, "VarHandleOp", {}, [](TFE_Op* op) {
      CheckedStatus status;
      TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
      TFE_OpSetAttrShape(op, "shape", nullptr, -1, status);
      TFE_OpSetAttrString(op, "shared_name", "cd2c89b7-88b7-44c8-ad83-06c2a9158347", 36);
    });
  };
  const auto read = [&](const Handle& variable) {
    return Values<float>(RunOp(ctx_, "ReadVariableOp", {variable.get()}, [](TFE_Op* op) {
                           TFE_OpSetAttrType(op, "dtype", TF_FLOAT);
                         }).get());
  };
  const Handle a = make(), b = make(), other = Of<float>({1}, {7});
  Execute(NewOp(ctx_, "AssignVariableOp", {a.get(), floats_.get()}).get(), 0);
  Execute(NewOp(ctx_, "AssignVariableOp", {b.get(), other.get()}).get(), 0);
  EXPECT_THAT(read(a), ElementsAre(1, 2));
  EXPECT_THAT(read(b), ElementsAre(7));
  Execute(NewOp(ctx_, "DestroyResourceOp", {a.get()}).get(), 0);
  EXPECT_THAT(read(a), ElementsAre(1, 2));  // it goes with its last handle
}

// Programs know these texts from TensorFlow.
TEST_F(EagerOpsTest, KernelsSayWhatTensorFlowsSay) {
  const Handle three = Of<float>({3}, {1, 2, 3});
  const auto ints = [](const std::vector<int32_t>& values) {
    return Of<int32_t>({static_cast<int64_t>(values.size())}, values);
  };
  const Handle zero = Of<int32_t>({}, {0}), two = Of<int32_t>({}, {2}), text = OfStrings({}, {"a"});
  EXPECT_THAT(ErrorOf(ctx_, "FloorDiv", {two.get(), zero.get()}),
              StartsWith("3 Integer division by zero"));
  EXPECT_THAT(ErrorOf(ctx_, "Tile", {three.get(), ints({-1}).get()}),
              StartsWith("3 Expected multiples[0] >= 0, but got -1"));
  EXPECT_THAT(ErrorOf(ctx_, "Slice", {three.get(), ints({4}).get(), ints({1}).get()}),
              StartsWith("3 Expected begin[0] in [0, 3], but got 4"));
  EXPECT_THAT(ErrorOf(ctx_, "Slice", {three.get(), ints({1}).get(), ints({3}).get()}),
              StartsWith("3 Expected size[0] in [0, 2], but got 3"));
  EXPECT_THAT(ErrorOf(ctx_, "UnsortedSegmentSum", {three.get(), ints({0, 1, 2}).get(), two.get()}),
              StartsWith("3 segment_ids[2] = 2 is out of range [0, 2)"));
  EXPECT_THAT(ErrorOf(ctx_, "StringToNumber", {text.get()}),
              StartsWith("3 StringToNumberOp could not correctly convert string: a"));
  EXPECT_THAT(ErrorOf(ctx_, "RegexFullMatch", {text.get(), OfStrings({}, {"("}).get()}),
              StartsWith("3 Invalid pattern: (, error: missing )"));
}

// Removed ops are told after a missing kernel, and references like other types.
TEST_F(EagerOpsTest, RemovedOpsAndReferencesHaveTensorFlowsCodes) {
  const Handle m = Of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(ErrorOf(ctx_, "BatchMatrixDiagPart", {m.get()}),
              AllOf(StartsWith("12 Op BatchMatrixDiagPart is not available in GraphDef version "),
                    EndsWith(". It has been removed in version 14. Use MatrixDiagPart.")));
  EXPECT_EQ(ErrorOf(ctx_, "AssignAdd", {floats_.get(), floats_.get()}),
            "3 cannot compute AssignAdd as input #0(zero-based) was expected to be a float_ref "
            "tensor but is a float tensor");
  EXPECT_EQ(ErrorOf(ctx_, "QueueSize", {OfStrings({2}, {"", "q"}).get()}),
            "3 cannot compute QueueSize as input #0(zero-based) was expected to be a string_ref "
            "tensor but is a string tensor");
  const auto of_floats = [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); };
  EXPECT_THAT(ErrorOf(ctx_, "VariableV2", {},
                      [&](TFE_Op* op) {
                        of_floats(op);
                        CheckedStatus status;
                        TFE_OpSetAttrShape(op, "shape", nullptr, 0, status);
                      }),
              StartsWith("12 VariableV2 gives references"));
}

// A type without a kernel is told with all attributes, also those that are not given.
TEST_F(EagerOpsTest, TypesWithoutAKernelAreNotFound) {
  EXPECT_THAT(ErrorOf(ctx_, "HashTableV2", {},
                      [](TFE_Op* op) {
                        TFE_OpSetAttrType(op, "key_dtype", TF_COMPLEX64);
                        TFE_OpSetAttrType(op, "value_dtype", TF_FLOAT);
                      }),
              StartsWith("5 Could not find device for node: {{node HashTableV2}} = "
                         "HashTableV2[container=\"\", key_dtype=DT_COMPLEX64, shared_name=\"\", "
                         "use_node_name_sharing=false, value_dtype=DT_FLOAT]\nAll kernels "
                         "registered for op HashTableV2:\n  device='CPU'"));
  const Handle z = NewHandle(TF_COMPLEX128, {1}, "0123456789abcdef", 16);
  EXPECT_THAT(
      ErrorOf(ctx_, "Real", {z.get()}, [](TFE_Op* op) { TFE_OpSetAttrType(op, "Tout", TF_FLOAT); }),
      StartsWith("5 Could not find device for node: {{node Real}} = "
                 "Real[T=DT_COMPLEX128, Tout=DT_FLOAT]"));
  const double pair[] = {1, 2};
  const Handle doubles = NewHandle(TF_DOUBLE, {2}, pair, sizeof pair);
  EXPECT_THAT(ErrorOf(ctx_, "Complex", {doubles.get(), doubles.get()}),
              StartsWith("5 Could not find device for node: {{node Complex}} = "
                         "Complex[T=DT_DOUBLE, Tout=DT_COMPLEX64]"));
  const Handle texts = OfStrings({1}, {"a"}), at = Of<int32_t>({1, 1}, {0});
  EXPECT_THAT(ErrorOf(ctx_, "TensorScatterMax", {texts.get(), at.get(), texts.get()}),
              StartsWith("5 Could not find device"));
}

// What kernels check of shapes and values, with TensorFlow's codes.
TEST_F(EagerOpsTest, KernelsRefuseWhatTensorFlowsRefuse) {
  const Handle zero = Of<int32_t>({}, {0}), scalar = Of<float>({}, {1});
  EXPECT_THAT(ErrorOf(ctx_, "Empty", {zero.get()},
                      [](TFE_Op* op) { TFE_OpSetAttrType(op, "dtype", TF_FLOAT); }),
              StartsWith("3 shape must be a vector of int32, got shape []"));
  EXPECT_THAT(ErrorOf(ctx_, "DebugIdentity", {scalar.get()}),
              StartsWith("3 Failed to parse tensor name: \"\""));
  EXPECT_THAT(ErrorOf(ctx_, "ReduceJoin", {OfStrings({}, {"a"}).get(), zero.get()}),
              StartsWith("11 Invalid reduction dimension 0 for input with 0 dimension(s)"));
  EXPECT_THAT(ErrorOf(ctx_, "ReadFile", {OfStrings({}, {""}).get()}),
              StartsWith("5 ; No such file or directory"));
  // A scalar has no dimensions that could be reversed.
  const bool no = false;
  const Handle dims = NewHandle(TF_BOOL, {}, &no, 1);
  EXPECT_THAT(Values<float>(RunOp(ctx_, "Reverse", {scalar.get(), dims.get()}).get()),
              ElementsAre(1));
}

}  // namespace
}  // namespace tenon::eager
