// The graph of a function while it is traced: nodes with names, captures, the order of side
// effects. Used by the library's own headers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/op.h"
#include "tenon/scopes.h"
#include "tenon/tensor.h"

namespace tenon::inline v0::internal {

class FunctionRep;

using CustomBackward = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs,
                                                         const std::vector<Tensor>& outputs,
                                                         const std::vector<Tensor>& gradients)>;

// Tensors whose gradient the program gives. The outputs are StopGradient nodes, so that gradients
// reach the inputs by `backward` alone.
struct CustomNode {
  std::vector<TF_Output> inputs, outputs;
  // Takes the inputs, the outputs with `extra` behind them, and a gradient for each of the outputs;
  // none of the gradients is empty. Returns a gradient for each input; some may be empty Tensors.
  // Called in the trace of the graph, with symbols of it.
  CustomBackward backward;
  // More values that `backward` takes. They have no gradients of their own.
  std::vector<TF_Output> extra = {};
};

// A node that touches state.
struct Touch {
  TF_Operation* node;
  Effect effect;
  bool touches_world;  // more than the resources that it takes
};

// What nodes do to state together.
struct StateUse {
  Effect effect = Effect::kNone;        // the strongest
  bool draws = false;                   // one draws random numbers
  bool touches_world = false;           // one writes to more than the resources that it takes
  std::vector<TF_Operation*> must_run;  // those that write: they run although no result needs them

  void Add(const Touch& touch) {
    effect = effect < touch.effect ? touch.effect : effect;
    draws = draws || touch.effect == Effect::kRandom;
    touches_world = touches_world || touch.touches_world;
    if (touch.effect == Effect::kWrite) must_run.push_back(touch.node);
  }
};

// Values of at most this many elements that a function captures become constants of its graph, but
// for resources, variants and values by which a gradient may be asked for.
inline constexpr int64_t kMaxConstantElements = 128;

// Belongs to one trace and to its thread. Afterwards several threads read it. Only End of an
// enclosing trace, on that trace's thread, and the last DropUser change it then. Functions that add
// nodes throw tenon::Error with `where` as the place in the program.
class TraceGraph : public std::enable_shared_from_this<TraceGraph> {
 public:
  explicit TraceGraph(TraceGraph* outer) : graph_(TF_NewGraph()), outer_(outer) {}
  TraceGraph(const TraceGraph&) = delete;
  TraceGraph& operator=(const TraceGraph&) = delete;
  ~TraceGraph() { TF_DeleteGraph(graph_); }

  TF_Graph* graph() const { return graph_; }
  // The function in whose trace this one is traced; null at the outermost.
  TraceGraph* outer() const { return outer_; }

  // How many nodes there are, and how many of them were made before `node`. Both look only at nodes
  // that are new since the last call, so that tapes of a long trace may ask often.
  size_t CountNodes() {
    for (size_t at = counted_to_; TF_Operation* const node = TF_GraphNextOperation(graph_, &at);
         counted_to_ = at)
      numbers_.emplace(node, numbers_.size());
    return numbers_.size();
  }
  size_t NumberOf(TF_Operation* node) {
    CountNodes();
    return numbers_.at(node);
  }

  // A name that no node of the graph has: "MatMul", then "MatMul_1". Takes the name.
  std::string UniqueName(std::string_view base) {
    std::string name = scopes.name == nullptr ? std::string() : *scopes.name;
    name += base;
    return Unique(std::move(name));
  }
  // The same for the whole name, without the name scope.
  std::string Unique(std::string name) {
    int64_t& count = names_[name];
    if (count++ == 0) return name;
    for (;; ++count) {
      std::string numbered = name + "_" + std::to_string(count - 1);
      if (names_.try_emplace(numbered, 1).second) return numbered;
    }
  }

  // Takes the name of a node that is there, and the scopes that it stands in.
  void Reserve(std::string_view name) {
    for (size_t end = name.find('/'); end != std::string_view::npos; end = name.find('/', end + 1))
      names_.try_emplace(std::string(name.substr(0, end)), 1);
    names_.try_emplace(std::string(name), 1);
  }

