// Inside the host the ends of a body are Placeholders and Identities. ShowEnds changes only ops and
// edges and keeps node ids, so that HideEnds finds the ends of the answer by the same ids.

#include "optimizer_api/body_ends.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_body.h"
#include "graph/ir/new_attrs.h"

namespace tenon {
namespace {

void BecomeEnd(Graph& body, NodeId n, std::string_view op, size_t index, NewAttrs attrs) {
  attrs.push_back({"T", attr::Type(BaseType(body.output_type({n, 0})))});
  attrs.push_back({"index", attr::Int(static_cast<int64_t>(index))});
  body.BecomeOp(n, op, std::move(attrs));
}

// If node n reads a node in `results`, lets n read that node's input instead, and wait for the
// nodes that that node waits for. A result may be the input of another result.
void ReadPast(Graph& body, NodeId n, const absl::flat_hash_set<NodeId>& results) {
  std::vector<Output> data, control(body.control_inputs(n).begin(), body.control_inputs(n).end());
  bool reads = false;
  for (Output in : body.data_inputs(n)) {
    while (results.contains(in.node)) {
      reads = true;
      const auto waits = body.control_inputs(in.node);
      control.insert(control.end(), waits.begin(), waits.end());
      in = body.data_inputs(in.node)[0];
    }
    data.push_back(in);
  }
  if (reads) body.SetInputs(n, data, control);
}

absl::Status CheckEnd(const Graph& shown, const Graph& answer, NodeId n, std::string_view what) {
  // Kinds are interned in the storage that both graphs share: one address, one op with its
  // attributes.
  if (n == kNoNode || (answer.alive(n) && &answer.kind(n) == &shown.kind(n)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, " '", shown.name(n), "' of the function is ",
      answer.alive(n) ? absl::StrCat("another now (", answer.op_name(n), ")") : "gone"));
}

}  // namespace

void ShowEnds(Graph& body, const OptimizerItem& item) {
  absl::flat_hash_set<NodeId> results(item.results.begin(), item.results.end());
  results.erase(kNoNode);
  // Before the ops change: a _Retval has no output to read.
  for (NodeId n = 0; !results.empty() && n < body.num_node_ids(); ++n) {
    if (body.alive(n)) ReadPast(body, n, results);
  }
  const FunctionEntry* function = body.FindFunction(item.function);
  absl::flat_hash_map<uint64_t, AttrSet> notes;
  if (function != nullptr) notes = ParseArgAttrs(*function);
  for (size_t i = 0; i < item.args.size(); ++i) {
    const auto noted = notes.find(i);
    NewAttrs attrs = noted == notes.end() ? NewAttrs() : CopyOf(noted->second.all());
    if (item.args[i] != kNoNode) BecomeEnd(body, item.args[i], "_Arg", i, std::move(attrs));
  }
  for (size_t i = 0; i < item.results.size(); ++i) {
    if (item.results[i] != kNoNode) BecomeEnd(body, item.results[i], "_Retval", i, {});
  }
}

absl::Status HideEnds(const Graph& before, const Graph& shown, const OptimizerItem& item,
                      Graph& answer) {
  // All checks come first, so that an error leaves the answer as it was.
  for (const NodeId n : item.args) TENON_RETURN_IF_ERROR(CheckEnd(shown, answer, n, "argument"));
  for (const NodeId n : item.results) TENON_RETURN_IF_ERROR(CheckEnd(shown, answer, n, "result"));
  for (const std::vector<NodeId>* ends : {&item.args, &item.results}) {
    for (const NodeId n : *ends) {
      if (n != kNoNode) answer.SetKind(n, before.op_name(n), AllAttrs(before, n));
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
