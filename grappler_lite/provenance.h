// Which nodes of the model, and which rewrites, each node of the optimized graph comes from. Kept
// beside the graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"
#include "grappler_lite/graph_changes.h"
#include "grappler_lite/observer.h"

namespace tenon {

// After each pass that changed the graph: a node that changed comes from itself, from the inputs
// that it no longer has and, through those that are gone, from theirs; a new one from the node
// whose name it begins with, or else from who uses it. What a pass did at a node belongs to that
// node and to those that it went into; what it did nowhere in particular, to the nodes that it
// made. Bodies of functions are left out: their names are their own.
class Provenance : public PipelineObserver {
 public:
  struct Story {
    std::vector<std::string> origins;   // nodes of the model; the node itself, if nothing happened
    std::vector<std::string> rewrites;  // "remapping.fuse_bias at a", "plugin:APU", in their order
  };
  // Of a node of the graph as it is now. Time is linear in the story.
  Story Of(std::string_view node) const;
  // Nodes of the graph as it is now that come from a node of the model, which may be gone.
  std::vector<std::string> WhatBecameOf(std::string_view origin, const Graph& now) const;
  // The rewrites that took away a node that is gone, or the pass where none is known; empty for
  // others.
  std::vector<std::string> EndOf(std::string_view node) const;

  void BeforePass(const PassRun& run) override;
  void OnRewrite(const RewriteEvent& event) override;
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;

 private:
  struct Record {
    std::string node;
    std::vector<int32_t> parents;       // none: a node of the model
    std::vector<std::string> rewrites;  // of one pass
  };
  class Step;

  int32_t RecordOf(std::string_view node);  // as it was when the running pass began
  int32_t Add(std::string_view node);

  bool in_body_ = false;  // of a function
  std::vector<Record> records_;
  absl::flat_hash_map<std::string, int32_t> current_;  // of nodes that something happened to
  absl::flat_hash_map<std::string, int32_t> gone_;
  absl::flat_hash_map<std::string, std::vector<std::string>> takers_;  // of those that are gone
  absl::flat_hash_map<std::string, std::vector<std::string>> events_;  // of the pass, by node
  std::vector<std::string> events_anywhere_;
};

}  // namespace tenon
