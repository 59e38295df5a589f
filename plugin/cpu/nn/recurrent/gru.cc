// GRUBlockCell, one step of a gated recurrent unit, and its gradient: h = u * h_prev + (1 - u) * c,
// where c is made of x and r * h_prev.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/recurrent/product.h"
#include "plugin/cpu/nn/recurrent/sigmoid.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The weights' first rows belong to x, the rest to h. w_ru has columns for the reset gate r, then
// for the update gate u.
enum GruInput { kGruX, kGruHPrev, kGruWru, kGruWc, kGruBru, kGruBc, kGruR, kGruU, kGruC, kGruDh };
enum GruOutput { kGruOutR, kGruOutU, kGruOutC, kGruOutH };
enum GruGradOutput { kGruDx, kGruDHPrev, kGruDcBar, kGruDruBar };

struct Gru {
  int64_t batch = 0, inputs = 0, cells = 0;
  Product x_ru, h_ru, x_c, h_c;
  size_t product_bytes = 0;
};

// Scratch: that of the products, then two matrices of [batch, columns].
struct Scratch {
  Scratch(const Gru& s, const StepArgs& args, int64_t columns)
      : first(reinterpret_cast<float*>(static_cast<char*>(args.scratch) + s.product_bytes)),
        second(first + s.batch * columns) {}
  float *first, *second;
};
size_t ScratchBytes(const Gru& s, int64_t columns) {
  return s.product_bytes + 2 * s.batch * columns * sizeof(float);
}

// Calls f(element, row * 2 * cells + c, c) for all elements [batch, cells].
template <typename F>
void ForEachElement(const Gru& s, const StepArgs& args, F f) {
  args.workers->ParallelFor(s.batch, GrainFor(s.cells * 128), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < s.cells; ++c) f(r * s.cells + c, r * 2 * s.cells + c, c);
    }
  });
}

absl::Status RunGruCell(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Gru*>(state);
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  const auto out = [&](int i) { return static_cast<float*>(args.out[i]); };
  const auto product = [&](const Product& w, const float* a, const float* b, float* c) {
    return w.Run(a, b, c, args.scratch, args.workers);
  };
  const Scratch m(s, args, 2 * s.cells);
  float *const r = out(kGruOutR), *const u = out(kGruOutU), *const c = out(kGruOutC),
               *const h = out(kGruOutH);
  TENON_RETURN_IF_ERROR(product(s.x_ru, in(kGruX), in(kGruWru), m.first));
  TENON_RETURN_IF_ERROR(
      product(s.h_ru, in(kGruHPrev), in(kGruWru) + s.inputs * 2 * s.cells, m.second));
  // Until the end, h holds what r lets pass of h_prev.
  ForEachElement(s, args, [&](int64_t i, int64_t ru, int64_t cell) {
    r[i] = Sigmoid(m.first[ru] + m.second[ru] + in(kGruBru)[cell]);
    const int64_t at_u = ru + s.cells;
    u[i] = Sigmoid(m.first[at_u] + m.second[at_u] + in(kGruBru)[s.cells + cell]);
    h[i] = in(kGruHPrev)[i] * r[i];
  });
  TENON_RETURN_IF_ERROR(product(s.x_c, in(kGruX), in(kGruWc), m.first));
  TENON_RETURN_IF_ERROR(product(s.h_c, h, in(kGruWc) + s.inputs * s.cells, m.second));
  ForEachElement(s, args, [&](int64_t i, int64_t, int64_t cell) {
    c[i] = std::tanh(m.first[i] + m.second[i] + in(kGruBc)[cell]);
    h[i] = u[i] * in(kGruHPrev)[i] + (1 - u[i]) * c[i];
  });
  return absl::OkStatus();
}

absl::Status RunGruGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Gru*>(state);
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  const auto out = [&](int i) { return static_cast<float*>(args.out[i]); };
  const auto product = [&](const Product& w, const float* a, const float* b, float* c) {
    return w.Run(a, b, c, args.scratch, args.workers);
  };
  const Scratch m(s, args, std::max(s.inputs, s.cells));
  float *const c_bar = out(kGruDcBar), *const ru_bar = out(kGruDruBar);
  ForEachElement(s, args, [&](int64_t i, int64_t ru, int64_t) {
    const float dh = in(kGruDh)[i], u = in(kGruU)[i], c = in(kGruC)[i];
    // c is a tanh and u a sigmoid: their derivatives are 1 - c^2 and u * (1 - u).
    c_bar[i] = dh * (1 - u) * (1 - c * c);
    ru_bar[ru + s.cells] = dh * (in(kGruHPrev)[i] - c) * u * (1 - u);
  });
  // The gradient of h_prev * r.
  TENON_RETURN_IF_ERROR(product(s.h_c, c_bar, in(kGruWc) + s.inputs * s.cells, m.first));
  ForEachElement(s, args, [&](int64_t i, int64_t ru, int64_t) {
    const float r = in(kGruR)[i];
    ru_bar[ru] = m.first[i] * in(kGruHPrev)[i] * r * (1 - r);
  });
  TENON_RETURN_IF_ERROR(product(s.h_ru, ru_bar, in(kGruWru) + s.inputs * 2 * s.cells, m.second));
  ForEachElement(s, args, [&](int64_t i, int64_t, int64_t) {
    // Three ways from h_prev to h: through the gates, past them by u, and through r into c.
    out(kGruDHPrev)[i] = m.second[i] + in(kGruDh)[i] * in(kGruU)[i] + m.first[i] * in(kGruR)[i];
  });
  // The scratch of the products before is free now.
  TENON_RETURN_IF_ERROR(product(s.x_c, c_bar, in(kGruWc), m.first));
  TENON_RETURN_IF_ERROR(product(s.x_ru, ru_bar, in(kGruWru), m.second));
  for (int64_t i = 0; i < s.batch * s.inputs; ++i) out(kGruDx)[i] = m.first[i] + m.second[i];
  return absl::OkStatus();
}

