// A traced function as the library holds it: its graph, what it takes and gives, and the call of
// it. Used by the library's own headers.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/internal/own.h"
#include "tenon/internal/trace_graph.h"
#include "tenon/internal/trace_node.h"
#include "tenon/internal/wire.h"
#include "tenon/op.h"

namespace tenon::inline v0::internal {

struct BackwardTable;  // backward.h

// What a trace of a Function was made for.
struct TraceNote {
  std::string function;            // "step, trace 2"
  std::string why;                 // "the first call"; empty for a function that no Function traced
  std::vector<std::string> takes;  // "float32(2, 3)"
};

// Immutable once Finish has made it, but for what is guarded.
class FunctionRep : public std::enable_shared_from_this<FunctionRep> {
 public:
  FunctionRep(std::string name, std::shared_ptr<TraceGraph> graph)
      : name_(std::move(name)), use_of_graph_(std::move(graph)) {}
  FunctionRep(const FunctionRep&) = delete;
  FunctionRep& operator=(const FunctionRep&) = delete;
  ~FunctionRep() {
    if (!custom_nodes_.empty()) NoteCustomGradient(nullptr);
    if (registered_) {
      TF_Status* const status = TF_NewStatus();
      TFE_ContextRemoveFunction(Context(), name_.c_str(), status);
      TF_DeleteStatus(status);
    }
    if (function_ != nullptr) TF_DeleteFunction(function_);
  }

