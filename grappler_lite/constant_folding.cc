// Computes what depends on constants only, and values that follow from known shapes.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "grappler_lite/constant_branches.h"
#include "grappler_lite/known_values.h"
#include "grappler_lite/node_queries.h"
#include "grappler_lite/partial_folding.h"
#include "grappler_lite/pass.h"
#include "grappler_lite/rewriter.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMaterializeShape = {"materialize_shape", Exactness::kExact};
constexpr RewriteInfo kFold = {"fold", Exactness::kExact};

// By how many bytes a constant may be larger than those that it makes superfluous.
constexpr PassOption kMaxBytes = {"max_bytes", 10'000'000, "growth of constants in one fold"};
// All folds together may add this share of what constants take, or what one fold may.
constexpr int64_t kMaxGrowthDivisor = 4;

bool IsConst(const Graph& g, NodeId n) { return g.op_name(n) == "Const"; }

// One run of the pass.
class Folder {
 public:
  explicit Folder(PassContext& context)
      : c_(context), g_(context.graph), fanouts_(g_), max_growth_(context.Argument(kMaxBytes)) {
    int64_t constants = 0;
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n)) continue;
      keeps_waiting_ |= MayStopARun(n);
      const AttrValue* value = IsConst(g_, n) ? g_.attrs(n).Find("value") : nullptr;
      if (value != nullptr) constants += static_cast<int64_t>(value->wire().size());
    }
    growth_left_ = std::max(constants / kMaxGrowthDivisor, max_growth_);
  }

  absl::StatusOr<bool> Run() {
    bool changed = MaterializeShapes();
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    for (NodeId n : order) {
      ForwardInputs(n);
      if (c_.Visit()) changed |= Fold(n);
    }
    // Uses over the back edges of loops, which the sweep passed before their producer.
    if (!replaced_.empty()) {
      for (NodeId n : order) ForwardInputs(n);
    }
    return changed;
  }

 private:
  // Ops behind which a value may be dead, or never come because the op fails on purpose.
  bool MayStopARun(NodeId n) const {
    const OpDef* op = g_.op(n);
    return op != nullptr && (op->is_stateful || IsSwitchOp(op->name) ||
                             op->name == "CheckNumerics" || op->name == "CheckNumericsV2");
  }

  bool MayFold(NodeId n) const {
    return !IsConst(g_, n) && !NeverFolds(g_, n) && !c_.feeds.contains(n) && !ReadsSwitch(g_, n);
  }

  // Nodes whose value shape inference knows (Shape, Size, Rank, and integer arithmetic on them)
  // become constants.
  bool MaterializeShapes() {
    shapes_ = InferShapes(c_);
    if (shapes_ == nullptr) return false;
    bool changed = false;
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (!g_.alive(n) || !MayFold(n) || g_.num_outputs(n) != 1) continue;
      const DataType type = g_.output_type({n, 0});
      const std::optional<Tensor> value = KnownValue(shapes_->info({n, 0}), type);
      if (value && c_.HasConstKernel(n, type) && c_.Allow(kMaterializeShape.name, n))
        changed |= BecomeConst(n, *value);
    }
    return changed;
  }

  static std::optional<Tensor> KnownValue(const TensorInfo& info, DataType type) {
    if (type != DataType::kInt32 && type != DataType::kInt64) return std::nullopt;
    if (info.value != nullptr) return *info.value;
    const std::optional<Shape> shape = info.shape.ToShape();
    if (!info.partial_value || !shape ||
        static_cast<int64_t>(info.partial_value->size()) != shape->num_elements()) {
      return std::nullopt;
    }
    absl::StatusOr<Tensor> value = Tensor::Allocate(type, *shape);
    if (!value.ok()) return std::nullopt;
    const int64_t highest = type == DataType::kInt32 ? INT32_MAX : INT64_MAX;
    for (size_t i = 0; i < info.partial_value->size(); ++i) {
      const int64_t v = (*info.partial_value)[i];
      if (v < 0 || v > highest) return std::nullopt;
      if (type == DataType::kInt32) {
        value->flat<int32_t>()[i] = static_cast<int32_t>(v);
      } else {
        value->flat<int64_t>()[i] = v;
      }
    }
    return *std::move(value);
  }

  // What must have run before the constant that takes n's place: everything that n waited for, if
  // the graph holds an op that may stop a run; else what n and its constant inputs waited for
  // explicitly.
  std::vector<NodeId> Guards(NodeId n) const {
    std::vector<NodeId> guards;
    for (const Output& in : g_.data_inputs(n)) {
      if (IsConst(g_, in.node)) {
        for (const Output& control : g_.control_inputs(in.node)) guards.push_back(control.node);
      } else if (keeps_waiting_) {
        guards.push_back(in.node);
      }
    }
    return guards;
  }

  bool BecomeConst(NodeId n, const Tensor& value) {
    const std::vector<NodeId> guards = Guards(n);
    if (!g_.MakeConst(n, value).ok()) return false;
    for (NodeId m : guards) g_.AddControlInput(n, m);
    return true;
  }

  bool Fold(NodeId n) {
    if (!MayFold(n)) return false;
    if (g_.num_outputs(n) != 1 && c_.preserve.contains(n))
      return false;  // a constant has one output
    for (const Output& in : g_.data_inputs(n)) {
      if (!IsConst(g_, in.node) || c_.feeds.contains(in.node)) return false;
    }
    for (DataType type : g_.kind(n).types.outputs) {
      if (!c_.HasConstKernel(n, type)) return false;
    }
    std::vector<Tensor> inputs;
    for (const Output& in : g_.data_inputs(n)) {
      absl::StatusOr<Tensor> value = g_.ConstValue(in.node);
      if (!value.ok()) return false;
      inputs.push_back(*std::move(value));
    }
    if (IsKnownToExplode(n, inputs)) return false;
    absl::StatusOr<std::vector<Tensor>> outputs = c_.evaluator.Evaluate(g_, n, inputs);
    if (!outputs.ok()) return false;  // it fails, or has no kernel: the run says so
    const int64_t growth = Growth(n, inputs, *outputs);
    if (growth > std::min(max_growth_, growth_left_) || !c_.Allow(kFold.name, n)) return false;
    growth_left_ -= std::max<int64_t>(growth, 0);
    return outputs->size() == 1 ? BecomeConst(n, (*outputs)[0]) : SplitIntoConsts(n, *outputs);
  }

  // Whether the shapes of the outputs tell beforehand that they are too large, so that they need
  // not be computed to see it.
  bool IsKnownToExplode(NodeId n, const std::vector<Tensor>& inputs) const {
    if (shapes_ == nullptr) return false;
    double growth = 0;  // shapes may ask for more than any integer holds
    for (const Tensor& t : inputs) growth -= static_cast<double>(t.bytes());
    for (int i = 0; i < g_.num_outputs(n); ++i) {
      const std::optional<Shape> shape = shapes_->shape({n, i}).ToShape();
      if (!shape) continue;
      growth += static_cast<double>(shape->num_elements()) *
                static_cast<double>(DataTypeSize(g_.output_type({n, i})));
    }
    return growth > static_cast<double>(std::min(max_growth_, growth_left_));
  }

  // Bytes of the new constants less those of constants that nobody else uses.
  int64_t Growth(NodeId n, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& outputs) const {
    int64_t growth = 0;
    for (const Tensor& t : outputs) growth += static_cast<int64_t>(t.bytes());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NodeId constant = g_.data_inputs(n)[i].node;
      const bool dies = constant < known_nodes_ && fanouts_.of(constant).size() == 1 &&
                        !c_.preserve.contains(constant);
      if (dies) growth -= static_cast<int64_t>(inputs[i].bytes());
    }
    return growth;
  }

  // A node of several outputs is replaced by a constant for each; the node itself goes with the
  // next pruning.
  bool SplitIntoConsts(NodeId n, const std::vector<Tensor>& outputs) {
    const std::vector<NodeId> guards = Guards(n);
    std::vector<NodeId> consts;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string name = g_.UniqueName(absl::StrCat(g_.name(n), "/folded_", i));
      absl::StatusOr<NewAttrs> attrs = ConstAttrs(outputs[i]);
      if (!attrs.ok()) return false;
      std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
      for (NodeId m : guards) controls.push_back({m, kControlPort});
      absl::StatusOr<NodeId> id =
          g_.AddNode(name, "Const", controls, *std::move(attrs), g_.device(n), g_.pos(n));
      if (!id.ok()) return false;
      consts.push_back(*id);
    }
    replaced_.emplace(n, std::move(consts));
    return true;
  }

  void ForwardInputs(NodeId n) {
    if (replaced_.empty()) return;
    for (int i = 0; i < g_.num_inputs(n); ++i) {
      const Output in = g_.data_inputs(n)[i];
      if (const auto it = replaced_.find(in.node); it != replaced_.end())
        g_.SetInput(n, i, {it->second[in.port], 0});
    }
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;  // of before
  const GraphShapes* shapes_ = nullptr;
  const NodeId known_nodes_ = g_.num_node_ids();
  const int64_t max_growth_;
  int64_t growth_left_ = 0;
  bool keeps_waiting_ = false;
  absl::flat_hash_map<NodeId, std::vector<NodeId>> replaced_;
};

class ConstantFolding : public Pass {
 public:
  std::string_view name() const override { return "constant_folding"; }
  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> all = InfosOf(PartialFolding());
    for (const RewriteInfo& info : ConstantBranches()) all.push_back(info);
    all.insert(all.end(), {kMaterializeShape, kFold});
    return all;
  }
  std::vector<PassOption> options() const override { return {kMaxBytes}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    bool gathered = false;
    if (MayFoldPartially(context)) {
      TENON_ASSIGN_OR_RETURN(gathered, Sweep(context, InferShapes(context)).Run(PartialFolding()));
    }
    TENON_ASSIGN_OR_RETURN(const bool folded, Folder(context).Run());
    const bool branched = FoldConstantBranches(context);
    return gathered || folded || branched;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConstantFolding() { return std::make_unique<ConstantFolding>(); }

}  // namespace tenon
