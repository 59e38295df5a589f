// Computes what depends on constants only, and values that follow from known shapes.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/shapes/cost.h"
#include "graph/tensor/memory_bound.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/constant_folding/constant_branches.h"
#include "grappler_lite/passes/constant_folding/folded_constants.h"
#include "grappler_lite/passes/constant_folding/folded_origins.h"
#include "grappler_lite/passes/constant_folding/partial_folding.h"
#include "grappler_lite/pipeline/known_values.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMaterializeShape = {"materialize_shape", Exactness::kExact};
constexpr RewriteInfo kMaterializeLike = {"materialize_like", Exactness::kExact};
constexpr RewriteInfo kFold = {"fold", Exactness::kExact};

// By how many bytes a constant may be larger than those that it makes superfluous.
constexpr PassOption kMaxBytes = {"max_bytes", 10'000'000, "growth of constants in one fold"};
constexpr PassOption kMaxWork = {"max_work", 4'000'000'000,
                                 "operations of one fold, by the sizes of what it takes"};
// All folds together, in all rounds and bodies, may do as much as this many.
constexpr int64_t kMaxWorkFolds = 4;
// All folds together may add this share of what constants take, or what one fold may.
constexpr int64_t kMaxGrowthDivisor = 4;
// What constants may take that are not there as bytes in the file: strings, one value repeated.
constexpr size_t kDecodingBytes = size_t{64} << 20;

bool IsConst(const Graph& g, NodeId n) { return g.op_name(n) == "Const"; }