  // Adds a Placeholder and makes it an input of the function.
  Tensor AddInput(DType dtype, const Shape& shape, const std::string& name, Where where) {
    CheckName(name, "an argument", where);
    const Tensor input = Placeholder(dtype, shape, name, where);
    inputs_.push_back(input.output());
    return input;
  }

  // The tensor as an output of a node of this graph: itself, or what stands for a value or for a
  // symbol of an outer trace.
  TF_Output Resolve(const Tensor& tensor, Where where) {
    TensorRep& rep = tensor.rep(where);
    if (rep.graph.get() == this) return rep.output;
    return Capture(tensor, where);
  }

  // The tensors from outside that the function takes behind its inputs, and what stands for them. A
  // symbol of an enclosing trace is an empty Tensor once that trace is over.
  std::vector<Tensor> captures() const {
    std::vector<Tensor> captures;
    AppendCaptures(captures);
    return captures;
  }
  void AppendCaptures(std::vector<Tensor>& tensors) const {
    std::unique_lock lock(captures_mutex_, std::defer_lock);
    if (captures_symbols_) lock.lock();
    tensors.insert(tensors.end(), captures_.begin(), captures_.end());
  }
  const std::vector<TF_Output>& capture_inputs() const { return capture_inputs_; }
  const std::vector<TF_Output>& inputs() const { return inputs_; }

  // Values from outside that became constants, although a tape may come to watch them.
  const std::vector<Tensor>& constants() const { return constants_; }

  // The index of a tensor among the captures, which it joins if it is new.
  size_t CaptureIndex(const Tensor& tensor, Where where) {
    const auto found = stand_in_numbers_.find(tensor.get());
    if (found != stand_in_numbers_.end() && stand_ins_[found->second].capture != kNoCapture)
      return stand_ins_[found->second].capture;
    AddCapture(tensor, where);
    return captures_.size() - 1;
  }

  // Makes `all` the captures, in this order; those that the graph has are among them.
  void OrderCaptures(const std::vector<Tensor>& all, Where where) {
    std::vector<TF_Output> inputs;
    for (const Tensor& tensor : all) {
      const auto found = stand_in_numbers_.find(tensor.get());
      if (found == stand_in_numbers_.end() || stand_ins_[found->second].capture == kNoCapture)
        AddCapture(tensor, where);
      inputs.push_back(stand_ins_[stand_in_numbers_.at(tensor.get())].output);
    }
    captures_ = all;
    capture_inputs_ = std::move(inputs);
  }

  // When the trace is over: the functions that it calls keep no symbols of it, which would keep the
  // graph, and with it these functions, for ever.
  void End();
  // True if the function used a symbol of an enclosing trace that called it and is over: it cannot
  // be called.
  bool has_lost_captures() const { return has_lost_captures_.load(std::memory_order_acquire); }

  // Adds the control inputs that keep side effects in program order, before TF_FinishOperation.
  // `inputs` are the tensors of the node.
  void OrderBefore(TF_OperationDescription* node, Effect effect, bool touches_world,
                   const std::vector<TF_Output>& inputs);
  // Notes the node as the last to touch its state.
  void OrderAfter(TF_Operation* node, Effect effect, bool touches_world,
                  const std::vector<TF_Output>& inputs);

  // Side effects of the nodes from here on are in no order with those before.
  void BeginOrder() {
    states_.clear();
    state_numbers_.clear();
    last_effect_ = nullptr;
  }

