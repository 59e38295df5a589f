// Where the nodes of inlined functions came from, so that errors can name the calls that led to
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/graph.h"

namespace tenon {

// One call that was inlined. Views of the storage of a graph that lives longer.
struct CallSite {
  std::string_view function;
  std::string_view node;  // the node that calls, as its own function or the graph names it
  int32_t caller = -1;    // the call whose body that node is of; -1: the graph itself
};

class CallSites {
 public:
  int32_t Add(const CallSite& site);
  const CallSite& site(int32_t i) const { return sites_[i]; }
  // That n was made for the node `name` of the body of call `site` (-1: of the graph).
  void SetOrigin(NodeId n, int32_t site, std::string_view name) { origins_[n] = {site, name}; }
  int32_t SiteOf(NodeId n) const;
  std::string_view NameOf(const Graph& graph, NodeId n) const;

  // "from function 'g' at node 'h', called at node 'top'": where call `site` stands.
  std::string DescribeCall(int32_t site) const;
  // "node 'mul' (Mul)", and of an inlined one "node 'mul' (Mul) in function 'f', called from …".
  std::string Describe(const Graph& graph, NodeId n) const;

 private:
  struct Origin {
    int32_t site;
    std::string_view name;
  };
  std::vector<CallSite> sites_;
  absl::flat_hash_map<NodeId, Origin> origins_;
};

// "file:line:col: node 'x' (Op): message", with the status's code.
absl::Status NodeError(const Graph& graph, const CallSites& calls, NodeId n,
                       const absl::Status& status);

}  // namespace tenon