// One run of the pass.
class Folder {
 public:
  explicit Folder(PassContext& context)
      : c_(context),
        g_(context.graph),
        fanouts_(g_),
        made_(g_, fanouts_, c_.preserve),
        max_growth_(context.Argument(kMaxBytes)),
        max_work_(context.Argument(kMaxWork)) {
    int64_t constants = 0;
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (!g_.alive(n)) continue;
      const AttrValue* value = IsConst(g_, n) ? g_.attrs(n).Find("value") : nullptr;
      if (value != nullptr) constants += static_cast<int64_t>(value->wire().size());
    }
    // Without the growth by earlier rounds, which would raise its own bound.
    total_growth_ = std::max((constants - c_.gate.grown()) / kMaxGrowthDivisor, max_growth_);
    keeps_waiting_ = MayStopARun(g_);
  }

  absl::StatusOr<bool> Run() {
    bool changed = MaterializeShapes();
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    for (NodeId n : order) {
      ForwardInputs(n);
      if (c_.Visit()) changed |= Fold(n) || MaterializeLike(n);
    }
    // Uses over the back edges of loops, which the sweep passed before their producer.
    if (!replaced_.empty()) {
      for (NodeId n : order) ForwardInputs(n);
    }
    origins_.KeepErrors(c_, shapes_);
    made_.Finish();
    return changed;
  }

 private:
  bool MayFold(NodeId n) const {
    return !IsConst(g_, n) && !NeverFolds(g_, n) && !c_.feeds.contains(n) && !ReadsSwitch(g_, n);
  }

  // PassContext's answer, which mostly is that of the node before.
  bool HasConstKernel(NodeId n, DataType type) {
    if (type != asked_type_ || g_.device(n) != asked_device_) {
      asked_type_ = type;
      asked_device_ = g_.device(n);
      has_const_kernel_ = c_.HasConstKernel(n, type);
    }
    return has_const_kernel_;
  }

  // Nodes whose value shape inference knows (Shape, Size, Rank, and integer arithmetic on them)
  // become constants.
  bool MaterializeShapes() {
    shapes_ = InferShapes(c_);
    if (shapes_ == nullptr) return false;
    bool changed = false;
    for (NodeId n = 0, end = g_.num_node_ids(); n < end; ++n) {
      if (!g_.alive(n) || !MayFold(n)) continue;
      for (int32_t port = 0; port < g_.num_outputs(n); ++port) {
        const DataType type = g_.output_type({n, port});
        const std::optional<Tensor> value = KnownValue(shapes_->info({n, port}), type);
        if (!value || !(g_.num_outputs(n) == 1 || fanouts_.count({n, port}) > 0) ||
            !HasConstKernel(n, type) || !c_.Allow(kMaterializeShape.name, n))
          continue;
        if (g_.num_outputs(n) == 1) {
          changed |= BecomeConst(n, *value);
          break;
        }
        changed |= ReplaceByConst({n, port}, *value);
      }
    }
    return changed;
  }

  // Zeros or ones in the shape of something, if that is known: whatever it holds.
  bool MaterializeLike(NodeId n) {
    const std::string_view op = g_.op_name(n);
    if (shapes_ == nullptr || (op != "OnesLike" && op != "ZerosLike") || !MayFold(n)) return false;
    const DataType type = g_.output_type({n, 0});
    const std::optional<Shape> shape = shapes_->shape({n, 0}).ToShape();
    if (!shape || !HasConstKernel(n, type)) return false;
    const absl::StatusOr<size_t> bytes = TensorBytes(type, *shape);
    if (!bytes.ok() || *bytes > static_cast<size_t>(MayGrow())) return RefuseGrowth();
    const absl::StatusOr<Tensor> like = Tensor::Allocate(type, *shape);
    if (!like.ok()) return false;
    const absl::StatusOr<std::vector<Tensor>> values =
        c_.evaluator.Evaluate(g_, n, {*like}, *bytes);
    if (!values.ok() || !c_.Allow(kMaterializeLike.name, n)) return false;
    c_.gate.Grow(static_cast<int64_t>(*bytes));
    return BecomeConst(n, (*values)[0]);
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
      // A negative element stands for an unknown one.
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

  void NoteOrigins(NodeId n, NodeId constant) {
    origins_.Note(g_, n, constant);
    // What gives several values stays what it is: the constant may have to wait for its errors.
    for (const Output& in : g_.data_inputs(n)) {
      if (!IsConst(g_, in.node) && g_.num_outputs(in.node) != 1) made_.Keep(in.node);
    }
  }

  bool BecomeConst(NodeId n, const Tensor& value) {
    if (!FoldedConstants::CanHold(value)) return false;
    const std::vector<NodeId> guards = Guards(n);
    NoteOrigins(n, n);
    made_.BecomeConst(n, value);
    for (NodeId m : guards) {
      g_.AddControlInput(n, m);
      made_.Keep(m);
    }
    return true;
  }

  bool Fold(NodeId n) {
    if (!MayFold(n)) return false;
    // A constant has one output; for each of several that nobody uses there would be none.
    if (g_.num_outputs(n) != 1 &&
        (c_.preserve.contains(n) || !made_.HasReaders(n) || HasConstants(n)))
      return false;
    for (const Output& in : g_.data_inputs(n)) {
      if (!IsConst(g_, in.node) || c_.feeds.contains(in.node)) return false;
    }
    for (DataType type : g_.kind(n).types.outputs) {
      if (!HasConstKernel(n, type)) return false;
    }
    absl::StatusOr<std::vector<Tensor>> inputs = ValuesOf(g_.data_inputs(n));
    if (!inputs.ok()) return RefuseIfTooLarge(inputs.status());
    const int64_t work = EstimateWork(g_, n, *inputs, KnownElements(n));
    if (!MayWork(work)) return false;
    const int64_t dying = DyingBytes(n, *inputs);
    absl::StatusOr<std::vector<Tensor>> outputs =
        c_.evaluator.Evaluate(g_, n, *inputs, static_cast<size_t>(MayGrow() + dying));
    // Without a kernel there was no work. A kernel that failed may have done all of it.
    if (!absl::IsUnimplemented(outputs.status())) c_.gate.Work(work);
    // Where it fails, or has no kernel, the run says so.
    if (!outputs.ok()) return RefuseIfTooLarge(outputs.status());
    if (!c_.Allow(kFold.name, n)) return false;
    int64_t growth = -dying;
    for (const Tensor& t : *outputs) growth += static_cast<int64_t>(HeldBytes(t));
    c_.gate.Grow(std::max<int64_t>(growth, 0));
    return outputs->size() == 1 ? BecomeConst(n, (*outputs)[0]) : SplitIntoConsts(n, *outputs);
  }

  // A few bytes of a file can stand for a large value, and n may take one more than once.
  absl::StatusOr<std::vector<Tensor>> ValuesOf(std::span<const Output> constants) const {
    const MemoryBound bound(kDecodingBytes + static_cast<size_t>(MayGrow()));
    return WithinMemory([&]() -> absl::StatusOr<std::vector<Tensor>> {
      absl::flat_hash_map<NodeId, Tensor> known;
      std::vector<Tensor> values;
      for (const Output& constant : constants) {
        const auto [it, is_new] = known.try_emplace(constant.node);
        if (is_new) {
          const Tensor* made = made_.Find(constant.node);
          TENON_ASSIGN_OR_RETURN(it->second,
                                 made != nullptr ? *made : g_.ConstValue(constant.node));
        }
        values.push_back(it->second);
      }
      return values;
    });
  }

  // Of what n gives, where its shapes are known.
  int64_t KnownElements(NodeId n) const {
    int64_t elements = 0;
    if (shapes_ == nullptr || n >= known_nodes_) return elements;
    for (int32_t port = 0; port < g_.num_outputs(n); ++port)
      elements += std::max<int64_t>(shapes_->shape({n, port}).num_elements(), 0);
    return elements;
  }

  // Whether one fold more may do this much; where not, it is said.
  bool MayWork(int64_t work) {
    const int64_t left = max_work_ > INT64_MAX / kMaxWorkFolds
                             ? INT64_MAX
                             : max_work_ * kMaxWorkFolds - c_.gate.worked();
    if (work <= std::min(max_work_, left)) return true;
    c_.gate.SayBudgetSpent(
        work > max_work_ ? absl::StrCat(max_work_, " operations of one fold")
                         : absl::StrCat(max_work_ * kMaxWorkFolds, " operations of all folds"));
    return false;
  }

  // What all folds together have left, and what the next may take of it.
  int64_t GrowthLeft() const { return std::max<int64_t>(total_growth_ - c_.gate.grown(), 0); }
  int64_t MayGrow() const { return std::min(max_growth_, GrowthLeft()); }

  // False.
  bool RefuseGrowth() {
    c_.gate.SayBudgetSpent(GrowthLeft() < max_growth_
                               ? absl::StrCat(total_growth_, " bytes of growth by all folds")
                               : absl::StrCat(max_growth_, " bytes of growth by one fold"));
    return false;
  }
  bool RefuseIfTooLarge(const absl::Status& status) {
    return absl::IsResourceExhausted(status) && RefuseGrowth();
  }

  // Of constants that nobody but n uses.
  int64_t DyingBytes(NodeId n, const std::vector<Tensor>& inputs) const {
    int64_t bytes = 0;
    absl::flat_hash_set<NodeId> counted;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const NodeId constant = g_.data_inputs(n)[i].node;
      if (constant >= known_nodes_ || c_.preserve.contains(constant)) continue;
      // By consumer, in the order of their ids.
      const std::span<const Fanouts::Use> uses = fanouts_.of(constant);
      if (!uses.empty() && uses.front().node == n && uses.back().node == n &&
          counted.insert(constant).second)
        bytes += static_cast<int64_t>(HeldBytes(inputs[i]));
    }
    return bytes;
  }

  // Whether each output of n that was used has a constant already.
  bool HasConstants(NodeId n) const {
    for (int32_t port = 0; port < g_.num_outputs(n); ++port) {
      const bool is_used = n >= known_nodes_ || fanouts_.count({n, port}) > 0;
      if (is_used && !replaced_.contains({n, port})) return false;
    }
    return true;
  }

  // A node of several outputs is replaced by a constant for each.
  bool SplitIntoConsts(NodeId n, const std::vector<Tensor>& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Output output{n, static_cast<int32_t>(i)};
      if (!replaced_.contains(output) && !ReplaceByConst(output, outputs[i])) return false;
    }
    made_.Replace(n);
    return true;
  }

  // Who uses this output of several, comes to use a constant.
  bool ReplaceByConst(Output o, const Tensor& value) {
    const NodeId n = o.node;
    if (!FoldedConstants::CanHold(value)) return false;
    std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
    for (NodeId m : Guards(n)) controls.push_back({m, kControlPort});
    const absl::StatusOr<NodeId> id = made_.AddConst(
        g_.UniqueName(absl::StrCat(g_.name(n), "/folded_", o.port)), o, value, controls);
    if (!id.ok()) return false;
    NoteOrigins(n, *id);
    replaced_.emplace(o, Output{*id, 0});
    return true;
  }

  void ForwardInputs(NodeId n) {
    if (replaced_.empty()) return;
    for (int i = 0; i < g_.num_inputs(n); ++i) {
      const auto it = replaced_.find(g_.data_inputs(n)[i]);
      if (it != replaced_.end()) g_.SetInput(n, i, it->second);
    }
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;  // of before
  FoldedConstants made_;
  const GraphShapes* shapes_ = nullptr;
  const NodeId known_nodes_ = g_.num_node_ids();
  const int64_t max_growth_, max_work_;
  int64_t total_growth_ = 0;
  bool keeps_waiting_ = false;
  DataType asked_type_ = DataType::kInvalid;  // of HasConstKernel, and the device
  std::string_view asked_device_;
  bool has_const_kernel_ = false;
  FoldedOrigins origins_;
  absl::flat_hash_map<Output, Output> replaced_;
};

class ConstantFolding : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    std::vector<RewriteInfo> all = InfosOf(PartialFolding());
    for (const RewriteInfo& info : ConstantBranches()) all.push_back(info);
    all.insert(all.end(), {kMaterializeShape, kMaterializeLike, kFold});
    return all;
  }
  std::vector<PassOption> options() const override { return {kMaxBytes, kMaxWork}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    TENON_ASSIGN_OR_RETURN(bool changed, Folder(context).Run());
    if (MayFoldPartially(context)) {
      TENON_ASSIGN_OR_RETURN(const bool gathered,
                             Sweep(context, InferShapes(context)).Run(PartialFolding()));
      // Partial folding only puts constants together. This run computes the new nodes.
      if (gathered) TENON_RETURN_IF_ERROR(Folder(context).Run().status());
      changed |= gathered;
    }
    const bool branched = FoldConstantBranches(context);
    return changed || branched;
  }
};

}  // namespace

std::unique_ptr<Pass> MakeConstantFolding() { return std::make_unique<ConstantFolding>(); }

}  // namespace tenon
