// Bodies are searched in place of the nodes that call them, without copying them: a frame has one
// bit for each node of a body. One list of work serves all frames, so that nothing recurs.

#include "grappler_lite/analysis/needed_arguments.h"

#include "graph/functions/function_library.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

// The attributes that name the functions of such a node; of a loop, condition and body.
std::vector<std::string_view> FunctionAttrs(CallKind calls) {
  switch (calls) {
    case CallKind::kFunction:
      return {"f"};
    case CallKind::kIf:
      return {"then_branch", "else_branch"};
    case CallKind::kCase:
      return {"branches"};
    case CallKind::kWhile:
      return {"cond", "body"};
    default:
      return {};
  }
}

bool Put(std::vector<bool>& set, size_t i) {
  if (set.size() <= i) set.resize(i + 1, false);
  if (set[i]) return false;
  set[i] = true;
  return true;
}

}  // namespace

const Graph& NeededArguments::GraphOf(size_t frame) const {
  return frame == kTop ? graph_ : frames_[frame].body->function.graph;
}

void NeededArguments::Need(Output output, absl::FunctionRef<void(const Output&)> found) {
  if (const size_t site = SiteAt(kTop, output.node); site != kTop) {
    NeedOutput(site, output.port);
  } else if (Put(needed_, output.node)) {
    for (const Output& in : graph_.inputs(output.node)) found(in);
  }
  while (!open_.empty()) {
    const auto [frame, next] = open_.back();
    open_.pop_back();
    if (frame == kTop) {
      found(next);
    } else {
      NeedInFrame(frame, next);
    }
  }
}

std::vector<bool> NeededArguments::NodesFor(absl::Span<const Output> fetches,
                                            absl::FunctionRef<bool(const Output&)> ends) {
  std::vector<bool> needed(graph_.num_node_ids(), false);
  std::vector<Output> open(fetches.begin(), fetches.end());
  while (!open.empty()) {
    const Output next = open.back();
    open.pop_back();
    if (ends(next)) continue;
    needed[next.node] = true;
    Need(next, [&](const Output& in) { open.push_back(in); });
  }
  return needed;
}

bool NeededArguments::Needs(NodeId n, int input) const {
  const auto top = tops_.find(n);
  if (top == tops_.end() || top->second == kTop) return true;
  const Site& site = sites_[top->second];
  const auto first = static_cast<int>(site.first_arg);
  return site.frames.empty() || input < first || site.args[input - first];
}

void NeededArguments::NeedInFrame(size_t frame, const Output& output) {
  if (const size_t site = SiteAt(frame, output.node); site != kTop)
    return NeedOutput(site, output.port);
  Frame& in = frames_[frame];
  if (!Put(in.needed, output.node)) return;
  const auto arg = in.body->number_of.find(output.node);
  if (arg != in.body->number_of.end()) NeedArg(in.site, arg->second);
  for (const Output& from : GraphOf(frame).inputs(output.node)) open_.emplace_back(frame, from);
}

void NeededArguments::NeedOutput(size_t number, int32_t port) {
  Site& site = sites_[number];
  if (site.frames.empty()) Open(number);
  if (port == kControlPort) {
    // Behind a loop, waiting is waiting for each variable to leave the loop.
    for (size_t i = 0; site.loop && i < site.args.size(); ++i) NeedArg(number, i);
    return;
  }
  if (!Put(site.outputs, port)) return;
  if (site.loop) return NeedArg(number, port);
  for (const size_t frame : site.frames)
    open_.emplace_back(frame, Output{frames_[frame].body->function.results[port], 0});
}

// Needs what the node itself needs, and what its functions do whichever outputs are read.
void NeededArguments::Open(size_t number) {
  Site& site = sites_[number];
  const Graph& g = GraphOf(site.frame);
  for (const Output& wait : g.control_inputs(site.node)) open_.emplace_back(site.frame, wait);
  for (size_t i = 0; i < site.first_arg; ++i)
    open_.emplace_back(site.frame, g.data_inputs(site.node)[i]);
  for (const Body* body : site.bodies) {
    const size_t frame = frames_.size();
    frames_.push_back({body, number, {}, {}});
    site.frames.push_back(frame);
    for (const NodeId n : body->function.effects)
      open_.emplace_back(frame, Output{n, kControlPort});
  }
  if (!site.loop) return;
  open_.emplace_back(site.frames[0], Output{site.bodies[0]->function.results[0], 0});
  // Nodes without inputs wait for the first variable in every pass.
  NeedArg(number, 0);
}

