#include "graph/op_defs/op_def.h"

#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

using enum DataType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Specs {
  std::vector<std::string> attrs = {}, inputs = {}, outputs = {};
};

absl::StatusOr<OpDef> Build(const Specs& specs, std::string_view name = "Test") {
  OpDefBuilder b(name);
  for (const auto& s : specs.inputs) {
    if (auto st = b.AddInput(s); !st.ok()) return st;
  }
  for (const auto& s : specs.outputs) {
    if (auto st = b.AddOutput(s); !st.ok()) return st;
  }
  for (const auto& s : specs.attrs) {
    if (auto st = b.AddAttr(s); !st.ok()) return st;
  }
  return std::move(b).Finish();
}

AttrDef OneAttr(const std::string& spec) {
  const auto op = Build({.attrs = {spec}});
  EXPECT_TRUE(op.ok()) << op.status();
  return op.ok() ? op->attrs[0] : AttrDef();
}

TEST(AttrSpec, Kinds) {
  const struct {
    const char* spec;
    AttrKind kind;
    bool list;
  } kCases[] = {{"a:string", AttrKind::kString, false},
                {" a : int ", AttrKind::kInt, false},
                {"a: float", AttrKind::kFloat, false},
                {"a: bool", AttrKind::kBool, false},
                {"a: type", AttrKind::kType, false},
                {"a: shape", AttrKind::kShape, false},
                {"a: tensor", AttrKind::kTensor, false},
                {"a: func", AttrKind::kFunc, false},
                {"a: list(string)", AttrKind::kString, true},
                {"a: list( shape )", AttrKind::kShape, true},
                {"a: list(func)", AttrKind::kFunc, true},
                {"A9_b: list({float, half})", AttrKind::kType, true}};
  for (const auto& c : kCases) {
    const AttrDef a = OneAttr(c.spec);
    EXPECT_EQ(a.kind, c.kind) << c.spec;
    EXPECT_EQ(a.is_list, c.list) << c.spec;
    EXPECT_FALSE(a.has_default) << c.spec;
    EXPECT_FALSE(a.has_minimum) << c.spec;
  }
}

TEST(AttrSpec, AllowedValues) {
  EXPECT_THAT(OneAttr("T: {int32, int64}").allowed_types, ElementsAre(kInt32, kInt64));
  EXPECT_THAT(OneAttr("T: {bool,}").allowed_types, ElementsAre(kBool));
  EXPECT_THAT(OneAttr("T: quantizedtype").allowed_types,
              ElementsAre(kQint8, kQuint8, kQint32, kQint16, kQuint16));
  EXPECT_EQ(OneAttr("T: numbertype").allowed_types.size(), 19);
  EXPECT_EQ(OneAttr("T: realnumbertype").allowed_types.size(), 12);
  EXPECT_EQ(OneAttr("T: {realnumbertype, bool}").allowed_types.back(), kBool);
  EXPECT_THAT(OneAttr("m: {'a', \"b;}\"}").allowed_strings, ElementsAre("a", "b;}"));
}

TEST(AttrSpec, Minimum) {
  EXPECT_EQ(OneAttr("n: int >= -3").minimum, -3);
  EXPECT_EQ(OneAttr("n: list(float) >= 2").minimum, 2);
  EXPECT_TRUE(OneAttr("n: int >= 0").has_minimum);
}

TEST(AttrSpec, Defaults) {
  EXPECT_EQ(*AttrValue(OneAttr("a: int = -7").default_wire).AsInt(), -7);
  EXPECT_EQ(*AttrValue(OneAttr("a: int >= 1 = 3").default_wire).AsInt(), 3);
  EXPECT_EQ(*AttrValue(OneAttr("a: float = 1e-4").default_wire).AsFloat(), 1e-4f);
  EXPECT_EQ(*AttrValue(OneAttr("a: float = -inf").default_wire).AsFloat(), -INFINITY);
  EXPECT_EQ(*AttrValue(OneAttr("a: bool = true").default_wire).AsBool(), true);
  EXPECT_EQ(*AttrValue(OneAttr("a: type = DT_HALF").default_wire).AsType(), kHalf);
  EXPECT_EQ(*AttrValue(OneAttr("a: {'x', 'y'} = 'y'").default_wire).AsString(), "y");
  EXPECT_EQ(*AttrValue(OneAttr("a: string = 'a\\n\\'b'").default_wire).AsString(), "a\n'b");
  EXPECT_EQ(
      *AttrValue(OneAttr("a: shape = { dim { size: 2 } dim { size: -1 } }").default_wire).AsShape(),
      (PartialShape{2, -1}));
  EXPECT_EQ(*AttrValue(OneAttr("a: shape = { unknown_rank: true }").default_wire).AsShape(),
            PartialShape());
  EXPECT_EQ(AttrValue(OneAttr("a: func = { name: 'f' }").default_wire).AsFunc()->name, "f");
  EXPECT_TRUE(AttrValue(OneAttr("a: tensor = { dtype: DT_INT32 int_val: 1 }").default_wire)
                  .AsTensorWire()
                  .ok());
}

