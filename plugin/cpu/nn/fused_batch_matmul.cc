// _FusedBatchMatMulV2: a batch of products, scaled and added to.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/attr_value.h"
#include "plugin/cpu/isa.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/nn/attention_rows.h"
#include "plugin/cpu/nn/families.h"
#include "plugin/cpu/sub_kernels.h"

namespace tenon::cpu {
namespace {

struct Epilogue {
  int64_t rows, n;
  bool scaled;
  bool one_summand = false;         // for a row
  std::vector<int64_t> summand_at;  // of each row; none if nothing is added
  void (*scale_and_mask)(const MaskedRow&);
};

// Inputs: the product, then the scale, then the summand, as far as they are there.
absl::Status RunEpilogue(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Epilogue*>(state);
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  const float scale = s.scaled ? *in(1) : 1;
  const float* const summand = s.summand_at.empty() ? nullptr : in(s.scaled ? 2 : 1);
  float* const y = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(s.rows, GrainFor(s.n * 8), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      s.scale_and_mask({in(0) + r * s.n, y + r * s.n, s.n, scale,
                        summand == nullptr ? nullptr : summand + s.summand_at[r], s.one_summand});
    }
  });
  return absl::OkStatus();
}

// Where the summand of each row begins: rows are the dimensions of `output` but for the last.
std::vector<int64_t> RowsOf(const Shape& summand, const Shape& output) {
  std::vector<int64_t> at(output.num_elements() / output.dim(output.rank() - 1), 0);
  int64_t rows = static_cast<int64_t>(at.size());  // below dimension i
  for (int i = 0; i + 1 < output.rank(); ++i) {
    rows /= output.dim(i);
    const int d = i - (output.rank() - summand.rank());
    if (d >= 0 && summand.dim(d) != 1) {
      const int64_t stride = DimProduct(summand, d + 1, summand.rank());
      for (size_t r = 0; r < at.size(); ++r)
        at[r] += static_cast<int64_t>(r) / rows % output.dim(i) * stride;
    }
  }
  return at;
}

absl::Status PrepareFusedBatchMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> fused, p.AttrStringList("fused_ops"));
  const bool scaled = !fused.empty() && fused.front() == "Mul";
  const bool adds = !fused.empty() && fused.back() == "Add";
  if (fused.size() != size_t{scaled} + size_t{adds})
    return p.Unimplemented(
        absl::StrCat("fused_ops [", absl::StrJoin(fused, ", "), "] is not built"));
  const int args = p.num_inputs() - 2;
  if (args != int{scaled} + int{adds})
    return p.Invalid(absl::StrCat("fused_ops [", absl::StrJoin(fused, ", "), "] needs ",
                                  int{scaled} + int{adds}, " arguments, the node has ", args));
  if (scaled && p.input_shape(2).num_elements() != 1)
    return p.Invalid(
        absl::StrCat("the scale must be one number, not ", p.input_shape(2).ToString()));
  TENON_ASSIGN_OR_RETURN(const bool adj_x, p.AttrBool("adj_x"));
  TENON_ASSIGN_OR_RETURN(const bool adj_y, p.AttrBool("adj_y"));
  SubKernels parts(p);
  TENON_ASSIGN_OR_RETURN(SubTensor result,
                         parts.Call("BatchMatMulV2",
                                    {{"T", attr::Type(p.input_type(0))},
                                     {"adj_x", attr::Bool(adj_x)},
                                     {"adj_y", attr::Bool(adj_y)}},
                                    p.input_type(0), {parts.Input(0), parts.Input(1)}));
  const Shape output = result.shape;
  const int summand = scaled ? 3 : 2;
  if (adds) {
    const std::optional<Dims> dims = BroadcastDims(p.input_shape(summand).dims(), output.dims());
    if (!dims || !(Shape(*dims) == output))
      return p.Invalid(absl::StrCat("the summand ", p.input_shape(summand).ToString(),
                                    " does not broadcast to the product ", output.ToString()));
  }
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<Epilogue>();
  s->n = output.dim(output.rank() - 1);
  s->rows = output.num_elements() / s->n;
  s->scaled = scaled;
  std::vector<SubTensor> inputs = {result};
  for (int i = 2; i < p.num_inputs(); ++i) inputs.push_back(parts.Input(i));
  if (adds) {
    const Shape& shape = p.input_shape(summand);
    s->summand_at = RowsOf(shape, output);
    s->one_summand = shape.rank() == 0 || shape.dim(shape.rank() - 1) == 1;
  }
  s->scale_and_mask = SelectIsa<void (*)(const MaskedRow&)>(
      &sse2::ScaleAndMask, &avx2::ScaleAndMask, &avx512::ScaleAndMask);
  parts.Finish(parts.Run(&RunEpilogue, s, std::move(inputs), p.input_type(0), output));
  return absl::OkStatus();
}

const CpuKernelSpec kKernels[] = {
    {"_FusedBatchMatMulV2", {{"T", TypeBit(DataType::kFloat)}}, &PrepareFusedBatchMatMul},
};

}  // namespace

absl::Span<const CpuKernelSpec> FusedBatchMatMulKernels() { return kKernels; }

}  // namespace tenon::cpu