  // Operations that run although no result needs them.
  const std::vector<TF_Operation*>& must_run() const { return use_.must_run; }
  // The nodes that touch state, in the order in which they were made.
  const std::vector<Touch>& touches() const { return touches_; }
  const StateUse& use() const { return use_; }
  // The control edges that keep side effects in order: a node, and one that it waits for.
  const std::vector<std::pair<TF_Operation*, TF_Operation*>>& waits() const { return waits_; }
  // True if a node with an effect, other than to read or to draw, is in the graph.
  bool has_side_effects() const { return !use_.must_run.empty(); }
  // True if one of these nodes touches more than the resources that it takes.
  bool touches_world() const { return use_.touches_world; }
  // What a node does that calls a function of this graph.
  Effect effect() const { return use_.effect; }

  // Where the program made the nodes. PlaceOf gives an empty place (line 0) and OpOf an empty text
  // for a node that there is not. PlaceOf takes time linear in the nodes.
  void NotePlace(TF_Operation* node, Where where) { places_.emplace_back(node, where); }
  Where PlaceOf(std::string_view node) const {
    for (const auto& [operation, where] : places_) {
      if (TF_OperationName(operation) == node) return where;
    }
    return {};
  }
  std::string OpOf(const std::string& node) const {
    TF_Operation* const operation = TF_GraphOperationByName(graph_, node.c_str());
    return operation == nullptr ? std::string() : TF_OperationOpType(operation);
  }
  const std::vector<std::pair<TF_Operation*, Where>>& places() const { return places_; }
  // Where the program is, as far as the trace knows: at the last op, or at what is traced.
  void Begin(Where where) { begin_ = where; }
  Where LastPlace() const {
    for (size_t i = places_.size(); i-- > 0;) {
      if (const Where place = OfProgram(places_[i].second); place.line() != 0) return place;
    }
    return begin_.line() != 0 || outer_ == nullptr ? begin_ : outer_->LastPlace();
  }

  // Counts nodes that ways back copy in the course of this trace, at the outermost one.
  // RESOURCE_EXHAUSTED beyond kMostCopied: each derivative of a derivative through a loop that has
  // a CustomGradient is several times as large as the one before.
  void CountCopied(size_t nodes, Where where) {
    if (outer_ != nullptr) return outer_->CountCopied(nodes, where);
    copied_ += nodes;
    if (copied_ <= kMostCopied) return;
    Throw(
        TF_RESOURCE_EXHAUSTED,
        "The gradients of this function have more than " + std::to_string(kMostCopied) +
            " nodes. Each derivative of a derivative through branches, loops and calls that have a"
            " CustomGradient is several times as large as the one before: take fewer of them, or"
            " write the function without CustomGradient",
        where);
  }

  // Makes a function known to the graph, before a node that calls it is made. The graph keeps it.
  void Use(const std::shared_ptr<FunctionRep>& function);
  // The functions that the graph calls, and those that these call in their turn.
  const std::vector<std::shared_ptr<FunctionRep>>& callees() const { return callees_; }
  // The same for a function that is in the graph already.
  void Keep(std::shared_ptr<FunctionRep> function) { callees_.push_back(std::move(function)); }

  // The graphs of which this one is a copy: what stands here for their outputs, by name. A symbol
  // of theirs that the program keeps means what stands for it here.
  struct Original {
    const TraceGraph* graph;
    std::unordered_map<std::string, TF_Output> outputs;
  };
  std::vector<Original>& originals() { return originals_; }
  static std::string NameOf(TF_Output output) {
    return std::string(TF_OperationName(output.oper)) + ':' + std::to_string(output.index);
  }

  // Returns a Tensor that stands for an output of this graph, and keeps the graph alive.
  Tensor Symbol(TF_Output output, Where where) {
    auto* const rep = new TensorRep;
    rep->graph = shared_from_this();
    rep->output = output;
    rep->dtype = static_cast<DType>(TF_OperationOutputType(output));
    rep->where = where;
    return Tensor(rep);
  }

  // Notes a node that touches state.
  void Note(const Touch& touch) {
    touches_.push_back(touch);
    use_.Add(touch);
  }

  // In the order in which they were made.
  std::vector<CustomNode>& custom_nodes() { return custom_nodes_; }