  // The name in libraries of functions. No other function of the process has it, but for those of
  // Adopt: several graphs may have the same one.
  const std::string& name() const { return name_; }
  // Null for a function that the library made of nodes, such as the gradient of a loop.
  const std::shared_ptr<TraceGraph>& graph() const { return graph_; }
  TF_Function* function() const { return function_; }
  // The results, as Finish made them; none for a function that Adopt took.
  const std::vector<TF_Output>& outputs() const { return outputs_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  // The nodes of the graph that are the function's, but for its inputs.
  const std::vector<TF_Operation*>& nodes() const { return nodes_; }
  // The custom nodes of the graph whose outputs are nodes of the function.
  const std::vector<CustomNode>& custom_nodes() const { return custom_nodes_; }

  // Makes a function of `nodes`, or of all nodes of the graph if `nodes` is empty. `outputs` are
  // tensors of the graph, and become the results output_0, output_1 …; the inputs and captures of
  // the graph become the arguments. An output that is an argument, or stands twice, becomes that of
  // an Identity, which the graph gets. Throws what TF_GraphToFunction refuses.
  static std::shared_ptr<FunctionRep> Finish(std::string name, std::shared_ptr<TraceGraph> graph,
                                             std::vector<TF_Output> outputs, Where where,
                                             const std::vector<TF_Operation*>& nodes = {}) {
    auto rep = std::make_shared<FunctionRep>(std::move(name), std::move(graph));
    rep->Define(std::move(outputs), nodes, where);
    return rep;
  }
  // Takes a function that a graph has; the result owns `function`. It cannot Run.
  static std::shared_ptr<FunctionRep> Adopt(TF_Function* function) {
    auto rep = std::make_shared<FunctionRep>(TF_FunctionName(function), nullptr);
    rep->function_ = function;
    return rep;
  }

  // The function of this name, if it has gradients of the program's own and is still there.
  static std::shared_ptr<FunctionRep> WithCustomGradient(const std::string& name) {
    CustomGradients& known = KnownCustomGradients();
    const std::lock_guard lock(known.mutex);
    const auto found = known.by_name.find(name);
    return found == known.by_name.end() ? nullptr : found->second.lock();
  }

  // Makes the function and those that it calls known to the eager context. INVALID_ARGUMENT if a
  // node asks for a device that there is not.
  void Register() {
    if (registered_.load(std::memory_order_acquire)) return;
    if (graph_ != nullptr) {
      for (const auto& callee : graph_->callees()) callee->Register();
    }
    const std::lock_guard lock(mutex_);
    if (registered_) return;
    CheckDevices();
    TF_Status* const status = ThreadStatus();
    TFE_ContextAddFunction(Context(), function_, status);
    Check(status);
    registered_.store(true, std::memory_order_release);
  }

  // The call of the function with these inputs. It also takes what the function captures.
  OpCall Call(std::vector<Tensor> inputs, Where where) {
    OpCall call;
    call.type = name_;
    call.where = where;
    call.function = shared_from_this();
    call.tensors = std::move(inputs);
    if (graph_ != nullptr) graph_->AppendCaptures(call.tensors);
    return call;
  }

  // Runs the function, which it registers, or makes a node of the trace of this thread that calls
  // it. Under a tape what the tape needs is kept. The function must be one of Finish.
  std::vector<Tensor> Run(std::vector<Tensor> inputs, Where where);
  // FAILED_PRECONDITION if the function captures a symbol of a trace that is over.
  void CheckCaptures(Where where) const;

  // What a node does to state that calls the function.
  const StateUse& use() const { return use_; }
  Effect effect() const { return use_.effect; }

  // Finds a node of the function or of the functions that it calls, and sets its place and its op.
  // Returns false if there is no such node, or nobody knows its place; *where and *op may have
  // changed then. A node of a function whose call was put in the place of the node "call" is named
  // "call/node".
  bool FindNode(const std::string& node, Where* where, std::string* op) const {
    if (FindOwnNode(node, where, op)) return true;
    if (graph_ == nullptr) return false;
    for (const auto& callee : graph_->callees()) {
      if (callee->FindOwnNode(node, where, op)) return true;
    }
    return false;
  }

  // Set before other threads see the function.
  TraceNote note;
  // The way back through an op, or made of one: its derivatives say where no path leads, as those
  // of ops do. Those of a program's function are zeros there. Set as `note` is.
  bool is_of_op = false;
  // The function's forms for tapes, once they were needed. Guarded by TraceMutex().
  std::shared_ptr<BackwardTable> backward;

 private:
  // The same for nodes of the function, and of calls that were put in the place of one of them.
  bool FindOwnNode(const std::string& node, Where* where, std::string* op) const {
    if (graph_ == nullptr) return false;
    *where = graph_->PlaceOf(node);
    if (where->line() == 0) *where = PlaceOfOriginal(node);
    if (where->line() != 0) {
      *op = graph_->OpOf(node);
      return true;
    }
    for (size_t slash = node.find('/'); slash != std::string::npos;
         slash = node.find('/', slash + 1)) {
      if (FindInCall(node.substr(0, slash), node.substr(slash + 1), where, op)) return true;
    }
    return false;
  }

  struct CustomGradients {
    std::mutex mutex;
    std::unordered_map<std::string, std::weak_ptr<FunctionRep>> by_name;
  };
  static CustomGradients& KnownCustomGradients() {
    static CustomGradients* const known = new CustomGradients;
    return *known;
  }
  void NoteCustomGradient(const std::shared_ptr<FunctionRep>& self) {
    CustomGradients& known = KnownCustomGradients();
    const std::lock_guard lock(known.mutex);
    if (self != nullptr) {
      known.by_name.emplace(name_, self);
    } else {
      known.by_name.erase(name_);
    }
  }
  // The place of the node from which a node of the graph, such as one of a gradient, was made.
  Where PlaceOfOriginal(const std::string& node) const {
    TF_Operation* const operation = TF_GraphOperationByName(graph_->graph(), node.c_str());
    if (operation == nullptr) return {};
    TF_Status* const status = ThreadStatus();
    TF_Buffer* const buffer = TF_NewBuffer();
    TF_OperationToNodeDef(operation, buffer, status);
    const std::string bytes = TakeBytes(buffer);
    // NodeDef { experimental_debug_info = 6 { original_node_names = 1 } }
    for (wire::Reader def(bytes); def.Next();) {
      if (def.field != 6) continue;
      for (wire::Reader info(def.bytes); info.Next();) {
        if (info.field != 1) continue;
        if (const Where place = graph_->PlaceOf(info.bytes); place.line() != 0) return place;
      }
    }
    return {};
  }

  // The place of a node of the functions that the node `call` names. If several of them have such a
  // node, the place of the call.
  bool FindInCall(const std::string& call, const std::string& node, Where* where,
                  std::string* op) const {
    TF_Operation* const operation = TF_GraphOperationByName(graph_->graph(), call.c_str());
    if (operation == nullptr) return false;
    int found = 0;
    for (const auto& callee : graph_->callees()) {
      if (!Names(operation, callee->name())) continue;
      Where place;
      if (!callee->FindNode(node, &place, op)) continue;
      *where = place;
      ++found;
    }
    if (found > 1) *where = graph_->PlaceOf(call);
    return found != 0 && where->line() != 0;
  }

  // True if the node calls the function of this name, as a branch or a part of a loop too.
  static bool Names(TF_Operation* node, const std::string& function) {
    TF_Status* const status = ThreadStatus();
    for (const char* const attr : {"f", "cond", "body", "then_branch", "else_branch", "branches"}) {
      TF_Buffer* const buffer = TF_NewBuffer();
      TF_OperationGetAttrValueProto(node, attr, buffer, status);
      const std::string bytes = TakeBytes(buffer);
      if (TF_GetCode(status) != TF_OK) continue;
      // AttrValue { list = 1 { func = 9 }, func = 10 }, NameAttrList { name = 1 }
      std::vector<std::string_view> functions;
      for (wire::Reader value(bytes); value.Next();) {
        if (value.field == 10) functions.push_back(value.bytes);
        if (value.field != 1) continue;
        for (wire::Reader list(value.bytes); list.Next();) {
          if (list.field == 9) functions.push_back(list.bytes);
        }
      }
      for (const std::string_view named : functions) {
        for (wire::Reader name(named); name.Next();) {
          if (name.field == 1 && name.bytes == function) return true;
        }
      }
    }
    return false;
  }

  void Define(std::vector<TF_Output> outputs, std::vector<TF_Operation*> nodes, Where where) {
    TF_Status* const status = ThreadStatus();
    TF_Graph* const graph = graph_->graph();
    std::vector<TF_Output> inputs = graph_->inputs();
    inputs.insert(inputs.end(), graph_->capture_inputs().begin(), graph_->capture_inputs().end());
    // A result is an output of the body: one that is an input goes through an Identity, and so does
    // one that is given twice.
    std::vector<TF_Output> seen = inputs;
    const auto same = [](TF_Output a, TF_Output b) {
      return a.oper == b.oper && a.index == b.index;
    };
    for (TF_Output& output : outputs) {
      const bool again = std::any_of(seen.begin(), seen.end(),
                                     [&](TF_Output other) { return same(other, output); });
      if (again) {
        output = {graph_->AddBehind({}, &output, graph_->Unique("Identity"), where), 0};
        if (!nodes.empty()) nodes.push_back(output.oper);
      }
      seen.push_back(output);
    }
    std::vector<const char*> names;
    for (size_t i = 0; i < outputs.size(); ++i)
      output_names_.push_back("output_" + std::to_string(i));
    for (const std::string& name : output_names_) names.push_back(name.c_str());
    NoteNodes(inputs, nodes);
    std::vector<std::string> control_texts;
    for (size_t i = 0; i < use_.must_run.size(); ++i)
      control_texts.push_back("effect_" + std::to_string(i));
    std::vector<const char*> control_names;
    for (const std::string& name : control_texts) control_names.push_back(name.c_str());
    AdoptLibrary();
    function_ = TF_GraphToFunctionWithControlOutputs(
        graph, name_.c_str(), 0, nodes.empty() ? -1 : static_cast<int>(nodes.size()),
        nodes.empty() ? nullptr : nodes.data(), static_cast<int>(inputs.size()), inputs.data(),
        static_cast<int>(outputs.size()), outputs.data(), names.data(),
        static_cast<int>(use_.must_run.size()), use_.must_run.data(), control_names.data(), nullptr,
        nullptr, status);
    Check(status, where);
    outputs_ = std::move(outputs);
  }

  void CheckDevices() const {
    std::string found;  // neighbours mostly ask for the same device
    for (TF_Operation* const node : nodes_) {
      const std::string device = TF_OperationDevice(node);
      if (device.empty() || device == found) continue;
      if (HasDevice(device)) {
        found = device;
        continue;
      }
      std::string names;
      for (const DeviceInfo& there : ListDevices())
        names += (names.empty() ? "" : ", ") + there.name;
      Throw(Error(TF_INVALID_ARGUMENT,
                  "There is no device \"" + device + "\". Devices are " + names +
                      "; a graph for other machines can be saved, but not called",
                  TF_OperationOpType(node), TF_OperationName(node),
                  graph_->PlaceOf(TF_OperationName(node))));
    }
  }
  // Keeps the nodes, all of the graph if there are none, and what they do.
  void NoteNodes(const std::vector<TF_Output>& inputs, const std::vector<TF_Operation*>& nodes) {
    std::unordered_map<const void*, size_t> numbers;
    const auto add = [&](TF_Operation* node) {
      const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                        [node](TF_Output input) { return input.oper == node; });
      if (!is_input && numbers.emplace(node, nodes_.size()).second) nodes_.push_back(node);
    };
    for (TF_Operation* const node : nodes) add(node);
    size_t position = 0;
    while (nodes.empty()) {
      TF_Operation* const node = TF_GraphNextOperation(graph_->graph(), &position);
      if (node == nullptr) break;
      add(node);
    }
    for (const Touch& touch : graph_->touches()) {
      if (numbers.contains(touch.node)) use_.Add(touch);
    }
    for (const CustomNode& node : graph_->custom_nodes()) {
      if (numbers.contains(node.outputs[0].oper)) custom_nodes_.push_back(node);
    }
    if (!custom_nodes_.empty()) NoteCustomGradient(shared_from_this());
  }

