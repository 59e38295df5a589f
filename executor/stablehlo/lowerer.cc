#include "executor/stablehlo/lowerer.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon::stablehlo {
namespace {

constexpr int kMostDepth = 64;                        // of calls
constexpr int64_t kMostNodes = int64_t{4} << 20;      // with those of bodies, at each call
constexpr size_t kMostBytes = size_t{1} << 30;        // of text
constexpr size_t kMostFoldedBytes = size_t{8} << 10;  // of a value that is computed here

// The elements of an output whose integers inference knows.
Tensor KnownInts(const TensorInfo& info, DataType dtype) {
  // Other values than integers are not taken: an op that checks its operand hands it on.
  if (dtype != DataType::kInt32 && dtype != DataType::kInt64) return {};
  const std::optional<Shape> shape = info.shape.ToShape();
  if (info.value != nullptr) return *info.value;
  if (!info.partial_value || !shape) return {};
  const Dims& ints = *info.partial_value;
  if (std::ranges::find(ints, kUnknownDim) != ints.end()) return {};
  if (shape->num_elements() != static_cast<int64_t>(ints.size())) return {};
  if (dtype == DataType::kInt64) {
    return Tensor::Of<int64_t>(dtype, absl::MakeConstSpan(ints.data(), ints.size()), *shape);
  }
  std::vector<int32_t> narrow(ints.begin(), ints.end());
  return Tensor::Of<int32_t>(dtype, narrow, *shape);
}

}  // namespace

void SetKnown(Entry& entry, Tensor known) {
  entry.info = TensorInfo();
  entry.info.shape = PartialShape(known.shape());
  if (known.num_elements() <= kMaxShapeValueElements)
    entry.info.value = std::make_shared<const Tensor>(known);
  entry.known = std::move(known);
}

Entry* Frame::Add(NodeId n, int outputs) {
  at[n] = static_cast<int32_t>(first.size());
  entries.push_back(std::make_unique<Entry[]>(std::max(outputs, 1)));
  first.push_back(entries.back().get());
  return first.back();
}

absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, absl::Span<const NodeId> ends,
                                            absl::FunctionRef<bool(NodeId)> stop) {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(graph.num_node_ids(), kNew);
  std::vector<NodeId> order;
  std::vector<std::pair<NodeId, uint32_t>> path;
  for (const NodeId end : ends) {
    if (state[end] == kNew && !stop(end)) path.emplace_back(end, 0);
    while (!path.empty()) {
      auto& [n, next] = path.back();
      state[n] = kOpen;
      const auto inputs = graph.inputs(n);
      if (next == inputs.size()) {
        state[n] = kDone;
        order.push_back(n);
        path.pop_back();
        continue;
      }
      const NodeId from = inputs[next++].node;
      if (from == kNoNode || state[from] == kDone || stop(from)) continue;
      if (state[from] == kOpen)
        return absl::InvalidArgumentError(
            absl::StrCat("node '", graph.name(from), "' is part of a cycle"));
      path.emplace_back(from, 0);
    }
  }
  return order;
}

Lowerer::Lowerer(const LoweringRequest& request)
    : request_(request), builder_(request.allow_tf32 ? "DEFAULT" : "HIGHEST", request.node_names) {
  if (!request.trace) return;
  trace_ = std::make_shared<Trace>();
  builder_.set_trace(trace_.get());
}

absl::Status Lowerer::AddArguments(Frame& frame) {
  for (size_t i = 0; i < request_.arguments.size(); ++i) {
    const Argument& argument = request_.arguments[i];
    const Output from = argument.output;
    if (ElementName(argument.dtype).empty())
      return absl::UnimplementedError(absl::StrCat("argument '", frame.graph->OutputName(from),
                                                   "' has type ", DataTypeName(argument.dtype)));
    Entry* entries = frame.at[from.node] >= 0
                         ? frame.first[frame.at[from.node]]
                         : frame.Add(from.node, frame.graph->num_outputs(from.node));
    Entry& entry = entries[from.port];
    if (argument.value.initialized()) {
      SetKnown(entry, argument.value);
      continue;
    }
    entry.value = Builder::Argument(static_cast<int32_t>(i), argument.dtype, argument.shape);
    entry.info.shape = PartialShape(argument.shape);
  }
  return absl::OkStatus();
}

