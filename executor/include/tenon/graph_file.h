// A traced function as a graph that runs by itself, for files and reports.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/concrete_function.h"
#include "tenon/internal/graph_copy.h"
#include "tenon/internal/own.h"
#include "tenon/internal/trace_report.h"
#include "tenon/variable.h"

namespace tenon::inline v0 {
namespace internal {

// The copy of a function's graph in which placeholders, constants and variables stand for what
// calls give.
class GraphExport {
 public:
  // Makes the copy. `function` must outlive the object. FAILED_PRECONDITION if the function uses a
  // symbol of another trace, UNIMPLEMENTED if it uses a variant or a resource that is no variable.
  explicit GraphExport(const FunctionRep& function, Where where)
      : where_(where), copy_(*function.graph(), std::make_shared<TraceGraph>(nullptr)) {
    TraceGraph& from = copy_.from();
    const TraceScope scope(copy_.graph().get(), nullptr);
    for (const TF_Output& input : from.inputs()) {
      const Tensor symbol = from.Symbol(input, where);
      copy_.Replace(
          input, copy_.graph()
                     ->AddInput(symbol.dtype(), symbol.shape(), TF_OperationName(input.oper), where)
                     .output());
      skipped_.emplace(input.oper, 0);
      inputs_.emplace_back(TF_OperationName(input.oper));
    }
    std::vector<TF_Operation*> all = NodesOf(from.graph());
    for (TF_Operation* const node : all) copy_.graph()->Reserve(TF_OperationName(node));
    const std::vector<Tensor> captures = from.captures();
    for (size_t i = 0; i < captures.size(); ++i) AddCapture(captures[i], from.capture_inputs()[i]);
    std::vector<TF_Operation*> nodes;
    for (TF_Operation* const node : all) {
      if (!skipped_.contains(node)) nodes.push_back(node);
    }
    copy_.Copy(nodes, where);
    for (TF_Operation* const node : from.must_run())
      effects_.push_back(TF_GraphOperationByName(copy_.graph()->graph(), TF_OperationName(node)));
    for (size_t i = 0; i < function.outputs().size(); ++i)
      AddResult(copy_.Find(function.outputs()[i]), function.output_names()[i]);
    if (!initializers_.empty()) AddInit();
    // The facts of the trace stand at its first result.
    std::string node;
    if (!results_.empty()) {
      node = results_[0];
    } else if (!effects_.empty()) {
      node = TF_OperationName(effects_.back());
    }
    facts_.emplace(function.note.why.empty() ? nullptr : &function, std::move(node));
    for (const auto& callee : from.callees()) facts_->Add(*callee);
  }

  TraceGraph& graph() const { return *copy_.graph(); }
  // The names of the nodes that stand for the results, in their order.
  const std::vector<std::string>& results() const { return results_; }
  // The nodes with side effects, as targets: "^node".
  std::vector<std::string> Effects() const {
    std::vector<std::string> targets;
    for (TF_Operation* const effect : effects_)
      targets.push_back(std::string("^") + TF_OperationName(effect));
    return targets;
  }

  // Returns the graph as GraphDef bytes, with the facts of the trace (TraceFacts).
  std::string Bytes() const {
    TF_Status* const status = ThreadStatus();
    TF_Buffer* const buffer = TF_NewBuffer();
    TF_GraphToGraphDef(graph().graph(), buffer, status);
    const std::string bytes = TakeBytes(buffer);
    Check(status, where_);
    return Frozen(facts_->Write(bytes));
  }

 private:
  // The bytes with constants in the place of the variables that branches, loops and functions only
  // read. The same bytes where the library cannot tell.
  std::string Frozen(std::string bytes) const {
    if (initializers_.empty() || TENON_FreezeGraph == nullptr) return bytes;
    std::vector<const char*> feeds, keep;
    for (const std::string& input : inputs_) feeds.push_back(input.c_str());
    for (const std::string& result : results_) keep.push_back(result.c_str());
    for (TF_Operation* const effect : effects_) keep.push_back(TF_OperationName(effect));
    TF_Status* const status = ThreadStatus();
    TF_Buffer* const frozen =
        TENON_FreezeGraph(bytes.data(), bytes.size(), feeds.data(), static_cast<int>(feeds.size()),
                          keep.data(), static_cast<int>(keep.size()), init_.c_str(), status);
    if (TF_GetCode(status) == TF_UNIMPLEMENTED) return bytes;
    Check(status, where_);
    return TakeBytes(frozen);
  }

