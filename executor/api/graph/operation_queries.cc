// The functions TF_Operation… of c_api.h, but those for attributes. A NULL operation, and an index
// that it does not have, give NULL, 0 or no output where there is no status.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "graph/op_defs/arg_ranges.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// A text that ends in a NUL, kept with the graph and made once.
const char* TextOf(const TF_Operation& oper, std::atomic<const char*>& kept,
                   std::string_view (Graph::*text)(NodeId) const) {
  if (const char* made = kept.load(std::memory_order_acquire)) return made;
  absl::MutexLock lock(&oper.graph->mutex);
  if (kept.load(std::memory_order_relaxed) == nullptr) {
    const std::string& copy = oper.graph->texts.emplace_back((oper.graph->graph.*text)(oper.node));
    kept.store(copy.c_str(), std::memory_order_release);
  }
  return kept.load(std::memory_order_relaxed);
}

// The number of tensors of the argument or result, or -1 with an error.
int ListLength(const TF_Operation& oper, const char* arg_name, bool of_input, TF_Status* status) {
  absl::ReaderMutexLock lock(&oper.graph->mutex);
  const Graph& graph = oper.graph->graph;
  const OpDef& op = *graph.op(oper.node);
  for (const ArgDef& arg : of_input ? op.inputs : op.outputs) {
    if (arg.name != arg_name) continue;
    const absl::StatusOr<int64_t> length = ArgLength(op, graph.attrs(oper.node), arg);
    if (length.ok()) return static_cast<int>(*length);
    StatusToC(length.status(), status);
    return -1;
  }
  StatusToC(absl::InvalidArgumentError(
                absl::StrCat(of_input ? "Input" : "Output", " arg '", arg_name, "' not found")),
            status);
  return -1;
}

// Calls `use(consumer, input)` for each use of the output, if there is such an output.
template <typename Use>
void ForEachUse(TF_Output out, Use use, const char* function = __builtin_FUNCTION()) {
  if (!IsThere(out.oper, function) || out.index < kControlPort) return;
  absl::MutexLock lock(&out.oper->graph->mutex);
  out.oper->graph->consumers.ForEach(out.oper->graph->graph, {out.oper->node, out.index}, use);
}

}  // namespace
}  // namespace tenon::api

using tenon::IsThere;
using tenon::NodeId;
using tenon::Output;
using tenon::api::AllGiven;