  // Counts the traces and functions that use what the graph knows of gradients and of functions.
  // The last one drops it: a `backward` may hold symbols of this graph, which keep the graph.
  void AddUser() { users_.fetch_add(1, std::memory_order_relaxed); }
  void DropUser();

  // 1, 2 … for the random ops of the trace, so that each draws other numbers.
  int64_t next_seed() { return ++seeds_; }

  // Adds a Placeholder that is no input of the function yet (AddInput).
  Tensor Placeholder(DType dtype, const Shape& shape, const std::string& name, Where where) {
    TF_Status* const status = ThreadStatus();
    const std::string unique = Unique(name);
    TF_OperationDescription* const node = TF_NewOperation(graph_, "Placeholder", unique.c_str());
    TF_SetAttrType(node, "dtype", static_cast<TF_DataType>(dtype));
    TF_SetAttrShape(node, "shape", shape.dims().data(), shape.rank());
    TF_Operation* const operation = TF_FinishOperation(node, status);
    Check(status, where);
    return Symbol({operation, 0}, where);
  }

  // Adds a node that waits for the nodes `before`: an Identity of `input`, or a NoOp if that is
  // null. `name` is one that the graph does not have (Unique).
  TF_Operation* AddBehind(const std::vector<TF_Operation*>& before, const TF_Output* input,
                          const std::string& name, Where where) {
    TF_Status* const status = ThreadStatus();
    TF_OperationDescription* const node =
        TF_NewOperation(graph_, input == nullptr ? "NoOp" : "Identity", name.c_str());
    if (input != nullptr) TF_AddInput(node, *input);
    for (TF_Operation* const operation : before) TF_AddControlInput(node, operation);
    TF_Operation* const operation = TF_FinishOperation(node, status);
    Check(status, where);
    return operation;
  }

  // Adds a Const of the value.
  TF_Output Constant(TF_Tensor* value, std::string_view name, Where where) {
    TF_Status* const status = ThreadStatus();
    TF_OperationDescription* const node =
        TF_NewOperation(graph_, "Const", UniqueName(name).c_str());
    TF_SetAttrType(node, "dtype", TF_TensorType(value));
    TF_SetAttrTensor(node, "value", value, status);
    if (TF_GetCode(status) != TF_OK) {
      // The description is given back by finishing it.
      const Error error(TF_GetCode(status), TF_Message(status), "Const", {}, where);
      TF_FinishOperation(node, status);
      Throw(error);
    }
    TF_Operation* const operation = TF_FinishOperation(node, status);
    Check(status, where);
    NotePlace(operation, where);
    return {operation, 0};
  }

  // Gives output `to`, of this graph, what is known of the content of the resource `from`: types
  // and shapes, so that reads have shapes. Does nothing for other types.
  void CopyHandleData(const Tensor& from, TF_Output to) {
    if (from.dtype() != DType::kResource) return;
    TF_Status* const status = ThreadStatus();
    if (const auto& known = from.get()->handle_data; known != nullptr) {
      TF_SetHandleShapeAndType(graph_, to, known->data(), known->size(), status);
    } else if (from.IsSymbolic()) {
      TF_Buffer* const data = TF_GetHandleShapeAndType(from.get()->graph->graph(), from.output());
      if (data == nullptr) return;
      if (data->length != 0) TF_SetHandleShapeAndType(graph_, to, data->data, data->length, status);
      TF_DeleteBuffer(data);
    }
  }

 private:
  std::unordered_map<const void*, size_t> numbers_;  // of the nodes that CountNodes has seen
  size_t counted_to_ = 0;                            // the place of the last of them

  // Who touched a resource last.
  struct State {
    TF_Operation* last_write = nullptr;
    std::vector<TF_Operation*> reads;  // since the last write
  };
  // What stands in this graph for a tensor from outside.
  struct StandIn {
    Tensor tensor;  // so that its address names no other tensor
    TF_Output output;
    size_t capture;  // its number among the captures; kNoCapture for a constant
  };
  static constexpr size_t kNoCapture = static_cast<size_t>(-1);
  static constexpr size_t kMostCopied = 100'000;
  // Few kinds of maps keep the compiling of programs short.
  using Numbers = std::unordered_map<const void*, size_t>;

