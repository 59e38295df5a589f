// Ops in generic form, and in the pretty form that most of them have: operands, words and
// attributes between commas.
#include <algorithm>
#include <array>
#include <iterator>

#include "../base/refusal.h"
#include "parser.h"

namespace pjref {
namespace {

struct KeyRow {
  std::string_view op, pretty, generic;
};

constexpr KeyRow kKeys[] = {
    {"transpose", "dims", "permutation"},
    {"reverse", "dims", "dimensions"},
    {"broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
    {"broadcast", "sizes", "broadcast_sizes"},
    {"iota", "dim", "iota_dimension"},
    {"dynamic_iota", "dim", "iota_dimension"},
    {"concatenate", "dim", "dimension"},
    {"get_dimension_size", "dim", "dimension"},
    {"set_dimension_size", "dim", "dimension"},
    {"dynamic_slice", "sizes", "slice_sizes"},
    {"pad", "low", "edge_padding_low"},
    {"pad", "high", "edge_padding_high"},
    {"pad", "interior", "interior_padding"},
    {"dot", "precision", "precision_config"},
    {"dot_general", "precision", "precision_config"},
    {"rng_bit_generator", "algorithm", "rng_algorithm"},
    {"rng", "distribution", "rng_distribution"},
    {"fft", "type", "fft_type"},
    {"fft", "length", "fft_length"},
    {"compare", "0", "comparison_direction"},
    {"compare", "1", "compare_type"},
};

std::string FromTable(const std::string& op, std::string_view pretty) {
  const size_t dot = op.find('.');
  const std::string_view bare = std::string_view(op).substr(dot == std::string::npos ? 0 : dot + 1);
  for (const KeyRow& row : kKeys) {
    if (row.op == bare && row.pretty == pretty) return std::string(row.generic);
  }
  return {};
}

bool IsOneOf(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool EndsRegion(const std::string& name) {
  return IsOneOf(name, {"stablehlo.return", "func.return"});
}

}  // namespace

std::string GenericName(const std::string& op, const std::string& key) {
  std::string name = FromTable(op, key);
  return name.empty() ? key : name;
}

std::string WordName(const std::string& op, int index) {
  return FromTable(op, std::to_string(index));
}

Op Parser::ParseOp() {
  Op op;
  std::vector<ResultName> names;
  if (cursor_.Peek() == '%') {
    do {
      const Place place = cursor_.place();
      cursor_.Eat("%");
      const std::string name = cursor_.Suffix();
      names.push_back({name, cursor_.TryEat(":") ? cursor_.Integer() : 1, place});
    } while (cursor_.TryEat(","));
    cursor_.Eat("=");
  }
  op.place = cursor_.place();
  std::vector<Use> uses;
  TypeList types;
  if (cursor_.Peek() == '"') {
    op.name = cursor_.String();
    ParseGeneric(&op, &uses, &types);
  } else {
    op.name = cursor_.TryWord();
    if (op.name.empty()) cursor_.Fail("expected operation name in quotes or an operation");
    if (op.name == "return" || op.name == "call") op.name = "func." + op.name;
    static const std::map<std::string_view, Form> kForms = {
        {"stablehlo.constant", &Parser::ParseConstant},
        {"stablehlo.reduce", &Parser::ParseReduce},
        {"stablehlo.while", &Parser::ParseWhile},
        {"stablehlo.convolution", &Parser::ParseConvolution},
        {"stablehlo.custom_call", &Parser::ParseCustomCall}};
    const auto form = kForms.find(op.name);
    (this->*(form == kForms.end() ? &Parser::ParsePlain : form->second))(&op, &uses, &types);
  }
  SetTypes(&op, uses, types);
  cursor_.SkipLocation();
  int64_t count = 0;
  for (const ResultName& name : names) {
    if (name.count < 1 || name.count > static_cast<int64_t>(op.result_types.size())) {
      Cursor::FailAt(name.place, "operation defines " + std::to_string(op.result_types.size()) +
                                     " results but was provided " + std::to_string(name.count) +
                                     " to bind");
    }
    count += name.count;
  }
  if (!names.empty() && count != static_cast<int64_t>(op.result_types.size())) {
    Cursor::FailAt(names[0].place, "operation defines " + std::to_string(op.result_types.size()) +
                                       " results but was provided " + std::to_string(count) +
                                       " to bind");
  }
  for (const ResultName& name : names) {
    for (int64_t i = 0; i < name.count; ++i) {
      const std::string full = i == 0 ? name.name : name.name + "#" + std::to_string(i);
      op.results.push_back(Define(full, op.result_types[op.results.size()], name.place));
    }
  }
  while (op.results.size() < op.result_types.size())
    op.results.push_back(NewValue(op.result_types[op.results.size()]));
  return op;
}

void Parser::ParseGeneric(Op* op, std::vector<Use>* uses, TypeList* types) {
  cursor_.Eat("(");
  ParseUses(')', uses);
  // What regions capture must be known before; operands may be resolved at the end, as they are
  // older.
  if (cursor_.TryEat("<")) {
    op->attributes = attributes_.ParseDictionary();
    cursor_.Eat(">");
  }
  if (cursor_.TryEat("(")) {
    if (!cursor_.TryEat(")")) {
      do {
        op->regions.push_back(ParseRegion());
      } while (cursor_.TryEat(","));
      cursor_.Eat(")");
    }
  }
  ParseOptionalAttributes(op);
  cursor_.Eat(":");
  *types = ParseTypeList();
  if (!types->is_function) Cursor::FailAt(types->place, "expected function type");
}

void Parser::ParseOptionalAttributes(Op* op) {
  if (cursor_.Peek() != '{') return;
  const Attribute more = attributes_.ParseDictionary();
  for (size_t i = 0; i < more.keys.size(); ++i) op->attributes.Set(more.keys[i], more.items[i]);
}

void Parser::ParsePlain(Op* op, std::vector<Use>* uses, TypeList* types) {
  int words = 0;
  const bool parentheses = op->name.compare(0, 5, "chlo.") == 0 && cursor_.TryEat("(");
  if (cursor_.Peek() == '"') {  // stablehlo.composite "name" %a
    op->attributes.Set("name", Attribute::Word(cursor_.String()));
  }
  if (cursor_.Peek() != ':' && cursor_.Peek() != '{' && cursor_.Peek() != ')' &&
      cursor_.Peek() != '}') {
    // "return" of nothing ends with its line; what follows is another op.
    if (!EndsRegion(op->name) || cursor_.Peek() == '%') {
      do {
        ParsePlainItem(op, uses, &words);
      } while (cursor_.TryEat(","));
    }
  }
  if (parentheses) cursor_.Eat(")");
  ParseOptionalAttributes(op);
  if (EndsRegion(op->name) && uses->empty() && !cursor_.Sees(":")) return;
  cursor_.Eat(":");
  *types = ParseTypeList();
}

void Parser::ParsePlainItem(Op* op, std::vector<Use>* uses, int* words) {
  const Place place = cursor_.place();
  if (cursor_.Peek() == '%') {
    uses->push_back(ParseUse());
    if (op->name != "stablehlo.slice" || !cursor_.TryEat("[")) return;
    Dims starts, limits, strides;
    if (!cursor_.TryEat("]")) {
      do {
        starts.push_back(cursor_.Integer());
        cursor_.Eat(":");
        limits.push_back(cursor_.Integer());
        strides.push_back(cursor_.TryEat(":") ? cursor_.Integer() : 1);
      } while (cursor_.TryEat(","));
      cursor_.Eat("]");
    }
    op->attributes.Set("start_indices", Attribute::Integers(starts));
    op->attributes.Set("limit_indices", Attribute::Integers(limits));
    op->attributes.Set("strides", Attribute::Integers(strides));
    return;
  }
  if (cursor_.Peek() == '@') {
    op->attributes.Set("callee", Attribute::Word(cursor_.Symbol()));
    cursor_.Eat("(");
    ParseUses(')', uses);
    return;
  }
  const std::string word = cursor_.TryWord();
  if (word.empty()) cursor_.Fail("expected SSA operand");
  if (!cursor_.TryEat("=")) {
    const std::string name = WordName(op->name, (*words)++);
    if (name.empty())
      Cursor::FailAt(place, "custom op '" + op->name + "' has no '" + word + "' here");
    op->attributes.Set(name, Attribute::Word(word));
    return;
  }
  if (word == "contracting_dims" || word == "batching_dims") {
    Attribute numbers =
        op->Find("dot_dimension_numbers") ? *op->Find("dot_dimension_numbers") : Attribute();
    const std::string kind = word == "batching_dims" ? "batching" : "contracting";
    numbers.Set("lhs_" + kind + "_dimensions", Attribute::Integers(attributes_.ParseIntegers()));
    cursor_.Eat("x");
    numbers.Set("rhs_" + kind + "_dimensions", Attribute::Integers(attributes_.ParseIntegers()));
    op->attributes.Set("dot_dimension_numbers", std::move(numbers));
    return;
  }
  const std::string key = GenericName(op->name, word);
  // An integer takes no type here: the colon belongs to the op.
  const char next = cursor_.Peek();
  if (next == '-' || (next >= '0' && next <= '9')) {
    op->attributes.Set(key, Attribute::Integer(cursor_.Integer()));
  } else if (word == "format") {  // e5m10
    const std::string format = cursor_.Word("a format");
    const size_t m = format.find('m');
    if (format[0] != 'e' || m == std::string::npos)
      Cursor::FailAt(place, "expected a format as e5m10");
    const std::string left = format.substr(1, m - 1), right = format.substr(m + 1);
    const int64_t exponent = Cursor(left).Integer(), mantissa = Cursor(right).Integer();
    op->attributes.Set("exponent_bits", Attribute::Integer(exponent));
    op->attributes.Set("mantissa_bits", Attribute::Integer(mantissa));
  } else {
    op->attributes.Set(key, attributes_.ParseAttribute());
  }
}

Parser::TypeList Parser::ParseTypeList() {
  TypeList list;
  list.place = cursor_.place();
  if (cursor_.Peek() == '(') {
    list.ins = attributes_.ParseTypeOrTypes();
    cursor_.Eat("->");
    list.outs = attributes_.ParseTypeOrTypes();
    list.is_function = true;
    return list;
  }
  list.ins = attributes_.ParseTypes();
  if (cursor_.TryEat("->")) {
    list.has_arrow = true;
    list.outs = attributes_.ParseTypeOrTypes();
  }
  return list;
}

void Parser::Resolve(Op* op, const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    const auto found = values_.find(use.name);
    if (found == values_.end())
      Cursor::FailAt(use.place, "use of undeclared SSA value name '%" + use.name + "'");
    op->operands.push_back(found->second.back());
    op->operand_types.push_back(function_->value_types[found->second.back()]);
  }
}

void Parser::CheckOperands(const Op& op, const std::vector<Use>& uses,
                           const std::vector<Type>& said) {
  for (size_t i = 0; i < uses.size(); ++i) {
    if (op.operand_types[i] == said[i]) continue;
    Cursor::FailAt(uses[i].place, "use of value '%" + uses[i].name +
                                      "' expects different type than prior uses: '" +
                                      ToString(said[i]) + "' vs '" + ToString(op.operand_types[i]) +
                                      "'");
  }
}

void Parser::SetTypes(Op* op, const std::vector<Use>& uses, const TypeList& types) {
  if (op->operands.empty()) Resolve(op, uses);
  std::vector<Type> said = types.ins;
  op->result_types = types.outs;
  if (!types.is_function) {
    const bool makes_all = IsOneOf(op->name, {"stablehlo.while", "stablehlo.optimization_barrier"});
    if (!types.has_arrow && !EndsRegion(op->name)) {
      if (makes_all) {
        op->result_types = said;
      } else if (!said.empty()) {
        op->result_types = {said.back()};
      }
    }
    if (op->name == "stablehlo.complex") return;  // The type is the result's alone.
    // One type stands for all operands, the last one for those that have none of their own.
    const bool each = makes_all || EndsRegion(op->name);
    while (!each && !said.empty() && said.size() < uses.size()) said.push_back(said.back());
    if (uses.empty() && !each) said.clear();
  }
  if (said.size() != uses.size()) {
    Cursor::FailAt(types.is_function || !said.empty() ? types.place : op->place,
                   std::to_string(uses.size()) + " operands present, but expected " +
                       std::to_string(said.size()));
  }
  CheckOperands(*op, uses, said);
}

}  // namespace pjref