extern "C" {

const char* TF_OperationName(TF_Operation* oper) try {
  if (!IsThere(oper)) return nullptr;
  return tenon::api::TextOf(*oper, oper->name, &tenon::Graph::name);
} catch (...) {
  return tenon::WithoutMemory();
}

// Ops and functions have a name that ends in a NUL.
const char* TF_OperationOpType(TF_Operation* oper) {
  if (!IsThere(oper)) return nullptr;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  return oper->graph->graph.op(oper->node)->name.c_str();
}

const char* TF_OperationDevice(TF_Operation* oper) try {
  if (!IsThere(oper)) return nullptr;
  return tenon::api::TextOf(*oper, oper->device, &tenon::Graph::device);
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_OperationNumOutputs(TF_Operation* oper) {
  if (!IsThere(oper)) return 0;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  return oper->graph->graph.num_outputs(oper->node);
}

TF_DataType TF_OperationOutputType(TF_Output oper_out) {
  if (!IsThere(oper_out.oper)) return TF_DataType{};
  absl::ReaderMutexLock lock(&oper_out.oper->graph->mutex);
  const tenon::TypeVector& types =
      oper_out.oper->graph->graph.kind(oper_out.oper->node).types.outputs;
  if (oper_out.index < 0 || static_cast<size_t>(oper_out.index) >= types.size())
    return TF_DataType{};
  return tenon::DataTypeToC(types[oper_out.index]);
}

int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) try {
  if (!AllGiven({{"oper", oper}, {"arg_name", arg_name}}, status)) return -1;
  return tenon::api::ListLength(*oper, arg_name, /*of_input=*/false, status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

int TF_OperationNumInputs(TF_Operation* oper) {
  if (!IsThere(oper)) return 0;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  return oper->graph->graph.num_inputs(oper->node);
}

TF_DataType TF_OperationInputType(TF_Input oper_in) {
  if (!IsThere(oper_in.oper)) return TF_DataType{};
  absl::ReaderMutexLock lock(&oper_in.oper->graph->mutex);
  const tenon::TypeVector& types = oper_in.oper->graph->graph.kind(oper_in.oper->node).types.inputs;
  if (oper_in.index < 0 || static_cast<size_t>(oper_in.index) >= types.size()) return TF_DataType{};
  return tenon::DataTypeToC(types[oper_in.index]);
}

int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) try {
  if (!AllGiven({{"oper", oper}, {"arg_name", arg_name}}, status)) return -1;
  return tenon::api::ListLength(*oper, arg_name, /*of_input=*/true, status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

TF_Output TF_OperationInput(TF_Input oper_in) try {
  if (!IsThere(oper_in.oper) || oper_in.index < 0) return {nullptr, -1};
  TF_Graph& graph = *oper_in.oper->graph;
  absl::MutexLock lock(&graph.mutex);
  if (oper_in.index >= graph.graph.num_inputs(oper_in.oper->node)) return {nullptr, -1};
  return tenon::api::OutputToC(graph, graph.graph.data_inputs(oper_in.oper->node)[oper_in.index]);
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs) try {
  if (!IsThere(oper) || inputs == nullptr) return;
  absl::MutexLock lock(&oper->graph->mutex);
  for (const Output& from : oper->graph->graph.data_inputs(oper->node)) {
    if (max_inputs-- <= 0) return;
    *inputs++ = tenon::api::OutputToC(*oper->graph, from);
  }
} catch (...) {
  tenon::WithoutMemory();
}

int TF_OperationOutputNumConsumers(TF_Output oper_out) try {
  int count = 0;
  tenon::api::ForEachUse(oper_out, [&](NodeId, int32_t) { return ++count > 0; });
  return count;
} catch (...) {
  return tenon::WithoutMemory();
}

// Control edges have no number at their consumer.
int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input* consumers, int max_consumers) try {
  if (consumers == nullptr) max_consumers = 0;
  const bool control = oper_out.index == tenon::kControlPort;
  int count = 0;
  tenon::api::ForEachUse(oper_out, [&](NodeId n, int32_t input) {
    if (count < max_consumers)
      consumers[count] = {&oper_out.oper->graph->operations[n], control ? -1 : input};
    ++count;
    return true;
  });
  return count;
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_OperationNumControlInputs(TF_Operation* oper) {
  if (!IsThere(oper)) return 0;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  return static_cast<int>(oper->graph->graph.control_inputs(oper->node).size());
}

int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs,
                                 int max_control_inputs) {
  if (!IsThere(oper)) return 0;
  if (control_inputs == nullptr) max_control_inputs = 0;
  absl::MutexLock lock(&oper->graph->mutex);
  int count = 0;
  for (const Output& from : oper->graph->graph.control_inputs(oper->node)) {
    if (count < max_control_inputs) control_inputs[count] = &oper->graph->operations[from.node];
    ++count;
  }
  return count;
}

int TF_OperationNumControlOutputs(TF_Operation* oper) try {
  int count = 0;
  tenon::api::ForEachUse({oper, tenon::kControlPort}, [&](NodeId, int32_t) { return ++count > 0; });
  return count;
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs,
                                  int max_control_outputs) try {
  if (control_outputs == nullptr) max_control_outputs = 0;
  int count = 0;
  tenon::api::ForEachUse({oper, tenon::kControlPort}, [&](NodeId n, int32_t) {
    if (count < max_control_outputs) control_outputs[count] = &oper->graph->operations[n];
    ++count;
    return true;
  });
  return count;
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def, TF_Status* status) try {
  if (!AllGiven({{"oper", oper}, {"output_node_def", output_node_def}}, status)) return;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  tenon::StatusToC(
      tenon::FillBuffer(tenon::ExportNode(oper->graph->graph, oper->node), output_node_def),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
