// Chains of transposes, and what can read its operand transposed.
#include <algorithm>
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

bool IsIdentityPermutation(const Dims& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// It moves no dimensions, or those of size one alone.
bool RemoveIdentityTranspose(Sweep& s, NodeId n) {
  const std::optional<Dims> perm = Permutation(s, n);
  if (!perm) return false;
  const Output x = s.graph().data_inputs(n)[0];
  for (size_t i = 0; i < perm->size(); ++i) {
    if ((*perm)[i] != static_cast<int64_t>(i) && s.shape(x).dim(static_cast<int>(i)) != 1)
      return false;
  }
  return s.ReplaceBy(n, x);
}

// What Transpose n of a tensor that Transpose `inner` made (and moves of single elements after it
// left in place) does in all.
std::optional<Dims> Both(const Sweep& s, NodeId inner, NodeId n) {
  const std::optional<Dims> first = Permutation(s, inner), then = Permutation(s, n);
  if (!first || !then || first->size() != then->size()) return std::nullopt;
  Dims both;
  for (int64_t p : *then) both.push_back((*first)[p]);
  return both;
}

// transpose(transpose(x)) is x where the second moves every dimension back.
bool CancelTransposes(Sweep& s, NodeId n) {
  const NodeId inner = Producer(s, n, 0, {"Transpose"});
  if (inner == kNoNode) return false;
  const std::optional<Dims> both = Both(s, inner, n);
  return both && IsIdentityPermutation(*both) && s.ReplaceBy(n, s.graph().data_inputs(inner)[0]);
}

// Whether the permutation swaps the last two dimensions alone.
bool SwapsLastTwo(const Dims& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2 || perm[rank - 1] != rank - 2 || perm[rank - 2] != rank - 1) return false;
  for (int64_t i = 0; i < rank - 2; ++i) {
    if (perm[i] != i) return false;
  }
  return true;
}

constexpr std::string_view kProducts = "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3";

// Whether all who read n are products, which will read what n transposes either way.
bool OnlyProductsRead(const Sweep& s, NodeId n) {
  const std::span<const Fanouts::Use> uses = s.uses_of(n);
  return std::all_of(uses.begin(), uses.end(), [&](const Fanouts::Use& use) {
    return ListsOp(kProducts, s.graph().op_name(use.node));
  });
}

// Two transposes are one, by their permutations in turn. The inner one must be for n alone: else it
// stays, and nothing is won.
bool MergeTransposes(Sweep& s, NodeId n) {
  const NodeId inner = OwnProducer(s, n, 0, {"Transpose"});
  if (inner == kNoNode || !s.HasConstKernel(n, DataType::kInt32)) return false;
  // A swap of the last two dimensions costs nothing where products alone read it; merged into the
  // transpose before it, it could not be folded into them.
  const std::optional<Dims> last = Permutation(s, n);
  if (last && SwapsLastTwo(*last) && OnlyProductsRead(s, n)) return false;
  const std::optional<Dims> both = Both(s, inner, n);
  if (!both || !s.Allow()) return false;
  const Output inputs[] = {s.graph().data_inputs(inner)[0],
                           s.AddConst(n, "perm", IntVector(*both))};
  Sweep::Attrs attrs = TypeAttr(TypeOf(s.graph(), n));
  attrs.push_back({"Tperm", attr::Type(DataType::kInt32)});
  s.Become(n, "Transpose", inputs, std::move(attrs));
  return true;
}

// transpose(f(transpose(x))) is f(x) where the two cancel out and f looks at single elements.
bool CancelTransposesAroundUnary(Sweep& s, NodeId n) {
  const std::optional<UnaryChain> chain = UnaryChainBehind(s, n, {"Transpose"});
  if (!chain) return false;
  const std::optional<Dims> both = Both(s, chain->start, n);
  if (!both || !IsIdentityPermutation(*both) || !s.Allow()) return false;
  BecomeChain(s, n, chain->ops, s.graph().data_inputs(chain->start)[0]);
  return true;
}

// conj(transpose(x)), in either order, is one op.
bool FoldConjIntoTranspose(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool conj_last = g.op_name(n) == "Conj";
  const NodeId inner = conj_last ? OwnProducer(s, n, 0, {"Transpose", "ConjugateTranspose"})
                                 : Producer(s, n, 0, {"Conj"});
  if (inner == kNoNode) return false;
  const NodeId transpose = conj_last ? inner : n;
  const std::string_view op =
      g.op_name(transpose) == "Transpose" ? "ConjugateTranspose" : "Transpose";
  Sweep::Attrs attrs = OpAttrs(g, transpose);
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  const Output inputs[] = {g.data_inputs(inner)[0], g.data_inputs(transpose)[1]};
  s.Become(n, op, inputs, std::move(attrs));
  return true;
}

// A product reads a matrix either way. Sums may be taken in another order then.
bool FoldTransposeIntoMatMul(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool is_batch = g.op_name(n) != "MatMul";
  for (int i : {0, 1}) {
    // adj_x conjugates, transpose_a does not.
    const bool conjugates = is_batch && IsComplex(g.input_type(n, i));
    const NodeId transpose = Producer(s, n, i, {conjugates ? "ConjugateTranspose" : "Transpose"});
    if (transpose == kNoNode) continue;
    const std::optional<Dims> perm = Permutation(s, transpose);
    if (!perm || !SwapsLastTwo(*perm)) continue;
    const std::string_view name =
        is_batch ? (i == 0 ? "adj_x" : "adj_y") : (i == 0 ? "transpose_a" : "transpose_b");
    Sweep::Attrs attrs = OpAttrs(g, n);
    PutAttr(attrs, name, attr::Bool(!BoolAttr(g, n, name)));
    const std::string_view op = g.op_name(n);
    if (!s.HasKernel(n, op, attrs) || !s.Allow()) continue;
    std::vector<Output> inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
    inputs[i] = g.data_inputs(transpose)[0];
    s.Become(n, op, inputs, std::move(attrs));
    return true;
  }
  return false;
}

constexpr Rewrite kTransposesRewrites[] = {
    {"remove_identity_transpose", Exactness::kExact, RemoveIdentityTranspose, "Transpose"},
    {"cancel_transposes", Exactness::kExact, CancelTransposes, "Transpose"},
    {"cancel_transposes_around_unary", Exactness::kExact, CancelTransposesAroundUnary, "Transpose"},
    {"merge_transposes", Exactness::kExact, MergeTransposes, "Transpose"},
    {"fold_conj_into_transpose", Exactness::kExact, FoldConjIntoTranspose,
     "Conj Transpose ConjugateTranspose"},
    {"fold_transpose_into_matmul", Exactness::kToleranced, FoldTransposeIntoMatMul, kProducts},
};

}  // namespace

std::span<const Rewrite> Transposes() { return kTransposesRewrites; }

}  // namespace tenon::arithmetic
