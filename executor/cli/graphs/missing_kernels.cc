#include "executor/cli/graphs/missing_kernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/compile/passes/evaluator.h"
#include "executor/lowering/lowering.h"
#include "graph/functions/function_body.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::cli {
namespace {

class MissingKernelFinder {
 public:
  MissingKernelFinder(absl::Span<Device* const> devices, Imported& imported)
      : graph_(imported.graph),
        defects_(imported.defects),
        oracle_({devices.begin(), devices.end()}, KernelRegistry::Global()) {
    for (const Device* device : devices) names_.push_back(device->short_name());
  }

  void Run() {
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!graph_.alive(n) || !graph_.kind(n).types_status.ok()) continue;
      if (IsMissing(graph_.op_name(n), graph_.attrs(n)))
        Add(graph_.Locate(n), graph_.name(n), graph_.op_name(n), nullptr);
    }
    for (const FunctionEntry& function : graph_.functions()) {
      for (const BodyNode& node : ParseFunctionBody(graph_, function).nodes) {
        // An attribute may be a placeholder for the value that each call gives it.
        const std::vector<Attr>& attrs = node.attrs().all();
        const bool open = std::any_of(attrs.begin(), attrs.end(), [](const Attr& a) {
          return a.value.kind() == AttrKind::kPlaceholder;
        });
        if (node.op() != nullptr && !open && IsMissing(node.op_name(), node.attrs()))
          Add(graph_.Locate(function.pos), node.name, node.op_name(), &function);
      }
    }
  }

 private:
  bool IsMissing(std::string_view op, const AttrSet& attrs) const {
    // Calls are lowered to other nodes, and placeholders are fed.
    if (IsFunctional(graph_, op) || OpRegistry::Global().Facts(op).placeholder) return false;
    return std::none_of(names_.begin(), names_.end(), [&](const std::string& device) {
      return oracle_.HasKernel(device, op, attrs);
    });
  }

  void Add(std::string where, std::string_view node, std::string_view op,
           const FunctionEntry* function) {
    defects_.push_back(
        {DefectCode::kKernel, std::move(where), std::string(node),
         absl::StrCat(function == nullptr ? "" : absl::StrCat("function '", function->name, "': "),
                      "node '", node, "' (", op, "): no device has a kernel for it"),
         function != nullptr});
  }

  const Graph& graph_;
  std::vector<Defect>& defects_;
  RegistryOracle oracle_;
  std::vector<std::string> names_;
};

}  // namespace

void AddMissingKernels(absl::Span<Device* const> devices, Imported& imported) {
  MissingKernelFinder(devices, imported).Run();
}

}  // namespace tenon::cli
