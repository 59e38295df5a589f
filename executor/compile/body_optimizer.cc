#include "executor/compile/body_optimizer.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/plugin_passes.h"
#include "executor/lowering/call_inliner.h"
#include "executor/lowering/lowering.h"
#include "graph/base/status_macros.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/function_library.h"
#include "graph/io/io.h"
#include "graph/ir/nodes.h"
#include "grappler_lite/analysis/body_nodes.h"

namespace tenon {
namespace {

// Larger ones hold large constants, of which passes would make copies.
constexpr size_t kMaxBodyBytes = size_t{64} << 20;
// Of functions that passes make for bodies, which may make others, and these others.
constexpr size_t kMaxNewBytes = size_t{1} << 20;

// Which functions are called for which device.
class Calls {
 public:
  Calls(const Graph& graph, const BodySurroundings& surroundings) : graph_(graph) {
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!graph.alive(n)) continue;
      const auto it = surroundings.caller_devices.find(graph.name(n));
      Add(graph.op_name(n), graph.attrs(n),
          it == surroundings.caller_devices.end() ? std::string_view() : it->second, false);
    }
    while (!work_.empty()) {
      const std::string_view name = work_.back();
      work_.pop_back();
      AddBody(*graph.FindFunction(name), requests_[name]);
    }
  }

  // The device, "" for any; none: the body is to stay as it is.
  std::optional<std::string_view> DeviceFor(std::string_view function) const {
    const auto it = requests_.find(function);
    if (it == requests_.end() || it->second.stays || differentiates_) return std::nullopt;
    return it->second.device;
  }

 private:
  struct Request {
    std::string_view device;
    bool stays = false;
  };

  void AddBody(const FunctionEntry& function, Request request) {
    const FunctionBody body = ParseFunctionBody(graph_, function);
    for (const BodyNode& node : body.nodes) {
      Add(node.op_name, AttrSet(node.attrs), node.device.empty() ? request.device : node.device,
          request.stays);
    }
  }

  void Add(std::string_view op, const AttrSet& attrs, std::string_view device, bool stays) {
    if (!IsFunctional(graph_, op)) return;
    differentiates_ |= op == "SymbolicGradient";
    const bool elsewhere = op == "RemoteCall" || IsMarkedForXla(attrs);
    for (const std::string_view name : CalledBy(op, attrs)) Reach(name, device, stays || elsewhere);
  }

  void Reach(std::string_view name, std::string_view device, bool stays) {
    const FunctionEntry* function = graph_.FindFunction(name);
    if (function == nullptr) return;
    const auto [it, is_new] = requests_.try_emplace(function->name, Request{device, stays});
    Request& request = it->second;
    if (!is_new && (request.stays || (!stays && request.device == device))) return;
    request.stays |= stays || !is_new;  // and so do those that it calls
    work_.push_back(function->name);
  }

  const Graph& graph_;
  absl::flat_hash_map<std::string_view, Request> requests_;
  std::vector<std::string_view> work_;
  bool differentiates_ = false;
};

// Gives the nodes of a body devices, so that passes make what these have kernels for; later the
// nodes ask for what they asked for again.
class BodyPlacement {
 public:
  absl::Status Apply(Graph& body, std::string_view device, const BodySurroundings& surroundings,
                     bool keeps_unavailable) {
    for (NodeId n = 0; n < body.num_node_ids(); ++n) {
      requests_.emplace_back(body.alive(n) ? body.device(n) : std::string_view());
      if (body.alive(n) && body.device(n).empty() && !device.empty()) body.SetDevice(n, device);
    }
    TENON_ASSIGN_OR_RETURN(
        const std::vector<NodePlacement> placement,
        Place(body, surroundings.devices, KernelRegistry::Global(), surroundings.placer));
    ApplyPlacement(body, placement, keeps_unavailable);
    for (NodeId n = 0; n < body.num_node_ids(); ++n) {
      if (!body.alive(n)) continue;
      const auto [it, is_new] = request_of_.try_emplace(body.device(n), requests_[n]);
      if (it->second != requests_[n]) it->second = std::nullopt;
    }
    return absl::OkStatus();
  }

