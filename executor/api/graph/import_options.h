// What an import is asked for, and what it returns.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/c_api/handles.h"
#include "graph/ir/graph.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// An output of a node of the GraphDef, by name; port kControlPort for the node as a whole.
using NamedPort = std::pair<std::string, int>;

}  // namespace tenon::api

struct TF_ImportGraphDefOptions {
  using Pool = tenon::Handles<TF_ImportGraphDefOptions>;
  std::string prefix, default_device;
  bool uniquify_names = false;
  bool uniquify_prefix = false;
  bool validate_colocation = true;
  bool skip_mapped_nodes = false;  // nodes of which every output is mapped are not added
  std::map<tenon::api::NamedPort, TF_Output> input_map;
  std::vector<const TF_Operation*> control_dependencies;
  std::vector<tenon::api::NamedPort> return_outputs;
  std::vector<std::string> return_operations;
};

struct TF_ImportGraphDefResults {
  using Pool = tenon::Handles<TF_ImportGraphDefResults>;
  std::vector<TF_Output> outputs;
  std::vector<TF_Operation*> operations;
  // The sources of mappings that were not used.
  std::vector<std::string> unused_names;
  std::vector<const char*> unused_name_texts;  // of unused_names
  std::vector<int> unused_indexes;
};