void Lowerer::Write(Entry& entry) {
  const Tensor& known = entry.known;
  if (!known.initialized() || ElementName(known.dtype()).empty()) return;
  if (known.bytes() <= request_.most_constant_bytes) {
    entry.value = builder_.Constant(known);
    return;
  }
  const auto [it, is_new] =
      weight_of_.try_emplace(known.data(), static_cast<int32_t>(weights_.size()));
  // Elements that are all the same need no parameter. A weight that is one already stays one.
  if (is_new && IsSplat(known)) {
    weight_of_.erase(it);
    entry.value = builder_.Constant(known);
    return;
  }
  if (is_new) {
    const auto node = const_of_.find(known.data());
    weights_.push_back({.dtype = known.dtype(),
                        .shape = known.shape(),
                        .weight = node == const_of_.end() ? kNoNode : node->second,
                        .value = known});
  }
  const Value weight = Builder::Weight(it->second, known.dtype(), weights_[it->second].shape);
  // The same elements may be read with another shape.
  entry.value = builder_.Reshape(weight, known.shape());
}

absl::Status Lowerer::WriteConst(Frame& frame, NodeId n) {
  // A body may be written several times: its constants are decoded once, and are one parameter.
  Tensor& value = consts_[{frame.graph, n}];
  if (!value.initialized()) {
    TENON_ASSIGN_OR_RETURN(value, frame.graph->ConstValue(n));
  }
  if (frame.depth == 0) const_of_.try_emplace(value.data(), n);
  SetKnown(*frame.Add(n, 1), value);
  return absl::OkStatus();
}

bool Lowerer::Fold(Frame& frame, NodeId n, absl::Span<Entry* const> inputs,
                   absl::Span<Entry> outputs) {
  const Graph& graph = *frame.graph;
  bool all = !outputs.empty();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DataType dtype = graph.output_type({n, static_cast<int32_t>(i)});
    Tensor known = KnownInts(outputs[i].info, dtype);
    if (known.initialized() && known.dtype() == dtype) {
      SetKnown(outputs[i], std::move(known));
    } else {
      all = false;
    }
  }
  if (all) return true;
  if (request_.evaluator == nullptr || inputs.empty() || outputs.empty()) return false;
  if (graph.facts(n).calls != CallKind::kNone) return false;
  std::vector<Tensor> values;
  for (const Entry* input : inputs) {
    if (!input->known.initialized()) return false;
    values.push_back(input->known);
  }
  for (const Entry& output : outputs) {
    const std::optional<Shape> shape = output.info.shape.ToShape();
    if (shape && shape->num_elements() > static_cast<int64_t>(kMostFoldedBytes)) return false;
  }
  absl::StatusOr<std::vector<Tensor>> results =
      request_.evaluator->Evaluate(graph, n, values, kMostFoldedBytes);
  if (!results.ok() || results->size() != outputs.size()) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!(*results)[i].initialized()) return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) SetKnown(outputs[i], std::move((*results)[i]));
  return true;
}

absl::Status Lowerer::CheckLimits(const Frame& frame, NodeId n) {
  if (++written_ <= kMostNodes && builder_.bytes() <= kMostBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the program is too large: ", written_, " nodes and ", builder_.bytes(),
                   " bytes of text at node '", frame.prefix, frame.graph->name(n), "'"));
}

const Row* Lowerer::RowOf(const Graph& graph, NodeId n) {
  if (const Row* row = FindRow(graph.op_name(n))) return row;
  // A node whose op is a function calls it.
  if (graph.FindFunction(graph.op_name(n)) != nullptr) return FindRow("PartitionedCall");
  return nullptr;
}

