// Modules, functions, blocks and scopes.
#include "../base/refusal.h"
#include "parse.h"
#include "parser.h"

namespace pjref {

std::unique_ptr<Module> ParseText(std::string_view text) { return Parser(text).Parse(); }

std::unique_ptr<Module> Parser::Parse() {
  module_ = std::make_unique<Module>();
  while (!cursor_.AtEnd()) {
    if (cursor_.Peek() == '#' || cursor_.Peek() == '!') {
      attributes_.ParseAlias();
    } else if (cursor_.TryEat("module") || cursor_.TryEat("builtin.module")) {
      if (cursor_.Peek() == '@') module_->name = cursor_.Symbol();
      if (cursor_.TryEat("attributes")) attributes_.ParseDictionary();
      cursor_.Eat("{");
      ParseModuleBody(/*braces=*/true);
      cursor_.SkipLocation();
    } else {
      ParseModuleBody(/*braces=*/false);
    }
  }
  return std::move(module_);
}

void Parser::ParseModuleBody(bool braces) {
  while (true) {
    if (braces && cursor_.TryEat("}")) return;
    if (cursor_.AtEnd()) {
      if (braces) cursor_.Fail("expected '}'");
      return;
    }
    if (!braces && (cursor_.Peek() == '#' || cursor_.Peek() == '!')) return;
    if (!cursor_.TryEat("func.func") && !cursor_.TryEat("func")) {
      const Place place = cursor_.place();
      const std::string word = cursor_.TryWord();
      if (word.empty()) cursor_.Fail("expected a function");
      Cursor::FailAt(place, "unregistered operation '" + word + "' where a function was expected");
    }
    ParseFunction();
  }
}

void Parser::ParseFunction() {
  const Place place = cursor_.place();
  if (!cursor_.TryEat("public")) cursor_.TryEat("private");
  auto made = std::make_unique<Function>();
  function_ = made.get();
  function_->place = place;
  function_->name = cursor_.Symbol();
  if (module_->Find(function_->name))
    Cursor::FailAt(place, "redefinition of symbol named '" + function_->name + "'");
  values_.clear();
  scopes_.clear();
  OpenScope();
  cursor_.Eat("(");
  if (!cursor_.TryEat(")")) {
    do {
      const Use use = ParseUse();
      cursor_.Eat(":");
      const Type type = attributes_.ParseType();
      Attribute attributes;
      attributes.kind = Attribute::Kind::kDictionary;
      if (cursor_.Peek() == '{') attributes = attributes_.ParseDictionary();
      cursor_.SkipLocation();
      function_->body.arguments.push_back(Define(use.name, type, use.place));
      function_->body.argument_types.push_back(type);
      function_->argument_attributes.push_back(std::move(attributes));
    } while (cursor_.TryEat(","));
    cursor_.Eat(")");
  }
  if (cursor_.TryEat("->")) function_->result_types = attributes_.ParseTypeOrTypes();
  if (cursor_.TryEat("attributes")) attributes_.ParseDictionary();
  if (!cursor_.Sees("{")) {
    throw Refusal(Code::kUnimplemented,
                  At(place, "function '" + function_->name + "' has no body"));
  }
  cursor_.Eat("{");
  ParseBlock(&function_->body);
  cursor_.SkipLocation();
  CloseScope();
  module_->functions.push_back(std::move(made));
}

void Parser::ParseBlock(Region* region) {
  struct Depth {
    int& depth;
    ~Depth() { --depth; }
  } guard{depth_};
  if (++depth_ > kMostNesting) cursor_.Fail("regions are nested too deeply");
  while (!cursor_.TryEat("}")) {
    if (cursor_.AtEnd()) cursor_.Fail("expected '}'");
    if (cursor_.Peek() == '^') {
      throw Refusal(Code::kUnimplemented,
                    At(cursor_.place(), "regions of several blocks are not supported"));
    }
    region->ops.push_back(ParseOp());
  }
}

Region Parser::ParseRegion() {
  Region region;
  cursor_.Eat("{");
  OpenScope();
  if (cursor_.TryEat("^")) {
    cursor_.Suffix();
    if (cursor_.TryEat("(")) ParseBlockArguments(&region);
    cursor_.Eat(":");
  }
  ParseBlock(&region);
  CloseScope();
  return region;
}

void Parser::ParseBlockArguments(Region* region) {
  if (cursor_.TryEat(")")) return;
  do {
    const Use use = ParseUse();
    cursor_.Eat(":");
    const Type type = attributes_.ParseType();
    cursor_.SkipLocation();
    region->arguments.push_back(Define(use.name, type, use.place));
    region->argument_types.push_back(type);
  } while (cursor_.TryEat(","));
  cursor_.Eat(")");
}

Parser::Use Parser::ParseUse() {
  const Place place = cursor_.place();
  cursor_.Eat("%");
  std::string name = cursor_.Suffix();
  if (cursor_.Raw() == '#') {
    cursor_.Skip();
    const int64_t number = cursor_.Integer();
    if (number != 0) name += "#" + std::to_string(number);
  }
  return {std::move(name), place};
}

void Parser::ParseUses(char close, std::vector<Use>* uses) {
  const std::string end(1, close);
  if (cursor_.TryEat(end)) return;
  do {
    uses->push_back(ParseUse());
  } while (cursor_.TryEat(","));
  cursor_.Eat(end);
}

int Parser::NewValue(const Type& type) {
  function_->value_types.push_back(type);
  return static_cast<int>(function_->value_types.size()) - 1;
}

int Parser::Define(const std::string& name, const Type& type, Place place) {
  std::vector<int>& known = values_[name];
  // A region may use a name of a sibling anew, never one that it sees.
  if (!known.empty()) Cursor::FailAt(place, "redefinition of SSA value '%" + name + "'");
  known.push_back(NewValue(type));
  scopes_.back().push_back(name);
  return known.back();
}

void Parser::OpenScope() { scopes_.emplace_back(); }

void Parser::CloseScope() {
  for (const std::string& name : scopes_.back()) values_.erase(name);
  scopes_.pop_back();
}

}  // namespace pjref
