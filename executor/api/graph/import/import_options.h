// The options and the results of an import. tensorflow/c/c_api.h says what each option does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/c_api/handles.h"
#include "graph/ir/graph.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// An output of a node: the node's name in the GraphDef, and the port. kControlPort: the node's
// control output.
using NamedPort = std::pair<std::string, int>;

}  // namespace tenon::api

struct TF_ImportGraphDefOptions {
  using Pool = tenon::Handles<TF_ImportGraphDefOptions>;
  // `prefix` and '/' come before the names of the nodes; no second '/' if `prefix` ends in one; "":
  // nothing comes before them. `default_device`: the device string of nodes that have none.
  std::string prefix, default_device;
  bool uniquify_names = false;
  bool uniquify_prefix = false;
  bool validate_colocation = true;
  bool skip_mapped_nodes = false;  // nodes of which every output is mapped are not added
  // By an output of the GraphDef: the output of the graph that its readers read in its place.
  std::map<tenon::api::NamedPort, TF_Output> input_map;
  // Operations of the graph. A node that reads no other node of the import waits for them.
  std::vector<const TF_Operation*> control_dependencies;
  // Outputs and nodes of the GraphDef for `outputs` and `operations` of the results.
  std::vector<tenon::api::NamedPort> return_outputs;
  std::vector<std::string> return_operations;
  bool lacks_memory = false;  // for an option, so that nothing can be imported
};

struct TF_ImportGraphDefResults {
  using Pool = tenon::Handles<TF_ImportGraphDefResults>;
  std::vector<TF_Output> outputs;         // by return_outputs
  std::vector<TF_Operation*> operations;  // by return_operations
  // The keys of input_map that name no output of the GraphDef and that no node which was added
  // reads: node and port of each.
  std::vector<std::string> unused_names;
  std::vector<const char*> unused_name_texts;  // c_str() of each of unused_names
  std::vector<int> unused_indexes;
};