  // A node that a pass made asks for what all others on its device ask for, else for that device.
  void Undo(Graph& body) const {
    for (NodeId n = 0; n < body.num_node_ids(); ++n) {
      if (!body.alive(n)) continue;
      if (n < static_cast<NodeId>(requests_.size())) {
        body.SetDevice(n, requests_[n]);
      } else if (const auto it = request_of_.find(body.device(n));
                 it != request_of_.end() && it->second.has_value()) {
        body.SetDevice(n, *it->second);
      }
    }
  }

 private:
  std::vector<std::string> requests_;                                        // by node id
  absl::flat_hash_map<std::string, std::optional<std::string>> request_of_;  // by device
};

class BodyOptimizer {
 public:
  BodyOptimizer(Graph& graph, const PipelineInput& input, const BodySurroundings& surroundings,
                PipelineOptions options)
      : graph_(graph),
        input_(input),
        surroundings_(surroundings),
        options_(std::move(options)),
        before_(graph),
        calls_(graph, surroundings) {
    for (const Output& fetch : input.fetches) caller_.fetches.push_back(graph.OutputName(fetch));
    for (const NodeId feed : input.feeds) caller_.feeds.emplace_back(graph.name(feed));
    std::sort(caller_.feeds.begin(), caller_.feeds.end());
  }

  absl::StatusOr<std::vector<PassReport>> Run() {
    AddCallsOf(graph_);
    for (size_t i = 0; i < work_.size(); ++i) TENON_RETURN_IF_ERROR(Optimize(work_[i]));
    if (!wires_.empty() && Adopt()) TENON_RETURN_IF_ERROR(Prune());
    return std::move(rows_);
  }