  void ForgetSymbolsOf(const TraceGraph* ended) {
    // Other threads may call the function meanwhile.
    const std::lock_guard lock(captures_mutex_);
    const auto forget = [&](Tensor& tensor) {
      if (!tensor.IsSymbolic() || tensor.get()->graph.get() != ended) return false;
      stand_in_numbers_.erase(tensor.get());
      tensor = Tensor();
      return true;
    };
    for (Tensor& capture : captures_) {
      if (forget(capture)) has_lost_captures_.store(true, std::memory_order_release);
    }
    for (StandIn& stand_in : stand_ins_) forget(stand_in.tensor);
  }
  State& StateOf(TF_Operation* resource) {
    const auto [found, is_new] = state_numbers_.try_emplace(resource, states_.size());
    if (is_new) states_.emplace_back();
    return states_[found->second];
  }

  // Whether a gradient may be asked for by the value: a tape watches it, or the enclosing trace has
  // it too.
  bool MayHaveGradient(const TensorRep& rep) const {
    return IsDifferentiable(rep.dtype) && (rep.is_watched.load(std::memory_order_relaxed) ||
                                           (outer_ != nullptr && rep.born < begun_));
  }

  // What stands for a symbol of a graph of which this one is a copy; null if nothing does.
  TF_Output FindOriginal(const TensorRep& rep) const {
    for (const auto& [graph, outputs] : originals_) {
      if (rep.graph == nullptr || graph != rep.graph.get()) continue;
      const auto found = outputs.find(NameOf(rep.output));
      if (found != outputs.end()) return found->second;
    }
    return {nullptr, 0};
  }

  TF_Output Capture(const Tensor& tensor, Where where) {
    TensorRep& rep = *tensor.get();
    const auto found = stand_in_numbers_.find(&rep);
    if (found != stand_in_numbers_.end()) return stand_ins_[found->second].output;
    if (const TF_Output output = FindOriginal(rep); output.oper != nullptr) return output;
    if (rep.handle != nullptr && rep.dtype != DType::kResource && rep.dtype != DType::kVariant &&
        tensor.shape().num_elements() <= kMaxConstantElements && !MayHaveGradient(rep)) {
      const TF_Output output = Constant(tensor.Host(where), "Const", where);
      if (IsDifferentiable(rep.dtype) && rep.born < begun_) constants_.push_back(tensor);
      StandFor(tensor, output, kNoCapture);
      return output;
    }
    AddCapture(tensor, where);
    return capture_inputs_.back();
  }

  void StandFor(const Tensor& tensor, TF_Output output, size_t capture) {
    stand_in_numbers_[tensor.get()] = stand_ins_.size();
    stand_ins_.push_back({tensor, output, capture});
  }

  void AddCapture(const Tensor& tensor, Where where) {
    TensorRep& rep = *tensor.get();
    if (rep.handle == nullptr) {
      TraceGraph* graph = outer_;
      while (graph != nullptr && graph != rep.graph.get() &&
             graph->FindOriginal(rep).oper == nullptr)
        graph = graph->outer_;
      if (graph == nullptr) {
        tensor.ThrowSymbolic(
            "this tensor belongs to the trace of another function, which is"
            " over or does not enclose this one",
            where);
      }
      captures_symbols_ = true;
    }
    const Tensor input = Placeholder(rep.dtype, tensor.shape(), "capture", where);
    CopyHandleData(tensor, input.output());
    StandFor(tensor, input.output(), captures_.size());
    captures_.push_back(tensor);
    capture_inputs_.push_back(input.output());
  }