void NeededArguments::NeedArg(size_t number, size_t arg) {
  Site& site = sites_[number];
  if (site.args[arg]) return;
  site.args[arg] = true;
  const Graph& g = GraphOf(site.frame);
  open_.emplace_back(site.frame, g.data_inputs(site.node)[arg + site.first_arg]);
  if (!site.loop) return;
  // The value of the next pass.
  open_.emplace_back(site.frames[1], Output{site.bodies[1]->function.results[arg], 0});
}

size_t NeededArguments::SiteAt(size_t frame, NodeId n) {
  const Graph& g = GraphOf(frame);
  if (g.facts(n).calls == CallKind::kNone) return kTop;
  auto& known = frame == kTop ? tops_ : frames_[frame].sites;
  const auto [it, is_new] = known.try_emplace(n, kTop);
  if (!is_new) return it->second;
  Site site{frame, n};
  if (MakeSite(site)) {
    it->second = sites_.size();
    sites_.push_back(std::move(site));
  }
  return it->second;
}

// A call for which this returns false counts as a plain node that needs all its inputs. That is
// always right; only less is found to be superfluous. Each site has frames of its own, so nested
// calls could multiply the work without end: kMostNodes limits the nodes of all bodies together.
bool NeededArguments::MakeSite(Site& site) {
  const Graph& g = GraphOf(site.frame);
  const CallKind calls = g.facts(site.node).calls;
  const std::vector<std::string_view> attrs = FunctionAttrs(calls);
  if (attrs.empty() || ComputesAllResults(g.attrs(site.node)) ||
      !g.kind(site.node).types_status.ok())
    return false;
  site.loop = calls == CallKind::kWhile;
  site.first_arg = FirstArgument(calls).value_or(0);
  for (const std::string_view name : attrs) {
    const AttrValue* attr = g.attr(site.node, name);
    if (attr == nullptr) return false;
    if (const auto function = attr->AsFunc(); function.ok()) {
      site.bodies.push_back(BodyOf(function->name));
    } else if (const auto list = attr->AsFuncList(); list.ok()) {
      for (const FuncAttr& each : *list) site.bodies.push_back(BodyOf(each.name));
    }
  }
  if (!Fits(site)) return false;
  site.args.resize(g.data_inputs(site.node).size() - site.first_arg, false);
  for (const Body* body : site.bodies) nodes_ += body->function.graph.num_node_ids();
  return nodes_ <= kMostNodes;
}

const NeededArguments::Body* NeededArguments::BodyOf(std::string_view name) {
  const FunctionEntry* entry = graph_.FindFunction(name);
  if (entry == nullptr) return nullptr;
  const auto [it, is_new] = bodies_.try_emplace(entry->name);
  if (is_new) it->second = MakeBody(*entry);
  return it->second.get();
}

std::unique_ptr<const NeededArguments::Body> NeededArguments::MakeBody(
    const FunctionEntry& function) {
  if (functions_ == nullptr) functions_ = SharedFunctions::Of(graph_);
  absl::StatusOr<FunctionGraph> graph = FunctionGraph::Make(graph_, function, functions_);
  if (!graph.ok() || StaysCall(graph->attrs) || functions_->ReachesItself(graph_, function.name))
    return nullptr;
  auto body = std::make_unique<Body>(Body{*std::move(graph), {}});
  for (size_t i = 0; i < body->function.args.size(); ++i)
    body->number_of.emplace(body->function.args[i], i);
  return body;
}

bool NeededArguments::Fits(const Site& site) const {
  const Graph& g = GraphOf(site.frame);
  const size_t inputs = g.data_inputs(site.node).size();
  const auto outputs = static_cast<size_t>(g.num_outputs(site.node));
  if (site.bodies.empty() || inputs < site.first_arg) return false;
  const size_t args = inputs - site.first_arg;
  if (site.loop && (site.bodies.size() != 2 || args == 0 || args != outputs)) return false;
  for (size_t i = 0; i < site.bodies.size(); ++i) {
    const Body* body = site.bodies[i];
    const bool is_condition = site.loop && i == 0;
    if (body == nullptr || body->function.args.size() != args ||
        body->function.results.size() != (is_condition ? 1 : outputs))
      return false;
  }
  return true;
}

}  // namespace tenon
