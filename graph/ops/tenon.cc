#include "graph/ops/tenon.h"

#include "graph/shapes/shapes.h"

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

// The dimensions of a but for its last, then those of each b but for its first.
absl::Status ProductShapes(InferenceContext& c, int products) {
  TENON_ASSIGN_OR_RETURN(const bool transposed, c.AttrBool("transpose_b"));
  TENON_ASSIGN_OR_RETURN(const PartialShape a, c.WithRankAtLeast(c.input(0), 1));
  for (int i = 0; i < products; ++i) {
    PartialShape b = c.input(1 + i);
    if (transposed) {
      TENON_ASSIGN_OR_RETURN(b, c.WithRank(b, 2));
    } else {
      TENON_ASSIGN_OR_RETURN(b, c.WithRankAtLeast(b, 1));
    }
    const PartialShape columns = transposed ? Subshape(b, 0, 1) : Subshape(b, 1);
    c.set_output(i, Concatenate(Subshape(a, 0, -1), columns));
  }
  return absl::OkStatus();
}

// The dimensions of the indices, then those of a row.
absl::Status CodedGatherShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape table, c.WithRank(c.input(1), 2));
  c.set_output(0, Concatenate(c.input(0), Subshape(table, 1)));
  return absl::OkStatus();
}

absl::Status ProjectionsShape(InferenceContext& c) { return ProductShapes(c, c.num_outputs()); }
absl::Status CodedMatMulShape(InferenceContext& c) { return ProductShapes(c, 1); }

constexpr OpSpec kTenonOps[] = {
    // Ends the run with an error of `node`; the code is one of absl::StatusCode's. It stands in the
    // branch of an If or Case whose function does not fit, which is no fault of runs that do not
    // take the branch.
    {"_TenonFail", "", "outputs: Tout",
     "Tout: list(type) >= 0; code: int >= 1; message: string; node: string", nullptr, kStateful,
     OpFacts{.repeatable = true}},
    // softmax(query * key^T * scale + mask) * value. The mask broadcasts to [batch, heads, rows of
    // the query, rows of the key]; the other tensors are [batch, rows, heads, columns], or with
    // heads_first [batch, heads, rows, columns].
    {"_TenonAttention", "query: T; key: T; value: T; masks: num_masks * T", "output: T",
     "T: {float}; num_masks: int >= 0 = 0; scale: float = 1; heads_first: bool = false",
     AttentionShape},
    // Normalization over the last dimension.
    {"_TenonLayerNorm", "x: T; scale: T; offset: T", "y: T", "T: {float}; epsilon: float",
     UnchangedShape},
    // Products of one tensor with several: the last dimension of a with the first of each b (or the
    // last, of matrices that are transposed). A bias has the length of b's only other dimension.
    {"_TenonProjections", "a: T; b: num_products * T; biases: num_biases * T",
     "products: num_products * T",
     "T: {half, bfloat16, float}; num_products: int >= 1; num_biases: int >= 0 = 0; "
     "transpose_b: bool = false",
     ProjectionsShape},
    // The product of a's last dimension with the first of b (or the last, of a matrix that is
    // transposed), then what is fused. b is a constant that the kernel keeps in codes: int8 and
    // int4 as numbers of so many bits with a scale for each 32 rows of a column, which become
    // floats again (32 of less than 1.5e-36 become 0); int8_dynamic as numbers of 8 bits with a
    // scale for each column, by rows of a that become numbers of 8 bits in the run. There a row
    // with a NaN or an infinity gives NaN.
    {"_TenonCodedMatMul", "a: T; b: T; args: num_args * T", "product: T",
     "T: {float}; code: {'int8_dynamic', 'int8', 'int4'}; transpose_b: bool = false; "
     "num_args: int >= 0 = 0; fused_ops: list(string) = []; epsilon: float = 0.0001; "
     "leakyrelu_alpha: float = 0.2",
     CodedMatMulShape},
    // Rows of a table, which is a constant that the kernel keeps in codes: with a scale for each 32
    // numbers of a row. _TenonCodedMatMul by the table, transposed, has the same codes.
    {"_TenonCodedGather", "indices: Tindices; table: T", "rows: T",
     "T: {float}; Tindices: {int32, int64}; code: {'int8', 'int4'}", CodedGatherShape, kPure,
     OpFacts{.cost = {CostRule::kMove}}},
    // As _TenonCodedMatMul, by a constant b of bytes: element [p, j] stands for (b[p, j] -
    // zeros[j]) * scales[j]. Each value of a is rounded to the nearest of the multiples of `step`
    // from `least` to `most`, at most 255 apart, with 0 among them; sums of their products are
    // exact, of up to kMostQuantizedTerms (op_defs/byte_sums.h). A row with a NaN gives NaN.
    {"_TenonQuantizedMatMul", "a: T; b: int8; scales: float; zeros: int32; args: num_args * T",
     "product: T",
     "T: {float}; step: float; least: int; most: int; transpose_b: bool = false; "
     "num_args: int >= 0 = 0; fused_ops: list(string) = []; epsilon: float = 0.0001; "
     "leakyrelu_alpha: float = 0.2",
     CodedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    // The same for a convolution of images with channels last, in one group. A step of 0: the
    // multiples of each image are chosen by its extremes in the run. An image with a NaN gives NaN;
    // so does one with an infinity, if the step is 0.
    {"_TenonQuantizedConv2D",
     "input: T; filter: int8; scales: float; zeros: int32; args: num_args * T", "output: T",
     "T: {float}; step: float; least: int; most: int; num_args: int >= 0 = 0; "
     "strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; dilations: list(int) = [1, 1, 1, 1]; "
     "fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
     Conv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
};

}  // namespace

absl::Span<const OpSpec> Tenon() { return kTenonOps; }

}  // namespace tenon::ops
