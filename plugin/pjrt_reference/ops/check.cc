#include "check.h"

#include <map>
#include <unordered_map>

#include "../base/refusal.h"
#include "checks.h"
#include "frame.h"

namespace pjref {
namespace {

bool IsReturn(const Op& op) { return op.name == "stablehlo.return" || op.name == "func.return"; }

class Checker {
 public:
  Checker(Module* module, Function* function) : module_(*module), function_(*function) {}

  void Run() {
    CheckBlock(&function_.body, "func.return");
    const Op& end = function_.body.ops.back();
    if (end.operand_types != function_.result_types) {
      end.Refuse("returns other types than function '" + function_.name + "' declares");
    }
  }

  const std::vector<const Function*>& calls() const { return calls_; }

 private:
  void CheckBlock(Region* region, std::string_view end) {
    if (region->ops.empty()) {
      throw Refusal(Code::kUnknown,
                    At(function_.place, "a block of function '" + function_.name + "' is empty"));
    }
    for (Op& op : region->ops) {
      if (IsReturn(op) != (&op == &region->ops.back()))
        op.Refuse("must be the last operation in its block, and a return must be");
      CheckOp(&op);
    }
    if (region->ops.back().name != end)
      region->ops.back().Refuse("does not end a block of its parent");
    SetLastUses(region);
  }

  void CheckOp(Op* op) {
    op->row = FindRow(op->name);
    if (!op->row) RefuseUnknown(*op);
    for (Region& region : op->regions) CheckBlock(&region, "stablehlo.return");
    if (op->name == "func.call") FindCallee(op, op->Word("callee"));
    if (op->name == "stablehlo.composite") FindCallee(op, op->Word("decomposition"));
    op->row->check(*op);
    for (const Type& type : op->result_types) {
      if (!FitsMemory(type)) op->Refuse("has a result with too many elements");
    }
  }

  [[noreturn]] void RefuseUnknown(const Op& op) {
    const size_t dot = op.name.find('.');
    const std::string dialect = op.name.substr(0, dot);
    if (dot == std::string::npos ||
        (dialect != "stablehlo" && dialect != "chlo" && dialect != "func")) {
      throw Refusal(
          Code::kUnknown,
          At(op.place, "Dialect `" + dialect + "' not found for custom op '" + op.name + "'"));
    }
    std::string types;
    for (const Type& type : op.operand_types) types += (types.empty() ? "" : ", ") + ToString(type);
    op.NotBuilt("of (" + types + ") is not known to this plug-in");
  }

  void FindCallee(Op* op, const std::string& name) {
    const Function* callee = module_.Find(name);
    if (!callee) op->Refuse("'" + name + "' does not reference a valid function");
    if (callee->body.argument_types != op->operand_types)
      op->Refuse("has operands that do not fit function '" + name + "'");
    if (callee->result_types != op->result_types)
      op->Refuse("has results that do not fit function '" + name + "'");
    op->callee = callee;
    calls_.push_back(callee);
  }

  // A value dies after the last op of its own block that reads it, or whose regions do.
  void SetLastUses(Region* region) {
    std::unordered_map<int, Op*> last;
    for (int number : region->arguments) last[number] = &region->ops.front();
    for (Op& op : region->ops) {
      for (int number : op.results) last[number] = &op;
      Touch(op, &op, &last);
    }
    // Values of blocks around this one are theirs to forget: `last` has only what was defined here.
    for (const auto& [number, op] : last) op->last_uses.push_back(number);
  }

  static void Touch(const Op& reader, Op* top, std::unordered_map<int, Op*>* last) {
    for (int number : reader.operands) {
      const auto found = last->find(number);
      if (found != last->end()) found->second = top;
    }
    for (const Region& region : reader.regions) {
      for (const Op& inner : region.ops) Touch(inner, top, last);
    }
  }

  const Module& module_;
  Function& function_;
  std::vector<const Function*> calls_;
};

// Functions may call each other, but not themselves, by whatever way: a run would not end.
void CheckCalls(const std::map<const Function*, std::vector<const Function*>>& calls) {
  std::map<const Function*, size_t> waits;  // callees that are not known to end
  std::map<const Function*, std::vector<const Function*>> callers;
  std::vector<const Function*> ready;
  for (const auto& [function, callees] : calls) {
    waits[function] = callees.size();
    for (const Function* callee : callees) callers[callee].push_back(function);
    if (callees.empty()) ready.push_back(function);
  }
  std::map<const Function*, int> depth;
  size_t ended = 0;
  while (!ready.empty()) {
    const Function* function = ready.back();
    ready.pop_back();
    ++ended;
    if (depth[function] > 200) {
      throw Refusal(Code::kUnimplemented,
                    At(function->place, "functions call each other too deeply"));
    }
    for (const Function* caller : callers[function]) {
      depth[caller] = std::max(depth[caller], depth[function] + 1);
      if (--waits[caller] == 0) ready.push_back(caller);
    }
  }
  for (const auto& [function, left] : waits) {
    if (ended < calls.size() && left > 0) {
      throw Refusal(Code::kUnknown,
                    At(function->place, "function '" + function->name + "' calls itself"));
    }
  }
}

}  // namespace

void Check(Module* module) {
  std::map<const Function*, std::vector<const Function*>> calls;
  for (const auto& function : module->functions) {
    Checker checker(module, function.get());
    checker.Run();
    calls[function.get()] = checker.calls();
  }
  CheckCalls(calls);
}

std::vector<Array> RunFunction(const Module& module, const Function& function,
                               std::vector<Array> arguments, const RunOptions& options) {
  return Frame(module, function, options).Run(function.body, std::move(arguments));
}

}  // namespace pjref
