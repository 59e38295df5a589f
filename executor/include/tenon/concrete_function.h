// One trace of a function: a graph with fixed types of inputs, which runs, and can be kept in a
// file.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/internal/function_rep.h"
#include "tenon/internal/shared.h"
#include "tenon/operators.h"
#include "tenon/structure.h"

namespace tenon::inline v0 {

namespace internal {

template <typename T>
concept AsTensor = std::is_convertible_v<const T&, Tensor>;

}  // namespace internal

// What a function gives: its tensors in order. Converts to Tensor if there is one;
// INVALID_ARGUMENT for another number.
class Results : public std::vector<Tensor> {
 public:
  Results(std::vector<Tensor> tensors) : std::vector<Tensor>(std::move(tensors)) {}  // NOLINT
  operator Tensor() const {                                                          // NOLINT
    if (size() == 1) return front();
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The function gives " + std::to_string(size()) + " tensors, not one");
  }
};

// So that a callable may give what a ConcreteFunction gives.
template <>
struct internal::IsVector<Results> : std::true_type {};

inline Operand::Operand(const Results& results, Where where) : Operand(Tensor(results), where) {}

// A handle: copies are the same function. Calls from several threads at once are allowed.
class ConcreteFunction {
 public:
  explicit ConcreteFunction(std::shared_ptr<internal::FunctionRep> rep)
      : rep_("ConcreteFunction", std::move(rep)) {}

  // Runs the function with a tensor for each input. Inside of a trace it becomes a node.
  // INVALID_ARGUMENT for other numbers or types of tensors; inside of a trace, other types are an
  // error of the calls of the traced function. The call does not compare shapes with those of
  // inputs(). FAILED_PRECONDITION if the function uses a symbol of an enclosing trace that is over.
  Results operator()(const std::vector<Tensor>& inputs, Where where = Where::current()) const {
    const size_t count = rep_.At(where).graph()->inputs().size();
    if (inputs.size() != count) {
      internal::Throw(Error(TF_INVALID_ARGUMENT,
                            "The function takes " + std::to_string(count) + " tensors, not " +
                                std::to_string(inputs.size()),
                            name(), {}, where));
    }
    return rep_->Run(inputs, where);
  }
  template <internal::AsTensor A>
  Results operator()(const A& a, Where where = Where::current()) const {
    return (*this)(std::vector<Tensor>{Tensor(a)}, where);
  }
  template <internal::AsTensor A, internal::AsTensor B>
  Results operator()(const A& a, const B& b, Where where = Where::current()) const {
    return (*this)(std::vector<Tensor>{Tensor(a), Tensor(b)}, where);
  }
  template <internal::AsTensor A, internal::AsTensor B, internal::AsTensor C>
  Results operator()(const A& a, const B& b, const C& c, Where where = Where::current()) const {
    return (*this)(std::vector<Tensor>{Tensor(a), Tensor(b), Tensor(c)}, where);
  }
  template <internal::AsTensor A, internal::AsTensor B, internal::AsTensor C, internal::AsTensor D>
  Results operator()(const A& a, const B& b, const C& c, const D& d,
                     Where where = Where::current()) const {
    return (*this)(std::vector<Tensor>{Tensor(a), Tensor(b), Tensor(c), Tensor(d)}, where);
  }
  template <internal::AsTensor A, internal::AsTensor B, internal::AsTensor C, internal::AsTensor D,
            internal::AsTensor E>
  Results operator()(const A& a, const B& b, const C& c, const D& d, const E& e,
                     Where where = Where::current()) const {
    return (*this)(std::vector<Tensor>{Tensor(a), Tensor(b), Tensor(c), Tensor(d), Tensor(e)},
                   where);
  }
  template <internal::AsTensor A, internal::AsTensor B, internal::AsTensor C, internal::AsTensor D,
            internal::AsTensor E, internal::AsTensor G>
  Results operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const G& g,
                     Where where = Where::current()) const {
    return (*this)(
        std::vector<Tensor>{Tensor(a), Tensor(b), Tensor(c), Tensor(d), Tensor(e), Tensor(g)},
        where);
  }
  template <internal::AsTensor... Tensors>
  requires(sizeof...(Tensors) > 6) Results operator()(const Tensors&... inputs) const {
    return (*this)(std::vector<Tensor>{Tensor(inputs)...}, Where());
  }

  // The name in a library of functions, which no other function of the process has.
  const std::string& name() const { return rep_->name(); }
  // In the order of calls, with the names that graph_def() and SavedModels give them.
  std::vector<TensorSpec> inputs() const {
    std::vector<std::string> names;
    for (const TF_Output& input : rep_->graph()->inputs())
      names.emplace_back(TF_OperationName(input.oper));
    return Specs(rep_->graph()->inputs(), names);
  }
  std::vector<TensorSpec> outputs() const { return Specs(rep_->outputs(), rep_->output_names()); }
  // Tensors from outside that the function uses and that are no constants of its graph: values that
  // were too large, values by which a gradient may be asked for, variables, as their handles, other
  // resources, variants, and symbols of an enclosing trace. A symbol is an empty Tensor once its
  // trace is over.
  std::vector<Tensor> captures() const { return rep_->graph()->captures(); }

