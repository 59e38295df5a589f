// The stages of compiling a graph. Each stage is one function; the type of its result says how far
// the graph has come, so that no stage can be left out or run twice. compile.cc has the order.
//
// A stage runs on the calling thread; several graphs may be compiled at a time. Errors name the
// feed, the fetch or the node.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/clusters/cluster_set.h"
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

// The surroundings that a graph is compiled for. Owns nothing. The devices and `kernels` must
// outlive what is compiled; the rest must outlive the call.
struct CompileContext {
  const SessionOptions& options;
  absl::Span<Device* const> devices;  // the host is among them
  Device* host;
  KernelStore& kernels;                   // for the graph that runs; holds the kernel registry
  const FixedVariables* fixed = nullptr;  // readers of these variables read constants; null: none
  // Makes what computes a cluster that cannot be compiled or run. Must be set if clusters may form.
  OrdinaryKernelsFactory ordinary = nullptr;
};

// The time that stages took, in milliseconds. `optimize`: Inlined and Optimized, with the placement
// of new nodes; `place`: Placed.
struct CompileTimes {
  double optimize = 0, place = 0;
};

// The graph as given. If it has nodes of unknown ops, all nodes are gone that are not fed and that
// no node that runs reads, directly or through others, and a fed node that the run does not compute
// is a Placeholder. Request::stands_for_node is set for each fed node that the run does not
// compute.
struct Requested {
  Graph graph;
  Request request;  // in ids of `graph`, like all that follows
  RunSet run;
};

// Calls are inlined, so that passes see what functions hold. Surviving nodes keep their ids.
struct Inlined {
  Graph graph;
  Request request;
  CallSites calls;          // the origin of inlined nodes
  PipelineReport pipeline;  // of the passes so far
  CompileTimes times;
};

// By name of a node that calls functions: the device string that the node had before it was placed;
// no entry: it had none. Nodes of the called functions without a device string inherit it.
using CallerDevices = absl::flat_hash_map<std::string, std::string>;

// Each node has a device, and its device string names the device; but with the target TensorFlow a
// node that asks for an unavailable device keeps its own string (ApplyPlacement).
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
  std::shared_ptr<const std::vector<NodePlacement>> placement;  // by node id
  CallerDevices caller_devices;
  PipelineReport pipeline;
  CompileTimes times;
};

// The graph in which a node stands for each cluster of a device that compiles; all nodes that run
// are on devices that run nodes. Without such a device it is that of Optimized.
struct Clustered : Optimized {
  std::shared_ptr<ClusterSet> clusters;  // null: there are none
};

// The graph that runs: calls, branches and loops of functions that the run computes have become
// plain nodes. If the run computes none, `graph` and `placement` are those of Optimized.
struct Lowered {
  std::shared_ptr<const Graph> graph;
  Request request;
  CallSites calls;
  std::shared_ptr<const std::vector<NodePlacement>> placement;  // by node id
  RunSet run;
};

// Everything that plans are made from, whatever the shapes of the feeds.
struct Runnable : Lowered {
  Schedule schedule;                // the nodes that the fetches need, in order
  std::vector<Device*> devices;     // by node id; the host for nodes that are not needed
  std::vector<FeedContract> feeds;  // by feed of the request
};

// Copies the graph and resolves the names. Errors are those of ResolveRequest and FindRunSet;
// UNIMPLEMENTED for an op that is not known and that the request needs, or, in a graph with unknown
// ops, for a fed node with several outputs that the run does not compute.
absl::StatusOr<Requested> RequestOf(const Graph& graph, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches);
// Runs the passes that bring nodes (RunUnplacedPasses), which inline calls, unless the optimization
// level is 0 or the graph has no functions. Then lets constants replace the reads of context.fixed,
// at any level. Calls that the inliner leaves (LoweringInliner) stay: LowerFunctions lowers those
// that the run computes. If a call that it inlines is malformed, the pass is rolled back and the
// report says why, but for PipelineOptions::fail_on_errors. Errors are those of
// FixedVariables::ReplaceReads and, where the passes run, of OrderOf and RunUnplacedPasses.
absl::StatusOr<Inlined> InlineCalls(Requested requested, const CompileContext& context);
// Errors are those of Place.
absl::StatusOr<Placed> PlaceNodes(Inlined inlined, const CompileContext& context);
// Runs no pass at optimization level 0. A pass that fails is rolled back and reported, but for
// PipelineOptions::fail_on_errors. Errors are those of RunPipeline, OptimizeBodies and Place.
absl::StatusOr<Optimized> OptimizeGraph(Placed placed, const CompileContext& context);
// Forms clusters in a copy of the graph, which is not made if no node is on a device that compiles
// or is to be compiled for the host. Errors are those of RegisterClusterOp, FindRunSet, OrderOf and
// ExtractClusters.
absl::StatusOr<Clustered> FormClusters(const Optimized& optimized, const CompileContext& context);
// Leaves `optimized` as it is: lowers in a copy of the graph. Errors are those of Lowering::Run (a
// function that calls itself, too many nodes, an op such as RemoteCall), of FindRunSet, of OrderOf,
// of Graph::AddNode, of FixedVariables::ReplaceReads and of Place.
absl::StatusOr<Lowered> LowerFunctions(const Optimized& optimized, const CompileContext& context);
// UNIMPLEMENTED for a node that runs and whose device has no kernel for it. Other errors are those
// of OrderOf, KernelStore::Find, MakeSchedule and DescribeFeeds.
absl::StatusOr<Runnable> ScheduleNodes(Lowered lowered, const CompileContext& context);

// Places the nodes that came to `graph` after `previous` was made, and writes their devices into
// the graph; the others stay on their devices where these have a kernel. `previous` is by node id
// of `graph`; an entry without a device, or no entry, means a new node. A node that asks for an
// unavailable device gets the string of its device, whatever the target. Errors are those of Place.
absl::StatusOr<std::vector<NodePlacement>> PlaceNewNodes(Graph& graph,
                                                         std::vector<NodePlacement> previous,
                                                         const CompileContext& context);

}  // namespace tenon