TEST(AttrSpec, DefaultLists) {
  EXPECT_THAT(*AttrValue(OneAttr("a: list(int) = [1, -2]").default_wire).AsIntList(),
              ElementsAre(1, -2));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(int) = []").default_wire).AsIntList(), IsEmpty());
  EXPECT_THAT(*AttrValue(OneAttr("a: list(float) = [0.5, 2]").default_wire).AsFloatList(),
              ElementsAre(0.5f, 2.f));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(bool) = [true, false]").default_wire).AsBoolList(),
              ElementsAre(true, false));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(type) = [DT_INT8]").default_wire).AsTypeList(),
              ElementsAre(kInt8));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(string) = ['a', ',b]']").default_wire).AsStringList(),
              ElementsAre("a", ",b]"));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(shape) = [{}, { unknown_rank: true }]").default_wire)
                   .AsShapeList(),
              ElementsAre(PartialShape(Shape()), PartialShape()));
  EXPECT_THAT(*AttrValue(OneAttr("a: list(func) = []").default_wire).AsFuncList(), IsEmpty());
}

TEST(AttrSpec, Refused) {
  for (const char* spec : {"",
                           "a",
                           "a:",
                           ": int",
                           "1a: int",
                           "_a: int",
                           "a: integer",
                           "a: list",
                           "a: list(",
                           "a: list(int",
                           "a: list(list(int))",
                           "a: {",
                           "a: {}",
                           "a: {float",
                           "a: {float; int32}",
                           "a: {'x'",
                           "a: int >=",
                           "a: int >= x",
                           "a: float >= 1",
                           "a: int = ",
                           "a: int = 1.5",
                           "a: int = 1 2",
                           "a: int = [1]",
                           "a: list(int) = 1",
                           "a: list(int) = [1",
                           "a: list(int) = [1 2]",
                           "a: list(int) = [,]",
                           "a: bool = yes",
                           "a: type = float",
                           "a: type = DT_NONE",
                           "a: string = x",
                           "a: string = 'x",
                           "a: shape = {",
                           "a: shape = { sizes: 1 }",
                           "a: int extra",
                           "a: int >= 2 = 1",
                           "a: {float} = DT_INT32",
                           "a: {'x'} = 'y'",
                           "a: list(int) >= 2 = [1]",
                           "a: int = 99999999999999999999"}) {
    const auto op = Build({.attrs = {spec}});
    EXPECT_EQ(op.status().code(), absl::StatusCode::kInvalidArgument) << spec;
  }
}

TEST(ArgSpec, Forms) {
  const auto op = Build({.attrs = {"T: type", "N: int", "Ts: list(type)"},
                         .inputs = {"a: float", "b : T", "c: N*T", "d: N * int32", "e: Ts",
                                    "f: Ref(T)", "g: Ref( N * float )"}});
  ASSERT_TRUE(op.ok()) << op.status();
  const auto& in = op->inputs;
  EXPECT_EQ(in[0].type, kFloat);
  EXPECT_EQ(in[1].type_attr, "T");
  EXPECT_EQ(in[2].number_attr + in[2].type_attr, "NT");
  EXPECT_EQ(in[3].type, kInt32);
  EXPECT_EQ(in[4].type_list_attr, "Ts");
  EXPECT_TRUE(in[5].is_ref && in[5].type_attr == "T");
  EXPECT_TRUE(in[6].is_ref && in[6].number_attr == "N");
  EXPECT_EQ(op->FindAttr("N")->minimum, 1)
      << "a length is at least 1 unless the spec says otherwise";
  EXPECT_EQ(op->FindAttr("Ts")->minimum, 1);
}

