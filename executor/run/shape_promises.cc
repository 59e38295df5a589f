// A broken promise travels as a payload of the error, which holds the id of the node.

#include "executor/run/shape_promises.h"

#include <algorithm>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/c_api/callback_scope.h"
#include "graph/op_defs/op_facts.h"
#include "plugin/host/c_api/plugin_shape_fn.h"

namespace tenon {
namespace {

constexpr char kKey[] = "tenon/broken_promise";

// Whether a node of the op has an effect that outlives the run, so that the run cannot be repeated.
bool Lasts(const OpDef* op) { return op == nullptr || (op->is_stateful && !op->facts->repeatable); }

}  // namespace

absl::Status BrokenPromise(NodeId n, absl::Status status) {
  status.SetPayload(kKey, absl::Cord(absl::StrCat(n)));
  return status;
}

void ShapePromises::Note(const Graph& graph, absl::Span<const NodeId> nodes) {
  repeatable_ =
      std::none_of(nodes.begin(), nodes.end(), [&](NodeId n) { return Lasts(graph.op(n)); });
}

bool ShapePromises::Believed(const Graph& graph, NodeId n) const {
  if (!HasPluginShapeFn(*graph.op(n))) return true;
  if (!repeatable_) return false;
  absl::MutexLock lock(&mutex_);
  return !broken_.contains(n);
}

bool ShapePromises::Disbelieve(const Graph& graph, const absl::Status& status) {
  const std::optional<absl::Cord> payload = status.GetPayload(kKey);
  NodeId n = kNoNode;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &n)) return false;
  if (!HasPluginShapeFn(*graph.op(n))) return false;
  WarnOf(Annotate(status, "", "; it is not believed any more"));
  absl::MutexLock lock(&mutex_);
  broken_.insert(n);
  return true;
}

}  // namespace tenon