absl::Status Lowerer::WriteNode(Frame& frame, NodeId n) {
  const Graph& graph = *frame.graph;
  TENON_RETURN_IF_ERROR(CheckLimits(frame, n));
  const NodeKind& kind = graph.kind(n);
  if (kind.op_name == "Const") return WriteConst(frame, n);
  if (kind.op == nullptr)
    return absl::UnimplementedError(
        absl::StrCat("no lowering for op ", kind.op_name, " of node '", graph.name(n), "'"));
  TENON_RETURN_IF_ERROR(kind.types_status);
  std::vector<Entry*> inputs;
  InferenceContext::Infos infos;
  for (const Output in : graph.data_inputs(n)) {
    Entry* entry = frame.Find(in);
    if (entry == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("input '", graph.OutputName(in), "' of node '",
                                                     frame.prefix, graph.name(n),
                                                     "' is neither computed nor an argument"));
    inputs.push_back(entry);
    infos.push_back(&entry->info);
  }
  const int num_outputs = graph.num_outputs(n);
  const absl::Span<Entry> outputs(frame.Add(n, num_outputs), num_outputs);
  InferenceContext shapes(*kind.op, kind.attrs, kind.types, std::move(infos));
  shapes.set_node(graph.name(n));
  TENON_RETURN_IF_ERROR(RunShapeFn(shapes, graph.name(n)));
  for (int i = 0; i < num_outputs; ++i) outputs[i].info = std::move(shapes.output(i));
  if (Fold(frame, n, inputs, outputs)) return absl::OkStatus();
  const Row* row = RowOf(graph, n);
  if (frame.depth == 0) main_node_ = n;
  builder_.SetNode(main_node_, graph.name(n));
  Op op(*this, frame, n, shapes, inputs, outputs, builder_);
  if (row == nullptr) return op.Unimplemented("the op has none");
  if (row->lower == nullptr) return op.Unimplemented("the shape of a result depends on values");
  TENON_RETURN_IF_ERROR(row->lower(op));
  return builder_.status();
}

absl::Status Lowerer::WriteNodes(Frame& frame, absl::Span<const NodeId> order) {
  for (const NodeId n : order) {
    if (frame.at[n] >= 0 && frame.graph->op_name(n) == "Placeholder") continue;
    TENON_RETURN_IF_ERROR(WriteNode(frame, n));
  }
  return absl::OkStatus();
}

void Lowerer::AddCheck(const Op& op, const Value& ok, std::string_view message,
                       absl::StatusCode code) {
  Op& mutable_op = const_cast<Op&>(op);
  const Frame& frame = mutable_op.frame();
  checks_.push_back({ok,
                     {.node = main_node_,
                      .name = absl::StrCat(frame.prefix, op.shapes().node()),
                      .code = code,
                      .message = std::string(message)}});
}

const Fanouts& Lowerer::UsesIn(const Frame& frame) {
  std::unique_ptr<Fanouts>& uses = uses_[frame.graph];
  if (uses == nullptr) uses = std::make_unique<Fanouts>(*frame.graph);
  return *uses;
}

bool Lowerer::IsResult(const Frame& frame, Output output) const {
  return frame.depth == 0 && std::ranges::find(request_.results, output) != request_.results.end();
}

absl::StatusOr<const Body*> Lowerer::BodyOf(const Frame& frame, std::string_view function) {
  if (const auto it = bodies_.find(function); it != bodies_.end()) return it->second.get();
  const FunctionEntry* entry = frame.graph->FindFunction(function);
  if (entry == nullptr)
    return absl::NotFoundError(absl::StrCat("there is no function '", function, "'"));
  if (functions_ == nullptr) functions_ = SharedFunctions::Of(*request_.graph);
  absl::StatusOr<FunctionGraph> graph = FunctionGraph::Make(*request_.graph, *entry, functions_);
  if (!graph.ok()) return Annotate(graph.status(), absl::StrCat("function '", function, "': "));
  std::vector<NodeId> ends = graph->results;
  ends.insert(ends.end(), graph->effects.begin(), graph->effects.end());
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order,
                         OrderOf(graph->graph, ends, [](NodeId) { return false; }));
  auto body = std::make_unique<Body>(Body{std::move(*graph), std::move(order)});
  return bodies_.emplace(entry->name, std::move(body)).first->second.get();
}

absl::StatusOr<std::vector<Entry>> Lowerer::Call(Op& caller, std::string_view function,
                                                 std::vector<Entry> arguments,
                                                 const std::vector<int>* wanted) {
  TENON_ASSIGN_OR_RETURN(const Body* body, BodyOf(caller.frame(), function));
  const FunctionGraph& f = body->function;
  if (f.args.size() != arguments.size())
    return caller.Invalid(absl::StrCat("function '", function, "' takes ", f.args.size(),
                                       " arguments and gets ", arguments.size()));
  Frame frame(f.graph);
  frame.depth = caller.frame().depth + 1;
  if (frame.depth > kMostDepth)
    return absl::ResourceExhaustedError(absl::StrCat("functions call one another more than ",
                                                     kMostDepth, " deep at '", function, "'"));
  frame.prefix = absl::StrCat(caller.frame().prefix, caller.shapes().node(), "/");
  for (size_t i = 0; i < arguments.size(); ++i) *frame.Add(f.args[i], 1) = std::move(arguments[i]);
  std::vector<Entry> results(f.results.size());
  if (wanted == nullptr) {
    TENON_RETURN_IF_ERROR(WriteNodes(frame, body->order));
    for (size_t i = 0; i < results.size(); ++i) results[i] = *frame.Find({f.results[i], 0});
    return results;
  }
  std::vector<NodeId> ends;
  for (const int i : *wanted) ends.push_back(f.results[i]);
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order,
                         OrderOf(f.graph, ends, [](NodeId) { return false; }));
  TENON_RETURN_IF_ERROR(WriteNodes(frame, order));
  for (const int i : *wanted) results[i] = *frame.Find({f.results[i], 0});
  return results;
}