  // Functions that the graph got by other ways than calls, such as those of gradients of loops.
  void AdoptLibrary() {
    TF_Graph* const graph = graph_->graph();
    const int count = TF_GraphNumFunctions(graph);
    if (count == 0) return;
    TF_Status* const status = ThreadStatus();
    std::vector<TF_Function*> functions(static_cast<size_t>(count));
    const int got = TF_GraphGetFunctions(graph, functions.data(), count, status);
    Check(status);
    std::unordered_map<std::string, int64_t> known;  // names, each 1
    for (const auto& callee : graph_->callees()) known.emplace(callee->name(), 1);
    for (int i = 0; i < got; ++i) {
      TF_Function* const function = functions[static_cast<size_t>(i)];
      if (known.contains(TF_FunctionName(function))) {
        TF_DeleteFunction(function);
      } else {
        graph_->Keep(Adopt(function));
      }
    }
  }

  const std::string name_;
  const TraceUse use_of_graph_;
  const std::shared_ptr<TraceGraph>& graph_ = use_of_graph_.graph();
  TF_Function* function_ = nullptr;
  std::vector<TF_Output> outputs_;
  std::vector<std::string> output_names_;
  std::vector<TF_Operation*> nodes_;
  std::vector<CustomNode> custom_nodes_;
  StateUse use_;
  std::mutex mutex_;
  std::atomic<bool> registered_{false};
};

inline void UseFunction(TraceGraph& graph, const std::shared_ptr<FunctionRep>& function) {
  graph.Use(function);
}
// The function, if it has gradients of the program's own; null if not.
inline std::shared_ptr<FunctionRep> WithCustomGradient(const FunctionName& function) {
  if (function.rep == nullptr) return FunctionRep::WithCustomGradient(function.name);
  return function.rep->custom_nodes().empty() ? nullptr : function.rep;
}
inline bool NamesCustomGradient(const OpCall& call) {
  for (const NamedAttr& attr : call.attrs) {
    for (const FunctionName& function : attr.functions) {
      if (WithCustomGradient(function) != nullptr) return true;
    }
  }
  return false;
}

inline void TraceGraph::End() {
  for (const auto& callee : callees_) {
    if (callee->graph() != nullptr) callee->graph()->ForgetSymbolsOf(this);
  }
}

inline void TraceGraph::DropUser() {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // They go after this function: the graph may be used while they go.
  const std::vector<CustomNode> nodes = std::exchange(custom_nodes_, {});
  const std::vector<std::shared_ptr<FunctionRep>> callees = std::exchange(callees_, {});
}

inline void TraceGraph::Use(const std::shared_ptr<FunctionRep>& function) {
  for (const auto& callee : callees_) {
    if (callee == function) return;
  }
  if (function->graph() != nullptr) {
    for (const auto& callee : function->graph()->callees()) Use(callee);
  }
  TF_Status* const status = ThreadStatus();
  TF_GraphCopyFunction(graph_, function->function(), nullptr, status);
  Check(status);
  callees_.push_back(function);
}

// Throws the error of `status` for a call of a function. The error names the node in the function
// that failed, if the message says which node it is. The place and the op are those of that node if
// FindNode knows them, else those of the call.
[[noreturn]] inline void ThrowFromFunction(const OpCall& call, TF_Status* status) {
  const TF_Code code = TF_GetCode(status);
  const std::string message = TF_Message(status);
  // The innermost node stands last: "{{function_node f}} ... [[{{node dense/MatMul}}]]".
  std::string node(Between(message, "{{node ", "}}"));
  if (const size_t slash = message.rfind("{{node "); slash != std::string::npos)
    node = std::string(Between(std::string_view(message).substr(slash), "{{node ", "}}"));
  Where where = call.where;
  std::string op = call.type;
  if (node.empty() || !call.function->FindNode(node, &where, &op)) {
    where = call.where;
    op = call.type;
  }
  Throw(Error(code, message, std::move(op), std::move(node), where));
}

inline constexpr TraceFunctions kTraceFunctions = {
    .add = AddToTrace,
    .run = RunInTrace,
    .last_place = [] { return scopes.trace->LastPlace(); },
    .unique_name = [](TraceGraph& graph,
                      const std::string& base) { return graph.UniqueName(base); },
    .graph_of = [](const TensorRep& symbol) { return symbol.graph->graph(); },
    .register_function = [](const std::shared_ptr<FunctionRep>& function) { function->Register(); },
    .throw_from_function = ThrowFromFunction,
};

// While it lives, `graph` is the trace of this thread, outside of all scopes and tapes. `device` is
// that of its ops; null or empty: the placer's choice. Both must outlive the object, which ends the
// trace (TraceGraph::End).
class TraceScope {
 public:
  TraceScope(TraceGraph* graph, const std::string* device) : graph_(graph), before_(scopes) {
    trace_functions.store(&kTraceFunctions, std::memory_order_release);
    scopes = {};
    scopes.trace = graph;
    if (device != nullptr && !device->empty()) scopes.device = device;
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  ~TraceScope() {
    scopes = before_;
    graph_->End();
  }

 private:
  TraceGraph* const graph_;
  const ThreadScopes before_;
};

// Traces are made one after another: a trace may need others in any order.
inline std::recursive_mutex& TraceMutex() {
  static std::recursive_mutex* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace tenon::inline v0::internal
