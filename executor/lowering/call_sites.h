// Records from which function and call each inlined node comes, so that errors can name the calls
// that led to it.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// One call that was inlined. The views refer to the storage of the graph, which must live longer.
struct CallSite {
  std::string_view function;  // the called function
  std::string_view node;      // the calling node's name in its own function or in the graph
  int32_t caller = -1;        // the call that inlined the calling node; -1: the graph has that node
};

// Calls are numbered from 0 in the order of Add. Not thread-safe while Add or SetOrigin runs.
class CallSites {
 public:
  // Returns the number of the call.
  int32_t Add(const CallSite& site);
  const CallSite& site(int32_t i) const { return sites_[i]; }
  // Records that n was made for the node `name` in the body of the function that call `site`
  // called. `site` must not be -1. `name` is a view of the graph's storage. A later call for n
  // replaces this.
  void SetOrigin(NodeId n, int32_t site, std::string_view name) {
    if (std::ssize(origins_) <= n) origins_.resize(n + 1);
    origins_[n] = {site, name};
  }
  // The call from whose inlined body the node comes; -1: the node is of the graph itself.
  int32_t SiteOf(NodeId n) const;
  // The name that SetOrigin recorded for n; without one, the node's name in the graph.
  std::string_view NameOf(const Graph& graph, NodeId n) const;

  // Where call `site` is, inner calls first: "from function 'g' at node 'h', called at node 'top'".
  // Of a chain of more than 17 calls it names the innermost 16 and the outermost; "..." is for the
  // others. Empty for -1.
  std::string DescribeCall(int32_t site) const;
  // "node 'mul' (Mul)"; of an inlined node "node 'mul' (Mul) in function 'f', called from …".
  std::string Describe(const Graph& graph, NodeId n) const;

 private:
  struct Origin {
    int32_t site = -1;  // -1: the node is of the graph itself
    std::string_view name;
  };
  std::vector<CallSite> sites_;
  std::vector<Origin> origins_;  // by node id; may be shorter than the graph
};

// The same status with the description of n in front: "file:line:col: node 'x' (Op): message", or
// "file: byte N: node ..." for a node of a binary file. A node without a position has nothing in
// front; an inlined one has "node 'NAME': " there, with its name in the graph. If n is kNoNode, the
// status as it is.
absl::Status NodeError(const Graph& graph, const CallSites& calls, NodeId n,
                       const absl::Status& status);

}  // namespace tenon
