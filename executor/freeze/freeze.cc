// Gives the tensors of the signature nodes of their names, prunes the rest, turns variables into
// Placeholders in the GraphDef, and these into constants with values from a restored session. State
// that stays gets a node that fills it.

#include "executor/freeze/freeze.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "executor/freeze/fold_variables.h"
#include "executor/freeze/kept_state.h"
#include "executor/session/saved_model.h"
#include "executor/state/state_makers.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// The attribute, true, that marks FrozenModel::init.
constexpr std::string_view kFillsState = "_tenon_init";

// The name of an argument as the name of a node: characters that a node may not have become '_'.
std::string NodeNameFor(std::string_view name) {
  std::string node(name);
  for (char& c : node) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '_' && c != '-' && c != '/') c = '_';
  }
  if (node.empty() || (!absl::ascii_isalnum(node[0]) && node[0] != '.')) node.insert(0, "x");
  return node;
}

// Serializes maps in a fixed order, so that one model always freezes to the same file.
std::string BytesOf(const pb::GraphDef& graph) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  graph.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

class Freezer {
 public:
  Freezer(const SavedModel& model, const Graph& graph, const Signature& signature,
          const FreezeOptions& freeze)
      : model_(model), original_(graph), signature_(signature), freeze_(freeze) {
    frozen_.graph = graph;
  }

