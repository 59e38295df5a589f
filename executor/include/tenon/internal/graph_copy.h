// Copies of some nodes of a trace in a graph of their own. Used by the library's own headers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/internal/function_rep.h"
#include "tenon/internal/trace_graph.h"

namespace tenon::inline v0::internal {

// One output as a key of maps.
using OutputKey = std::pair<TF_Operation*, int>;
inline OutputKey KeyOf(TF_Output output) { return {output.oper, output.index}; }

// All nodes of a graph in the order in which they were made.
inline std::vector<TF_Operation*> NodesOf(TF_Graph* graph) {
  std::vector<TF_Operation*> nodes;
  size_t position = 0;
  while (TF_Operation* const node = TF_GraphNextOperation(graph, &position)) nodes.push_back(node);
  return nodes;
}

// Copies nodes of one graph into another, where other nodes stand for what the copied ones take.
class GraphCopy {
 public:
  GraphCopy(TraceGraph& from, std::shared_ptr<TraceGraph> to) : from_(from), to_(std::move(to)) {}

  TraceGraph& from() const { return from_; }
  const std::shared_ptr<TraceGraph>& graph() const { return to_; }

  // `stand_in`, an output of the new graph, stands for an output of the original.
  void Replace(TF_Output original, TF_Output stand_in) {
    stand_ins_.emplace(KeyOf(original), stand_in);
  }

  // Copies the nodes, and the functions that the graph knows. Each data input of a node must come
  // from one of the nodes or be replaced (Replace). A control input from a node that is not copied
  // counts as done: it comes from a NoOp in the copy. The attribute _class is left out, since it
  // may name a node that is not copied. The new graph knows what the nodes do to state. To be
  // called once.
  void Copy(const std::vector<TF_Operation*>& nodes, Where where) {
    for (const auto& callee : from_.callees()) to_->Use(callee);
    CopyLibrary();
    if (nodes.empty()) return;
    TF_Status* const status = ThreadStatus();
    std::string graph_def;
    using Buffer = std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)>;
    const auto append = [&](int field, const auto& write) {
      const Buffer buffer(TF_NewBuffer(), TF_DeleteBuffer);
      write(buffer.get());
      Check(status, where);
      const std::string_view bytes(static_cast<const char*>(buffer->data), buffer->length);
      wire::Message(graph_def, field, field == 1 ? WithoutClass(bytes) : std::string(bytes));
    };
    std::unordered_map<const void*, size_t> copied;
    for (TF_Operation* const node : nodes) copied.emplace(node, 1);
    copied_ = nodes;
    const std::unique_ptr<TF_ImportGraphDefOptions, void (*)(TF_ImportGraphDefOptions*)> options(
        TF_NewImportGraphDefOptions(), TF_DeleteImportGraphDefOptions);
    TF_Operation* before = nullptr;
    for (TF_Operation* const node : nodes) {
      append(1, [&](TF_Buffer* buffer) { TF_OperationToNodeDef(node, buffer, status); });
      const int count = TF_OperationNumControlInputs(node);
      std::vector<TF_Operation*> controls(static_cast<size_t>(count));
      TF_OperationGetControlInputs(node, controls.data(), count);
      for (TF_Operation* const control : controls) {
        if (!copied.emplace(control, 0).second) continue;
        // A node that stands for those that have run before.
        if (before == nullptr) before = to_->AddBehind({}, nullptr, to_->Unique("before"), where);
        TF_ImportGraphDefOptionsRemapControlDependency(options.get(), TF_OperationName(control),
                                                       before);
      }
    }
    append(4, [&](TF_Buffer* buffer) { TF_GraphVersions(from_.graph(), buffer, status); });
    for (const auto& [original, stand_in] : stand_ins_) {
      TF_ImportGraphDefOptionsAddInputMapping(options.get(), TF_OperationName(original.first),
                                              original.second, stand_in);
    }
    const TF_Buffer bytes{graph_def.data(), graph_def.size(), nullptr};
    TF_GraphImportGraphDef(to_->graph(), &bytes, options.get(), status);
    Check(status, where);
    for (TF_Operation* const node : nodes) to_->Reserve(TF_OperationName(node));
    for (const Touch& touch : from_.touches()) {
      const auto found = copied.find(touch.node);
      if (found != copied.end() && found->second != 0)
        to_->Note({NodeLike(touch.node), touch.effect, touch.touches_world});
    }
  }