absl::StatusOr<Program> Lowerer::Run() {
  const Graph& graph = *request_.graph;
  Frame frame(graph);
  TENON_RETURN_IF_ERROR(AddArguments(frame));
  std::vector<NodeId> ends(request_.nodes.begin(), request_.nodes.end());
  for (const Output result : request_.results) ends.push_back(result.node);
  const absl::flat_hash_set<NodeId> wanted(request_.nodes.begin(), request_.nodes.end());
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, OrderOf(graph, ends, [&](NodeId n) {
                           if (!wanted.empty() && !wanted.contains(n)) return true;
                           return frame.at[n] >= 0 && graph.op_name(n) == "Placeholder";
                         }));
  for (const NodeId n : order) {
    // A node of which some outputs are arguments is not computed.
    if (frame.at[n] < 0) TENON_RETURN_IF_ERROR(WriteNode(frame, n));
  }
  std::vector<Value> results;
  for (const Output result : request_.results) {
    Entry* entry = frame.Find(result);
    if (entry != nullptr && !entry->value) Write(*entry);
    if (entry == nullptr || !entry->value)
      return absl::InvalidArgumentError(
          absl::StrCat("result '", graph.OutputName(result), "' has no value"));
    results.push_back(entry->value);
  }
  for (const CheckFlag& flag : checks_) results.push_back(flag.ok);
  TENON_RETURN_IF_ERROR(builder_.status());
  return Finish(results);
}

Program Lowerer::Finish(const std::vector<Value>& results) {
  Program program;
  builder_.SetNode(kNoNode, "");
  // The names of the results are marked as read before the head is written.
  std::string values, types;
  {
    const Lines body = builder_.Take();
    for (const Value& v : results) {
      if (!values.empty()) {
        values.append(", ");
        types.append(", ");
      }
      builder_.AppendName(v);
      values.append(builder_.Take().text);
      AppendType(v.dtype, v.shape, &types);
      program.results.push_back({v.dtype, v.shape});
    }
    std::string& text = program.text;
    text = "module {\n  func.func public @main(";
    const auto parameter = [&](std::string_view kind, size_t i, Parameter p) {
      if (!program.parameters.empty()) text.append(", ");
      absl::StrAppend(&text, "%", kind, i, ": ");
      AppendType(p.dtype, p.shape, &text);
      program.parameters.push_back(std::move(p));
    };
    for (size_t i = 0; i < request_.arguments.size(); ++i) {
      const Argument& argument = request_.arguments[i];
      if (builder_.ReadsArgument(i))
        parameter("arg", i,
                  {.dtype = argument.dtype,
                   .shape = argument.shape,
                   .argument = static_cast<int32_t>(i)});
    }
    for (size_t i = 0; i < weights_.size(); ++i) parameter("w", i, std::move(weights_[i]));
    absl::StrAppend(&text, ") -> (", types, ") {\n", body.text, "    return");
    if (!results.empty()) absl::StrAppend(&text, " ", values, " : ", types);
    text.append("\n  }\n}\n");
    program.line_nodes.assign(2, kNoNode);
    program.line_nodes.insert(program.line_nodes.end(), body.nodes.begin(), body.nodes.end());
    program.line_nodes.insert(program.line_nodes.end(), 3, kNoNode);
  }
  for (CheckFlag& flag : checks_) program.checks.push_back(std::move(flag.check));
  if (trace_ != nullptr) {
    for (const Value& v : results) trace_->results.push_back(Builder::Traced(v));
    program.trace = std::move(trace_);
  }
  return program;
}

absl::StatusOr<Program> Lower(const LoweringRequest& request) { return Lowerer(request).Run(); }

}  // namespace tenon::stablehlo
