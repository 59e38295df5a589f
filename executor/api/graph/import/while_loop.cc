// TF_NewWhile, TF_FinishWhile and TF_AbortWhile: loops of version 1, with an Enter, Merge, Switch,
// NextIteration and Exit for each variable. Condition and body are copied from the graphs in which
// the caller has built them.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/graph_mark.h"
#include "executor/api/graph/import/graph_importer.h"
#include "executor/api/graph/operation_builder.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/annotate.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

using Outputs = std::vector<TF_Output>;

// The name of the loop, or loop_1 and so on: the first that is neither a name nor a prefix of
// names. A loop without a name has its nodes beside those of the graph.
std::string FreeScope(TF_Graph& graph, const char* name) {
  graph.prefixes.CatchUp(graph.graph);
  std::string scope = name;
  if (scope.empty()) return scope;
  for (int i = 1; IsTaken(graph, scope); ++i) scope = absl::StrCat(name, "_", i);
  return scope;
}

// Builds the loop in the graph that gets it, whose lock must be held.
class LoopBuilder {
 public:
  explicit LoopBuilder(const TF_WhileParams& params)
      : params_(params),
        owner_(*params.cond_graph->loop_owner),
        graph_(*owner_.graph.get()),
        scope_(FreeScope(graph_, params.name)) {}

  absl::Status Build(Outputs* exits) {
    const std::string frame = attr::String(params_.name);
    Outputs enters, merges, again, leave, next;
    for (const TF_Output& input : owner_.inputs) {
      TENON_ASSIGN_OR_RETURN(const TF_Output enter, Add("Enter", {input}, {{"frame_name", frame}}));
      enters.push_back(enter);
    }
    // The edges from the NextIterations come when those are there.
    for (const TF_Output& enter : enters) {
      TENON_ASSIGN_OR_RETURN(const TF_Output merge, AddMerge(enter));
      merges.push_back(merge);
    }
    TENON_ASSIGN_OR_RETURN(const TF_Output go_on, Condition(merges));
    for (const TF_Output& merge : merges) {
      TENON_ASSIGN_OR_RETURN(const TF_Output stop, Add("Switch", {merge, go_on}));
      leave.push_back(stop);
      again.push_back({stop.oper, 1});
    }
    const Outputs body_outputs(params_.body_outputs, params_.body_outputs + params_.ninputs);
    TENON_ASSIGN_OR_RETURN(const Outputs values, Copy(*params_.body_graph, "body",
                                                      params_.body_inputs, again, body_outputs));
    for (const TF_Output& value : values) {
      TENON_ASSIGN_OR_RETURN(const TF_Output output, Add("NextIteration", {value}));
      next.push_back(output);
    }
    for (size_t i = 0; i < next.size(); ++i)
      TENON_RETURN_IF_ERROR(CloseLoop(static_cast<int>(i), merges[i], next[i]));
    for (const TF_Output& stop : leave) {
      TENON_ASSIGN_OR_RETURN(const TF_Output exit, Add("Exit", {stop}));
      exits->push_back(exit);
    }
    return absl::OkStatus();
  }

 private:
  std::string UniqueName(std::string_view op) const { return graph_.graph.UniqueName(Path(op)); }

  // The first output of a new node.
  absl::StatusOr<TF_Output> Add(
      std::string_view op, const Outputs& inputs,
      const std::vector<std::pair<std::string_view, std::string>>& attrs = {}) {
    OperationBuilder builder(graph_, op, UniqueName(op));
    for (const TF_Output& input : inputs) builder.AddInput(input);
    for (const auto& [name, wire] : attrs) builder.SetAttr(name, wire);
    TENON_ASSIGN_OR_RETURN(const NodeId n, builder.Finish());
    return TF_Output{&graph_.operations[n], 0};
  }

  // Nothing is known of a Merge in a loop before the body is there.
  absl::StatusOr<TF_Output> AddMerge(TF_Output enter) {
    OperationBuilder builder(graph_, "Merge", UniqueName("Merge"));
    const TF_Output inputs[] = {enter, enter};
    builder.AddInputList(inputs);
    TENON_ASSIGN_OR_RETURN(const NodeId n, builder.Finish());
    graph_.graph.SetInput(n, 1, {kNoNode, 0});
    graph_.shapes.Set({n, 0}, TensorInfo());
    return TF_Output{&graph_.operations[n], 0};
  }

  absl::StatusOr<TF_Output> Condition(const Outputs& merges) {
    TENON_ASSIGN_OR_RETURN(
        const Outputs result,
        Copy(*params_.cond_graph, "cond", params_.cond_inputs, merges, {params_.cond_output}));
    const DataType type = graph_.graph.output_type({result[0].oper->node, result[0].index});
    if (type != DataType::kBool) {
      return absl::InvalidArgumentError(absl::StrCat(
          "BuildWhileLoop: 'cond' argument must return a boolean output, got ", TypeText(type)));
    }
    return Add("LoopCond", {result[0]});
  }

