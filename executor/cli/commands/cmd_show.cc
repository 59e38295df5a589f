// graph_run show: summarizes a graph: inputs, outputs, ops, constants, and a command line.
#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/commands/computed_graph.h"
#include "executor/cli/graphs/graph_dot.h"
#include "executor/cli/graphs/graph_svg.h"
#include "executor/cli/graphs/initializer.h"
#include "executor/cli/graphs/signatures.h"
#include "executor/cli/model/model.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/options/model_flags.h"
#include "executor/cli/plugins/host.h"
#include "executor/freeze/freeze.h"
#include "executor/state/state_makers.h"
#include "executor/values/tensor_text.h"
#include "graph/base/file_writer.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/shapes/cost.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon::cli {
namespace {

struct NamedType {
  std::string name;
  DataType dtype;
  PartialShape shape;
};

struct Summary {
  std::vector<NamedType> inputs, outputs;
  // Only of a graph that is no SavedModel.
  std::vector<NamedType> variables;
  std::vector<std::string> targets;
  std::vector<std::string> inits;  // the targets that fill the variables and tables
  bool inits_are_marked = false;   // other commands run them without being told
  std::map<std::string, int64_t> ops;
  // Requested devices; "" for nodes that request none.
  std::map<std::string, int64_t> devices;
  int64_t const_bytes = 0;
  VariableSummary held;  // only of a SavedModel
  FlopEstimate cost;
};

int64_t ConstBytes(const Graph& graph, NodeId n) {
  if (graph.op_name(n) != "Const") return 0;
  const AttrValue* value = graph.attr(n, "value");
  if (value == nullptr) return 0;
  const auto wire = value->AsTensorWire();
  if (!wire.ok()) return 0;
  const auto header = TensorHeaderFromWire(*wire);
  if (!header.ok()) return 0;
  return header->shape.num_elements() * static_cast<int64_t>(DataTypeSize(header->dtype));
}

std::vector<NamedType> TypesOf(const std::vector<SignatureTensor>& tensors) {
  std::vector<NamedType> types;
  for (const SignatureTensor& t : tensors) types.push_back({t.name, t.dtype, t.shape});
  return types;
}

std::vector<NamedType> VariableTypes(const Graph& graph) {
  std::vector<NamedType> types;
  for (const NodeId n : Variables(graph)) {
    const SpecHint declared = DeclaredInput(graph, n);
    types.push_back({std::string(graph.name(n)), declared.dtype, declared.shape});
  }
  return types;
}

// Counts the nodes of a graph of these shapes, those of its functions included.
void CountNodes(const Graph& graph, const GraphShapes& shapes, Summary& summary) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    nodes.push_back(n);
    ++summary.devices[std::string(graph.device(n))];
    summary.const_bytes += ConstBytes(graph, n);
  }
  VisitReached(graph, nodes,
               [&](const ReachedNode& node) { ++summary.ops[std::string(node.op_name)]; });
  summary.cost = EstimateFlopsWithBodies(graph, shapes);
}

// Counts what the model computes. The nodes of a graph with functions are mostly calls; what is
// computed stands in the bodies.
absl::Status CountComputed(const Model& model, const GraphShapes& shapes, Summary& summary) {
  if (!model.graph.functions().empty()) {
    if (const absl::StatusOr<Graph> computed = ComputedGraph(model); computed.ok()) {
      TENON_ASSIGN_OR_RETURN(const GraphShapes computed_shapes, GraphShapes::Infer(*computed));
      CountNodes(*computed, computed_shapes, summary);
      return absl::OkStatus();
    }
  }
  CountNodes(model.graph, shapes, summary);
  return absl::OkStatus();
}

