#include "executor/api/eager/function_library.h"

#include <algorithm>
#include <climits>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_library.h"
#include "graph/functions/library_merge.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/wire.h"
#include "proto/function.pb.h"

namespace tenon::eager {
namespace {

// Fields of FunctionDef and NodeDef, and the value of a map's entry.
constexpr uint32_t kSignature = 1, kNode = 3, kNodeOp = 2, kNodeAttr = 5, kEntryValue = 2;

// Calls `visit` with the bytes of each field of this number.
template <typename Visit>
bool EachField(std::string_view message, uint32_t number, Visit visit) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == number && field.type == WireType::kBytes) visit(field.bytes);
  }
  return reader.ok();
}

std::vector<std::string> CalledBy(std::string_view function) {
  absl::flat_hash_set<std::string_view> called;
  EachField(function, kNode, [&](std::string_view node) {
    EachField(node, kNodeOp, [&](std::string_view op) { called.insert(op); });
    EachField(node, kNodeAttr, [&](std::string_view entry) {
      EachField(entry, kEntryValue, [&](std::string_view value) {
        for (const std::string_view name : FunctionsNamedBy(AttrValue(value))) called.insert(name);
      });
    });
  });
  std::vector<std::string> names(called.begin(), called.end());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Function>> Function::Make(std::string_view wire, Known known) {
  auto function = std::make_shared<Function>();
  function->wire = std::string(wire);
  function->is_sound = known == Known::kSound;
  std::string_view signature;
  pb::FunctionDef parsed;
  if (wire.size() > INT_MAX ||
      !EachField(wire, kSignature, [&](std::string_view bytes) { signature = bytes; }) ||
      (known == Known::kNothing &&
       !parsed.ParseFromArray(wire.data(), static_cast<int>(wire.size()))))
    return absl::InvalidArgumentError("Invalid FunctionDef proto");
  TENON_ASSIGN_OR_RETURN(function->signature, OpDefFromWire(signature));
  function->called = CalledBy(wire);
  function->entry = std::make_unique<OpEntry>(&function->signature, /*function=*/true);
  return function;
}

absl::Status FunctionLibrary::Add(std::string_view wire, Function::Known known) {
  TENON_ASSIGN_OR_RETURN(FunctionPtr function, Function::Make(wire, known));
  const std::string& name = function->signature.name;
  if (OpRegistry::Global().Find(name) != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Cannot add function '", name, "' because an op with the same name already exists."));
  }
  absl::MutexLock lock(&mutex_);
  const auto [entry, is_new] = functions_.try_emplace(name, Added{function});
  if (is_new) return absl::OkStatus();
  if (!SameFunction(entry->second.function->wire, wire)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Attempting to add a duplicate function with name: ", name,
                     " where the previous and current definitions differ."));
  }
  ++entry->second.count;
  return absl::OkStatus();
}

absl::StatusOr<bool> FunctionLibrary::Remove(std::string_view name) {
  FunctionPtr removed;
  {
    absl::MutexLock lock(&mutex_);
    const auto entry = functions_.find(name);
    if (entry == functions_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Tried to remove non-existent function '", name, "'."));
    }
    if (--entry->second.count > 0) return false;
    removed = std::move(entry->second.function);
    functions_.erase(entry);
  }
  removed->entry->callables.Clear();
  for (const FunctionPtr& function : CallersOf(name)) function->entry->callables.Clear();
  return true;
}

FunctionLibrary::FunctionPtr FunctionLibrary::Find(std::string_view name) const {
  absl::ReaderMutexLock lock(&mutex_);
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second.function;
}

FunctionLibrary::Reached FunctionLibrary::Reachable(std::vector<std::string> names) const {
  Reached reached;
  absl::flat_hash_set<std::string> seen;
  while (!names.empty()) {
    const std::string name = std::move(names.back());
    names.pop_back();
    if (!seen.insert(name).second) continue;
    const FunctionPtr function = Find(name);
    if (function == nullptr) continue;
    reached.wires.push_back(function->wire);
    reached.are_sound = reached.are_sound && function->is_sound;
    names.insert(names.end(), function->called.begin(), function->called.end());
  }
  return reached;
}

std::vector<FunctionLibrary::FunctionPtr> FunctionLibrary::CallersOf(std::string_view name) const {
  absl::ReaderMutexLock lock(&mutex_);
  std::vector<FunctionPtr> callers;
  absl::flat_hash_set<std::string_view> called = {name};
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [caller, added] : functions_) {
      const std::vector<std::string>& calls = added.function->called;
      if (called.contains(caller) ||
          std::none_of(calls.begin(), calls.end(),
                       [&](const std::string& callee) { return called.contains(callee); }))
        continue;
      called.insert(caller);
      callers.push_back(added.function);
      grows = true;
    }
  }
  return callers;
}

void FunctionLibrary::ClearCallables() {
  std::vector<FunctionPtr> functions;
  {
    absl::ReaderMutexLock lock(&mutex_);
    for (const auto& [name, added] : functions_) functions.push_back(added.function);
  }
  for (const FunctionPtr& function : functions) function->entry->callables.Clear();
}

}  // namespace tenon::eager
