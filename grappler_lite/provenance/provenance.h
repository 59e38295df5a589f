// Which nodes of the model, and which rewrites, each node of the optimized graph and of its
// functions' bodies comes from. Kept beside the graph.
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

// The name of a node of a function's body: "function:node", for names of nodes have no ':'. Of the
// graph, where `function` is empty, its name alone.
struct NameInBody {
  std::string_view function, node;

  static NameInBody Of(std::string_view text);
  std::string Text() const;
};

// After each pass that changed the graph: a node that changed comes from itself, from the inputs
// that it no longer has and, through those that are gone, from theirs; a new one from the node
// whose name it begins with, or else from who uses it. What a pass did at a node belongs to that
// node and to those that it went into; what it did nowhere in particular, to the nodes that it
// made. A node that was inlined comes from the call and from the node of the body; one of a
// function that a pass made, from the node of the function that was called before.
//
// Nodes go by their NameInBody. An argument is a node of the body, and so is a result,
// "name/result", as in FunctionGraph.
class Provenance : public PipelineObserver {
 public:
  struct History {
    // Nodes of the model, those of bodies last; the node itself, if nothing happened.
    std::vector<std::string> origins;
    std::vector<std::string> rewrites;  // "remapping.fuse_bias at a", "plugin:APU", in their order
  };
  // Of a node of the graph as it is now. Time is linear in the history.
  History Of(std::string_view node) const;
  // Nodes of the graph as it is now that come from a node of the model, which may be gone.
  std::vector<std::string> WhatBecameOf(std::string_view origin, const Graph& now) const;
  // The rewrites that took away a node that is gone, or the pass where none is known; empty for
  // others.
  std::vector<std::string> EndOf(std::string_view node) const;
  // Whether anything may have happened to nodes of the function's body.
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
    absl::flat_hash_map<std::string, std::vector<std::string>> takers;  // of those that are gone
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