  // The graph as the bytes of a GraphDef that runs by itself: inputs are placeholders of their
  // names, results are the nodes output_0, output_1 ... (with a number behind where the function
  // has a node of this name), captured values are constants. A variable that the function only
  // reads is a constant of its present value, also where branches, loops and functions read it. A
  // variable that is assigned is a VarHandleOp, which the node `init` gives its present value. On
  // another library than Tenon a variable that branches, loops or functions read is a VarHandleOp
  // too. FAILED_PRECONDITION if the function uses a symbol of another trace. UNIMPLEMENTED if it
  // uses a variant, or a resource other than a variable.
  std::string graph_def() const;
  // Writes graph_def() to a file: as text if the name ends in ".pbtxt", as bytes if it ends in
  // ".pb", either packed if ".xz" or ".gz" follows. INVALID_ARGUMENT for another ending. On a
  // library other than Tenon only ".pb": UNIMPLEMENTED for others. Where the file cannot be
  // written, the code follows from errno; on another library it is UNKNOWN.
  void Save(const std::string& path, Where where = Where::current()) const;
  // A text for people on what becomes of the nodes (TENON_ExplainGraph). Errors are those of
  // graph_def() and of a session that would run the graph. UNIMPLEMENTED on a library other than
  // Tenon.
  std::string Explain() const;
  // The graph as it runs, after all passes, as the bytes of a GraphDef. Errors are those of
  // Explain.
  std::string Optimized() const;

  // So that a function can be the value of an attribute.
  operator FunctionName() const { return FunctionName(rep_->name(), rep()); }  // NOLINT

  // --- Of this library's own headers.
  const std::shared_ptr<internal::FunctionRep>& rep() const { return rep_.pointer(); }

 private:
  std::vector<TensorSpec> Specs(const std::vector<TF_Output>& outputs,
                                const std::vector<std::string>& names) const {
    std::vector<TensorSpec> specs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor symbol = rep_->graph()->Symbol(outputs[i], {});
      specs.emplace_back(symbol.dtype(), symbol.shape(), names[i]);
    }
    return specs;
  }

  internal::Shared<internal::FunctionRep> rep_;
};

namespace internal {

// Runs a call that a tape of this thread sees. A GradientTape sets it: a program without a tape
// does not compile what it calls.
inline std::atomic<std::vector<Tensor> (*)(const std::shared_ptr<FunctionRep>& function,
                                           std::vector<Tensor> inputs, Where where)>
    run_with_tape = nullptr;

// Calls, in a trace, a function whose own trace has tensors with gradients of the program's own. A
// CustomGradient sets it.
inline std::atomic<std::vector<Tensor> (*)(
    TraceGraph& graph, const std::shared_ptr<FunctionRep>& function,
    const std::vector<Tensor>& tensors, Where where, const std::string& name)>
    call_with_custom_gradient = nullptr;

// What a node that calls the function takes: its inputs and what it captures.
inline std::vector<Tensor> WithCaptures(const FunctionRep& function, std::vector<Tensor> inputs) {
  function.graph()->AppendCaptures(inputs);
  return inputs;
}

// A node that calls a function. `function` gives the outputs. `tensors` are WithCaptures, as this
// trace has them. Named after the op if `name` is empty.
inline std::vector<Tensor> CallInTrace(TraceGraph& graph,
                                       const std::shared_ptr<FunctionRep>& function,
                                       const std::vector<Tensor>& tensors, Where where,
                                       const std::string& name = {}) {
  graph.Use(function);
  const Effect effect = function->effect();
  std::vector<DType> types, results;
  for (const Tensor& tensor : tensors) types.push_back(tensor.dtype());
  for (const TF_Output& output : function->outputs())
    results.push_back(static_cast<DType>(TF_OperationOutputType(output)));
  Op op(effect == Effect::kNone ? "PartitionedCall" : "StatefulPartitionedCall", where);
  op.Input(tensors)
      .Attr("Tin", types)
      .Attr("Tout", results)
      .Attr("f", FunctionName(function->name()));
  op.options().name = name;
  op.options().SetEffect(effect, function->use().touches_world);
  std::vector<Tensor> outputs = RunAsNode(op.call(), op.options());
  // The C API infers no shapes through calls on every library.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Shape shape = function->graph()->Symbol(function->outputs()[i], {}).shape();
    if (!shape.has_rank() || outputs[i].shape().IsFullyDefined()) continue;
    TF_Status* const status = ThreadStatus();
    TF_GraphSetTensorShape(graph.graph(), outputs[i].output(), shape.dims().data(), shape.rank(),
                           status);
  }
  return outputs;
}

inline void FunctionRep::CheckCaptures(Where where) const {
  if (!graph_->has_lost_captures()) [[likely]]
    return;
  Throw(Error(TF_FAILED_PRECONDITION,
              "The function uses a symbol of the function in whose trace it was traced, which is"
              " over: hand the tensor over as an argument",
              name_, {}, where));
}

inline std::vector<Tensor> FunctionRep::Run(std::vector<Tensor> inputs, Where where) {
  CheckCaptures(where);
  if (TraceGraph* const graph = scopes.trace) {
    inputs = WithCaptures(*this, std::move(inputs));
    return custom_nodes_.empty() ? CallInTrace(*graph, shared_from_this(), inputs, where)
                                 : call_with_custom_gradient.load(std::memory_order_acquire)(
                                       *graph, shared_from_this(), inputs, where, {});
  }
  Register();
  if (scopes.tape != nullptr) {
    return run_with_tape.load(std::memory_order_acquire)(shared_from_this(), std::move(inputs),
                                                         where);
  }
  return RunEagerly(Call(std::move(inputs), where), std::max<size_t>(outputs_.size(), 1));
}

}  // namespace internal
}  // namespace tenon::inline v0

#include "tenon/graph_file.h"  // defines what ConcreteFunction says of its graph
