// A node of a body knows the call that brought it, and each call knows the call around it: a chain
// up to a node of the graph.

#include "executor/lowering/call_sites.h"

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/node_note.h"
#include "graph/ir/nodes.h"

namespace tenon {

int32_t CallSites::Add(const CallSite& site) {
  sites_.push_back(site);
  return static_cast<int32_t>(sites_.size()) - 1;
}

int32_t CallSites::SiteOf(NodeId n) const {
  return n < std::ssize(origins_) ? origins_[n].site : -1;
}

std::string_view CallSites::NameOf(const Graph& graph, NodeId n) const {
  return SiteOf(n) < 0 ? graph.name(n) : origins_[n].name;
}

std::string CallSites::DescribeCall(int32_t site) const {
  // Calls may nest 256 deep; a message that names all of them would hide what is wrong.
  constexpr int kMostCalls = 16;
  std::string text;
  for (int calls = 0; site >= 0; site = sites_[site].caller) {
    const int32_t caller = sites_[site].caller;
    if (++calls > kMostCalls && caller >= 0) {
      if (calls == kMostCalls + 1) absl::StrAppend(&text, ", ...");
      continue;
    }
    absl::StrAppend(&text, text.empty() ? "" : ", called ");
    if (caller >= 0) absl::StrAppend(&text, "from function '", sites_[caller].function, "' ");
    absl::StrAppend(&text, "at node '", sites_[site].node, "'");
  }
  return text;
}

std::string CallSites::Describe(const Graph& graph, NodeId n) const {
  std::string text = absl::StrCat("node '", NameOf(graph, n), "' (", graph.op_name(n), ")");
  const int32_t site = SiteOf(n);
  if (site >= 0) {
    absl::StrAppend(&text, " in function '", sites_[site].function, "', called ",
                    DescribeCall(site));
  }
  return text;
}

absl::Status NodeError(const Graph& graph, const CallSites& calls, NodeId n,
                       const absl::Status& status) {
  if (n == kNoNode) return status;
  if (calls.SiteOf(n) < 0) return NodeError(graph, n, status);
  return Annotate(NoteNode(status, graph.name(n)),
                  absl::StrCat(graph.Locate(n), ": ", calls.Describe(graph, n), ": "));
}

}  // namespace tenon