  // Copies a graph into the loop, with `values` in the place of its inputs, and returns what has
  // become of `outputs`. Nodes without inputs run in the loop too: after its first variable.
  absl::StatusOr<Outputs> Copy(const TF_Graph& from, std::string_view part, const TF_Output* inputs,
                               const Outputs& values, const Outputs& outputs) {
    TF_ImportGraphDefOptions options;
    options.prefix = Path(part);
    options.skip_mapped_nodes = true;
    options.control_dependencies.push_back(values[0].oper);
    std::string wire;
    {
      absl::ReaderMutexLock lock(&from.mutex);
      for (size_t i = 0; i < values.size(); ++i) {
        options.input_map[{std::string(from.graph.name(inputs[i].oper->node)), inputs[i].index}] =
            values[i];
      }
      for (const TF_Output& output : outputs) {
        // The import refuses an output that the operation does not have, but takes a negative one
        // for a control output.
        absl::Status status = OutputOf(from, output).status();
        if (!status.ok() && (!absl::IsOutOfRange(status) || output.index < 0))
          return NotInPart(std::move(status), output);
        options.return_outputs.emplace_back(std::string(from.graph.name(output.oper->node)),
                                            output.index);
      }
      wire = ExportWithDefaults(from.graph);
    }
    TF_ImportGraphDefResults results;
    TENON_RETURN_IF_ERROR(GraphImporter(graph_, options).Run(BytesOf(std::move(wire)), &results));
    return results.outputs;
  }

  // `why`, in TensorFlow's words if the output is one of the graph around the loop.
  absl::Status NotInPart(absl::Status why, TF_Output output) const {
    if (!IsThere(output.oper) || output.oper->graph != &graph_) return why;
    return absl::InvalidArgumentError(absl::StrCat("Requested return tensor '",
                                                   graph_.graph.name(output.oper->node), ":",
                                                   output.index, "' not found in graph def"));
  }

  absl::Status CloseLoop(int variable, TF_Output merge, TF_Output next) {
    const DataType wanted = graph_.graph.output_type({merge.oper->node, 0});
    const DataType given = graph_.graph.output_type({next.oper->node, 0});
    if (BaseType(wanted) != BaseType(given)) {
      return absl::InvalidArgumentError(absl::StrCat("output ", variable, " of the body of loop '",
                                                     params_.name, "' is ", TypeText(given),
                                                     " where the variable is ", TypeText(wanted)));
    }
    graph_.graph.SetInput(merge.oper->node, 1, {next.oper->node, 0});
    return absl::OkStatus();
  }

  const TF_WhileParams& params_;
  const LoopOwner& owner_;
  TF_Graph& graph_;
  // A name in the loop.
  std::string Path(std::string_view part) const {
    return scope_.empty() ? std::string(part) : absl::StrCat(scope_, "/", part);
  }
  const std::string scope_;
};

// The params of a failed call.
TF_WhileParams NoParams() {
  return {0, nullptr, nullptr, {nullptr, 0}, nullptr, nullptr, nullptr, nullptr};
}

// The graphs have the arrays.
void FreeParams(const TF_WhileParams& params) {
  TF_DeleteGraph(params.cond_graph);
  TF_DeleteGraph(params.body_graph);
}

