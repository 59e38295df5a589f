// LSTMBlockCell, BlockLSTM and BlockLSTMV2.
#include "plugin/cpu/nn/recurrent/lstm.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/recurrent/float_step.h"
#include "plugin/cpu/nn/recurrent/product.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kLstmMostColumns = int64_t{1} << 40;  // below it no sum or product here overflows

absl::Status CheckShape(const Prepare& p, int i, const Shape& want, std::string_view name) {
  if (p.input_shape(i) == want) return absl::OkStatus();
  return p.Invalid(absl::StrCat("'", name, "' must have the shape ", want.ToString(), ", not ",
                                p.input_shape(i).ToString()));
}

absl::Status CheckWeights(const Prepare& p, const Lstm& s) {
  const int64_t batch = s.cell.batch, cells = s.cell.cells;
  const int first = s.first;
  TENON_RETURN_IF_ERROR(CheckShape(p, first + 1, Shape({batch, cells}), "cs_prev"));
  TENON_RETURN_IF_ERROR(CheckShape(p, first + 2, Shape({batch, cells}), "h_prev"));
  TENON_ASSIGN_OR_RETURN(const Shape w, CheckedShape(p, {s.inputs + cells, 4 * cells}));
  TENON_RETURN_IF_ERROR(CheckShape(p, first + 3, w, "w"));
  constexpr std::string_view kPeepholes[] = {"wci", "wcf", "wco"};
  for (int i = 0; i < 3; ++i) {
    // The forward ops ignore unused peepholes, whatever their shape. The gradients have outputs of
    // these shapes.
    if (s.cell.peephole || p.num_outputs() != 7)
      TENON_RETURN_IF_ERROR(CheckShape(p, first + 4 + i, Shape({cells}), kPeepholes[i]));
  }
  return CheckShape(p, first + 7, Shape({4 * cells}), "b");
}

}  // namespace

absl::StatusOr<Lstm> ReadLstm(const Prepare& p, bool sequence) {
  Lstm s;
  s.first = sequence ? 1 : 0;
  const Shape& x = p.input_shape(s.first);
  const int rank = sequence ? 3 : 2;
  if (x.rank() != rank)
    return p.Invalid(absl::StrCat("x must have rank ", rank, ", not ", x.ToString()));
  if (p.input_shape(s.first + 1).rank() != 2) {
    return p.Invalid(
        absl::StrCat("cs_prev must be a matrix, not ", p.input_shape(s.first + 1).ToString()));
  }
  s.cell.batch = x.dim(rank - 2);
  s.inputs = x.dim(rank - 1);
  s.cell.cells = p.input_shape(s.first + 1).dim(1);
  if (s.inputs > kLstmMostColumns || s.cell.cells > kLstmMostColumns) {
    return p.Invalid(absl::StrCat(s.inputs, " inputs and ", s.cell.cells, " cells are too many"));
  }
  s.cell.forget_second = absl::EndsWith(p.op().name, "V2");
  TENON_ASSIGN_OR_RETURN(s.cell.peephole, p.AttrBool("use_peephole"));
  if (sequence) {
    s.time = x.dim(0);
    if (p.input_shape(0).rank() != 0)
      return p.Invalid(
          absl::StrCat("seq_len_max must be a scalar, not ", p.input_shape(0).ToString()));
    TENON_ASSIGN_OR_RETURN(s.steps, InputInt(p, 0));
    if (s.steps < 0 || s.steps > s.time) {
      return p.Invalid(
          absl::StrCat("seq_len_max ", s.steps, " is not in [0, ", s.time, "], the steps of x"));
    }
  }
  // Without rows no step has anything to compute.
  if (s.cell.batch == 0) s.steps = 0;
  TENON_RETURN_IF_ERROR(CheckWeights(p, s));
  Dims state = {s.time, s.cell.batch, s.cell.cells};
  // The gates of all steps must fit as well.
  TENON_RETURN_IF_ERROR(CheckedShape(p, {s.time, s.cell.batch, 4 * s.cell.cells}).status());
  if (!sequence) state.erase(state.begin());
  TENON_ASSIGN_OR_RETURN(s.state, CheckedShape(p, state));
  return s;
}

