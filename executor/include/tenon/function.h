// Functions that are traced: the first call with a new signature makes a graph, later ones run it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/concrete_function.h"
#include "tenon/internal/function_ref.h"
#include "tenon/internal/function_rep.h"
#include "tenon/internal/shared.h"
#include "tenon/internal/signature.h"
#include "tenon/internal/trace_table.h"
#include "tenon/structure.h"
#include "tenon/variable.h"

namespace tenon::inline v0 {

// How a Function is named and traced.
struct FunctionOptions {
  // Begins the names of its graphs (ConcreteFunction::name); '_' and a number follow. Nodes that
  // call them are named after their op. INVALID_ARGUMENT for one that no node may have.
  std::string name = "function";
  // What calls must give, an entry for each tensor among the arguments, in their order; empty: any
  // tensors. One trace serves all calls that it admits and that have the same C++ arguments. Other
  // tensors are INVALID_ARGUMENT.
  std::vector<TensorSpec> input_signature = {};
  // Lengths in which two calls differ become unknown, so that a third call needs no trace. Where
  // the ranks differ, the whole shape becomes unknown. Changes nothing beside an input_signature.
  bool reduce_retracing = false;
  std::string device = {};  // of ops for which the function names none
  // For programs that set it for TensorFlow's compiler. It changes nothing here: each trace is
  // optimized and planned as a whole anyway.
  bool jit = false;
};

namespace internal {

// What a Function has whatever the type of its callable is. Compiled once for all Functions.
class FunctionCore {
 public:
  using Callable = std::unique_ptr<void, void (*)(void*)>;
  // Runs the callable with symbols in the place of tensors, and gives its result with symbols; null
  // for void.
  using Run = FunctionRef<std::shared_ptr<void>(MakeInputs&, CollectOutputs&)>;

  FunctionCore(Callable function, FunctionOptions chosen, Where place)
      : callable(std::move(function)), options(Named(std::move(chosen))), where(OfProgram(place)) {
    CheckName(options.name, "a Function", where);
    traces.Configure(options.name, options.input_signature, options.reduce_retracing, where);
  }

  // TraceTable::Find of a trace that `run` makes.
  std::shared_ptr<Trace> FindTrace(const CallArgs& call, Run run,
                                   TraceTable::DescribeArgs describe) {
    return traces.Find(
        call, [&](const Signature& signature) { return MakeTrace(signature, run); }, describe);
  }

  const Callable callable;
  const FunctionOptions options;
  const Where where;
  TraceTable traces;

 private:
  static FunctionOptions Named(FunctionOptions options) {
    options.device = DeviceName(options.device);
    return options;
  }

  std::shared_ptr<Trace> MakeTrace(const Signature& signature, Run run) const {
    auto graph = std::make_shared<TraceGraph>(scopes.trace);
    const TraceUse use(graph);
    graph->Begin(where);
    const TraceScope scope(graph.get(), &options.device);
    MakeInputs make_inputs(*graph, signature, where);
    CollectOutputs collect(*graph, where);
    auto trace = std::make_shared<Trace>();
    trace->result = run(make_inputs, collect);
    trace->function = FunctionRep::Finish(options.name + "_" + std::to_string(NextNumber()), graph,
                                          std::move(collect.outputs), where);
    return trace;
  }
};

}  // namespace internal

// A callable as a function of tensors. A call looks for a trace of its signature: types, shapes and
// devices of the tensors, values of C++ arguments, and which variables it is given. If there is
// none, the callable runs once with symbols in the place of tensors, and the graph that its ops
// make is kept. So what the callable does beside ops happens in a trace only. A trace that holds a
// tensor from outside as a constant serves no more calls once a tape watches that tensor: the next
// call makes a new one.
//
// Arguments and results are tensors, variables, C++ numbers, strings and enums, and std::tuple,
// pair, vector, array, map and optional of them; a struct takes part if `auto Fields()` gives a
// std::tie of its members. What is not a tensor among the results is that of the trace.
//
// A lambda has a type of its own. Where the type is written, as for a member of a class or the
// elements of a vector, it is Function<std::function<Tensor(Tensor)>>.
//
// An argument in braces becomes the type of the callable's parameter: f({a, b}) for a std::vector,
// a pair or a struct. A callable that is a template or has overloads takes no braces.
//
// Calls from several threads at once are allowed; for a signature one of them traces. An exception
// of the callable leaves no trace. FAILED_PRECONDITION if the callable calls the function with the
// same arguments, or 64 calls deep with others; or if it makes a Variable in a trace that is not
// the first, or one that nobody holds when the trace ends. The fifth trace writes a warning to
// stderr. Copies share their traces.
template <typename F>
class Function : private internal::BracedCalls<Function<F>, internal::ParametersOf<F>> {
  using Braced = internal::BracedCalls<Function<F>, internal::ParametersOf<F>>;

 public:
  explicit Function(F callable, FunctionOptions options = {}, Where where = Where::current())
      : core_("Function",
              std::make_shared<internal::FunctionCore>(
                  internal::FunctionCore::Callable(
                      new F(std::move(callable)), [](void* made) { delete static_cast<F*>(made); }),
                  std::move(options), where)) {}