TEST(ArgSpec, Refused) {
  for (const char* spec :
       {"", "a", "a:", "A: float", "aB: float", "a: floaty", "a: S", "a: M * float", "a: N *",
        "a: float float", "a: Ref(float", "a: Ref float", "a: T * float", "a: N * Ts", "a: N"}) {
    const auto op = Build({.attrs = {"T: type", "N: int", "Ts: list(type)"}, .inputs = {spec}});
    EXPECT_EQ(op.status().code(), absl::StatusCode::kInvalidArgument) << spec;
  }
}

TEST(OpDef, NamesAreChecked) {
  EXPECT_TRUE(Build({}, "_Fused2").ok());
  EXPECT_TRUE(Build({}, "__Fused2").ok());
  EXPECT_TRUE(Build({}, "Space>Op").ok());
  for (const char* name : {"", "op", "_", "__", "A-b", "9A"})
    EXPECT_FALSE(Build({}, name).ok()) << name;
  EXPECT_FALSE(Build({.attrs = {"a: int", "a: int"}}).ok());
  EXPECT_FALSE(Build({.inputs = {"x: float", "x: float"}}).ok());
  EXPECT_FALSE(Build({.attrs = {"x: int"}, .inputs = {"x: float"}}).ok());
  EXPECT_TRUE(Build({.inputs = {"x: float"}, .outputs = {"x: float"}}).ok());
}

// A node's attributes, which own their bytes.
class Attrs {
 public:
  Attrs(std::initializer_list<std::pair<const char*, std::string>> attrs) : owned_(attrs) {
    std::vector<Attr> sorted;
    for (const auto& [name, wire] : owned_) sorted.push_back({name, AttrValue(wire)});
    std::sort(sorted.begin(), sorted.end(),
              [](const Attr& a, const Attr& b) { return a.name < b.name; });
    set_ = AttrSet(std::move(sorted));
  }
  const AttrSet& operator*() const { return set_; }

 private:
  std::vector<std::pair<const char*, std::string>> owned_;
  AttrSet set_;
};

OpDef Sample() {
  return *Build(
      {.attrs = {"T: {float, half} = DT_FLOAT", "N: int", "Ts: list(type) >= 0",
                 "mode: {'a', 'b'} = 'a'", "k: list(int) >= 2 = [1, 1]", "x: int >= 4 = 4"},
       .inputs = {"a: T", "b: N * T", "c: Ts", "d: Ref(int32)"},
       .outputs = {"y: Ts", "z: N * bool"}});
}

TEST(ResolveTypes, EveryForm) {
  const OpDef op = Sample();
  const DataType list[] = {kString, kInt8};
  const Attrs attrs{{"N", attr::Int(2)}, {"Ts", attr::TypeList(list)}, {"T", attr::Type(kHalf)}};
  const auto types = ResolveTypes(op, *attrs);
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_THAT(types->inputs, ElementsAre(kHalf, kHalf, kHalf, kString, kInt8, MakeRef(kInt32)));
  EXPECT_THAT(types->outputs, ElementsAre(kString, kInt8, kBool, kBool));
  EXPECT_EQ(*InputRange(op, *attrs, 1), std::make_pair(1, 3));
  EXPECT_EQ(*InputRange(op, *attrs, 3), std::make_pair(5, 6));
  EXPECT_EQ(*OutputRange(op, *attrs, 1), std::make_pair(2, 4));
  EXPECT_FALSE(OutputRange(op, *attrs, 2).ok());
}

TEST(ResolveTypes, SaysWhatIsMissing) {
  const OpDef op = Sample();
  EXPECT_THAT(ResolveTypes(op, AttrSet()).status().message(), HasSubstr("missing attr 'N'"));
  EXPECT_THAT(ResolveTypes(op, *Attrs{{"N", attr::Float(1)}}).status().message(),
              HasSubstr("attr 'N' has a value of type 'float'"));
  EXPECT_THAT(ResolveTypes(op, *Attrs{{"N", attr::Int(-1)}}).status().message(),
              HasSubstr("attr 'N' of -1"));
  EXPECT_THAT(ResolveTypes(op, *Attrs{{"N", attr::Int(int64_t{1} << 60)}}).status().message(),
              HasSubstr("attr 'N'"));
}

