// Ops whose pretty forms are like no other's.
#include "parser.h"

namespace pjref {

// "stablehlo.constant {attributes} dense<...> : T", the attributes optional.
void Parser::ParseConstant(Op* op, std::vector<Use>*, TypeList* types) {
  ParseOptionalAttributes(op);
  Attribute value = attributes_.ParseDense();
  types->ins = {value.dense.type()};
  types->place = op->place;
  op->attributes.Set("value", std::move(value));
}

void Parser::ParseCustomCall(Op* op, std::vector<Use>* uses, TypeList* types) {
  op->attributes.Set("call_target_name", Attribute::Word(cursor_.Symbol()));
  cursor_.Eat("(");
  ParseUses(')', uses);
  ParseOptionalAttributes(op);
  cursor_.Eat(":");
  *types = ParseTypeList();
}

Region Parser::OneOpRegion(const std::string& name, const std::vector<Type>& types, Place place) {
  Region region;
  Op inner, end;
  inner.name = name;
  end.name = "stablehlo.return";
  inner.place = end.place = place;
  inner.operand_types = types;
  inner.result_types = {types[0]};
  for (const Type& type : types) {
    region.arguments.push_back(NewValue(type));
    region.argument_types.push_back(type);
  }
  inner.operands = region.arguments;
  inner.results = {NewValue(types[0])};
  end.operands = inner.results;
  end.operand_types = inner.result_types;
  region.ops.push_back(std::move(inner));
  region.ops.push_back(std::move(end));
  return region;
}

// "stablehlo.reduce(%a init: %c), (%b init: %d) across dimensions = [1] : ... reducer(%x: t, %y: t)
// (...) {...}" or "stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] :
// ...".
void Parser::ParseReduce(Op* op, std::vector<Use>* uses, TypeList* types) {
  std::vector<Use> inits;
  do {
    cursor_.Eat("(");
    uses->push_back(ParseUse());
    cursor_.Eat("init");
    cursor_.Eat(":");
    inits.push_back(ParseUse());
    cursor_.Eat(")");
  } while (cursor_.TryEat(","));
  const size_t count = inits.size();
  uses->insert(uses->end(), inits.begin(), inits.end());
  std::string applied;
  const Place applied_at = cursor_.place();
  if (cursor_.TryEat("applies")) applied = cursor_.Word("the name of an operation");
  cursor_.Eat("across");
  cursor_.Eat("dimensions");
  cursor_.Eat("=");
  op->attributes.Set("dimensions", Attribute::Integers(attributes_.ParseIntegers()));
  ParseOptionalAttributes(op);
  cursor_.Eat(":");
  *types = ParseTypeList();
  if (applied.empty()) return ParseReducer(op, count);
  if (count != 1) Cursor::FailAt(applied_at, "'applies' takes one operand");
  const auto known = values_.find(inits[0].name);
  if (known == values_.end())
    Cursor::FailAt(inits[0].place, "use of undeclared SSA value name '%" + inits[0].name + "'");
  const Type scalar = {function_->value_types[known->second.back()].element, {}};
  op->regions.push_back(OneOpRegion(applied, {scalar, scalar}, applied_at));
}

void Parser::ParseReducer(Op* op, size_t count) {
  cursor_.Eat("reducer");
  OpenScope();
  Region left, right;
  for (size_t i = 0; i < count; ++i) {
    Region pair;
    cursor_.Eat("(");
    ParseBlockArguments(&pair);
    if (pair.arguments.size() != 2) cursor_.Fail("expected two arguments of a reducer");
    left.arguments.push_back(pair.arguments[0]);
    left.argument_types.push_back(pair.argument_types[0]);
    right.arguments.push_back(pair.arguments[1]);
    right.argument_types.push_back(pair.argument_types[1]);
  }
  left.arguments.insert(left.arguments.end(), right.arguments.begin(), right.arguments.end());
  left.argument_types.insert(left.argument_types.end(), right.argument_types.begin(),
                             right.argument_types.end());
  cursor_.Eat("{");
  ParseBlock(&left);
  CloseScope();
  op->regions.push_back(std::move(left));
}

// "stablehlo.while(%i = %z, %v = %a) : T, U attributes {...} cond {...} do {...}"
void Parser::ParseWhile(Op* op, std::vector<Use>* uses, TypeList* types) {
  std::vector<Use> names;
  cursor_.Eat("(");
  if (!cursor_.TryEat(")")) {
    do {
      names.push_back(ParseUse());
      cursor_.Eat("=");
      uses->push_back(ParseUse());
    } while (cursor_.TryEat(","));
    cursor_.Eat(")");
  }
  types->place = op->place;
  if (cursor_.TryEat(":")) *types = ParseTypeList();
  if (cursor_.TryEat("attributes")) ParseOptionalAttributes(op);
  if (types->ins.size() != names.size()) {
    Cursor::FailAt(types->place,
                   "expected a type for each of the " + std::to_string(names.size()) + " operands");
  }
  for (const char* word : {"cond", "do"}) {
    cursor_.Eat(word);
    cursor_.Eat("{");
    Region region;
    OpenScope();
    for (size_t i = 0; i < names.size(); ++i) {
      region.arguments.push_back(Define(names[i].name, types->ins[i], names[i].place));
      region.argument_types.push_back(types->ins[i]);
    }
    ParseBlock(&region);
    CloseScope();
    op->regions.push_back(std::move(region));
  }
}

// "stablehlo.convolution(%a, %f) dim_numbers = ..., window = {stride = [2, 2], pad = [[0, 1], [0,
// 1]]} {...} : ..."
void Parser::ParseConvolution(Op* op, std::vector<Use>* uses, TypeList* types) {
  cursor_.Eat("(");
  ParseUses(')', uses);
  cursor_.Eat("dim_numbers");
  cursor_.Eat("=");
  op->attributes.Set("dimension_numbers", attributes_.ParseConvolutionDimensions());
  if (cursor_.TryEat(",")) ParseWindow(op);
  ParseOptionalAttributes(op);
  cursor_.Eat(":");
  *types = ParseTypeList();
}

void Parser::ParseWindow(Op* op) {
  cursor_.Eat("window");
  cursor_.Eat("=");
  cursor_.Eat("{");
  if (cursor_.TryEat("}")) return;
  do {
    const Place place = cursor_.place();
    const std::string key = cursor_.Word("a property of a window");
    cursor_.Eat("=");
    if (key == "pad") {
      Dims flat;
      cursor_.Eat("[");
      if (cursor_.TryEat("]")) continue;
      do {
        const Dims pair = attributes_.ParseIntegers();
        if (pair.size() != 2) Cursor::FailAt(place, "expected padding entry in pairs");
        flat.insert(flat.end(), pair.begin(), pair.end());
      } while (cursor_.TryEat(","));
      cursor_.Eat("]");
      op->attributes.Set("padding", Attribute::Integers(flat));
    } else if (key == "stride") {
      op->attributes.Set("window_strides", Attribute::Integers(attributes_.ParseIntegers()));
    } else if (key == "lhs_dilate") {
      op->attributes.Set("lhs_dilation", Attribute::Integers(attributes_.ParseIntegers()));
    } else if (key == "rhs_dilate") {
      op->attributes.Set("rhs_dilation", Attribute::Integers(attributes_.ParseIntegers()));
    } else if (key == "reverse") {
      Attribute list = attributes_.ParseAttribute();
      op->attributes.Set("window_reversal", std::move(list));
    } else {
      Cursor::FailAt(place, "unexpected property '" + key + "' of a window");
    }
  } while (cursor_.TryEat(","));
  cursor_.Eat("}");
}

}  // namespace pjref
