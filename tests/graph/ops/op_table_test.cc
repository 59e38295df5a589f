// The built-in ops have the signatures that TensorFlow gives them.
#include <algorithm>
#include <fstream>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_registry.h"
#include "graph/op_defs/op_row.h"
#include "graph/ops/tenon.h"

namespace tenon {
namespace {

std::string Quoted(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string Print(std::string_view v) { return Quoted(v); }
std::string Print(int64_t v) { return absl::StrCat(v); }
std::string Print(float v) { return absl::StrFormat("%.9g", v); }
std::string Print(bool v) { return v ? "true" : "false"; }
std::string Print(DataType v) { return std::string(DataTypeSpecName(v)); }
std::string Print(const PartialShape& v) { return v.known_rank() ? v.ToString() : "?"; }
std::string Print(const FuncAttr& v) { return std::string(v.name); }

template <typename T>
std::string PrintValue(const absl::StatusOr<T>& one, const absl::StatusOr<std::vector<T>>& list,
                       bool is_list) {
  if (!is_list) return one.ok() ? Print(*one) : one.status().ToString();
  if (!list.ok()) return list.status().ToString();
  return absl::StrCat(
      "[", absl::StrJoin(*list, ",", [](std::string* out, const T& v) { *out += Print(v); }), "]");
}

std::string PrintDefault(const AttrDef& a) {
  const AttrValue v(a.default_wire);
  switch (a.kind) {
    case AttrKind::kString:
      return PrintValue(v.AsString(), v.AsStringList(), a.is_list);
    case AttrKind::kInt:
      return PrintValue(v.AsInt(), v.AsIntList(), a.is_list);
    case AttrKind::kFloat:
      return PrintValue(v.AsFloat(), v.AsFloatList(), a.is_list);
    case AttrKind::kBool:
      return PrintValue(v.AsBool(), v.AsBoolList(), a.is_list);
    case AttrKind::kType:
      return PrintValue(v.AsType(), v.AsTypeList(), a.is_list);
    case AttrKind::kShape:
      return PrintValue(v.AsShape(), v.AsShapeList(), a.is_list);
    case AttrKind::kFunc:
      return PrintValue(v.AsFunc(), v.AsFuncList(), a.is_list);
    default:
      return absl::StrCat(v.AsTensorWire().value_or("").size(), " bytes");
  }
}

std::string PrintArg(const ArgDef& a) {
  std::string type = !a.type_attr.empty()        ? a.type_attr
                     : !a.type_list_attr.empty() ? a.type_list_attr
                                                 : std::string(DataTypeSpecName(a.type));
  if (!a.number_attr.empty()) type = absl::StrCat(a.number_attr, "*", type);
  return absl::StrCat(a.name, ":", a.is_ref ? absl::StrCat("Ref(", type, ")") : type);
}

std::string PrintAttr(const AttrDef& a) {
  std::string out = absl::StrCat(a.name, ":", a.is_list ? "list(" : "", AttrKindName(a.kind),
                                 a.is_list ? ")" : "");
  const auto append = [](std::string* s, const auto& v) { *s += Print(v); };
  if (!a.allowed_types.empty())
    absl::StrAppend(&out, "{", absl::StrJoin(a.allowed_types, ",", append), "}");
  if (!a.allowed_strings.empty())
    absl::StrAppend(&out, "{", absl::StrJoin(a.allowed_strings, ",", append), "}");
  if (a.has_minimum) absl::StrAppend(&out, ">=", a.minimum);
  if (a.has_default) absl::StrAppend(&out, "=", PrintDefault(a));
  return out;
}

std::string PrintFlags(const OpDef& op) {
  std::vector<std::string> flags;
  if (op.is_stateful) flags.push_back("stateful");
  if (op.is_commutative) flags.push_back("commutative");
  if (op.is_aggregate) flags.push_back("aggregate");
  if (op.allows_uninitialized_input) flags.push_back("uninitialized");
  if (op.deprecated_since > 0) flags.push_back(absl::StrCat("deprecated ", op.deprecated_since));
  return absl::StrJoin(flags, " ");
}

std::string PrintOp(const OpDef& op) {
  const auto arg = [](std::string* s, const ArgDef& a) { *s += PrintArg(a); };
  const auto attr = [](std::string* s, const AttrDef& a) { *s += PrintAttr(a); };
  return absl::StrCat(op.name, "|", absl::StrJoin(op.inputs, " ", arg), "|",
                      absl::StrJoin(op.outputs, " ", arg), "|", absl::StrJoin(op.attrs, " ", attr),
                      "|", PrintFlags(op));
}

TEST(OpTable, IsTensorFlows) {
  std::ifstream golden("tests/golden/ops/op_defs.txt");
  ASSERT_TRUE(golden.is_open());
  absl::flat_hash_set<std::string> known;
  for (std::string line; std::getline(golden, line);) {
    const std::string name = line.substr(0, line.find('|'));
    known.insert(name);
    const OpDef* op = OpRegistry::Global().Find(name);
    ASSERT_NE(op, nullptr) << name;
    EXPECT_EQ(PrintOp(*op), line);
  }
  for (const OpSpec& op : ops::Tenon()) known.emplace(op.name);  // TensorFlow has none of these
  for (absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& op : family)
      EXPECT_TRUE(known.contains(op.name)) << op.name << " is not in the golden file";
  }
}

// The ops with nothing but a signature, beside which the tables have no other.
TEST(OpSignatures, AreTensorFlows) {
  std::ifstream golden("tests/golden/ops/signatures.txt");
  ASSERT_TRUE(golden.is_open());
  absl::flat_hash_set<std::string> known;
  for (std::string line; std::getline(golden, line);) {
    known.insert(line.substr(0, line.find('|')));
    const OpDef* op = OpRegistry::Global().Find(line.substr(0, line.find('|')));
    ASSERT_NE(op, nullptr) << line;
    EXPECT_EQ(PrintOp(*op), line);
  }
  for (absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& spec : family) EXPECT_FALSE(known.contains(spec.name)) << spec.name;
  }
  for (const std::string_view table : SignatureTables()) {
    for (const std::string_view row : absl::StrSplit(table, '\n', absl::SkipEmpty())) {
      const absl::StatusOr<OpDef> op = ParseSignature(row);
      ASSERT_TRUE(op.ok()) << row << op.status();
      EXPECT_EQ(known.erase(op->name), 1u) << op->name;
      const absl::StatusOr<OpDef> back = OpDefFromWire(OpDefToWire(*op));
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(PrintOp(*back), PrintOp(*op));
    }
  }
  EXPECT_TRUE(known.empty());
}

TEST(OpSignatures, AreOpsOfTheHost) {
  OpRegistry& registry = OpRegistry::Global();
  EXPECT_TRUE(registry.IsBuiltin("XlaDot"));
  EXPECT_EQ(&registry.Facts("XlaDot"), &kNoFacts);
  EXPECT_FALSE(registry.IsBuiltin("XlaDo"));
  const std::vector<std::string_view> names = registry.Names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "XlaDot"), 1);
  OpDef op;
  op.name = "XlaDot";
  EXPECT_TRUE(absl::IsAlreadyExists(registry.Register(op)));
}

TEST(OpSignatures, ThatAreWrongAreErrors) {
  for (const char* row : {"Five||||", "A|x: T||||", "A|||a: none||", "A||||lively|", "a|||||",
                          "A||||deprecated soon|"})
    EXPECT_FALSE(ParseSignature(row).ok()) << row;
  const absl::StatusOr<OpDef> op =
      ParseSignature("A|||s: string = 'a;b'|stateful commutative deprecated 7 Use B|");
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_TRUE(op->is_stateful && op->is_commutative && !op->is_aggregate);
  EXPECT_EQ(op->deprecated_since, 7);
  EXPECT_EQ(op->deprecation, "Use B");
}

TEST(OpTable, SurvivesTheWire) {
  for (absl::Span<const OpSpec> family : BuiltinOps()) {
    for (const OpSpec& spec : family) {
      const OpDef* op = OpRegistry::Global().Find(spec.name);
      ASSERT_NE(op, nullptr) << spec.name;
      const absl::StatusOr<OpDef> back = OpDefFromWire(OpDefToWire(*op));
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(PrintOp(*back), PrintOp(*op));
    }
  }
}

}  // namespace
}  // namespace tenon