  void AddCapture(const Tensor& capture, TF_Output input) {
    skipped_.emplace(input.oper, 0);
    if (!capture.defined()) {
      Throw(TF_FAILED_PRECONDITION,
            "The function uses a symbol of a trace that is over: its graph cannot be kept", where_);
    }
    if (capture.IsSymbolic())
      capture.ThrowSymbolic("a function that uses it cannot be kept apart from that trace", where_);
    if (capture.dtype() != DType::kResource) {
      copy_.Replace(input, graph().Constant(capture.Host(where_), "capture", where_));
      return;
    }
    const VariableInfo* const info = capture.get()->variable.get();
    if (info == nullptr) {
      Throw(TF_UNIMPLEMENTED,
            "The function uses a resource that is no Variable; its graph cannot be kept", where_);
    }
    const Tensor value = [&] {
      const OutsideTraces outside;
      return Op("ReadVariableOp", where_).Input(capture).Attr("dtype", info->dtype).RunOne();
    }();
    if (IsOnlyRead(input)) {
      const TF_Output constant = graph().Constant(value.Host(where_), info->name, where_);
      const int count = TF_OperationOutputNumConsumers(input);
      std::vector<TF_Input> consumers(static_cast<size_t>(count));
      TF_OperationOutputConsumers(input, consumers.data(), count);
      for (const TF_Input& consumer : consumers) {
        copy_.Replace({consumer.oper, 0}, constant);
        skipped_.emplace(consumer.oper, 0);
      }
      return;
    }
    const Tensor handle = Op("VarHandleOp", where_)
                              .Name(info->name)
                              .Attr("dtype", info->dtype)
                              .Attr("shape", info->shape)
                              .Attr("shared_name", info->shared_name)
                              .RunOne();
    copy_.Replace(input, handle.output());
    initializers_.push_back(
        Op("AssignVariableOp", where_)
            .Name(info->name + "/Assign")
            .Input(handle)
            .Input(graph().Symbol(
                graph().Constant(value.Host(where_), info->name + "/value", where_), where_))
            .Attr("dtype", info->dtype)
            .AddToTrace());
  }

  static bool IsOnlyRead(TF_Output handle) {
    const int count = TF_OperationOutputNumConsumers(handle);
    std::vector<TF_Input> consumers(static_cast<size_t>(count));
    TF_OperationOutputConsumers(handle, consumers.data(), count);
    for (const TF_Input& consumer : consumers) {
      if (std::string_view(TF_OperationOpType(consumer.oper)) != "ReadVariableOp") return false;
    }
    return true;
  }

  // A result waits for the side effects of the function, as the result of a call does.
  void AddResult(TF_Output output, const std::string& name) {
    results_.push_back(graph().Unique(name));
    graph().AddBehind(effects_, &output, results_.back(), where_);
  }
  void AddInit() {
    init_ = graph().Unique("init");
    graph().AddBehind(initializers_, nullptr, init_, where_);
  }

  const Where where_;
  GraphCopy copy_;
  std::unordered_map<const void*, size_t> skipped_;
  std::vector<TF_Operation*> initializers_, effects_;
  std::vector<std::string> inputs_, results_;
  std::string init_;
  std::optional<FactWriter> facts_;
};

// Calls `ask`, which is TENON_ExplainGraph or TENON_OptimizeGraph, for the graph of a function.
// `what` names the caller for the error.
template <typename Ask>
std::string AskAbout(const FunctionRep& function, Ask* ask, const char* what) {
  NeedTenon(ask, what);
  const GraphExport graph(function, {});
  const std::string bytes = graph.Bytes();
  std::vector<std::string> inputs;
  for (const TF_Output& input : function.graph()->inputs())
    inputs.emplace_back(TF_OperationName(input.oper));
  std::vector<const char*> feeds, fetches;
  for (const std::string& input : inputs) feeds.push_back(input.c_str());
  for (const std::string& result : graph.results()) fetches.push_back(result.c_str());
  // Results wait for side effects. A function without results has nothing else.
  std::vector<std::string> effects;
  if (fetches.empty()) effects = graph.Effects();
  for (const std::string& effect : effects) fetches.push_back(effect.c_str());
  TF_Status* const status = ThreadStatus();
  TF_Buffer* const answer =
      ask(bytes.data(), bytes.size(), feeds.data(), static_cast<int>(feeds.size()), fetches.data(),
          static_cast<int>(fetches.size()), status);
  Check(status);
  return TakeBytes(answer);
}

// Writes the bytes of a GraphDef to a file in the form that the ending of its name asks for. Errors
// are those of ConcreteFunction::Save.
inline void WriteGraphFile(const std::string& bytes, const std::string& path, Where where) {
  if (TENON_WriteGraph != nullptr) {
    TF_Status* const status = ThreadStatus();
    TENON_WriteGraph(bytes.data(), bytes.size(), path.c_str(), status);
    return Check(status, where);
  }
  if (!path.ends_with(".pb")) NeedTenon(TENON_WriteGraph, "A graph file that is not .pb", where);
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  bool whole = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  // What is still in the buffer may not fit on the disk.
  if (file != nullptr && std::fclose(file) != 0) whole = false;
  if (!whole) Throw(TF_UNKNOWN, "Cannot write " + path, where);
}

}  // namespace internal

inline std::string ConcreteFunction::graph_def() const {
  return internal::GraphExport(*rep_, {}).Bytes();
}
inline void ConcreteFunction::Save(const std::string& path, Where where) const {
  internal::WriteGraphFile(graph_def(), path, where);
}
inline std::string ConcreteFunction::Explain() const {
  std::string text = internal::AskAbout(*rep_, TENON_ExplainGraph, "Explain");
  if (rep_->note.why.empty()) return text;
  return text + "\n" + rep_->note.function + ": because " + rep_->note.why + "\n" +
         internal::FactLines(internal::FactsOf(*rep_));
}
inline std::string ConcreteFunction::Optimized() const {
  return internal::AskAbout(*rep_, TENON_OptimizeGraph, "Optimized");
}

}  // namespace tenon::inline v0
