// OpDefBuilder: the textual notation of arguments and attributes.
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_def.h"
#include "proto/attr_value.pb.h"

namespace tenon {
namespace {

using enum DataType;

// The groups of types in TensorFlow's notation, with just the types that TensorFlow puts there:
// real numbers lack the quantized types, and none has the types of 8 bits and fewer that came
// later.
constexpr DataType kNumberTypes[] = {kFloat,      kDouble,    kInt32,  kUint8,   kInt16,
                                     kInt8,       kComplex64, kInt64,  kQint8,   kQuint8,
                                     kQint32,     kBfloat16,  kQint16, kQuint16, kUint16,
                                     kComplex128, kHalf,      kUint32, kUint64};
constexpr DataType kRealNumberTypes[] = {kFloat, kDouble,   kInt32,  kUint8, kInt16,  kInt8,
                                         kInt64, kBfloat16, kUint16, kHalf,  kUint32, kUint64};
constexpr DataType kQuantizedTypes[] = {kQint8, kQuint8, kQint32, kQint16, kQuint16};

// What a spec may say after the colon of an attribute, besides `list(...)` and `{...}`.
struct KindName {
  std::string_view name;
  AttrKind kind;
  absl::Span<const DataType> allowed;
};
constexpr KindName kKindNames[] = {
    {"string", AttrKind::kString, {}},
    {"int", AttrKind::kInt, {}},
    {"float", AttrKind::kFloat, {}},
    {"bool", AttrKind::kBool, {}},
    {"type", AttrKind::kType, {}},
    {"shape", AttrKind::kShape, {}},
    {"tensor", AttrKind::kTensor, {}},
    {"func", AttrKind::kFunc, {}},
    {"numbertype", AttrKind::kType, kNumberTypes},
    {"numerictype", AttrKind::kType, kNumberTypes},
    {"realnumbertype", AttrKind::kType, kRealNumberTypes},
    {"realnumerictype", AttrKind::kType, kRealNumberTypes},
    {"quantizedtype", AttrKind::kType, kQuantizedTypes},
};

// Reads a spec from left to right; every Consume skips the white space before it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool Consume(std::string_view token) {
    SkipSpace();
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string_view Identifier() {
    SkipSpace();
    size_t n = 0;
    while (n < rest_.size() && (absl::ascii_isalnum(rest_[n]) || rest_[n] == '_')) ++n;
    return Take(n);
  }
  bool Integer(int64_t* value) {
    SkipSpace();
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(end - rest_.data());
    return true;
  }
  bool Quoted(std::string* value) {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    size_t n = 1;
    while (n < rest_.size() && rest_[n] != rest_[0]) n += rest_[n] == '\\' ? 2 : 1;
    if (n >= rest_.size()) return false;
    if (!absl::CUnescape(rest_.substr(1, n - 1), value)) return false;
    Take(n + 1);
    return true;
  }
  // Text up to one of `stops`, without space around it.
  std::string_view Until(std::string_view stops) {
    return absl::StripAsciiWhitespace(Take(std::min(rest_.find_first_of(stops), rest_.size())));
  }
  char Peek() {
    SkipSpace();
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool AtEnd() { return Peek() == '\0'; }
  std::string_view rest() {
    SkipSpace();
    return rest_;
  }

 private:
  void SkipSpace() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  std::string_view Take(size_t n) {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::string_view rest_;
};

absl::Status BadSpec(std::string_view what, std::string_view spec, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(why, " in the ", what, " spec '", spec, "'"));
}

bool IsAttrName(std::string_view name) { return !name.empty() && absl::ascii_isalpha(name[0]); }
bool IsArgName(std::string_view name) {
  return !name.empty() && absl::ascii_islower(name[0]) &&
         std::none_of(name.begin(), name.end(), [](char c) { return absl::ascii_isupper(c); });
}

// `{float, int32}` or `{'SAME', 'VALID'}`, behind its opening brace.
bool ParseAllowed(Cursor& c, AttrDef* attr) {
  attr->kind = c.Peek() == '\'' || c.Peek() == '"' ? AttrKind::kString : AttrKind::kType;
  do {
    if (c.Peek() == '}') break;  // a comma may stand behind the last one
    if (attr->kind == AttrKind::kString) {
      if (!c.Quoted(&attr->allowed_strings.emplace_back())) return false;
      continue;
    }
    const std::string_view name = c.Identifier();
    const auto* group = std::find_if(std::begin(kKindNames), std::end(kKindNames),
                                     [&](const KindName& k) { return k.name == name; });
    if (group != std::end(kKindNames) && !group->allowed.empty()) {
      attr->allowed_types.insert(attr->allowed_types.end(), group->allowed.begin(),
                                 group->allowed.end());
    } else if (const auto type = ParseDataTypeSpecName(name)) {
      attr->allowed_types.push_back(*type);
    } else {
      return false;
    }
  } while (c.Consume(","));
  return c.Consume("}") && !(attr->allowed_types.empty() && attr->allowed_strings.empty());
}

bool ParseElementKind(Cursor& c, AttrDef* attr) {
  if (c.Consume("{")) return ParseAllowed(c, attr);
  const std::string_view name = c.Identifier();
  for (const KindName& k : kKindNames) {
    if (k.name != name) continue;
    attr->kind = k.kind;
    attr->allowed_types.assign(k.allowed.begin(), k.allowed.end());
    return true;
  }
  return false;
}

bool ParseKind(Cursor& c, AttrDef* attr) {
  if (c.rest().starts_with("list") && c.Consume("list")) {
    attr->is_list = true;
    return c.Consume("(") && ParseElementKind(c, attr) && c.Consume(")");
  }
  return ParseElementKind(c, attr);
}

// A field of AttrValue in text form, for the kinds whose text is a message.
bool ParseMessageDefault(std::string_view field, std::string_view text, bool list,
                         std::string* wire) {
  class Silent : public google::protobuf::io::ErrorCollector {
    void AddError(int, int, const std::string&) override {}
  } silent;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&silent);
  pb::AttrValue value;
  const std::string whole =
      list ? absl::StrCat("list { ", field, ": ", text, " }") : absl::StrCat(field, ": ", text);
  return parser.ParseFromString(whole, &value) && value.SerializeToString(wire);
}

std::string_view FieldOf(AttrKind kind) {
  return kind == AttrKind::kShape ? "shape" : kind == AttrKind::kTensor ? "tensor" : "func";
}

// The elements of a default: one, or those between [ and ]. `parse` reads one and returns false
// where it cannot.
template <typename T, typename Parse>
bool ParseElements(Cursor& c, bool list, std::vector<T>* out, Parse parse) {
  if (!list) return parse(&out->emplace_back()) && c.AtEnd();
  if (!c.Consume("[")) return false;
  while (!c.Consume("]")) {
    if (!out->empty() && !c.Consume(",")) return false;
    if (!parse(&out->emplace_back())) return false;
  }
  return c.AtEnd();
}

bool ParseBool(Cursor& c, char* value) {
  const std::string_view word = c.Identifier();
  *value = word == "true";
  return word == "true" || word == "false";
}

bool ParseFloat(Cursor& c, float* value) { return absl::SimpleAtof(c.Until(",]"), value); }

bool ParseType(Cursor& c, DataType* value) {
  const auto type = ParseDataTypeName(c.Identifier());
  if (type) *value = *type;
  return type.has_value();
}

bool ParseDefault(Cursor& c, AttrDef* attr) {
  const bool list = attr->is_list;
  switch (attr->kind) {
    case AttrKind::kString: {
      std::vector<std::string> v;
      if (!ParseElements(c, list, &v, [&](std::string* s) { return c.Quoted(s); })) return false;
      const std::vector<std::string_view> views(v.begin(), v.end());
      attr->default_wire = list ? attr::StringList(views) : attr::String(v[0]);
      return true;
    }
    case AttrKind::kInt: {
      std::vector<int64_t> v;
      if (!ParseElements(c, list, &v, [&](int64_t* i) { return c.Integer(i); })) return false;
      attr->default_wire = list ? attr::IntList(v) : attr::Int(v[0]);
      return true;
    }
    case AttrKind::kFloat: {
      std::vector<float> v;
      if (!ParseElements(c, list, &v, [&](float* f) { return ParseFloat(c, f); })) return false;
      attr->default_wire = list ? attr::FloatList(v) : attr::Float(v[0]);
      return true;
    }
    case AttrKind::kBool: {
      std::vector<char> v;
      if (!ParseElements(c, list, &v, [&](char* b) { return ParseBool(c, b); })) return false;
      const absl::InlinedVector<bool, 8> bools(v.begin(), v.end());
      attr->default_wire = list ? attr::BoolList(bools) : attr::Bool(bools[0]);
      return true;
    }
    case AttrKind::kType: {
      std::vector<DataType> v;
      if (!ParseElements(c, list, &v, [&](DataType* t) { return ParseType(c, t); })) return false;
      attr->default_wire = list ? attr::TypeList(v) : attr::Type(v[0]);
      return true;
    }
    default:
      // The commonest default, read without protobuf's text parser.
      if (attr->kind == AttrKind::kShape && c.rest() == "{ unknown_rank: true }") {
        attr->default_wire = attr::Shape(PartialShape());
        return true;
      }
      if (list && c.rest() == "[]") {
        attr->default_wire = attr::IntList({});
        return true;
      }
      return ParseMessageDefault(FieldOf(attr->kind), c.rest(), list, &attr->default_wire);
  }
}

// `Ref(type)`, `N * type` or `type`. Names that are no types are kept in type_attr until Finish
// knows all attributes.
absl::Status ParseArg(std::string_view what, std::string_view spec, ArgDef* arg) {
  Cursor c(spec);
  arg->name = std::string(c.Identifier());
  if (!IsArgName(arg->name))
    return BadSpec(what, spec, "the name is not of the form [a-z][a-z0-9_]*");
  if (!c.Consume(":")) return BadSpec(what, spec, "':' is missing");
  std::string_view type = c.Identifier();
  const bool ref = type == "Ref" && c.Consume("(");
  if (ref) type = c.Identifier();
  if (c.Consume("*")) {
    arg->number_attr = std::string(type);
    type = c.Identifier();
  }
  if (type.empty()) return BadSpec(what, spec, "the type is missing");
  if (ref && !c.Consume(")")) return BadSpec(what, spec, "')' is missing behind 'Ref('");
  if (!c.AtEnd()) return BadSpec(what, spec, absl::StrCat("'", c.rest(), "' is one too many"));
  arg->is_ref = ref;
  if (const auto fixed = ParseDataTypeSpecName(type)) {
    arg->type = *fixed;
  } else {
    arg->type_attr = std::string(type);
  }
  return absl::OkStatus();
}

AttrDef* FindMutable(OpDef& def, std::string_view name) {
  for (AttrDef& a : def.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

// TensorFlow gives numbers and lists of tensors a minimum of 1 unless the spec names one. So "N:
// int >= 0" must be written where no tensor is fine.
void AtLeastOne(AttrDef* attr) {
  if (attr->has_minimum) return;
  attr->has_minimum = true;
  attr->minimum = 1;
}

absl::Status ResolveArg(OpDef& def, ArgDef& arg) {
  const auto bad = [&](std::string_view attr, std::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat("argument '", arg.name, "' of op '", def.name,
                                                   "' refers to '", attr, "', which is no ",
                                                   wanted));
  };
  if (!arg.number_attr.empty()) {
    AttrDef* n = FindMutable(def, arg.number_attr);
    if (n == nullptr || n->kind != AttrKind::kInt || n->is_list)
      return bad(arg.number_attr, "attr of type int");
    AtLeastOne(n);
  }
  if (arg.type_attr.empty()) return absl::OkStatus();
  AttrDef* t = FindMutable(def, arg.type_attr);
  if (t == nullptr || t->kind != AttrKind::kType)
    return bad(arg.type_attr, "data type nor attr of type type or list(type)");
  if (!t->is_list) return absl::OkStatus();
  if (!arg.number_attr.empty()) return bad(arg.type_attr, "attr of type type");
  arg.type_list_attr = std::exchange(arg.type_attr, "");
  AtLeastOne(t);
  return absl::OkStatus();
}

absl::Status CheckNames(const OpDef& def) {
  std::string_view rest = def.name;
  rest.remove_prefix(std::min(rest.find_first_not_of('_'), rest.size()));
  const bool fits = !rest.empty() && absl::ascii_isupper(rest[0]) &&
                    std::all_of(rest.begin(), rest.end(), [](char c) {
                      return absl::ascii_isalnum(c) || c == '_' || c == '>';
                    });
  if (!fits)
    return absl::InvalidArgumentError(absl::StrCat("op name '", def.name, "' is not CamelCase"));
  for (const auto* args : {&def.inputs, &def.outputs}) {
    std::vector<std::string_view> names;
    for (const AttrDef& a : def.attrs) names.push_back(a.name);
    for (const ArgDef& a : *args) names.push_back(a.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("op '", def.name, "' has two attrs or arguments named '", *twice, "'"));
  }
  return absl::OkStatus();
}

// Defaults must themselves be values that the attribute allows.
absl::Status CheckDefaults(const OpDef& def) {
  OpDef with_default;
  std::vector<Attr> values;
  for (const AttrDef& a : def.attrs) {
    const bool restricted = a.has_minimum || !a.allowed_types.empty() || !a.allowed_strings.empty();
    if (!a.has_default || !restricted) continue;
    with_default.attrs.push_back(a);
    values.push_back({a.name, AttrValue(a.default_wire)});
  }
  if (values.empty()) return absl::OkStatus();
  std::sort(values.begin(), values.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  const std::vector<std::string> wrong = CheckAttrs(with_default, AttrSet(std::move(values)));
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("default of op '", def.name, "': ", wrong[0]));
}

}  // namespace

absl::Status OpDefBuilder::AddInput(std::string_view spec) {
  ArgDef arg;
  TENON_RETURN_IF_ERROR(ParseArg("input", spec, &arg));
  def_.inputs.push_back(std::move(arg));
  return absl::OkStatus();
}

absl::Status OpDefBuilder::AddOutput(std::string_view spec) {
  ArgDef arg;
  TENON_RETURN_IF_ERROR(ParseArg("output", spec, &arg));
  def_.outputs.push_back(std::move(arg));
  return absl::OkStatus();
}

absl::Status OpDefBuilder::AddAttr(std::string_view spec) {
  Cursor c(spec);
  AttrDef attr;
  attr.name = std::string(c.Identifier());
  if (!IsAttrName(attr.name))
    return BadSpec("attr", spec, "the name is not of the form [a-zA-Z][a-zA-Z0-9_]*");
  if (!c.Consume(":")) return BadSpec("attr", spec, "':' is missing");
  if (!ParseKind(c, &attr)) return BadSpec("attr", spec, "the type is not known");
  if (c.Consume(">=")) {
    if (!attr.is_list && attr.kind != AttrKind::kInt)
      return BadSpec("attr", spec, "only ints and lists have a minimum; '>='");
    attr.has_minimum = true;
    if (!c.Integer(&attr.minimum))
      return BadSpec("attr", spec, "an integer is missing behind '>='");
  }
  if (c.Consume("=")) {
    attr.has_default = true;
    if (!ParseDefault(c, &attr)) return BadSpec("attr", spec, "the default does not parse");
  } else if (!c.AtEnd()) {
    return BadSpec("attr", spec, absl::StrCat("'", c.rest(), "' is one too many"));
  }
  def_.attrs.push_back(std::move(attr));
  return absl::OkStatus();
}

absl::StatusOr<OpDef> OpDefBuilder::Finish() && {
  TENON_RETURN_IF_ERROR(CheckNames(def_));
  for (ArgDef& arg : def_.inputs) TENON_RETURN_IF_ERROR(ResolveArg(def_, arg));
  for (ArgDef& arg : def_.outputs) TENON_RETURN_IF_ERROR(ResolveArg(def_, arg));
  TENON_RETURN_IF_ERROR(CheckDefaults(def_));
  return std::move(def_);
}

}  // namespace tenon