absl::StatusOr<Gru> ReadGru(const Prepare& p) {
  const Shape& x = p.input_shape(kGruX);
  const Shape& h = p.input_shape(kGruHPrev);
  if (x.rank() != 2 || h.rank() != 2) {
    return p.Invalid(
        absl::StrCat("x and h_prev must be matrices, not ", x.ToString(), " and ", h.ToString()));
  }
  Gru s;
  s.batch = x.dim(0);
  s.inputs = x.dim(1);
  s.cells = h.dim(1);
  constexpr int64_t kMostGruColumns = int64_t{1} << 40;  // below it no sum here overflows
  if (s.inputs > kMostGruColumns || s.cells > kMostGruColumns)
    return p.Invalid(absl::StrCat(s.inputs, " inputs and ", s.cells, " cells are too many"));
  const Shape state({s.batch, s.cells});
  const Shape want[] = {x,
                        state,
                        Shape({s.inputs + s.cells, 2 * s.cells}),
                        Shape({s.inputs + s.cells, s.cells}),
                        Shape({2 * s.cells}),
                        Shape({s.cells}),
                        state,
                        state,
                        state,
                        state};
  for (int i = kGruHPrev; i < p.num_inputs(); ++i)
    TENON_RETURN_IF_ERROR(CheckInputShape(p, i, want[i]));
  return s;
}

// Forward the products are [x or h] * w, backward gradient * w'.
absl::Status MakeProducts(const Prepare& p, bool backward, Gru& s) {
  const auto make = [&](int64_t rows, int64_t columns) {
    return backward ? Product::Make(p, {s.batch, columns, rows, false, true})
                    : Product::Make(p, {s.batch, rows, columns});
  };
  TENON_ASSIGN_OR_RETURN(s.x_ru, make(s.inputs, 2 * s.cells));
  TENON_ASSIGN_OR_RETURN(s.h_ru, make(s.cells, 2 * s.cells));
  TENON_ASSIGN_OR_RETURN(s.x_c, make(s.inputs, s.cells));
  TENON_ASSIGN_OR_RETURN(s.h_c, make(s.cells, s.cells));
  s.product_bytes = Product::SharedScratch({&s.x_ru, &s.h_ru, &s.x_c, &s.h_c});
  return absl::OkStatus();
}

absl::Status PrepareGruCell(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Gru s, ReadGru(p));
  TENON_RETURN_IF_ERROR(MakeProducts(p, false, s));
  for (int i : {kGruOutR, kGruOutU, kGruOutC, kGruOutH})
    p.set_output_shape(i, p.input_shape(kGruHPrev));
  p.set_scratch_bytes(ScratchBytes(s, 2 * s.cells));
  p.set_run(&RunGruCell, std::make_shared<Gru>(std::move(s)));
  return absl::OkStatus();
}

absl::Status PrepareGruGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Gru s, ReadGru(p));
  TENON_RETURN_IF_ERROR(MakeProducts(p, true, s));
  p.set_output_shape(kGruDx, p.input_shape(kGruX));
  p.set_output_shape(kGruDHPrev, p.input_shape(kGruHPrev));
  p.set_output_shape(kGruDcBar, p.input_shape(kGruHPrev));
  p.set_output_shape(kGruDruBar, Shape({s.batch, 2 * s.cells}));
  p.set_scratch_bytes(ScratchBytes(s, std::max(s.inputs, s.cells)));
  p.set_run(&RunGruGrad, std::make_shared<Gru>(std::move(s)));
  return absl::OkStatus();
}

const CpuKernelSpec kGruKernels[] = {
    {"GRUBlockCell", {{"T", TypeBit(DataType::kFloat)}}, &PrepareGruCell},
    {"GRUBlockCellGrad", {{"T", TypeBit(DataType::kFloat)}}, &PrepareGruGrad},
};

}  // namespace

absl::Span<const CpuKernelSpec> GruKernels() { return kGruKernels; }

}  // namespace tenon::cpu