// Adds a placeholder for each variable to the graph of a part of the loop.
absl::Status AddVariables(TF_Graph& graph, std::string_view name,
                          const std::vector<DataType>& types, TF_Output* inputs) {
  absl::MutexLock lock(&graph.mutex);
  for (size_t i = 0; i < types.size(); ++i) {
    OperationBuilder builder(graph, "Placeholder", absl::StrCat(name, i));
    builder.SetAttr("dtype", attr::Type(types[i]));
    TENON_ASSIGN_OR_RETURN(const NodeId n, builder.Finish());
    inputs[i] = {&graph.operations[n], 0};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DataType>> TypesOfInputs(const TF_Graph& graph, const Outputs& inputs) {
  absl::ReaderMutexLock lock(&graph.mutex);
  std::vector<DataType> types;
  for (const TF_Output& input : inputs) {
    TENON_ASSIGN_OR_RETURN(const Output o, OutputOf(graph, input));
    types.push_back(graph.graph.output_type(o));
  }
  return types;
}

TF_Graph* NewPart(TF_Graph* graph, const Outputs& inputs) {
  TF_Graph* const part = TF_Graph::Pool::New();
  part->loop_owner = std::make_unique<LoopOwner>(
      LoopOwner{WeakHandle<TF_Graph>(graph), inputs, Outputs(inputs.size()),
                Outputs(inputs.size(), TF_Output{nullptr, -1})});
  return part;
}

// Whether a graph that is there is one of NewPart, with this array.
bool IsPart(const TF_Graph* graph, const TF_Output* inputs) {
  return !WasDeleted(graph) && graph->loop_owner != nullptr &&
         graph->loop_owner->part_inputs.data() == inputs;
}

// Errors are those of params that TF_NewWhile has not made, or that were finished or aborted.
absl::Status CheckAreOurs(const TF_WhileParams& params) {
  const bool complete = params.cond_graph != nullptr && params.body_graph != nullptr;
  if (complete && (WasDeleted(params.cond_graph) || WasDeleted(params.body_graph)))
    return absl::InvalidArgumentError("the graphs of the TF_WhileParams were deleted");
  if (complete && IsPart(params.cond_graph, params.cond_inputs) &&
      IsPart(params.body_graph, params.body_inputs) &&
      params.body_graph->loop_owner->part_outputs.data() == params.body_outputs &&
      params.ninputs == static_cast<int>(params.cond_graph->loop_owner->part_inputs.size()) &&
      params.ninputs == static_cast<int>(params.body_graph->loop_owner->part_inputs.size()))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "TF_WhileParams must be created by successful TF_NewWhile() call");
}

absl::Status CheckIsSet(const TF_WhileParams& params) {
  if (params.cond_output.oper == nullptr)
    return absl::InvalidArgumentError("TF_WhileParams `cond_output` field isn't set");
  for (int i = 0; i < params.ninputs; ++i) {
    if (params.body_outputs[i].oper != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("TF_WhileParams `body_outputs[", i, "]` field isn't set"));
  }
  if (params.name == nullptr)
    return absl::InvalidArgumentError("TF_WhileParams `name` field is null");
  return absl::OkStatus();
}

absl::Status FinishLoop(const TF_WhileParams& params, TF_Output* outputs) {
  TENON_RETURN_IF_ERROR(CheckIsSet(params));
  TF_Graph* const owner = params.cond_graph->loop_owner->graph.get();
  if (owner == nullptr || owner != params.body_graph->loop_owner->graph.get())
    return absl::InvalidArgumentError("the graph of the loop was deleted");
  TF_Graph& graph = *owner;
  absl::MutexLock lock(&graph.mutex);
  // At run time loops of one frame would meet.
  if (graph.loop_frames.contains(params.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("WhileContext with frame name '", params.name, "' already exists"));
  }
  GraphMark before(graph);
  Outputs exits;
  TENON_RETURN_IF_ERROR(LoopBuilder(params).Build(&exits));
  graph.loop_frames.insert(params.name);
  before.Keep();
  std::copy(exits.begin(), exits.end(), outputs);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::StatusToC;
using tenon::api::AllGiven;

extern "C" {

TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs, int ninputs, TF_Status* status) try {
  if (!AllGiven({{"g", g}}, status) || !tenon::api::IsArray("inputs", inputs, ninputs, status))
    return tenon::api::NoParams();
  if (ninputs == 0) {
    StatusToC(absl::InvalidArgumentError("TF_NewWhile() must be passed at least one input"),
              status);
    return tenon::api::NoParams();
  }
  const tenon::api::Outputs variables(inputs, inputs + ninputs);
  const auto types = tenon::api::TypesOfInputs(*g, variables);
  if (!types.ok()) {
    StatusToC(absl::InvalidArgumentError(types.status().message()), status);
    return tenon::api::NoParams();
  }
  TF_Graph* const cond = tenon::api::NewPart(g, variables);
  TF_Graph* const body = tenon::api::NewPart(g, variables);
  const TF_WhileParams params = {ninputs,
                                 cond,
                                 cond->loop_owner->part_inputs.data(),
                                 {nullptr, -1},
                                 body,
                                 body->loop_owner->part_inputs.data(),
                                 body->loop_owner->part_outputs.data(),
                                 nullptr};
  absl::Status added =
      tenon::api::AddVariables(*cond, "cond_input", *types, cond->loop_owner->part_inputs.data());
  if (added.ok()) {
    added =
        tenon::api::AddVariables(*body, "body_input", *types, body->loop_owner->part_inputs.data());
  }
  StatusToC(added, status);
  if (added.ok()) return params;
  tenon::api::FreeParams(params);
  return tenon::api::NoParams();
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs) try {
  if (!AllGiven({{"params", params}}, status)) return;
  const absl::Status ours = tenon::api::CheckAreOurs(*params);
  if (!ours.ok()) return StatusToC(ours, status);
  if (AllGiven({{"outputs", outputs}}, status))
    StatusToC(tenon::api::FinishLoop(*params, outputs), status);
  tenon::api::FreeParams(*params);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_AbortWhile(const TF_WhileParams* params) try {
  if (params == nullptr || params->cond_graph == nullptr) return;  // of a TF_NewWhile that failed
  const absl::Status ours = tenon::api::CheckAreOurs(*params);
  if (!ours.ok()) return tenon::WarnOf(tenon::Annotate(ours, "TF_AbortWhile: ", ""));
  tenon::api::FreeParams(*params);
} catch (...) {
  tenon::WithoutMemory();
}

}  // extern "C"
