#include "executor/api/graph/edits.h"

#include <algorithm>
#include <vector>

#include "graph/verify/defect.h"
#include "graph/verify/verifier.h"

namespace tenon::api {
namespace {

// Names, devices and versions are no business of edits.
bool ComesOfEdits(const Defect& defect) {
  switch (defect.code) {
    case DefectCode::kArity:
    case DefectCode::kInput:
    case DefectCode::kType:
    case DefectCode::kAttr:
    case DefectCode::kConst:
    case DefectCode::kCycle:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::Status CheckEdits(const Graph& graph, absl::Span<const NodeId> edited) {
  if (edited.empty()) return absl::OkStatus();
  std::vector<bool> is_edited(graph.num_node_ids()), checked;
  for (const NodeId n : edited) is_edited[n] = true;
  checked = is_edited;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const auto inputs = graph.data_inputs(n);
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const Output& from) { return is_edited[from.node]; }))
      checked[n] = true;
  }
  VerifyOptions options;
  options.only = &checked;
  options.shapes_are_known = true;
  for (const Defect& defect : VerifyNodes(graph, options)) {
    if (ComesOfEdits(defect)) return absl::InvalidArgumentError(defect.message);
  }
  return absl::OkStatus();
}

absl::Status CheckEdits(const TF_Graph& graph) { return CheckEdits(graph.graph, graph.edited); }

}  // namespace tenon::api
