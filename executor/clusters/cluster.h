// Groups of nodes that a device compiles and runs as one program, and why a node is in none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "plugin/pjrt/program_device.h"

namespace tenon {

// One group. Outputs are those of `graph`.
struct Cluster {
  std::string name;  // "cluster_0"; no node of the graph has it
  std::shared_ptr<const Graph> graph;
  pjrt::ProgramDevice* device = nullptr;  // not owned; may be another than that of the nodes
  // Producers first. Constants that several clusters read are in each of them.
  std::vector<NodeId> nodes;
  // Values from outside whose elements decide shapes within: a program holds for one set of them.
  std::vector<Output> constants;
  std::vector<Output> arguments;  // all other values from outside
  // What the graph knows of the shapes of the arguments; empty: nobody has asked.
  std::vector<PartialShape> argument_shapes;
  std::vector<Output> results;  // values that somebody outside reads, or that are fetched
};

// Why a node that its placement gives to a device that compiles is in no cluster.
enum class NoCluster : uint8_t {
  // It is in one, or nobody wants it in one: it is on no such device, the fetches do not need it,
  // it is a constant that no cluster reads, or its device has kernels and the policy does not want
  // it.
  kNone,
  kNotRun,   // the run does not compute it
  kFed,      // a feed replaces it
  kHost,     // it belongs to the host: a placeholder, state, strings, a result whose shape depends
             // on values
  kBorder,   // a value that cannot leave a cluster (a list, a resource) would have to
  kTrivial,  // it would be in a cluster that computes nothing
  kOff,      // the user wants no clusters
  kOpList,   // the user's lists of ops, the mode or its attribute _XlaCompile leave it out
  kFuel,     // as many nodes as the user allows are in clusters
  kSmall,    // it would be in a cluster of fewer nodes than the user wants
};

// "NOT_RUN", "FED", …; empty for kNone.
std::string_view NoClusterName(NoCluster code);
// A part of a sentence about a node.
std::string_view NoClusterMeans(NoCluster code);

// By node id of the graph that clusters were found in.
struct ClusterMap {
  std::vector<int32_t> of;     // the index of the node's cluster; -1: none. Of a constant in
                               // several: the first
  std::vector<NoCluster> why;  // of nodes without one
};

}  // namespace tenon
