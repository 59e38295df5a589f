// Reads a model. Without --signature the signature is serving_default, or else the only one that
// can be called.

#include "executor/cli/model/model.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/training.h"
#include "executor/cli/model/rank_limit.h"
#include "executor/cli/options/invocation.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "graph/shapes/old_producers.h"
#include "grappler_lite/analysis/needed_arguments.h"

namespace tenon::cli {

namespace {

constexpr char kDefaultSignature[] = "serving_default";

// TensorFlow's loader adds signatures of its own with such names.
bool IsCallable(const Signature& signature) { return !signature.name.starts_with("__"); }

std::string CallableNames(const MetaGraph& meta) {
  std::vector<std::string> names;
  for (const Signature& signature : meta.signatures) {
    if (IsCallable(signature)) names.push_back(signature.name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<const Signature*> ChooseSignature(const std::optional<SavedModel>& saved,
                                                 const ModelFlags& flags, bool needed) {
  if (!saved.has_value()) {
    if (flags.signature.empty()) return nullptr;
    return UsageError(
        absl::StrCat("--signature: ", flags.paths.front(), " is no SavedModel folder"));
  }
  const MetaGraph& meta = saved->meta();
  const std::string& name = flags.signature.empty() ? kDefaultSignature : flags.signature;
  if (const Signature* found = meta.FindSignature(name)) return found;
  if (!flags.signature.empty()) {
    return UsageError(absl::StrCat("--signature '", name, "': ", flags.paths.front(),
                                   " has no such signature; it has ", CallableNames(meta)));
  }
  const auto only = std::find_if(meta.signatures.begin(), meta.signatures.end(), IsCallable);
  if (std::count_if(meta.signatures.begin(), meta.signatures.end(), IsCallable) == 1) return &*only;
  if (!needed) return nullptr;
  return UsageError(absl::StrCat(flags.paths.front(), " has no signature '", name,
                                 "'; choose one with --signature; it has ", CallableNames(meta)));
}

absl::StatusOr<ImportedModel> ImportModel(const std::string& path, const ModelFlags& flags) {
  ImportedModel model;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    absl::StatusOr<ImportedSavedModel> imported = ImportSavedModel(path, flags.limits);
    if (!imported.ok()) return WithExit(Exit::kInvalidInput, imported.status());
    model = {std::move(imported->imported), std::move(imported->model)};
  } else {
    absl::StatusOr<Imported> imported = ImportFile(path, flags.limits);
    if (!imported.ok()) return WithExit(Exit::kInvalidInput, imported.status());
    model.imported = *std::move(imported);
  }
  if (flags.max_rank < kMaxRank) AddRankDefects(flags.max_rank, model.imported);
  return model;
}

absl::StatusOr<Model> LoadModel(const ModelFlags& flags, bool needs_signature) {
  const auto start = std::chrono::steady_clock::now();
  TENON_ASSIGN_OR_RETURN(ImportedModel read, ImportModel(flags.paths.front(), flags));
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  std::vector<Defect>& defects = read.imported.defects;
  if (std::all_of(defects.begin(), defects.end(), MayBeUnused)) {
    Model model{std::move(read.imported.graph), std::move(read.saved), nullptr, load.count()};
    TENON_ASSIGN_OR_RETURN(model.signature, ChooseSignature(model.saved, flags, needs_signature));
    return model;
  }
  for (const Defect& defect : defects) PrintErrorLine(defect.ToString());
  const Defect& worst = WorstDefect(defects);
  const std::string text = worst.ToString();
  if (worst.code == DefectCode::kPlugin)
    return AlreadyPrinted(WithExit(Exit::kPluginFault, absl::InternalError(text)));
  return AlreadyPrinted(WithExit(Exit::kInvalidInput, absl::InvalidArgumentError(text)));
}

const Defect& WorstDefect(const std::vector<Defect>& defects) {
  const auto weight = [](const Defect& defect) {
    return MayBeUnused(defect) ? 0 : defect.code == DefectCode::kPlugin ? 1 : 2;
  };
  return *std::max_element(
      defects.begin(), defects.end(),
      [weight](const Defect& a, const Defect& b) { return weight(a) < weight(b); });
}

std::vector<NodeId> Placeholders(const Graph& graph) {
  std::vector<NodeId> found;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsPlaceholder(graph, n)) found.push_back(n);
  }
  return found;
}

SpecHint DeclaredInput(const Graph& graph, NodeId n) {
  SpecHint hint;
  if (const AttrValue* dtype = graph.attr(n, "dtype"))
    hint.dtype = dtype->AsType().value_or(DataType::kInvalid);
  if (const AttrValue* shape = graph.attr(n, "shape"))
    hint.shape = shape->AsShape().value_or(PartialShape());
  if (StandsForAnyShape(graph, n, hint.shape)) hint.shape = PartialShape();
  return hint;
}

namespace {

// A loop of version 1, as its nodes describe it.
struct LoopFrame {
  size_t around = 0;  // the frame around this one; 0: none
  int depth = 0;      // of the values that enter it
};

// By node: whether a run may have no value of it, or one for each pass of a loop. A Switch and an
// Enter lead one level deeper, a Merge and an Exit lead out. A Merge that closes a loop leads
// nowhere: its Exit does.
std::vector<bool> Conditional(const Graph& graph) {
  std::vector<int> depth(graph.num_node_ids(), 0);
  std::vector<size_t> frame(graph.num_node_ids(), 0);
  std::vector<LoopFrame> frames(1);
  absl::flat_hash_map<std::pair<std::string_view, size_t>, size_t> frame_by_name;
  const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(graph);
  // A graph with a cycle that is no loop is reported when it is run.
  if (!order.ok()) return std::vector<bool>(graph.num_node_ids());
  for (NodeId n : *order) {
    const OpFacts& op = graph.facts(n);
    bool repeats = false;
    for (const Output& from : graph.inputs(n)) {
      if (from.node == kNoNode) continue;
      repeats |= IsNextIteration(graph.facts(from.node));
      depth[n] = std::max(depth[n], depth[from.node]);
      frame[n] = std::max(frame[n], frame[from.node]);
    }
    if (IsSwitch(op)) ++depth[n];
    if (IsMerge(op) && !repeats) depth[n] = std::max(depth[n] - 1, 0);
    if (IsExit(op)) {
      depth[n] = frames[frame[n]].depth;
      frame[n] = frames[frame[n]].around;
    }
    if (!IsEnter(op)) continue;
    const AttrValue* name = graph.attr(n, "frame_name");
    const std::string_view text = name == nullptr ? "" : name->AsString().value_or("");
    const auto [it, fresh] = frame_by_name.try_emplace({text, frame[n]}, frames.size());
    if (fresh) frames.push_back({frame[n], 0});
    LoopFrame& entered = frames[it->second];
    entered.depth = std::max(entered.depth, depth[n]);
    frame[n] = it->second;
    ++depth[n];
  }
  return {depth.begin(), depth.end()};
}

}  // namespace

std::vector<std::string> GraphOutputs(const Graph& graph) {
  const std::vector<bool> conditional = Conditional(graph);
  const std::vector<bool> results = ResultsOfTraining(graph);
  const auto counts = [&](NodeId n) { return graph.alive(n) && (results.empty() || results[n]); };
  std::vector<bool> consumed(graph.num_node_ids());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!counts(n)) continue;
    for (const Output& input : graph.data_inputs(n)) {
      if (input.node != kNoNode) consumed[input.node] = true;
    }
  }
  std::vector<std::string> outputs;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!counts(n) || consumed[n] || conditional[n]) continue;
    if (graph.op(n) == nullptr) outputs.emplace_back(graph.name(n));
    for (int port = 0; port < graph.num_outputs(n); ++port)
      outputs.push_back(graph.OutputName({n, port}));
  }
  return outputs;
}

std::vector<NodeId> UnfedPlaceholders(const Graph& graph, const std::vector<Output>& fetches,
                                      const std::vector<Output>& fed) {
  const absl::flat_hash_set<Output> given(fed.begin(), fed.end());
  const std::vector<bool> needed = NeededArguments(graph).NodesFor(fetches, [&](const Output& o) {
    if (o.node == kNoNode) return true;
    // A control edge from a Placeholder waits for its feed.
    return given.contains(o.is_control() && IsPlaceholder(graph, o.node) ? Output{o.node, 0} : o);
  });
  std::vector<NodeId> found;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (needed[n] && IsPlaceholder(graph, n)) found.push_back(n);
  }
  return found;
}

}  // namespace tenon::cli
