#include "executor/api/graph/import/graph_importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/node_checks.h"
#include "graph/base/status_macros.h"
#include "graph/ir/colocation.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_registry.h"
#include "graph/verify/verifier.h"
#include "graph/wire/versions.h"
#include "graph/wire/wire.h"

namespace tenon::api {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

std::string PortText(std::string_view node, int port) {
  return port == kControlPort ? absl::StrCat("^", node) : absl::StrCat(node, ":", port);
}

std::string PrefixOf(std::string_view prefix) {
  return prefix.empty() || prefix.back() == '/' ? std::string(prefix) : absl::StrCat(prefix, "/");
}

absl::Status CheckReadable(const Versions& versions) {
  if (versions.min_consumer > kGraphDefVersion) {
    return Bad("GraphDef min consumer version ", versions.min_consumer, " above current version ",
               kGraphDefVersion, " for TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  }
  for (const int bad : versions.bad_consumers) {
    if (bad != kGraphDefVersion) continue;
    return Bad("GraphDef disallows consumer version ", bad,
               ".  Please upgrade TensorFlow: this version is likely buggy.");
  }
  return absl::OkStatus();
}

bool IsLoopMerge(std::string_view op) { return op == "Merge" || op == "RefMerge"; }

}  // namespace

std::string MergedVersions(std::string_view wire, std::string_view other_wire) {
  Versions merged = ParseVersions(wire);
  const Versions other = ParseVersions(other_wire);
  merged.producer = std::min(merged.producer, other.producer);
  merged.min_consumer = std::max(merged.min_consumer, other.min_consumer);
  std::vector<int>& bad = merged.bad_consumers;
  bad.insert(bad.end(), other.bad_consumers.begin(), other.bad_consumers.end());
  std::sort(bad.begin(), bad.end());
  bad.erase(std::unique(bad.begin(), bad.end()), bad.end());
  return VersionsToWire(merged);
}

GraphImporter::GraphImporter(TF_Graph& graph, const TF_ImportGraphDefOptions& options)
    : graph_(graph), options_(options), prefix_(PrefixOf(options.prefix)), before_(graph) {}

absl::Status GraphImporter::Run(FileBytes wire, TF_ImportGraphDefResults* results) {
  graph_.graph.KeepAlive(std::move(wire.owner));
  TENON_RETURN_IF_ERROR(Import(wire.bytes, results));
  NoteNewNodes(graph_);
  before_.Keep();
  return absl::OkStatus();
}

absl::Status GraphImporter::Import(std::string_view wire, TF_ImportGraphDefResults* results) {
  TENON_ASSIGN_OR_RETURN(def_, ParseGraphDef(wire, graph_.graph));
  const Versions versions = ParseVersions(def_.versions);
  producer_ = versions.producer;
  TENON_RETURN_IF_ERROR(CheckReadable(versions));
  graph_.prefixes.CatchUp(graph_.graph);
  for (const NodeDefText& node : def_.nodes) AddPrefixes(node.name, &def_prefixes_);
  TENON_RETURN_IF_ERROR(ChoosePrefix());
  TENON_RETURN_IF_ERROR(CheckOptions());
  graph_.graph.SetVersions(MergedVersions(before_.versions(), def_.versions));
  TENON_RETURN_IF_ERROR(AddLibrary(graph_.graph, def_.library));
  TENON_RETURN_IF_ERROR(AddNodes());
  TENON_RETURN_IF_ERROR(CloseLoops());
  RenameColocation();
  return FillResults(results);
}

// Asks only for what was there before the import: names of a GraphDef are unique, so its nodes take
// no name from each other. The scope of a node's name is taken too: "a" where there is "a/b".
bool GraphImporter::IsTaken(std::string_view name) {
  const NodeId n = graph_.graph.FindNode(name);
  return (n != kNoNode && n < before_.first_new()) || graph_.prefixes.Has(name);
}

// The first of name_1, name_2 … that neither the graph nor the GraphDef has.
std::string GraphImporter::FreeName(std::string_view name) {
  std::string free(name);
  for (int i = 1;
       IsTaken(free) || (i > 1 && (def_.by_name.contains(free) || def_prefixes_.contains(free)));
       ++i)
    free = absl::StrCat(name, "_", i);
  return free;
}

absl::Status GraphImporter::ChoosePrefix() {
  if (!prefix_.empty()) {
    const std::string_view scope = std::string_view(prefix_).substr(0, prefix_.size() - 1);
    if (!IsNodeName(scope, /*from_file=*/true))
      return Bad("Imported node name prefix '", prefix_, "' would lead to invalid node names");
    if (options_.uniquify_prefix && IsTaken(scope)) prefix_ = FreeName(scope) + "/";
    return absl::OkStatus();
  }
  if (options_.uniquify_names) return absl::OkStatus();
  for (const NodeDefText& node : def_.nodes) {
    if (IsTaken(node.name)) return Bad("Node name '", node.name, "' already exists in the Graph");
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::CheckOptions() const {
  for (const auto& [from, to] : options_.input_map) {
    const std::string source = PortText(from.first, from.second);
    if (to.oper == nullptr || to.oper->graph != &graph_)
      return Bad("input_map entry ", source, " leads to no node of the graph");
    if (to.index < kControlPort) {
      return Bad("input_map entry ", source, " leads to output ", to.index, " of node '",
                 graph_.graph.name(to.oper->node), "'");
    }
    if ((from.second == kControlPort) != (to.index == kControlPort)) {
      return Bad("input_map entry ", source, "->",
                 PortText(graph_.graph.name(to.oper->node), to.index),
                 " between control edge and non-control edge");
    }
  }
  for (const TF_Operation* oper : options_.control_dependencies) {
    if (oper == nullptr || oper->graph != &graph_)
      return Bad("control_dependencies holds an operation that is not of the graph");
  }
  return absl::OkStatus();
}

const TF_Output* GraphImporter::MappingOf(const InputText& input) const {
  if (options_.input_map.empty()) return nullptr;
  const auto found = options_.input_map.find({std::string(input.node), input.port});
  return found == options_.input_map.end() ? nullptr : &found->second;
}

absl::Status GraphImporter::AddNodes() {
  TENON_ASSIGN_OR_RETURN(NodeOrder order, NodeOrder::Of(def_, [this](const InputText& input) {
                           return MappingOf(input) != nullptr;
                         }));
  const std::vector<int> nodes = std::move(order).Take();
  ids_.assign(def_.nodes.size(), kNoNode);
  for (const int index : nodes) TENON_RETURN_IF_ERROR(AddNode(index));
  if (nodes.size() == def_.nodes.size()) return absl::OkStatus();
  return Bad(def_.nodes.size() - nodes.size(), " nodes in a cycle");
}

std::vector<GraphImporter::Source> GraphImporter::SourcesOf(const NodeDefText& node) {
  std::vector<Source> sources;
  std::vector<const TF_Operation*> mapped;  // control inputs
  for (std::string_view text : node.inputs) {
    const InputText input = ParseInput(text);
    const TF_Output* mapping = MappingOf(input);
    if (mapping == nullptr) {
      sources.push_back({{ids_[def_.by_name.at(input.node)], input.port}});
      continue;
    }
    used_mappings_.insert({std::string(input.node), input.port});
    if (input.port == kControlPort) {
      if (std::find(mapped.begin(), mapped.end(), mapping->oper) != mapped.end()) continue;
      mapped.push_back(mapping->oper);
    }
    sources.push_back({{mapping->oper->node, mapping->index}, true});
  }
  return sources;
}

// A node that reads another imported one inherits the dependencies from that.
void GraphImporter::AddControlDependencies(std::vector<Source>* sources) const {
  for (const Source& source : *sources) {
    if (!source.existed && source.output.node != kNoNode) return;
  }
  for (const TF_Operation* oper : options_.control_dependencies) {
    const Output control{oper->node, kControlPort};
    const bool there = std::any_of(sources->begin(), sources->end(),
                                   [&](const Source& s) { return s.output == control; });
    if (!there) sources->push_back({control, true});
  }
}

absl::Status GraphImporter::CheckSources(const NodeDefText& node,
                                         const std::vector<Source>& sources) const {
  const Graph& graph = graph_.graph;
  for (size_t i = 0; i < sources.size(); ++i) {
    const Output from = sources[i].output;
    if (from.node == kNoNode && !IsLoopMerge(node.op)) {
      return Bad("Node '", node.name,
                 "' had a back edge, but only Merge nodes can have back edges.");
    }
    if (from.node == kNoNode || from.port < graph.num_outputs(from.node)) continue;
    const std::string_view source =
        sources[i].existed ? graph.name(from.node) : ParseInput(node.inputs[i]).node;
    const std::string_view op = graph.op_name(from.node);
    const bool hint = op == "If" || op == "StatelessIf" || op == "While" || op == "StatelessWhile";
    return Bad("Node '", node.name, "': Connecting to invalid output ", from.port,
               " of source node ", source, " which has ", graph.num_outputs(from.node), " outputs.",
               hint ? " Try using tf.compat.v1.experimental.output_all_intermediates(True)." : "");
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::CheckColocation(const NodeDefText& node) const {
  if (!options_.validate_colocation) return absl::OkStatus();
  for (const Attr& a : node.attrs) {
    if (a.name != kColocationAttr) continue;
    const absl::StatusOr<std::vector<std::string_view>> groups = a.value.AsStringList();
    for (size_t i = 0; groups.ok() && i < groups->size(); ++i) {
      std::string_view group = (*groups)[i];
      if (absl::ConsumePrefix(&group, kColocationPrefix) && !def_.by_name.contains(group)) {
        return Bad("Node '", node.name, "' expects to be colocated with unknown node '", group,
                   "'");
      }
    }
  }
  return absl::OkStatus();
}

std::string_view GraphImporter::NameFor(std::string_view name) {
  std::string changed = absl::StrCat(prefix_, name);
  if (options_.uniquify_names && (prefix_.empty() || !options_.uniquify_prefix) && IsTaken(changed))
    changed = FreeName(changed);
  if (changed == name) return name;
  const std::string_view kept = graph_.graph.Keep(changed);
  renamed_.emplace(name, kept);
  return kept;
}

// The attributes of the node in the graph: groups of colocation get the prefix, and noted shapes
// become what is known of the outputs.
std::vector<Attr> GraphImporter::AttrsFor(const NodeDefText& node) {
  std::vector<Attr> attrs = node.attrs;
  std::erase_if(attrs, [](const Attr& a) { return a.name == kOutputShapesAttr; });
  if (prefix_.empty()) return attrs;
  for (Attr& a : attrs) {
    if (a.name != kColocationAttr) continue;
    const std::vector<std::string_view> groups =
        a.value.AsStringList().value_or(std::vector<std::string_view>());
    std::vector<std::string> prefixed;
    for (std::string_view group : groups) {
      const bool node_group = absl::ConsumePrefix(&group, kColocationPrefix);
      prefixed.push_back(node_group ? absl::StrCat(kColocationPrefix, prefix_, group)
                                    : std::string(group));
    }
    const std::vector<std::string_view> views(prefixed.begin(), prefixed.end());
    a.value = AttrValue(graph_.graph.Keep(attr::StringList(views)));
  }
  return attrs;
}

// Whether every output of the node is mapped. The op must say how many there are.
bool GraphImporter::IsMapped(const NodeDefText& node) const {
  if (!options_.skip_mapped_nodes || options_.input_map.empty()) return false;
  const OpDef* op = graph_.graph.FindOp(node.op);
  if (op == nullptr) return false;
  const absl::StatusOr<NodeTypes> types = ResolveTypes(*op, AttrSet(node.attrs));
  if (!types.ok() || types->outputs.empty()) return false;
  for (int port = 0; port < static_cast<int>(types->outputs.size()); ++port) {
    if (MappingOf({node.name, port}) == nullptr) return false;
  }
  return true;
}

absl::Status GraphImporter::AddNode(int index) {
  const NodeDefText& node = def_.nodes[index];
  if (IsMapped(node)) return absl::OkStatus();
  std::vector<Source> sources = SourcesOf(node);
  AddControlDependencies(&sources);
  TENON_RETURN_IF_ERROR(CheckColocation(node));
  TENON_RETURN_IF_ERROR(CheckSources(node, sources));
  if (graph_.graph.FindOp(node.op) == nullptr) return OpNotRegistered(node.op);

  std::vector<Output> inputs;
  Output any;  // stands in for edges of loops, which lead to nodes that are not there yet
  for (const Source& source : sources) {
    const Output from = source.output;
    if (!from.is_control() || std::find(inputs.begin(), inputs.end(), from) == inputs.end())
      inputs.push_back(from);
    if (from.node != kNoNode) any = {from.node, 0};
  }
  std::vector<int> open;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].node != kNoNode) continue;
    const InputText text = ParseInput(node.inputs[i]);
    back_edges_.push_back(
        {def_.by_name.at(text.node), text.port, graph_.graph.num_node_ids(), static_cast<int>(i)});
    open.push_back(static_cast<int>(i));
    inputs[i] = any;
  }
  const std::string_view device =
      node.device.empty() ? graph_.graph.Keep(options_.default_device) : node.device;
  const std::string_view name = NameFor(node.name);
  const absl::StatusOr<NodeId> added =
      graph_.graph.AddNode({name, node.op, device, AttrsFor(node), node.extra}, inputs);
  if (absl::IsAlreadyExists(added.status()))
    return Bad("Node name '", name, "' already exists in the Graph");
  TENON_RETURN_IF_ERROR(added.status());
  for (const int i : open) graph_.graph.SetInput(*added, i, {kNoNode, 0});
  ids_[index] = *added;
  return CheckAndInfer(*added, node);
}

absl::Status GraphImporter::CheckEdge(NodeId n, int input, Output from) const {
  const Graph& graph = graph_.graph;
  const DataType given = graph.output_type(from);
  const DataType wanted = graph.input_type(n, input);
  if (given == wanted || (!IsRef(wanted) && BaseType(given) == wanted)) return absl::OkStatus();
  return Bad("Input ", input, " of node ", graph.name(n), " was passed ", TypeText(given), " from ",
             graph.name(from.node), ":", from.port, " incompatible with expected ",
             TypeText(wanted), ".");
}

absl::Status GraphImporter::CheckAndInfer(NodeId n, const NodeDefText& node) {
  TENON_RETURN_IF_ERROR(CheckKindOf(graph_, n, producer_));
  int input = 0;
  for (const Output& from : graph_.graph.data_inputs(n)) {
    if (from.node != kNoNode) TENON_RETURN_IF_ERROR(CheckEdge(n, input, from));
    ++input;
  }
  TENON_RETURN_IF_ERROR(InferNewNode(graph_));
  for (const Attr& a : node.attrs) {
    if (a.name == kOutputShapesAttr) return ApplyShapes(n, a.value);
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::ApplyShapes(NodeId n, const AttrValue& value) {
  const absl::StatusOr<std::vector<PartialShape>> shapes = value.AsShapeList();
  const std::string_view name = graph_.graph.name(n);
  if (!shapes.ok()) {
    return Bad("Node '", name, " has an invalid ", kOutputShapesAttr, " attribute (",
               shapes.status().message(), ")");
  }
  const int outputs = graph_.graph.num_outputs(n);
  if (shapes->size() < static_cast<size_t>(outputs)) {
    return Bad("Node '", name, "' has ", outputs, " outputs but the ", kOutputShapesAttr,
               " attribute specifies shapes for ", shapes->size(), " outputs");
  }
  for (int i = 0; i < outputs; ++i) {
    const absl::Status merged = MergeShape(graph_, {n, i}, (*shapes)[i]);
    if (merged.ok()) continue;
    return Bad("Node '", name, "' has an ", kOutputShapesAttr,
               " attribute inconsistent with the GraphDef for output #", i, ": ", merged.message());
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::CloseLoops() {
  for (const BackEdge& edge : back_edges_) {
    const Output from{ids_[edge.from], edge.port};
    if (from.port >= graph_.graph.num_outputs(from.node)) {
      return Bad("Node '", graph_.graph.name(edge.to), "': Connecting to invalid output ",
                 from.port, " of source node ", graph_.graph.name(from.node));
    }
    TENON_RETURN_IF_ERROR(CheckEdge(edge.to, edge.input, from));
    graph_.graph.SetInput(edge.to, edge.input, from);
  }
  return absl::OkStatus();
}

// Groups that name a node which has got another name follow it. With a prefix they have it already.
void GraphImporter::RenameColocation() {
  if (renamed_.empty() || !prefix_.empty()) return;
  for (const NodeId n : ids_) {
    if (n == kNoNode) continue;
    const AttrValue* value = graph_.graph.attrs(n).Find(kColocationAttr);
    if (value == nullptr) continue;
    std::vector<std::string> groups;
    const std::vector<std::string_view> old =
        value->AsStringList().value_or(std::vector<std::string_view>());
    for (std::string_view group : old) {
      const bool node_group = absl::ConsumePrefix(&group, kColocationPrefix);
      const auto renamed = renamed_.find(group);
      groups.push_back(absl::StrCat(node_group ? kColocationPrefix : "",
                                    renamed == renamed_.end() ? group : renamed->second));
    }
    const std::vector<std::string_view> views(groups.begin(), groups.end());
    graph_.graph.SetAttr(n, kColocationAttr, attr::StringList(views));
  }
}

// The node of the graph that a node of the GraphDef has become; kNoNode for an unknown name, and
// for one that was left out.
NodeId GraphImporter::NodeOf(std::string_view name) const {
  const auto found = def_.by_name.find(name);
  return found == def_.by_name.end() ? kNoNode : ids_[found->second];
}

absl::Status GraphImporter::FillResults(TF_ImportGraphDefResults* results) const {
  std::vector<Output> outputs;
  for (const auto& [name, port] : options_.return_outputs) {
    if (const TF_Output* mapping = MappingOf({name, port})) {
      outputs.push_back({mapping->oper->node, mapping->index});
      continue;
    }
    const NodeId n = NodeOf(name);
    if (n == kNoNode)
      return Bad("Requested return tensor '", PortText(name, port), "' not found in graph def");
    const int count = graph_.graph.num_outputs(n);
    if (port != kControlPort && (port < 0 || port >= count)) {
      return Bad("Invalid return output ", port, " of node '", name, "', which has ", count,
                 " output(s)");
    }
    outputs.push_back({n, port});
  }
  std::vector<NodeId> operations;
  for (const std::string& name : options_.return_operations) {
    operations.push_back(NodeOf(name));
    if (operations.back() == kNoNode)
      return Bad("Requested return node '", name, "' not found in graph def");
  }
  NoteNewNodes(graph_);
  for (const Output& output : outputs) results->outputs.push_back(OutputToC(graph_, output));
  for (const NodeId n : operations) results->operations.push_back(&graph_.operations[n]);
  FillUnused(results);
  return absl::OkStatus();
}

// A node that was left out has all its outputs mapped.
void GraphImporter::FillUnused(TF_ImportGraphDefResults* results) const {
  for (const auto& [from, to] : options_.input_map) {
    const NodeId n = NodeOf(from.first);
    const bool is_there = n == kNoNode ? def_.by_name.contains(from.first)
                                       : from.second < graph_.graph.num_outputs(n);
    if (is_there || used_mappings_.contains(from)) continue;
    results->unused_names.push_back(from.first);
    results->unused_indexes.push_back(from.second);
  }
  for (const std::string& name : results->unused_names)
    results->unused_name_texts.push_back(name.c_str());
}

}  // namespace tenon::api