  absl::StatusOr<FrozenModel> Run(std::vector<Device*> devices, SessionOptions options) {
    // Names come first: what a signature names decides what Prune keeps, and only variables that
    // are left after Prune are restored and folded.
    TENON_RETURN_IF_ERROR(NameInputs());
    TENON_RETURN_IF_ERROR(NameOutputs());
    TENON_RETURN_IF_ERROR(KeepMore());
    Prune();
    TENON_ASSIGN_OR_RETURN(state_, KeptState::Find(frozen_.graph, original_, Fillers()));
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string> variables, FoldVariables());
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> values,
                           ReadState(variables, std::move(devices), std::move(options)));
    TENON_RETURN_IF_ERROR(FillIn(variables, values));
    for (const Defect& defect : Verify(frozen_.graph)) {
      if (!MayBeUnused(defect))
        return absl::InternalError(absl::StrCat("the frozen graph is wrong: ", defect.message));
    }
    return std::move(frozen_);
  }

 private:
  absl::StatusOr<Output> Find(const SignatureTensor& t) const {
    absl::StatusOr<Output> output = frozen_.graph.ParseOutput(t.tensor);
    const auto wrong = [&](std::string_view what) {
      return absl::UnimplementedError(absl::StrCat("'", t.name, "' of signature '", signature_.name,
                                                   "' (", t.tensor, ") ", what));
    };
    const NodeId n = NodeOfOutput(frozen_.graph, t.tensor);
    if (n != kNoNode && frozen_.graph.op(n) == nullptr) return UnknownOpError(frozen_.graph, n);
    if (n != kNoNode && frozen_.graph.num_outputs(n) == 0)
      return wrong("is a node without outputs: it cannot be frozen");
    if (!output.ok()) return output;
    if (output->is_control()) return wrong("is no tensor: it cannot be frozen");
    if (BaseType(frozen_.graph.output_type(*output)) == DataType::kResource)
      return wrong("is a resource: it cannot be frozen");
    return output;
  }

  // Each argument becomes a Placeholder of its name. Callers that fed the old node still can: it
  // becomes an Identity of the Placeholder. A PlaceholderWithDefault stays, since its default
  // counts.
  absl::Status NameInputs() {
    Graph& graph = frozen_.graph;
    for (const SignatureTensor& t : signature_.inputs) {
      TENON_ASSIGN_OR_RETURN(const Output old, Find(t));
      const auto same = std::find(inputs_.begin(), inputs_.end(), old);
      const size_t number = same - inputs_.begin();
      inputs_.push_back(old);
      if (number < frozen_.inputs.size()) {  // one tensor has two names: one node takes it
        frozen_.inputs.push_back({t.name, frozen_.inputs[number].node, t.tensor});
        continue;
      }
      const std::string wanted = NodeNameFor(t.name);
      const bool is_placeholder = IsPlaceholder(graph, old.node);
      FrozenTensor named{t.name, std::string(graph.name(old.node)), t.tensor};
      const bool has_default = graph.op_name(old.node) == "PlaceholderWithDefault";
      if (!has_default && (!is_placeholder || named.node != wanted)) {
        const DataType dtype = BaseType(graph.output_type(old));
        const AttrValue* declared = is_placeholder ? graph.attr(old.node, "shape") : nullptr;
        std::vector<Graph::NewAttr> attrs = {{"dtype", attr::Type(dtype)}};
        attrs.push_back(
            {"shape", declared == nullptr ? attr::Shape(t.shape) : std::string(declared->wire())});
        named.node = graph.UniqueName(wanted);
        TENON_ASSIGN_OR_RETURN(const NodeId input,
                               graph.AddNode(named.node, "Placeholder", {}, std::move(attrs)));
        if (graph.num_outputs(old.node) == 1) {
          graph.SetKind(old.node, "Identity", {{"T", attr::Type(dtype)}});
          const Output from{input, 0};
          graph.SetInputs(old.node, {&from, 1}, {});
        } else {
          Redirect(old, {input, 0});
        }
        keep_.push_back(input);
      }
      keep_.push_back(old.node);
      frozen_.inputs.push_back(std::move(named));
    }
    return absl::OkStatus();
  }

  void Redirect(Output from, Output to) {
    Graph& graph = frozen_.graph;
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!graph.alive(n)) continue;
      for (int i = 0; i < graph.num_inputs(n); ++i) {
        if (graph.inputs(n)[i] == from) graph.SetInput(n, i, to);
      }
    }
  }

  absl::Status NameOutputs() {
    Graph& graph = frozen_.graph;
    for (const SignatureTensor& t : signature_.outputs) {
      TENON_ASSIGN_OR_RETURN(Output from, Find(t));
      keep_.push_back(from.node);
      // An argument that is a result, too: after Redirect its node alone has the value.
      const auto argument = std::find(inputs_.begin(), inputs_.end(), from);
      if (argument != inputs_.end() && graph.num_outputs(from.node) > 1)
        from = {graph.FindNode(frozen_.inputs[argument - inputs_.begin()].node), 0};
      const std::string wanted = NodeNameFor(t.name);
      FrozenTensor named{t.name, std::string(graph.name(from.node)), t.tensor};
      if (named.node != wanted || from.port != 0) {
        named.node = graph.UniqueName(wanted);
        TENON_ASSIGN_OR_RETURN(
            const NodeId n, graph.AddNode(named.node, "Identity", {&from, 1},
                                          {{"T", attr::Type(BaseType(graph.output_type(from)))}}));
        keep_.push_back(n);
      }
      frozen_.outputs.push_back(std::move(named));
    }
    return absl::OkStatus();
  }

  absl::Status KeepMore() {
    for (const std::string& text : freeze_.keep) {
      const NodeId n = NodeOfOutput(frozen_.graph, text);
      if (n == kNoNode) return frozen_.graph.ParseOutput(text).status();
      keep_.push_back(n);
    }
    return absl::OkStatus();
  }

  // Removes all nodes that neither are kept nor are needed by a kept node.
  void Prune() {
    Graph& graph = frozen_.graph;
    const std::vector<bool> needed = NeededBy(graph, keep_);
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!needed[n]) graph.RemoveNode(n);
    }
  }

  // The nodes that fill variables and tables.
  std::vector<NodeId> Fillers() const {
    std::vector<std::string> names = freeze_.inits;
    names.push_back(model_.meta().restore_op);
    names.push_back(model_.meta().init_op);
    std::vector<NodeId> fillers;
    for (const std::string& name : names) {
      const NodeId n = NodeOfOutput(original_, name);
      if (n != kNoNode) fillers.push_back(n);
    }
    return fillers;
  }

  // The initializer, if it is the only one and what stays needs it. Then it fills the state itself,
  // and a table could not be filled a second time. Else empty.
  std::string StayingFiller() const {
    const NodeId n =
        freeze_.inits.size() == 1 ? NodeOfOutput(frozen_.graph, freeze_.inits[0]) : kNoNode;
    return n == kNoNode || Fillers().size() > 1 ? "" : std::string(frozen_.graph.name(n));
  }

  // Turns the variables of the graph into Placeholders and returns their names. Folds a GraphDef,
  // since functions are messages there; protobuf reads no message above 2 GiB.
  absl::StatusOr<std::vector<std::string>> FoldVariables() {
    const std::string bytes = ExportBinary(frozen_.graph);
    pb::GraphDef def;
    if (bytes.size() > INT_MAX || !def.ParseFromString(bytes))
      return absl::UnimplementedError("graphs of more than 2 GiB cannot be frozen");
    const bool keep_state = freeze_.keep_state;
    std::set<std::string> kept;
    if (keep_state) kept = state_.shared_variables();
    while (true) {
      // A failed fold leaves the message half rewritten, so each try starts with a fresh copy. Each
      // failure adds a variable to `kept`, so that the tries end.
      pb::GraphDef folded_def = def;
      KeepWholeVariables(kept);
      VariableFolder folder(folded_def, kept, /*keep_in_functions=*/keep_state);
      absl::StatusOr<std::vector<std::string>> variables = folder.Run();
      if (keep_state && !folder.written().empty() && kept.insert(folder.written()).second) continue;
      if (!variables.ok()) return variables;
      TENON_ASSIGN_OR_RETURN(Imported folded,
                             ImportBinary(BytesOf(folded_def), original_.source_name()));
      folded.graph.InheritPositions(frozen_.graph);
      // The names that state_ holds stay valid: they point into storage that original_ shares.
      frozen_.graph = std::move(folded.graph);
      std::set<std::string> filled;  // by one node each, however many a variable has
      for (const std::string& name : kept) {
        if (filled.insert(VariableOf(original_, name)).second) state_.KeepVariable(original_, name);
      }
      return variables;
    }
  }

  static std::string VariableOf(const Graph& graph, std::string_view node) {
    return IdentityOf(ReachedInGraph(graph, graph.FindNode(node)));
  }

  // Adds the other nodes of the variables whose nodes are in `kept`: if one node of a variable were
  // folded, its readers would not see what is written by way of another.
  void KeepWholeVariables(std::set<std::string>& kept) const {
    const Graph& graph = frozen_.graph;
    std::set<std::string> whole;
    for (const std::string& name : kept) whole.insert(VariableOf(graph, name));
    for (NodeId n = 0; n < graph.num_node_ids() && !whole.empty(); ++n) {
      if (graph.alive(n) && graph.facts(n).state == State::kVariable &&
          whole.contains(VariableOf(graph, graph.name(n))))
        kept.emplace(graph.name(n));
    }
  }

  // Reads variables and kept state from a session that has been restored: first the values of
  // `variables`, then those of `state_`. Runs the original graph, since the pruned one has no
  // initializer.
  absl::StatusOr<std::vector<Tensor>> ReadState(const std::vector<std::string>& variables,
                                                std::vector<Device*> devices,
                                                SessionOptions options) const {
    // A copy gets the nodes that read; the graph of the caller stays as it is.
    Graph graph = original_;
    KeptState folded;
    for (const std::string& name : variables) folded.KeepVariable(graph, name);
    TENON_ASSIGN_OR_RETURN(std::vector<std::string> fetches, folded.AddReads(graph));
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string> kept, state_.AddReads(graph));
    fetches.insert(fetches.end(), kept.begin(), kept.end());
    TENON_ASSIGN_OR_RETURN(
        const std::unique_ptr<Session> session,
        Session::Create(std::move(graph), std::move(devices), std::move(options)));
    TENON_RETURN_IF_ERROR(RestoreState(*session, model_));
    for (const std::string& init : freeze_.inits)
      TENON_RETURN_IF_ERROR(RunInitializer(*session, model_, init));
    if (fetches.empty()) return std::vector<Tensor>();
    return session->Run({}, fetches);
  }

  absl::Status FillIn(const std::vector<std::string>& variables, absl::Span<const Tensor> values) {
    Graph& graph = frozen_.graph;
    TENON_RETURN_IF_ERROR(NoteFiles(values.subspan(0, variables.size())));
    for (size_t i = 0; i < variables.size(); ++i) {
      TENON_RETURN_IF_ERROR(graph.MakeConst(graph.FindNode(variables[i]), values[i]));
      frozen_.variable_bytes += static_cast<int64_t>(values[i].bytes());
    }
    frozen_.variables = static_cast<int64_t>(variables.size());
    KeptState::Init init = state_.FilledBy(StayingFiller());
    if (init.node.empty()) {
      TENON_ASSIGN_OR_RETURN(init, state_.AddInit(graph, values.subspan(variables.size())));
    }
    if (!init.node.empty()) graph.SetAttr(graph.FindNode(init.node), kFillsState, attr::Bool(true));
    frozen_.kept = std::move(init.variables);
    frozen_.tables = std::move(init.tables);
    frozen_.init = std::move(init.node);
    return absl::OkStatus();
  }

  // Notes the assets whose paths are among the values of variables.
  absl::Status NoteFiles(absl::Span<const Tensor> values) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Session::NamedTensor> assets, AssetPaths(model_));
    std::set<std::string> paths, found;
    for (const auto& [tensor, path] : assets) paths.emplace(path.StringAt(0));
    for (const Tensor& value : values) {
      if (value.dtype() != DataType::kString || value.num_elements() != 1) continue;
      const std::string text(value.StringAt(0));
      if (paths.contains(text)) found.insert(text);
    }
    frozen_.files.assign(found.begin(), found.end());
    return absl::OkStatus();
  }

  const SavedModel& model_;
  const Graph& original_;
  const Signature& signature_;
  const FreezeOptions& freeze_;
  FrozenModel frozen_;
  std::vector<Output> inputs_;  // by argument: the tensor that the signature named
  std::vector<NodeId> keep_;
  KeptState state_;
};

}  // namespace

absl::StatusOr<FrozenModel> Freeze(const SavedModel& model, const Graph& graph,
                                   const Signature& signature, const FreezeOptions& freeze,
                                   std::vector<Device*> devices, SessionOptions options) {
  return Freezer(model, graph, signature, freeze).Run(std::move(devices), std::move(options));
}

std::vector<std::string> MarkedInitializers(const Graph& graph) {
  std::vector<std::string> marked;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    // Few nodes are NoOps: the search is quick also in a large graph.
    if (!graph.alive(n) || graph.op_name(n) != "NoOp") continue;
    const AttrValue* const fills = graph.attr(n, kFillsState);
    if (fills != nullptr && fills->AsBool().value_or(false)) marked.emplace_back(graph.name(n));
  }
  return marked;
}

}  // namespace tenon