 private:
  void AddCallsOf(const Graph& graph) {
    for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
      if (!graph.alive(n) || !IsFunctional(graph, n)) continue;
      for (const std::string_view name : CalledBy(graph.op_name(n), graph.attrs(n))) {
        const FunctionEntry* function = graph_.FindFunction(name);
        if (function != nullptr && seen_.insert(function->name).second)
          work_.push_back(function->name);
      }
    }
  }

  absl::Status Optimize(std::string_view name) {
    const std::optional<std::string> device = DeviceFor(name);
    const FunctionEntry function = *graph_.FindFunction(name);
    if (!device.has_value() || function.wire.size() > kMaxBodyBytes) return absl::OkStatus();
    absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(graph_, function, functions_);
    // The run says what is wrong with it.
    if (!body.ok() || !VerifyNodes(body->graph).empty()) return absl::OkStatus();
    std::vector<Output> fetches;
    for (const NodeId n : body->results) fetches.push_back({n, 0});
    for (const NodeId n : body->effects) fetches.push_back({n, kControlPort});
    PipelineInput input;
    input.function = name;
    input.fetches = fetches;
    input.feeds = {body->args.begin(), body->args.end()};
    input.evaluator = input_.evaluator;
    input.kernels = input_.kernels;
    BodyPlacement placement;
    caller_.with = [&](const Graph& now) { return GraphWith(*body, now, placement); };
    input.caller = &caller_;
    const size_t rows = rows_.size();
    input.fixed_device = [](std::string_view) { return true; };
    input.caller_device = *device;
    TENON_ASSIGN_OR_RETURN(bool changed, InlineCalls(body->graph, input));
    const bool keeps_unavailable = options_.target.is_tensorflow();
    if (!placement.Apply(body->graph, *device, surroundings_, keeps_unavailable).ok())
      return Drop(name, rows);
    const PluginPasses plugins(body->graph, ItemOf(name, *body), *input_.kernels, options_);
    PipelineOptions options = options_;
    plugins.AddSwitchedOff(options);
    input.final_passes = plugins.passes();
    TENON_ASSIGN_OR_RETURN(const PipelineReport report, RunPipeline(body->graph, input, options));
    changed |= Note(report);
    if (changed) AwaitEffects(function, *body);
    if (changed && !TakeFunctions(body->graph)) return Drop(name, rows);
    placement.Undo(body->graph);
    if (changed) wires_.push_back(body->Wire());
    AddCallsOf(body->graph);
    return absl::OkStatus();
  }

  // What the pass of a plug-in is told of a body: as in TensorFlow, whatever is done besides the
  // results must stay.
  OptimizerItem ItemOf(std::string_view function, const FunctionGraph& body) const {
    const auto name = [&](NodeId n) { return std::string(body.graph.name(n)); };
    OptimizerItem item;
    item.function = function;
    item.evaluator = input_.evaluator;
    item.args = body.args;
    item.results = body.results;
    for (const NodeId n : body.results) item.fetches.push_back(name(n));
    for (const NodeId n : body.args) item.keep.insert(name(n));
    for (const NodeId n : body.effects) item.keep.insert(name(n));
    return item;
  }

  // What a call did besides its results because its op is stateful, its function is inlined and
  // is not: a result waits for it, if it may fail.
  void AwaitEffects(const FunctionEntry& function, FunctionGraph& body) const {
    Graph& g = body.graph;
    absl::flat_hash_set<std::string_view> named;
    const FunctionBody parsed = ParseFunctionBody(graph_, function);
    for (const Attr& entry : parsed.control_returns) named.insert(entry.value.wire());
    const auto stays = [&](NodeId n) { return g.op(n)->is_stateful || named.contains(g.name(n)); };
    NeededNodes needed(body);
    needed.Need(body.results);
    std::vector<NodeId> lost;
    for (const NodeId n : body.effects) {
      if (stays(n)) {
        needed.Need(n);
      } else {
        lost.push_back(n);
      }
    }
    CertainNodes certain(body, std::vector<TensorInfo>(body.args.size()));
    std::erase_if(lost, [&](NodeId n) { return certain.Has(n, needed); });
    if (lost.empty() || body.results.empty()) return;
    NeededNodes before(body);
    before.Need(lost);
    std::vector<Output> inputs;
    for (const NodeId n : lost) inputs.push_back({n, kControlPort});
    NodeId& result = body.results[0];
    if (!before[result]) {
      const std::span<const Output> data = g.data_inputs(result), waits = g.control_inputs(result);
      const std::vector<Output> read(data.begin(), data.end());
      inputs.insert(inputs.end(), waits.begin(), waits.end());
      g.SetInputs(result, read, inputs);
      return;
    }
    inputs.insert(inputs.begin(), {result, 0});
    const absl::StatusOr<NodeId> last =
        g.AddNode(g.UniqueName(absl::StrCat(g.name(result), "/done")), "Identity", inputs,
                  {{"T", attr::Type(g.output_type({result, 0}))}}, g.device(result));
    if (last.ok()) result = *last;
  }

  // The body stays as it was; of the rows these are left.
  absl::Status Drop(std::string_view function, size_t rows) {
    rows_.resize(rows);
    for (PipelineObserver* observer : options_.observers) observer->BodyDropped(function);
    return absl::OkStatus();
  }

  // The graph with what has become of its functions so far, one of which is on its way.
  Graph GraphWith(FunctionGraph body, const Graph& now, const BodyPlacement& placement) const {
    body.graph = now;
    placement.Undo(body.graph);
    std::vector<std::string> wires = wires_;
    for (const FunctionEntry& function : now.functions()) {
      if (graph_.FindFunction(function.name) == nullptr) wires.emplace_back(function.wire);
    }
    wires.push_back(body.Wire());
    Graph whole = graph_;
    PutFunctions(whole, wires);
    return whole;
  }

  std::optional<std::string> DeviceFor(std::string_view function) const {
    const auto it = device_of_new_.find(function);
    if (it != device_of_new_.end()) return it->second;
    return std::optional<std::string>(calls_.DeviceFor(function));
  }

  // Those that passes made for nodes of a placed body. False if there is another of that name.
  bool TakeFunctions(const Graph& body) {
    std::vector<std::string> wires;
    for (const FunctionEntry& function : body.functions()) {
      const FunctionEntry* there = graph_.FindFunction(function.name);
      if (there != nullptr && there->wire != function.wire) return false;
      if (there != nullptr) continue;
      wires.emplace_back(function.wire);
      new_bytes_ += function.wire.size();
    }
    if (wires.empty()) return true;
    const size_t before = graph_.functions().size();
    PutFunctions(graph_, wires);
    for (size_t i = before; i < graph_.functions().size(); ++i)
      functions_->Add(graph_.functions()[i]);
    for (NodeId n = 0; n < body.num_node_ids(); ++n) {
      if (!body.alive(n) || !IsFunctional(body, n)) continue;
      for (const std::string_view name : CalledBy(body.op_name(n), body.attrs(n))) {
        const FunctionEntry* function = graph_.FindFunction(name);
        if (function != nullptr && function >= &graph_.functions()[before])
          device_of_new_.emplace(function->name, body.device(n));
      }
    }
    if (new_bytes_ > kMaxNewBytes) {
      options_.disabled_rewrites.insert(
          options_.disabled_rewrites.end(),
          {"function_specialization.push_constants", "function_specialization.remove_unused"});
    }
    return true;
  }

  absl::StatusOr<bool> InlineCalls(Graph& body, PipelineInput input) {
    std::vector<NodeId> nodes(body.num_node_ids());
    std::iota(nodes.begin(), nodes.end(), 0);
    CallSites sites;
    LoweringInliner inliner(nodes, input, sites, inline_budget_);
    input.inliner = &inliner;
    PipelineOptions options = options_;
    AddSwitchedOff(surroundings_.devices, options);
    TENON_ASSIGN_OR_RETURN(const PipelineReport report, RunUnplacedPasses(body, input, options));
    return Note(report);
  }

  // Whether the passes changed anything.
  bool Note(const PipelineReport& report) {
    options_.bisect_limit = report.rewrites_left;
    options_.grown = report.grown;
    options_.worked = report.worked;
    bool changed = false;
    for (const PassReport& row : report.passes) {
      changed |= row.changed;
      if (row.changed || row.failed || !row.budget_spent.empty()) rows_.push_back(row);
    }
    return changed;
  }

  bool Adopt() {
    PutFunctions(graph_, wires_);
    for (const Defect& defect : Verify(graph_)) {
      if (MayBeUnused(defect)) continue;
      graph_ = before_;
      for (PipelineObserver* observer : options_.observers) observer->BodyDropped("");
      for (PassReport& row : rows_) {
        row.changed = false;
        row.failed = true;
        row.reason = absl::StrCat("rolled back: ", defect.message);
      }
      return false;
    }
    return true;
  }

  // What was inlined into bodies may be called no more.
  absl::Status Prune() {
    const std::vector<PassSpec>& passes = options_.passes;
    const PassSpec pruning{"model_pruning", {}};
    const auto is_pruning = [&](const PassSpec& spec) { return spec.name == pruning.name; };
    if (!passes.empty() && std::none_of(passes.begin(), passes.end(), is_pruning))
      return absl::OkStatus();
    options_.passes = {pruning};
    options_.iterations = 1;
    TENON_ASSIGN_OR_RETURN(const PipelineReport report, RunPipeline(graph_, input_, options_));
    Note(report);
    return absl::OkStatus();
  }

  Graph& graph_;
  const PipelineInput& input_;
  const BodySurroundings& surroundings_;
  PipelineOptions options_;
  const Graph before_;
  const Calls calls_;
  const std::shared_ptr<SharedFunctions> functions_ = SharedFunctions::Of(graph_);
  CallingGraph caller_;
  absl::flat_hash_map<std::string_view, std::string> device_of_new_;  // by function
  size_t new_bytes_ = 0;
  InlineBudget inline_budget_;
  std::vector<std::string_view> work_;
  absl::flat_hash_set<std::string_view> seen_;
  std::vector<std::string> wires_;
  std::vector<PassReport> rows_;
};

}  // namespace

absl::StatusOr<std::vector<PassReport>> OptimizeBodies(Graph& graph, const PipelineInput& input,
                                                       const BodySurroundings& surroundings,
                                                       PipelineOptions options) {
  // Rules are for names that nodes of bodies get only when they are written out.
  const bool ruled = surroundings.devices.size() > 1 && !surroundings.placer.rules.empty();
  if (graph.functions().empty() || ruled) return std::vector<PassReport>();
  return BodyOptimizer(graph, input, surroundings, std::move(options)).Run();
}

}  // namespace tenon
