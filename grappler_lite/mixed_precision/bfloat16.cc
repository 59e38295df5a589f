// Products and convolutions in bfloat16 and what lies between them too, as TensorFlow spreads it
// over its lists. Results have about 2 digits: each value in bfloat16 is rounded to 8 bits, a
// relative error of 2^-9.
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "grappler_lite/mixed_precision/precision_lists.h"
#include "grappler_lite/mixed_precision/type_view.h"

namespace tenon {
namespace {

constexpr RewriteInfo kComputeInBfloat16 = {"compute_in_bfloat16", Exactness::kToleranced};

class Bfloat16 : public Pass {
 public:
  std::string_view name() const override { return "auto_mixed_precision_onednn_bfloat16"; }
  std::vector<RewriteInfo> rewrites() const override { return {kComputeInBfloat16}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    const TypeView view(context.graph);
    TENON_ASSIGN_OR_RETURN(const std::vector<bool> chosen, Choose(context, view));
    return Change(context, view, chosen);
  }

 private:
  using Marks = std::vector<bool>;

  static NewAttrs CastAttrs(DataType from, DataType to) {
    return {{"SrcT", attr::Type(from)}, {"DstT", attr::Type(to)}};
  }

  // Whether n may be changed, and its device can compute it.
  static bool CanCompute(const PassContext& c, const TypeView& view, NodeId n) {
    const Graph& g = c.graph;
    if (c.preserve.contains(n)) return false;
    NewAttrs attrs = AllAttrs(g, n);
    PutAttr(attrs, view.type_attr(n), attr::Type(DataType::kBfloat16));
    return c.HasKernel(n, g.op_name(n), attrs) &&
           c.HasKernel(n, "Cast", CastAttrs(DataType::kFloat, DataType::kBfloat16)) &&
           c.HasKernel(n, "Cast", CastAttrs(DataType::kBfloat16, DataType::kFloat));
  }

  // The nodes that are to compute in bfloat16.
  static absl::StatusOr<Marks> Choose(const PassContext& c, const TypeView& view) {
    const Graph& g = c.graph;
    TENON_ASSIGN_OR_RETURN(const PrecisionLists lists, PrecisionLists::Make());
    const int32_t size = g.num_node_ids();
    std::vector<Precision> list(size, Precision::kNone);
    Marks can(size, false), allow(size, false);
    NodeId refused = kNoNode;
    bool any = false;
    for (NodeId n = 0; n < size; ++n) {
      if (!g.alive(n) || view.type_attr(n).empty()) continue;
      list[n] = lists.Of(g.op_name(n));
      if (list[n] == Precision::kNone) continue;
      can[n] = CanCompute(c, view, n);
      if (list[n] != Precision::kAllow || c.preserve.contains(n)) continue;
      allow[n] = can[n];
      any |= can[n];
      if (!can[n]) refused = n;
    }
    if (!any && refused != kNoNode) {
      return absl::FailedPreconditionError(
          absl::StrCat("the device of node '", g.name(refused), "' has no bfloat16 kernel for ",
                       g.op_name(refused), ", nor any device for another product"));
    }
    const auto is = [&](NodeId n, Precision p) { return list[n] == p; };
    const Marks deny = Denied(view, list);
    const auto may = [&](NodeId n) { return can[n] && !deny[n]; };

    // What lies between two of them.
    Marks behind = allow;
    view.Spread(behind, TypeView::kOutputs, [&](NodeId n) {
      return may(n) && (is(n, Precision::kInfer) || is(n, Precision::kClear));
    });
    view.Spread(allow, TypeView::kInputs, [&](NodeId n) { return behind[n]; });
    // What follows one of them at once: it may be fused into it.
    Marks follows = allow;
    for (NodeId n = 0; n < size; ++n) {
      if (!g.alive(n) || allow[n] || !may(n) || !is(n, Precision::kInfer)) continue;
      for (int i = 0; i < g.num_inputs(n); ++i) {
        const Output from = g.data_inputs(n)[i];
        if (view.CarriesInput(n, i) && view.CarriesOutput(from) && allow[from.node])
          follows[n] = true;
      }
    }
    view.Spread(follows, TypeView::kBoth,
                [&](NodeId n) { return may(n) && is(n, Precision::kClear); });
    return follows;
  }

  // What is unsafe, and what follows it before the next safe op.
  static Marks Denied(const TypeView& view, const std::vector<Precision>& list) {
    const auto is = [&](NodeId n, Precision p) { return list[n] == p; };
    Marks before(list.size()), deny(list.size());
    for (NodeId n = 0; n < static_cast<NodeId>(list.size()); ++n) {
      deny[n] = is(n, Precision::kDeny);
      before[n] = deny[n] || is(n, Precision::kInfer);
    }
    view.Spread(before, TypeView::kInputs, [&](NodeId n) { return is(n, Precision::kClear); });
    view.Spread(deny, TypeView::kOutputs, [&](NodeId n) { return before[n]; });
    return deny;
  }

  // Changes the types of the chosen nodes and casts what comes to them and leaves them, once for
  // all that use it.
  static absl::StatusOr<bool> Change(PassContext& c, const TypeView& view, Marks chosen) {
    Graph& g = c.graph;
    const int32_t size = g.num_node_ids();
    bool changed = false;
    for (NodeId n = 0; n < size; ++n) {
      if (!chosen[n]) continue;
      chosen[n] = c.Allow(kComputeInBfloat16.name, n);
      changed |= chosen[n];
    }
    if (!changed) return false;
    absl::flat_hash_map<Output, NodeId> casts;
    for (NodeId n = 0; n < size; ++n) {
      if (!g.alive(n)) continue;
      for (int i = 0; i < g.num_inputs(n); ++i) {
        const Output from = g.data_inputs(n)[i];
        const bool is = chosen[from.node] && view.CarriesOutput(from);
        const bool should_be = chosen[n] && view.CarriesInput(n, i);
        if (is == should_be) continue;
        auto [cast, is_new] = casts.try_emplace(from, kNoNode);
        if (is_new) {
          TENON_ASSIGN_OR_RETURN(cast->second, AddCast(g, from, is));
        }
        g.SetInput(n, i, {cast->second, 0});
      }
    }
    for (NodeId n = 0; n < size; ++n) {
      if (chosen[n]) g.SetAttr(n, view.type_attr(n), attr::Type(DataType::kBfloat16));
    }
    return true;
  }

  static absl::StatusOr<NodeId> AddCast(Graph& g, Output from, bool to_float) {
    const std::string name = absl::StrCat(
        g.name(from.node), "-", from.port,
        to_float ? "-CastToFp32-AutoMixedPrecision" : "-CastToBf16-AutoMixedPrecision");
    return g.AddNode(g.UniqueName(name), "Cast", {&from, 1},
                     to_float ? CastAttrs(DataType::kBfloat16, DataType::kFloat)
                              : CastAttrs(DataType::kFloat, DataType::kBfloat16),
                     g.device(from.node), g.pos(from.node));
  }
};

}  // namespace

std::unique_ptr<Pass> MakeAutoMixedPrecisionBfloat16() { return std::make_unique<Bfloat16>(); }

}  // namespace tenon