  TF_Graph* const graph_;
  TraceGraph* const outer_;
  const uint64_t begun_ = trace_clock.fetch_add(1, std::memory_order_relaxed) + 1;
  std::vector<Original> originals_;
  std::unordered_map<std::string, int64_t> names_;
  std::vector<TF_Output> inputs_;
  std::vector<Tensor> captures_, constants_;
  bool captures_symbols_ = false;      // otherwise captures_ stays as the trace leaves it
  mutable std::mutex captures_mutex_;  // held where captures_ changes after the trace
  std::vector<TF_Output> capture_inputs_;
  std::vector<StandIn> stand_ins_;
  Numbers stand_in_numbers_;
  std::vector<State> states_;
  Numbers state_numbers_;
  TF_Operation* last_effect_ = nullptr;  // the last to write to more than resources
  std::vector<Touch> touches_;
  StateUse use_;  // of all of them
  std::vector<std::pair<TF_Operation*, Where>> places_;
  std::vector<std::shared_ptr<FunctionRep>> callees_;
  std::vector<CustomNode> custom_nodes_;
  std::vector<std::pair<TF_Operation*, TF_Operation*>> waits_;
  std::vector<TF_Operation*> waits_of_new_;  // of the node that is being made
  Where begin_;
  int64_t seeds_ = 0;
  size_t copied_ = 0;  // CountCopied
  std::atomic<int64_t> users_{0};
  std::atomic<bool> has_lost_captures_{false};
};

// One user of the graph while it lives (TraceGraph::AddUser); of none if the graph is null.
class TraceUse {
 public:
  explicit TraceUse(std::shared_ptr<TraceGraph> graph) : graph_(std::move(graph)) {
    if (graph_ != nullptr) graph_->AddUser();
  }
  TraceUse(TraceUse&&) = default;
  TraceUse& operator=(TraceUse&&) = delete;
  ~TraceUse() {
    if (graph_ != nullptr) graph_->DropUser();
  }

  const std::shared_ptr<TraceGraph>& graph() const { return graph_; }

 private:
  std::shared_ptr<TraceGraph> graph_;
};

inline void TraceGraph::OrderBefore(TF_OperationDescription* node, Effect effect,
                                    bool touches_world, const std::vector<TF_Output>& inputs) {
  waits_of_new_.clear();
  if (effect == Effect::kNone || effect == Effect::kRandom) return;
  bool has_resource = false;
  std::unordered_set<TF_Operation*> known;
  const auto wait_for = [&](TF_Operation* operation) {
    if (!known.insert(operation).second) return;
    TF_AddControlInput(node, operation);
    waits_of_new_.push_back(operation);
  };
  for (const TF_Output& input : inputs) {
    if (TF_OperationOutputType(input) != TF_RESOURCE) continue;
    has_resource = true;
    const State& state = StateOf(input.oper);
    if (state.last_write != nullptr) wait_for(state.last_write);
    if (effect == Effect::kRead) continue;
    for (TF_Operation* const read : state.reads) wait_for(read);
  }
  if ((touches_world || !has_resource) && last_effect_ != nullptr) wait_for(last_effect_);
}

inline void TraceGraph::OrderAfter(TF_Operation* node, Effect effect, bool touches_world,
                                   const std::vector<TF_Output>& inputs) {
  if (effect == Effect::kNone) return;
  for (TF_Operation* const before : waits_of_new_) waits_.emplace_back(node, before);
  if (effect == Effect::kRandom) {
    Note({node, effect, false});
    return;
  }
  bool has_resource = false;
  for (const TF_Output& input : inputs) {
    if (TF_OperationOutputType(input) != TF_RESOURCE) continue;
    has_resource = true;
    State& state = StateOf(input.oper);
    if (effect == Effect::kRead) {
      state.reads.push_back(node);
    } else {
      state.last_write = node;
      state.reads.clear();
    }
  }
  const bool is_of_world = effect == Effect::kWrite && (touches_world || !has_resource);
  if (is_of_world) last_effect_ = node;
  Note({node, effect, is_of_world});
}

}  // namespace tenon::inline v0::internal