  // Adds copies of these to the new graph's custom_nodes. Each output that they name must have been
  // copied or replaced. Their functions may name tensors of the original: the copies stand for
  // them.
  void CopyCustomNodes(const std::vector<CustomNode>& custom_nodes) {
    if (custom_nodes.empty()) return;
    NoteOriginals();
    const auto copies = [this](const std::vector<TF_Output>& outputs) {
      std::vector<TF_Output> found;
      for (const TF_Output& output : outputs) found.push_back(Find(output));
      return found;
    };
    for (const CustomNode& node : custom_nodes) {
      to_->custom_nodes().push_back(
          {copies(node.inputs), copies(node.outputs), node.backward, copies(node.extra)});
    }
  }

  // The output of the new graph that stands for an output of the original: what Replace named, else
  // that of the node of the same name. Its `oper` is null if there is no such node.
  TF_Output Find(TF_Output output) const {
    const auto found = stand_ins_.find(KeyOf(output));
    if (found != stand_ins_.end()) return found->second;
    return {NodeLike(output.oper), output.index};
  }

 private:
  void NoteOriginals() {
    TraceGraph::Original here{&from_, {}};
    for (TF_Operation* const node : copied_) {
      TF_Operation* const copy = NodeLike(node);
      for (int i = 0; i < TF_OperationNumOutputs(node); ++i)
        here.outputs.emplace(TraceGraph::NameOf({node, i}), TF_Output{copy, i});
    }
    for (const auto& [original, stand_in] : stand_ins_)
      here.outputs[TraceGraph::NameOf({original.first, original.second})] = stand_in;
    for (const TraceGraph::Original& before : from_.originals()) {
      TraceGraph::Original there{before.graph, {}};
      for (const auto& [name, output] : before.outputs) {
        const auto found = here.outputs.find(TraceGraph::NameOf(output));
        if (found != here.outputs.end()) there.outputs.emplace(name, found->second);
      }
      to_->originals().push_back(std::move(there));
    }
    to_->originals().push_back(std::move(here));
  }
  TF_Operation* NodeLike(TF_Operation* node) const {
    return TF_GraphOperationByName(to_->graph(), TF_OperationName(node));
  }
  // A NodeDef without its attribute _class.
  static std::string WithoutClass(std::string_view node_def) {
    std::string out;
    for (wire::Reader node(node_def); node.Next();) {
      std::string_view name;
      if (node.field == 5) {  // an entry of the map of attributes
        for (wire::Reader entry(node.bytes); entry.Next();) {
          if (entry.field == 1) name = entry.bytes;
        }
      }
      if (name != "_class") out += node.raw;
    }
    return out;
  }
  void CopyLibrary() {
    const int count = TF_GraphNumFunctions(from_.graph());
    if (count == 0) return;
    TF_Status* const status = ThreadStatus();
    std::vector<TF_Function*> functions(static_cast<size_t>(count));
    const int got = TF_GraphGetFunctions(from_.graph(), functions.data(), count, status);
    Check(status);
    for (int i = 0; i < got; ++i) {
      TF_GraphCopyFunction(to_->graph(), functions[static_cast<size_t>(i)], nullptr, status);
      TF_DeleteFunction(functions[static_cast<size_t>(i)]);
      Check(status);
    }
  }

  TraceGraph& from_;
  const std::shared_ptr<TraceGraph> to_;
  std::map<OutputKey, TF_Output> stand_ins_;
  std::vector<TF_Operation*> copied_;
};

// The nodes in a graph of their own, which takes `inputs` of the original as its inputs, and
// captures what the original captures from number `first_capture` on. Inside of a trace it may
// capture what that one has, and the nodes count there: RESOURCE_EXHAUSTED as
// TraceGraph::CountCopied says.
inline GraphCopy CopyBehindInputs(TraceGraph& from, const std::vector<TF_Operation*>& nodes,
                                  const std::vector<TF_Output>& inputs, Where where,
                                  size_t first_capture = static_cast<size_t>(-1)) {
  GraphCopy copy(from, std::make_shared<TraceGraph>(scopes.trace));
  if (scopes.trace != nullptr) scopes.trace->CountCopied(nodes.size(), where);
  for (TF_Operation* const node : nodes) copy.graph()->Reserve(TF_OperationName(node));
  size_t number = 0;
  for (const TF_Output& input : inputs) {
    const Tensor symbol = from.Symbol(input, where);
    const Tensor stand_in = copy.graph()->AddInput(symbol.dtype(), symbol.shape(),
                                                   "in_" + std::to_string(number++), where);
    copy.graph()->CopyHandleData(symbol, stand_in.output());
    copy.Replace(input, stand_in.output());
  }
  const std::vector<Tensor> captures = from.captures();
  for (size_t i = first_capture; i < captures.size(); ++i) {
    const size_t index = copy.graph()->CaptureIndex(captures[i], where);
    copy.Replace(from.capture_inputs()[i], copy.graph()->capture_inputs()[index]);
  }
  copy.Copy(nodes, where);
  return copy;
}

}  // namespace tenon::inline v0::internal
