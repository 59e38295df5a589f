#include "graph/ops/tenon.h"

#include "graph/ops/shapes.h"

namespace tenon::ops {
namespace {

// Batches and heads that query, key, value and mask have in common, rows of the query, columns of
// the value.
absl::Status AttentionShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const bool heads_first, c.AttrBool("heads_first"));
  const auto exchanged = [&](const PartialShape& s) {
    return heads_first ? s : PartialShape({s.dim(0), s.dim(2), s.dim(1), s.dim(3)});
  };
  PartialShape out = {1, 1, 1, 1};
  for (int i = 0; i < c.num_inputs(); ++i) {
    const bool query = i == 0, value = i == 2, mask = i == 3;
    PartialShape s = c.input(i);
    if (!s.known_rank()) {
      c.set_output(0, PartialShape::UnknownOfRank(4));
      return absl::OkStatus();
    }
    if (!mask) {
      TENON_ASSIGN_OR_RETURN(s, c.WithRank(s, 4));
      s = exchanged(s);
    }
    if (!query && !mask) s = ReplaceDim(std::move(s), -2, 1);
    if (!value && s.rank() > 0) s = ReplaceDim(std::move(s), -1, 1);
    TENON_ASSIGN_OR_RETURN(out, c.Broadcast(out, s));
  }
  c.set_output(0, exchanged(out));
  return absl::OkStatus();
}

constexpr OpSpec kOps[] = {
    // softmax(query * key^T * scale + mask) * value. The mask broadcasts to [batch, heads, rows of
    // the query, rows of the key]; the other tensors are [batch, rows, heads, columns], or with
    // heads_first [batch, heads, rows, columns].
    {"_TenonAttention", "query: T; key: T; value: T; masks: num_masks * T", "output: T",
     "T: {float}; num_masks: int >= 0 = 0; scale: float = 1; heads_first: bool = false",
     AttentionShape},
    // Normalization over the last dimension.
    {"_TenonLayerNorm", "x: T; scale: T; offset: T", "y: T", "T: {float}; epsilon: float",
     UnchangedShape},
};

}  // namespace

absl::Span<const OpSpec> Tenon() { return kOps; }

}  // namespace tenon::ops