absl::StatusOr<Summary> Summarize(const Model& model) {
  const Graph& graph = model.graph;
  Summary summary;
  summary.held = SummarizeVariables(model);
  TENON_ASSIGN_OR_RETURN(const GraphShapes shapes, GraphShapes::Infer(graph));
  TENON_RETURN_IF_ERROR(CountComputed(model, shapes, summary));
  if (model.signature != nullptr) {
    summary.inputs = TypesOf(model.signature->inputs);
    summary.outputs = TypesOf(model.signature->outputs);
    return summary;
  }
  for (const NodeId n : Placeholders(graph)) {
    const SpecHint declared = DeclaredInput(graph, n);
    summary.inputs.push_back({std::string(graph.name(n)), declared.dtype, shapes.shape({n, 0})});
  }
  summary.variables = VariableTypes(graph);
  summary.targets = Targets(graph);
  summary.inits = Initializers(graph);
  summary.inits_are_marked = !MarkedInitializers(graph).empty();
  for (const std::string& name : GraphOutputs(graph)) {
    NamedType type{name, DataType::kInvalid, {}};
    // What a node of an unknown op gives is unknown.
    if (graph.op(NodeOfOutput(graph, name)) != nullptr) {
      TENON_ASSIGN_OR_RETURN(const Output output, graph.ParseOutput(name));
      type.dtype = graph.output_type(output);
      type.shape = shapes.shape(output);
    }
    summary.outputs.push_back(std::move(type));
  }
  return summary;
}

Json TypesJson(const std::vector<NamedType>& tensors) {
  Json array = Json::Array();
  for (const NamedType& t : tensors) array.Push(NamedTypeJson(t.name, t.dtype, t.shape));
  return array;
}

Json CountsJson(const std::map<std::string, int64_t>& counts) {
  Json json = Json::Object();
  for (const auto& [name, count] : counts) json.Set(name, count);
  return json;
}

// " --output y" for the outputs that are results. Assignments and training steps are outputs too,
// as no node reads them, and a run without --output would do them. Nodes of unknown ops cannot run.
std::string AnswerArguments(const std::vector<NamedType>& outputs) {
  constexpr size_t kMost = 8;
  std::string arguments;
  size_t answers = 0;
  for (const NamedType& t : outputs) {
    if (IsRef(t.dtype) || t.dtype == DataType::kInvalid) continue;
    if (++answers <= kMost) absl::StrAppend(&arguments, " --output ", ShellWord(t.name));
  }
  return answers == outputs.size() ? "" : arguments;
}

// The arguments with which the model can be run: " --signature count --input
// 'x=1x20xf32=random(seed=1)'". Inputs that no SPEC can write are left out.
std::string RunArguments(const Summary& summary, const ModelFlags& flags) {
  std::string arguments;
  if (!flags.signature.empty())
    absl::StrAppend(&arguments, " --signature ", ShellWord(flags.signature));
  if (!summary.inits_are_marked) absl::StrAppend(&arguments, InitArguments(summary.inits));
  for (const NamedType& t : summary.inputs) {
    if (!HasSpecs(t.dtype)) continue;
    absl::StrAppend(&arguments, " --input ",
                    ShellWord(absl::StrCat(t.name, "=", SuggestSpec({t.dtype, t.shape}))));
  }
  absl::StrAppend(&arguments, AnswerArguments(summary.outputs));
  return arguments;
}

// "r, v": the inputs that nobody can feed from the command line.
std::string InputsWithoutSpecs(const Summary& summary) {
  std::vector<std::string> names;
  for (const NamedType& t : summary.inputs) {
    if (!HasSpecs(t.dtype)) names.push_back(t.name);
  }
  return absl::StrJoin(names, ", ");
}

std::string TensorLines(std::string_view title, const std::vector<NamedType>& tensors,
                        const Style& style) {
  constexpr size_t kShown = 24;
  std::string text = absl::StrCat(style.Dim(title), tensors.empty() ? "none\n" : "");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) absl::StrAppend(&text, std::string(title.size(), ' '));
    if (i == kShown) return absl::StrCat(text, "and ", tensors.size() - kShown, " more\n");
    const NamedType& t = tensors[i];
    absl::StrAppend(&text, style.Bold(t.name), "  ",
                    t.dtype == DataType::kInvalid ? "of an unknown op" : TypeText(t.dtype, t.shape),
                    "\n");
  }
  return text;
}

