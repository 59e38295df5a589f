#include "tests/executor/proof/planted_pass_util.h"

namespace tenon::testing {
namespace {

constexpr RewriteInfo kDrop = {"drop_abs", Exactness::kExact};
constexpr RewriteInfo kNegate = {"negate_abs", Exactness::kExact};
constexpr RewriteInfo kSlant = {"slant_abs", Exactness::kToleranced};

class Plant : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {kDrop, kNegate, kSlant}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    bool changed = false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || g.op_name(n) != "Abs" || g.attrs(n).Find("_plant") == nullptr) continue;
      const std::string_view what = g.attr(n, "_plant")->AsString().value();
      const RewriteInfo& rewrite = what == "drop" ? kDrop : what == "negate" ? kNegate : kSlant;
      if (!context.Allow(rewrite.name, n)) continue;
      g.SetKind(n, what == "drop" ? "Identity" : "Neg", {{"T", attr::Type(DataType::kFloat)}});
      changed = true;
    }
    return changed;
  }
};

}  // namespace

PassEntry PlantedPass() {
  return {"plant", +[]() -> std::unique_ptr<Pass> { return std::make_unique<Plant>(); },
          "is wrong where a graph asks for it"};
}

}  // namespace tenon::testing
