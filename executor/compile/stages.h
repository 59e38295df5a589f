// The stages of compiling a graph. Each stage is one function; the type of its result says how far
// the graph has come, so that no stage can be left out or run twice. compile.cc has the order.
//
// Thread-compatible: a stage owns what it is given. Devices, options and kernels outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/compile/feed_contract.h"
#include "executor/compile/request.h"
#include "executor/compile/session_options.h"
#include "executor/lowering/call_sites.h"
#include "executor/place/kernel_store.h"
#include "executor/place/placer.h"
#include "executor/plan/base/schedule.h"
#include "graph/ir/graph.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "plugin/device/device.h"

namespace tenon {

class FixedVariables;  // executor/state/fixed_variables.h

// What a graph is compiled for.
struct CompileContext {
  const SessionOptions& options;
  absl::Span<Device* const> devices;  // the host is among them
  Device* host;
  KernelStore& kernels;                   // knows the registry
  const FixedVariables* fixed = nullptr;  // what reads them reads constants; null: none
};

struct CompileTimes {  // milliseconds
  double optimize = 0, place = 0;
};

// The graph as given, without nodes of unknown ops that the request does not need.
struct Requested {
  Graph graph;
  Request request;  // in ids of `graph`, like all that follows
  RunSet run;
};

// Calls are inlined, so that passes see what functions hold. Node ids are those of before.
struct Inlined {
  Graph graph;
  Request request;
  CallSites calls;
  PipelineReport pipeline;
  CompileTimes times;
};

// The devices that nodes which call functions ask for, by name of the node. What they call inherits
// them.
using CallerDevices = absl::flat_hash_map<std::string, std::string>;

// Each node has a device, and its device string says which.
struct Placed : Inlined {
  std::vector<NodePlacement> placement;  // by node id
  CallerDevices caller_devices;
};

// The passes have run, over the bodies of functions too. This is the graph that reports show and
// that `opt` writes.
struct Optimized {
  std::shared_ptr<const Graph> graph;
  Request request;
  CallSites calls;
  std::vector<NodePlacement> placement;
  CallerDevices caller_devices;
  PipelineReport pipeline;
  CompileTimes times;
};

// Functions that are left have become plain nodes: the graph that runs. Without functions it is the
// optimized graph itself.
struct Lowered {
  std::shared_ptr<const Graph> graph;
  Request request;
  CallSites calls;
  std::vector<NodePlacement> placement;
  RunSet run;
};

// Everything that plans are made from, whatever the shapes of the feeds.
struct Runnable : Lowered {
  Schedule schedule;             // what the fetches need, in order
  std::vector<Device*> devices;  // by node id
  std::vector<FeedContract> feeds;
};

// UNIMPLEMENTED names an op that is not known and that the request needs.
absl::StatusOr<Requested> RequestOf(const Graph& graph, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches);
absl::StatusOr<Inlined> InlineCalls(Requested requested, const CompileContext& context);
absl::StatusOr<Placed> PlaceNodes(Inlined inlined, const CompileContext& context);
absl::StatusOr<Optimized> OptimizeGraph(Placed placed, const CompileContext& context);
absl::StatusOr<Lowered> LowerFunctions(const Optimized& optimized, const CompileContext& context);
// UNIMPLEMENTED names a node that no device has a kernel for.
absl::StatusOr<Runnable> ScheduleNodes(Lowered lowered, const CompileContext& context);

// Places the nodes that came to `graph` after `previous` was made; the others stay where they are.
// `previous` by node id of `graph`, without a device for new nodes.
absl::StatusOr<std::vector<NodePlacement>> PlaceNewNodes(Graph& graph,
                                                         std::vector<NodePlacement> previous,
                                                         const CompileContext& context);

}  // namespace tenon