std::string OpsText(const Summary& summary, const Style& style) {
  std::vector<std::pair<std::string, int64_t>> ops(summary.ops.begin(), summary.ops.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text, line;
  for (const auto& [op, count] : ops) {
    const std::string item = absl::StrCat(op, " ", count);
    if (line.size() + item.size() > 84) {
      absl::StrAppend(&text, text.empty() ? "" : "           ", line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : "  ", item);
  }
  return absl::StrCat(style.Dim("ops        "), text, text.empty() ? "" : "           ", line,
                      "\n");
}

std::string CostText(const FlopEstimate& cost) {
  return absl::StrCat(
      Count(cost.flops), cost.flops >= 1000 ? "FLOP" : " FLOP", " a run",
      cost.assumed ? ", unknown dimensions taken as 1" : "",
      cost.unknown_nodes > 0
          ? absl::StrCat(", ", Plural(cost.unknown_nodes, "node"), " of unknown cost")
          : "");
}

std::string HeldText(const VariableSummary& variables, const Style& style) {
  if (variables.count == 0) return "";
  const auto changed = static_cast<int64_t>(variables.changed.size());
  return absl::StrCat(style.Dim("variables  "), variables.count, ", ",
                      Count(static_cast<double>(variables.parameters)),
                      variables.parameters >= 1000 ? "" : " ", "parameters, ",
                      Bytes(variables.bytes),
                      changed == 0 ? "; only read: constants in a run"
                                   : absl::StrCat("; the model may change ", changed, " of them"),
                      "\n");
}

std::string SummaryText(const Model& model, const Summary& summary, const ModelFlags& flags,
                        const Style& style) {
  const Graph& graph = model.graph;
  const std::string path = ShellWord(flags.paths.front());
  std::string text =
      absl::StrCat(style.Bold(flags.paths.front()), "  ", Plural(graph.num_nodes(), "node"), ", ",
                   Plural(static_cast<int64_t>(graph.functions().size()), "function"),
                   ", producer ", graph.producer(), "\n\n");
  if (model.saved.has_value()) absl::StrAppend(&text, SignaturesText(*model.saved, style));
  if (model.signature != nullptr)
    absl::StrAppend(&text, style.Dim("signature  "), model.signature->name, "\n");
  absl::StrAppend(&text, TensorLines("inputs     ", summary.inputs, style),
                  TensorLines("outputs    ", summary.outputs, style));
  if (!summary.targets.empty())
    absl::StrAppend(&text, style.Dim("targets    "), Listed(summary.targets), "\n");
  if (!summary.variables.empty())
    absl::StrAppend(&text, TensorLines("variables  ", summary.variables, style));
  absl::StrAppend(&text, HeldText(summary.held, style), OpsText(summary, style));
  absl::StrAppend(&text, style.Dim("constants  "), Bytes(summary.const_bytes), "\n");
  absl::StrAppend(&text, style.Dim("cost       "), CostText(summary.cost), "\n");
  for (const auto& [device, count] : summary.devices) {
    if (!device.empty())
      absl::StrAppend(&text, style.Dim("device     "), device, "  ", Plural(count, "node"), "\n");
  }
  const std::string arguments = RunArguments(summary, flags);
  absl::StrAppend(&text, "\n", style.Dim("run it     "), "graph_run run ", path, arguments, "\n",
                  style.Dim("time it    "), "graph_run bench ", path, arguments, "\n");
  if (const std::string inputs = InputsWithoutSpecs(summary); !inputs.empty()) {
    absl::StrAppend(
        &text, style.Dim("but        "), "no SPEC can write ", inputs,
        ": add --output with what does not need it, or --input with a node behind it\n");
  }
  return text;
}

struct ShowFlags : ModelFlags {
  std::string dot, svg;

  void Declare(Declarer& d) {
    DeclareSignature(d);
    d.Group(FlagGroup::kOutput);
    d.Text("--dot", dot, "OUT.dot",
           "write what the model computes for Graphviz, with types, shapes and devices: dot -Tsvg "
           "OUT.dot");
    d.Text("--svg", svg, "OUT.svg", "draw what the model computes, with types, shapes and devices");
    DeclarePlugins(d);
    DeclareTimeout(d);
    DeclareLimits(d);
    DeclareOutput(d);
  }
};

// Draws what the model computes, or where that cannot be had, as of a graph that has defects, the
// graph as it is.
absl::Status WriteDrawings(const Model& model, const ShowFlags& flags) {
  if (flags.dot.empty() && flags.svg.empty()) return absl::OkStatus();
  const absl::StatusOr<Graph> computed = ComputedGraph(model);
  const Graph& graph = computed.ok() ? *computed : model.graph;
  TENON_ASSIGN_OR_RETURN(const GraphShapes shapes, GraphShapes::Infer(graph));
  if (!flags.dot.empty()) TENON_RETURN_IF_ERROR(WriteFile(flags.dot, GraphDot(graph, &shapes)));
  if (flags.svg.empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string svg, GraphSvg(graph, shapes));
  return WriteFile(flags.svg, svg);
}

absl::Status Show(const ShowFlags& flags, Invocation& invocation) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(flags));
  TENON_ASSIGN_OR_RETURN(const Model model, LoadModel(flags, /*needs_signature=*/false));
  TENON_ASSIGN_OR_RETURN(const Summary summary, Summarize(model));
  TENON_RETURN_IF_ERROR(WriteDrawings(model, flags));
  if (!invocation.json()) {
    invocation.text = SummaryText(model, summary, flags, invocation.style);
    return absl::OkStatus();
  }
  const std::string arguments = RunArguments(summary, flags);
  Json commands = Json::Array();
  for (const std::string_view command : {"run", "bench"}) {
    commands.Push(
        absl::StrCat("graph_run ", command, " ", ShellWord(flags.paths.front()), arguments));
  }
  invocation.doc.Set("inputs", TypesJson(summary.inputs))
      .Set("outputs", TypesJson(summary.outputs))
      .Set("targets", Json::ArrayOf(summary.targets))
      .Set("variables", TypesJson(summary.variables))
      .Set("init", summary.inits.empty() ? Json() : Json(summary.inits.front()))
      .Set("ops", CountsJson(summary.ops))
      .Set("nodes", model.graph.num_nodes())
      .Set("functions", model.graph.functions().size())
      .Set("const_bytes", summary.const_bytes)
      .Set("variable_count", summary.held.count)
      .Set("changed_variables", Json::ArrayOf(summary.held.changed))
      .Set("parameters", summary.held.parameters)
      .Set("variable_bytes", summary.held.bytes)
      .Set("flops", summary.cost.flops)
      .Set("flops_assumed", summary.cost.assumed)
      .Set("unknown_cost_nodes", summary.cost.unknown_nodes)
      .Set("devices", CountsJson(summary.devices))
      .Set("producer", model.graph.producer())
      .Set("commands", std::move(commands));
  if (model.saved.has_value()) invocation.doc.Set("signatures", SignaturesJson(*model.saved));
  return absl::OkStatus();
}

}  // namespace

extern const Command kShowCommand = {
    .name = "show",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what = "Inputs, outputs, ops, constants, cost, and command lines to go on with.",
    .examples = {"graph_run show tests/golden/models/mlp/graph.pbtxt",
                 "graph_run show tests/golden/saved_models/affine_state/model --signature count "
                 "--json"},
    .start = Start<ShowFlags, Show>,
};

}  // namespace tenon::cli