TEST(CheckAttrs, FindsAllViolations) {
  const OpDef op = Sample();
  const DataType none[] = {kInvalid};
  const Attrs attrs{{"T", attr::Type(kString)},   {"N", attr::Int(0)},
                    {"Ts", attr::TypeList(none)}, {"mode", attr::String("c")},
                    {"k", attr::IntList({1})},    {"x", attr::Float(1)},
                    {"other", attr::Int(1)},      {"_private", attr::Int(1)}};
  EXPECT_THAT(
      CheckAttrs(op, *attrs),
      ElementsAre(
          "value for attr 'T' of string is not in the list of allowed values: float, half",
          "value for attr 'N' of 0 must be at least minimum 1", "attr 'Ts' must not be DT_INVALID",
          "value for attr 'mode' of \"c\" is not in the list of allowed values: \"a\", \"b\"",
          "length for attr 'k' of 1 must be at least minimum 2",
          HasSubstr("attr 'x' has a value of type 'float' where 'int' is expected")));
  EXPECT_THAT(CheckAttrs(op, AttrSet()), ElementsAre("missing attr 'N'", "missing attr 'Ts'"));
}

TEST(CheckAttrs, ReferenceTypesAndEmptyValues) {
  const auto op = Build({.attrs = {"T: type", "n: int"}});
  EXPECT_THAT(CheckAttrs(*op, *Attrs{{"T", attr::Type(MakeRef(kFloat))}, {"n", ""}}),
              ElementsAre("attr 'T' must not be DT_FLOAT_REF", "attr 'n' has no value"));
}

// As in TensorFlow.
TEST(CheckAttrs, AListWithoutAValueIsEmpty) {
  const auto op = Build({.attrs = {"types: list(type) >= 0", "n: list(int)", "m: list(int) >= 1"},
                         .outputs = {"y: types"}});
  const Attrs attrs{{"types", ""}, {"n", ""}, {"m", ""}};
  EXPECT_THAT(CheckAttrs(*op, *attrs),
              ElementsAre("length for attr 'm' of 0 must be at least minimum 1"));
  EXPECT_TRUE(ResolveTypes(*op, *attrs)->outputs.empty());
  EXPECT_EQ(ResolveTypes(*op, AttrSet()).status().message(), "missing attr 'types'");
}

TEST(OpDefWire, RefusesWhatContradictsItself) {
  EXPECT_EQ(OpDefFromWire("\xff").status().code(), absl::StatusCode::kDataLoss);
  OpDef op = Sample();
  op.inputs[1].number_attr = "M";
  EXPECT_FALSE(OpDefFromWire(OpDefToWire(op)).ok());
  op = Sample();
  op.inputs[0].type = kFloat;
  EXPECT_FALSE(OpDefFromWire(OpDefToWire(op)).ok()) << "two kinds of type";
  op = Sample();
  op.attrs[0].allowed_types.push_back(static_cast<DataType>(77));
  EXPECT_FALSE(OpDefFromWire(OpDefToWire(op)).ok());
}

TEST(OpRegistry, RegistersAndForgets) {
  OpRegistry& r = OpRegistry::Global();
  OpDef op;
  op.name = "TenonTestOp";
  ASSERT_TRUE(r.Register(op).ok());
  const OpDef* found = r.Find("TenonTestOp");
  ASSERT_NE(found, nullptr);
  const absl::Status again = r.Register(op);
  EXPECT_EQ(again.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(again.message(), HasSubstr("Op with name TenonTestOp"));
  r.Remove("TenonTestOp");
  EXPECT_EQ(r.Find("TenonTestOp"), nullptr);
  EXPECT_EQ(found->name, "TenonTestOp") << "pointers outlive Remove";
  op.name = "Conv2D";
  EXPECT_EQ(r.Register(op).code(), absl::StatusCode::kAlreadyExists);
  r.Remove("Conv2D");
  EXPECT_NE(r.Find("Conv2D"), nullptr) << "built-in ops stay";
}

TEST(OpRegistry, FindsTheClosestName) {
  OpRegistry& r = OpRegistry::Global();
  EXPECT_EQ(r.Closest("MatMull"), "MatMul");
  EXPECT_EQ(r.Closest("Convv2D"), "Conv2D");
  EXPECT_EQ(r.Closest("Qqqqqqqqqqqqqqqqqqqq"), "");
  EXPECT_EQ(r.Find("MatMull"), nullptr);
}

}  // namespace
}  // namespace tenon
