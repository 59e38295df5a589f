// Records where each node of the optimized graph, and of the bodies of its functions, comes from:
// nodes of the model, and rewrites. The record is kept beside the graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/graph_changes.h"

namespace tenon {

// The name of a node of a function's body as "function:node", which is unambiguous since names of
// nodes have no ':'. For a node of the graph `function` is empty, and the text is the node's name.
struct NameInBody {
  std::string_view function, node;

  // Splits `text` at its last ':'. Both parts are views of `text`. Accepts any text.
  static NameInBody Of(std::string_view text);
  std::string Text() const;
};

// Passes record nothing; the origins follow from comparing the graph before and after each pass:
//   * a changed node comes from itself and from the inputs that it lost; where a lost input is gone
//     from the graph, also from those inputs of the lost one that are gone as well, and so on;
//   * a new node "x/y/z" comes from the old node "x/y", else from "x", else from those of its users
//     that are changed or new, else from itself;
//   * an inlined node comes from the call and from the node of the body;
//   * a node of a function that a pass made comes from the node of the function that was called
//     before.
// A rewrite at a node belongs to that node and to the nodes that come from it. A rewrite of the
// whole graph belongs to the new nodes at which the pass did no rewrite, and to inlined calls and
// their nodes. A plug-in's pass belongs to each node that it changed, made or removed.
//
// All names of nodes are texts of NameInBody. Arguments and results of a function are nodes of its
// body; a result is called "name/result", as in FunctionGraph. Not thread-safe.
class Provenance : public PipelineObserver {
 public:
  struct History {
    // Nodes of the model by name, those of the graph before those of bodies. The node itself, if no
    // pass touched it or nothing tells where it comes from.
    std::vector<std::string> origins;
    std::vector<std::string>
        rewrites;  // "remapping.fuse_bias at a", "plugin:APU", in order of time
  };
  // The origins and rewrites of a node of the graph or body as it is now. A name that is gone or
  // unknown gives itself and no rewrites. Time is n log n in the records on the way to the origins.
  History Of(std::string_view node) const;
  // The nodes of the graph `now`, and of the bodies of its functions, that come from the node
  // `origin` of the model. `origin` itself may be gone. Nodes of the graph come first, by id; then
  // function by function, in the order of the library, those of its body by name. A node of a body
  // ("f:name") of which nothing is known gives itself.
  std::vector<std::string> WhatBecameOf(std::string_view origin, const Graph& now) const;
  // The rewrites that removed a node, or the pass where no rewrite is known. For a node of a body
  // that is still there: what took calls of the function (inlined them, or gave them another
  // function). Empty for any other node that is not gone.
  std::vector<std::string> EndOf(std::string_view node) const;
  // Whether a pass may have changed nodes of the function's body.
  bool KnowsBody(std::string_view function) const;

  void BeforePass(const PassRun& run) override;
  void OnRewrite(const RewriteEvent& event) override;
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;
  void BodyDropped(std::string_view function) override;

 private:
  struct Record {
    std::string node;                   // empty: none
    std::vector<int32_t> parents;       // none: a node of the model
    std::vector<std::string> rewrites;  // of one pass
  };
  using Records = absl::flat_hash_map<std::string, int32_t>;  // by node

  // Of the graph, or of a function's body.
  struct Ledger {
    std::string function;  // empty: the graph
    Records current;       // of nodes that something happened to
    Records first;         // of a body as calls find it, before passes work on it
    Records gone;
    // By node that is gone, where no rewrite was at the node itself: what took the node.
    absl::flat_hash_map<std::string, std::vector<std::string>> takers;
    struct Taking {
      std::string by;  // the function in whose body the pass ran
      std::string rewrite;
    };
    std::vector<Taking> taken;           // what calls of the function were inlined or changed by
    std::optional<std::string> made_in;  // for a call in the body of this function

    std::string NameOf(std::string_view node) const;
  };
  class Step;

  int32_t Add(std::string node);
  Ledger& LedgerOf(std::string_view function);
  const Ledger* FindLedger(std::string_view function) const;
  int32_t FirstOf(Ledger& ledger, std::string_view node);
  int32_t RecordOf(Ledger& ledger, std::string_view node);  // as it was when the pass began
  void NoteLibrary(const PassRun& run, const Graph& after);

  std::vector<Record> records_;
  absl::flat_hash_map<std::string, std::unique_ptr<Ledger>> ledgers_;  // by function
  std::string function_;  // in whose body the pass runs
  absl::flat_hash_map<std::string, std::vector<std::string>> events_;  // of the pass, by node
  std::vector<std::string> events_anywhere_;
};

}  // namespace tenon