  using Braced::operator();
  // Calls of up to six arguments know the place of the call, longer ones that of the Function.
  auto operator()(Where where = Where::current()) const { return CallAt(where); }
  template <typename A>
  auto operator()(const A& a, Where where = Where::current()) const {
    return CallAt(where, a);
  }
  template <typename A, typename B>
  auto operator()(const A& a, const B& b, Where where = Where::current()) const {
    return CallAt(where, a, b);
  }
  template <typename A, typename B, typename C>
  auto operator()(const A& a, const B& b, const C& c, Where where = Where::current()) const {
    return CallAt(where, a, b, c);
  }
  template <typename A, typename B, typename C, typename D>
  auto operator()(const A& a, const B& b, const C& c, const D& d,
                  Where where = Where::current()) const {
    return CallAt(where, a, b, c, d);
  }
  template <typename A, typename B, typename C, typename D, typename E>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e,
                  Where where = Where::current()) const {
    return CallAt(where, a, b, c, d, e);
  }
  template <typename A, typename B, typename C, typename D, typename E, typename G>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const G& g,
                  Where where = Where::current()) const {
    return CallAt(where, a, b, c, d, e, g);
  }
  template <typename A, typename B, typename C, typename D, typename E, typename G,
            typename... More>
  requires(sizeof...(More) != 0) auto operator()(const A& a, const B& b, const C& c, const D& d,
                                                 const E& e, const G& g,
                                                 const More&... more) const {
    return CallAt(core_->where, a, b, c, d, e, g, more...);
  }

  // The trace for arguments as these, in which a TensorSpec stands for a tensor and names it. Made
  // if there is none, or none with these names. Without arguments, of a callable that takes tensors
  // alone, that of the input_signature: INVALID_ARGUMENT for one of another length.
  template <typename... Args>
  ConcreteFunction Concrete(const Args&... args) const {
    if constexpr (sizeof...(Args) == 0 && internal::ParametersOf<F>::kTensors > 0) {
      const std::vector<TensorSpec>& signature = core_->options.input_signature;
      constexpr size_t count = internal::ParametersOf<F>::kTensors;
      if (signature.size() != count) {
        internal::Throw(TF_INVALID_ARGUMENT,
                        "Concrete() without arguments needs an input_signature of " +
                            std::to_string(count) + " tensors; it has " +
                            std::to_string(signature.size()),
                        core_->where);
      }
      return [&]<size_t... i>(std::index_sequence<i...>) { return Concrete(signature[i]...); }
      (std::make_index_sequence<count>());
    } else if constexpr (!internal::kTakes<F, Args...>) {
      internal::RefuseArguments<F, Args...>();
    } else {
      using Result = std::decay_t<
          std::invoke_result_t<F&, std::add_lvalue_reference_t<internal::TracedArg<Args>>...>>;
      internal::CallArgs call = internal::ReadArgs(
          internal::TypeTag<internal::TracedArg<Args>...>(), core_->where, args...);
      return ConcreteFunction(FindTrace<Result>(call, args...)->function);
    }
  }

  // How many traces were made.
  int trace_count(Where where = Where::current()) const { return core_.At(where).traces.count(); }
  // Why each trace was made, what it captured and how large, which constants it holds and which ops
  // compute of constants alone, which control edges keep its side effects in order and what they
  // cost. For people. Graphs and SavedModels that are written of a trace say the same of it to
  // `graph_run explain`.
  std::string TraceReport(Where where = Where::current()) const {
    return core_.At(where).traces.Report();
  }

 private:
  friend Braced;

  template <typename Result, typename... Args>
  std::shared_ptr<internal::Trace> FindTrace(const internal::CallArgs& call,
                                             const Args&... args) const {
    const auto run = [&](internal::MakeInputs& make_inputs,
                         internal::CollectOutputs& collect) -> std::shared_ptr<void> {
      F& callable = *static_cast<F*>(core_->callable.get());
      std::tuple<internal::TracedArg<Args>...> symbols(internal::AsTraced(args)...);
      std::apply([&](auto&... parts) { (internal::Walk(parts, make_inputs), ...); }, symbols);
      if constexpr (std::is_void_v<Result>) {
        std::apply(callable, symbols);
        return nullptr;
      } else {
        auto result = std::make_shared<Result>(std::apply(callable, symbols));
        internal::Walk(*result, collect);
        return result;
      }
    };
    return core_->FindTrace(call, run, [&] { return internal::ArgDescriber(args...).parts; });
  }

  template <typename... Args>
  auto CallAt(Where where, const Args&... args) const {
    if constexpr (!internal::kTakes<F, Args...>) {
      internal::RefuseArguments<F, Args...>();
    } else {
      using Result = std::decay_t<
          std::invoke_result_t<F&, std::add_lvalue_reference_t<internal::TracedArg<Args>>...>>;
      core_.At(where);
      internal::CallArgs call =
          internal::ReadArgs(internal::TypeTag<internal::TracedArg<Args>...>(), where, args...);
      const std::shared_ptr<internal::Trace> trace = FindTrace<Result>(call, args...);
      const std::vector<Tensor> outputs = trace->function->Run(std::move(call.tensors), where);
      if constexpr (!std::is_void_v<Result>) {
        Result result = *static_cast<const Result*>(trace->result.get());
        internal::ReplaceTensors replace(outputs);
        internal::Walk(result, replace);
        return result;
      }
    }
  }

  internal::Shared<internal::FunctionCore> core_;
};

}  // namespace tenon::inline v0
