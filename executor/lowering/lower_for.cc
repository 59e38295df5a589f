// Lowers For to a loop over the numbers start, start + delta … before limit.
#include "absl/strings/str_cat.h"
#include "executor/lowering/lowering.h"
#include "graph/base/status_macros.h"
#include "graph/ir/new_attrs.h"

namespace tenon {

// The scalar arithmetic of one For. It is done in int64, so that no limit of int32 makes it wrap.
class ForNumbers {
 public:
  ForNumbers(Lowering& lowering, NodeId n, NodeId start)
      : lowering_(lowering), n_(n), start_(start) {}

  absl::StatusOr<Output> Number(int64_t v) {
    Tensor value = Tensor::CopyOf(DataType::kInt64, Shape(), &v, sizeof(v));
    TENON_ASSIGN_OR_RETURN(auto attrs, ConstAttrs(value));
    return Node("Const", {}, std::move(attrs));
  }
  absl::StatusOr<Output> Compute(std::string_view op, std::vector<Output> inputs) {
    const DataType type = lowering_.TypeOf(inputs[0]);
    if (op.starts_with("Logical")) return Node(op, std::move(inputs), {});
    return Node(op, std::move(inputs), {{"T", attr::Type(type)}});
  }
  absl::StatusOr<Output> Cast(Output from, DataType to) {
    const DataType type = lowering_.TypeOf(from);
    return Node("Cast", {from}, {{"SrcT", attr::Type(type)}, {"DstT", attr::Type(to)}});
  }
  absl::StatusOr<Output> Node(std::string_view op, std::vector<Output> inputs,
                              std::vector<Graph::NewAttr> attrs) {
    // A node without inputs must not run before the For itself would.
    if (inputs.empty() && start_ != kNoNode) inputs.push_back({start_, kControlPort});
    TENON_ASSIGN_OR_RETURN(const NodeId node,
                           lowering_.Add(n_, op, op, std::move(inputs), std::move(attrs)));
    return Output{node, 0};
  }

 private:
  Lowering& lowering_;
  NodeId n_, start_;
};

absl::Status Lowering::LowerFor(NodeId n) {
  const std::vector<Output> inputs(graph_.data_inputs(n).begin(), graph_.data_inputs(n).end());
  TENON_ASSIGN_OR_RETURN(const FuncAttr body, FunctionAttr(n, "body"));
  TENON_ASSIGN_OR_RETURN(const NodeId begin, Start(n));
  ForNumbers numbers(*this, n, begin);
  const auto compute = [&](std::string_view op, std::vector<Output> args) {
    return numbers.Compute(op, std::move(args));
  };
  TENON_ASSIGN_OR_RETURN(const Output zero, numbers.Number(0));
  TENON_ASSIGN_OR_RETURN(const Output one, numbers.Number(1));
  TENON_ASSIGN_OR_RETURN(const Output start, numbers.Cast(inputs[0], DataType::kInt64));
  TENON_ASSIGN_OR_RETURN(const Output limit, numbers.Cast(inputs[1], DataType::kInt64));
  TENON_ASSIGN_OR_RETURN(const Output delta, numbers.Cast(inputs[2], DataType::kInt64));
  // delta must lead from start to limit, or start must equal limit. The sign of the product and
  // both zeros are checked in the graph, as the values are known only in a run.
  TENON_ASSIGN_OR_RETURN(const Output way, compute("Sub", {limit, start}));
  TENON_ASSIGN_OR_RETURN(const Output product, compute("Mul", {way, delta}));
  TENON_ASSIGN_OR_RETURN(const Output towards, compute("GreaterEqual", {product, zero}));
  TENON_ASSIGN_OR_RETURN(const Output moves, compute("NotEqual", {delta, zero}));
  TENON_ASSIGN_OR_RETURN(const Output there, compute("Equal", {way, zero}));
  TENON_ASSIGN_OR_RETURN(const Output ends, compute("LogicalOr", {moves, there}));
  TENON_ASSIGN_OR_RETURN(const Output valid, compute("LogicalAnd", {towards, ends}));
  Tensor text = *Tensor::Allocate(DataType::kString, Shape());
  text.SetString(0, "start, limit and delta name no range of numbers:");
  TENON_ASSIGN_OR_RETURN(auto text_attrs, ConstAttrs(text));
  TENON_ASSIGN_OR_RETURN(const Output message, numbers.Node("Const", {}, std::move(text_attrs)));
  const DataType types[] = {DataType::kString, DataType::kInt32, DataType::kInt32,
                            DataType::kInt32};
  TENON_ASSIGN_OR_RETURN(
      const NodeId checked,
      Add(n, "check", "Assert", {valid, message, inputs[0], inputs[1], inputs[2]},
          {{"T", attr::TypeList(types)}}));
  // The number of passes: the distance in strides, rounded up. The stride of at least 1 keeps
  // FloorDiv from a division by 0 where start equals limit.
  TENON_ASSIGN_OR_RETURN(const Output distance, compute("Abs", {way}));
  TENON_ASSIGN_OR_RETURN(const Output size, compute("Abs", {delta}));
  TENON_ASSIGN_OR_RETURN(const Output stride, compute("Maximum", {size, one}));
  TENON_ASSIGN_OR_RETURN(const Output more, compute("AddV2", {distance, stride}));
  TENON_ASSIGN_OR_RETURN(const Output most, compute("Sub", {more, one}));
  TENON_ASSIGN_OR_RETURN(const Output count, compute("FloorDiv", {most, stride}));

  // The first variable counts passes. The number is computed from the pass, and the other variables
  // are those of the node.
  std::vector<Output> values = {zero};
  values.insert(values.end(), inputs.begin() + 3, inputs.end());
  TENON_ASSIGN_OR_RETURN(Loop loop, OpenLoop(n, values, checked));
  TENON_ASSIGN_OR_RETURN(const Output last, Invariant(n, count));
  TENON_ASSIGN_OR_RETURN(const Output condition, compute("Less", {{loop.merges[0], 0}, last}));
  TENON_RETURN_IF_ERROR(DivideLoop(n, condition, loop));
  TENON_ASSIGN_OR_RETURN(const Output step, Invariant(n, one));
  TENON_ASSIGN_OR_RETURN(const Output first_number, Invariant(n, start));
  TENON_ASSIGN_OR_RETURN(const Output difference, Invariant(n, delta));
  const Output pass{loop.switches[0], 1};
  TENON_ASSIGN_OR_RETURN(const Output offset, compute("Mul", {pass, difference}));
  TENON_ASSIGN_OR_RETURN(const Output number, compute("AddV2", {first_number, offset}));
  std::vector<Output> args(1);
  TENON_ASSIGN_OR_RETURN(args[0], numbers.Cast(number, DataType::kInt32));
  for (size_t i = 1; i < loop.switches.size(); ++i) args.push_back({loop.switches[i], 1});
  Demand demand = DemandOf(n);
  demand.first_variable = 1;
  TENON_ASSIGN_OR_RETURN(const Instance instance, Inline(n, absl::StrCat(graph_.name(n), "/body"),
                                                         body, args, loop.body, std::move(demand)));
  TENON_RETURN_IF_ERROR(
      CheckBody(body.name, absl::MakeConstSpan(values).subspan(1), instance.results));
  std::vector<Output> next(1);
  TENON_ASSIGN_OR_RETURN(next[0], compute("AddV2", {pass, step}));
  next.insert(next.end(), instance.results.begin(), instance.results.end());
  TENON_RETURN_IF_ERROR(CloseLoop(n, next, loop));
  return LeaveLoop(n, 1, loop);
}

}  // namespace tenon
