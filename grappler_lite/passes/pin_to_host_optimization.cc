// Moves nodes that compute a handful of numbers or strings from the host's memory to the CPU, so
// that the arithmetic of shapes does not go to a device and back. Where TensorFlow looks for GPUs,
// any device is meant here. Off unless asked for: another device's kernels may round otherwise.
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "graph/base/status_macros.h"
#include "graph/ir/colocation.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMoveToHost = {"move_to_host", Exactness::kToleranced};
constexpr int64_t kMaxElements = 64;

// The CPU of the same task: "/job:worker/task:1/device:CPU:0".
std::string HostOf(std::string_view device) {
  return absl::StrCat(device.substr(0, device.rfind("/device:")), "/device:CPU:0");
}

class Mover {
 public:
  explicit Mover(PassContext& context) : c_(context), shapes_(InferShapes(context)) {}

  absl::StatusOr<bool> Run() {
    if (shapes_ == nullptr) return false;
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g_));
    const int32_t size = g_.num_node_ids();
    on_host_.assign(size, false);
    gives_on_host_.assign(size, false);
    NoteColocated();
    std::vector<NodeId> moved;
    for (const NodeId n : order) {
      const bool is_there = IsHostDevice(g_.device(n));
      on_host_[n] = is_there || (c_.Visit() && MayMove(n));
      if (on_host_[n] && !is_there) moved.push_back(n);
      gives_on_host_[n] = GivesOnHost(n);
    }
    // A Const computes nothing: moved away from a reader on the device, it would only add a copy.
    std::erase_if(moved, [&](NodeId n) { return g_.op_name(n) == "Const" && NeededOnDevice(n); });
    bool changed = false;
    for (const NodeId n : moved) {
      if (!c_.Allow(kMoveToHost.name, n)) continue;
      g_.SetDevice(n, HostOf(g_.device(n)));
      changed = true;
    }
    return changed;
  }

 private:
  // Nodes that are placed together with others stay with them.
  void NoteColocated() {
    colocated_.assign(g_.num_node_ids(), false);
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      const AttrValue* attr = g_.alive(n) ? g_.attrs(n).Find(kColocationAttr) : nullptr;
      if (attr == nullptr) continue;
      colocated_[n] = true;
      const absl::StatusOr<std::vector<std::string_view>> list = attr->AsStringList();
      if (!list.ok()) continue;
      for (std::string_view name : *list) {
        const bool names_node = absl::ConsumePrefix(&name, kColocationPrefix);
        const NodeId other = names_node ? g_.FindNode(name) : kNoNode;
        if (other != kNoNode) colocated_[other] = true;
      }
    }
  }

  bool IsSmall(Output o) const {
    const DataType type = g_.output_type(o);
    if (type == DataType::kString) return true;
    if (type != DataType::kInt32 && type != DataType::kInt64 && type != DataType::kFloat)
      return false;
    const int64_t elements = shapes_->shape(o).num_elements();
    return elements >= 0 && elements <= kMaxElements;
  }

  // What never moves, and hands nothing to what may.
  bool Stays(NodeId n) const {
    const OpDef* op = g_.op(n);
    return op == nullptr || op->is_stateful || op->name == "NoOp" || IsControlFlow(*op->facts) ||
           TakesFunctions(*op);
  }
  static bool TakesFunctions(const OpDef& op) {
    return std::any_of(op.attrs.begin(), op.attrs.end(),
                       [](const AttrDef& attr) { return attr.kind == AttrKind::kFunc; });
  }

  bool MayMove(NodeId n) const {
    if (Stays(n) || colocated_[n] || c_.IsFixed(n)) return false;
    for (int port = 0; port < g_.num_outputs(n); ++port) {
      if (!IsSmall({n, port})) return false;
    }
    for (const Output& in : g_.data_inputs(n)) {
      if (!IsSmall(in) || !HasOnHost(in)) return false;
    }
    return c_.kernels.HasKernel(HostOf(g_.device(n)), g_.op_name(n), g_.attrs(n));
  }

  // Whether all outputs lie on the host. What an Identity gives may come to be its input.
  bool GivesOnHost(NodeId n) const {
    if (Stays(n)) return false;
    return g_.facts(n).identity ? HasOnHost(g_.data_inputs(n)[0]) : on_host_[n];
  }
  bool HasOnHost(Output o) const {
    return gives_on_host_[o.node] ||
           (!on_host_[o.node] && !Stays(o.node) && c_.kernels.OutputOnHost(g_, o.node, o.port));
  }

  // Whether somebody wants the value in a device's memory.
  bool NeededOnDevice(NodeId n) {
    if (fanouts_ == nullptr) fanouts_ = std::make_unique<Fanouts>(g_);
    for (const Fanouts::Use& use : fanouts_->of(n)) {
      if (use.port == kControlPort || on_host_[use.node]) continue;
      if (!c_.kernels.InputOnHost(g_, use.node, use.input)) return true;
    }
    return false;
  }

  PassContext& c_;
  Graph& g_ = c_.graph;
  const GraphShapes* shapes_;
  std::vector<bool> on_host_, gives_on_host_, colocated_;  // by node id
  std::unique_ptr<Fanouts> fanouts_;
};

class PinToHostOptimization : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {kMoveToHost}; }
  absl::StatusOr<bool> Run(PassContext& context) override { return Mover(context).Run(); }
};

}  // namespace

std::unique_ptr<Pass> MakePinToHostOptimization() {
  return std::make_unique<PinToHostOptimization>();
}

}  // namespace tenon
