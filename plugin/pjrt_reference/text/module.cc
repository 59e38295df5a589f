#include "module.h"

#include "../base/refusal.h"

namespace pjref {

Attribute Attribute::Integer(int64_t value) {
  Attribute made;
  made.kind = Kind::kInteger;
  made.integer = value;
  return made;
}

Attribute Attribute::Integers(const Dims& values) {
  Attribute made;
  made.kind = Kind::kArray;
  for (int64_t value : values) made.items.push_back(Integer(value));
  return made;
}

Attribute Attribute::Word(std::string text) {
  Attribute made;
  made.kind = Kind::kWord;
  made.text = std::move(text);
  return made;
}

const Attribute* Attribute::Find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

void Attribute::Set(std::string_view key, Attribute value) {
  kind = Kind::kDictionary;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != key) continue;
    items[i] = std::move(value);
    return;
  }
  keys.emplace_back(key);
  items.push_back(std::move(value));
}

Dims Op::Integers(std::string_view key, Dims otherwise) const {
  const Attribute* found = Find(key);
  if (!found) return otherwise;
  if (found->kind == Attribute::Kind::kDense && !IsFloat(found->dense.element()) &&
      !IsComplex(found->dense.element())) {
    return LoadIntegers(found->dense);
  }
  if (found->kind != Attribute::Kind::kArray) {
    Refuse("attribute '" + std::string(key) +
           "' failed to satisfy constraint: an array of integers");
  }
  Dims values;
  for (const Attribute& item : found->items) {
    if (item.kind != Attribute::Kind::kInteger) {
      Refuse("attribute '" + std::string(key) +
             "' failed to satisfy constraint: an array of integers");
    }
    values.push_back(item.integer);
  }
  return values;
}

int64_t Op::Integer(std::string_view key, int64_t otherwise) const {
  const Attribute* found = Find(key);
  if (!found) return otherwise;
  if (found->kind == Attribute::Kind::kUnit) return 1;
  if (found->kind == Attribute::Kind::kInteger) return found->integer;
  Refuse("attribute '" + std::string(key) + "' failed to satisfy constraint: an integer");
}

std::string Op::Word(std::string_view key) const {
  const Attribute* found = Find(key);
  return found ? found->text : std::string();
}

void Op::Refuse(const std::string& message) const {
  throw Refusal(Code::kUnknown, At(place, "'" + name + "' op " + message));
}

void Op::NotBuilt(const std::string& message) const {
  throw Refusal(Code::kUnimplemented, At(place, "'" + name + "' op " + message));
}

const Function* Module::Find(std::string_view name) const {
  for (const auto& function : functions) {
    if (function->name == name) return function.get();
  }
  return nullptr;
}

std::string At(Place place, const std::string& message) {
  return "-:" + std::to_string(place.line) + ":" + std::to_string(place.column) +
         ": error: " + message;
}

}  // namespace pjref