namespace {

struct Forward {
  Forward(const Lstm& lstm, const FloatStep& step) : s(lstm), floats(step) {}
  Lstm s;
  FloatStep floats;
  Product from_x, from_h;  // of all steps, of one
  size_t product_bytes = 0;

  int64_t gates() const { return 4 * s.cell.cells; }
  size_t scratch_bytes() const {
    return product_bytes + (s.rows() + s.cell.batch) * gates() * sizeof(float);
  }
};

absl::Status ComputeSteps(const Forward& f, const StepArgs& args) {
  const Lstm& s = f.s;
  const auto in = [&](int i) { return static_cast<const float*>(args.in[s.first + i]); };
  const auto out = [&](int i) { return static_cast<float*>(args.out[i]); };
  auto* const from_x = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + f.product_bytes);
  float* const from_h = from_x + s.rows() * f.gates();
  const float* const w = in(3);
  const LstmState all{out(0), out(1), out(2), out(3), out(4), out(5), out(6)};
  // The product of all steps' inputs is one large product. Only h's has to wait for the step
  // before.
  TENON_RETURN_IF_ERROR(f.from_x.Run(in(0), w, from_x, args.scratch, args.workers));
  const float *cs_prev = in(1), *h_prev = in(2);
  for (int64_t t = 0; t < s.steps; ++t) {
    TENON_RETURN_IF_ERROR(
        f.from_h.Run(h_prev, w + s.inputs * f.gates(), from_h, args.scratch, args.workers));
    const LstmState now = all.At(t, s.cell);
    RunLstmForward(
        s.cell,
        {from_x + t * s.cell.batch * f.gates(), from_h, in(7), cs_prev, {in(4), in(5), in(6)}, now},
        args.workers);
    cs_prev = now.cs;
    h_prev = now.h;
  }
  const int64_t done = s.steps * s.cell.elements(), size = s.time * s.cell.elements();
  // Steps beyond seq_len_max are zeros.
  for (int i = 0; i < 7; ++i) std::fill(out(i) + done, out(i) + size, 0.0f);
  return absl::OkStatus();
}

absl::Status RunForward(const void* state, const StepArgs& args) {
  const auto& f = *static_cast<const Forward*>(state);
  return f.floats.Run(args, [&](const StepArgs& floats) { return ComputeSteps(f, floats); });
}

absl::Status PrepareForward(Prepare& p, bool sequence) {
  TENON_ASSIGN_OR_RETURN(Lstm s, ReadLstm(p, sequence));
  TENON_ASSIGN_OR_RETURN(s.cell.clip, p.AttrFloat("cell_clip"));
  if (p.op().FindAttr("forget_bias") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s.cell.forget_bias, p.AttrFloat("forget_bias"));
  }
  for (int i = 0; i < 7; ++i) p.set_output_shape(i, s.state);
  auto f = std::make_shared<Forward>(s, FloatStep(p));
  TENON_ASSIGN_OR_RETURN(f->from_x, Product::Make(p, {s.rows(), s.inputs, f->gates()}));
  TENON_ASSIGN_OR_RETURN(f->from_h, Product::Make(p, {s.cell.batch, s.cell.cells, f->gates()}));
  f->product_bytes = Product::SharedScratch({&f->from_x, &f->from_h});
  p.set_scratch_bytes(f->floats.scratch_bytes() + f->scratch_bytes());
  p.set_run(&RunForward, std::move(f));
  return absl::OkStatus();
}

absl::Status PrepareCell(Prepare& p) { return PrepareForward(p, false); }
absl::Status PrepareSequence(Prepare& p) { return PrepareForward(p, true); }

constexpr uint64_t kLstmTypes = TypeBits(DataType::kFloat, DataType::kHalf);

const CpuKernelSpec kLstmKernels[] = {
    {"LSTMBlockCell", {{"T", kLstmTypes}}, &PrepareCell},
    {"BlockLSTM", {{"T", kLstmTypes}}, &PrepareSequence, 0b1},
    {"BlockLSTMV2", {{"T", kLstmTypes}}, &PrepareSequence, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> LstmKernels() { return kLstmKernels; }

}  // namespace tenon::cpu
