// Sums and maxima over dimensions of a sparse tensor, to a dense one or a sparse one; and
// SparseSoftmax.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// An entry and where it goes in the result.
struct Placed {
  int64_t place, entry;
};

struct ReduceState {
  SparseSizes sizes;
  Dims shape;
  std::vector<bool> reduced;  // by dimension
  Shape out;                  // dense
  DataType type;
  bool maximum = false, keep_dims = false;
};

// Places by the dimensions that stay; entries at one place keep their order.
absl::Status PlaceEntries(const ReduceState& s, const void* indices, Placed* placed) {
  for (int64_t i = 0; i < s.sizes.count; ++i) {
    const absl::Span<const int64_t> entry = EntryAt(indices, s.sizes.rank, i);
    placed[i] = {0, i};
    for (int d = 0; d < s.sizes.rank; ++d) {
      if (s.reduced[d]) continue;
      if (entry[d] < 0 || entry[d] >= s.shape[d]) return OutsideError(i, entry, s.shape);
      placed[i].place = placed[i].place * s.shape[d] + entry[d];
    }
  }
  std::sort(placed, placed + s.sizes.count, [](const Placed& a, const Placed& b) {
    return a.place != b.place ? a.place < b.place : a.entry < b.entry;
  });
  return absl::OkStatus();
}

// The entries [begin, end), reduced, as element k of `out`.
void ReduceGroup(const ReduceState& s, const void* values, const Placed* begin, const Placed* end,
                 void* out, int64_t k) {
  VisitElement(s.type, [&](auto element) {
    using A = typename decltype(element)::Wide;
    if (!s.maximum) {
      A sum{};
      for (const Placed* e = begin; e != end; ++e) sum += element.template As<A>(values, e->entry);
      element.Put(out, k, sum);
      return;
    }
    if constexpr (!kIsComplex<A>) {
      using M = typename decltype(element)::Ordered;
      M most = element.template As<M>(values, begin->entry);
      for (const Placed* e = begin + 1; e != end; ++e) {
        const M x = element.template As<M>(values, e->entry);
        if (x > most || x != x) most = x;  // a NaN stays
      }
      element.Put(out, k, most);
    }
  });
}

// Calls f(begin, end) for each group of entries that go to one place.
template <typename F>
void ForEachGroup(const Placed* placed, int64_t count, F&& f) {
  const Placed* const last = placed + count;
  for (const Placed* begin = placed; begin != last;) {
    const Placed* end = begin + 1;
    while (end != last && end->place == begin->place) ++end;
    f(begin, end);
    begin = end;
  }
}

// Places without entries are zero.
absl::Status RunReduceDense(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReduceState*>(state);
  Placed* const placed = static_cast<Placed*>(args.scratch);
  TENON_RETURN_IF_ERROR(PlaceEntries(s, args.in[0], placed));
  ElementCopy(s.type).Zero(args.out[0], 0, s.out.num_elements());
  ForEachGroup(placed, s.sizes.count, [&](const Placed* begin, const Placed* end) {
    ReduceGroup(s, args.in[1], begin, end, args.out[0], begin->place);
  });
  return absl::OkStatus();
}

absl::Status RunReduceSparse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ReduceState*>(state);
  Placed* const placed = static_cast<Placed*>(args.scratch);
  TENON_RETURN_IF_ERROR(PlaceEntries(s, args.in[0], placed));
  int64_t count = 0;
  ForEachGroup(placed, s.sizes.count, [&](const Placed*, const Placed*) { ++count; });
  TENON_ASSIGN_OR_RETURN(void* data,
                         args.run_state->AllocateOutput(0, Shape({count, s.out.rank()})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({count})));
  int64_t* indices = static_cast<int64_t*>(data);
  int64_t k = 0;
  ForEachGroup(placed, s.sizes.count, [&](const Placed* begin, const Placed* end) {
    const absl::Span<const int64_t> entry = EntryAt(args.in[0], s.sizes.rank, begin->entry);
    for (int d = 0; d < s.sizes.rank; ++d) {
      if (!s.reduced[d]) {
        *indices++ = entry[d];
      } else if (s.keep_dims) {
        *indices++ = 0;
      }
    }
    ReduceGroup(s, args.in[1], begin, end, values, k++);
  });
  return absl::OkStatus();
}

absl::Status PrepareReduce(Prepare& p) {
  auto s = std::make_shared<ReduceState>();
  TENON_ASSIGN_OR_RETURN(s->sizes, ReadSparse(p, 0, 1, 2));
  TENON_ASSIGN_OR_RETURN(s->shape, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Dims axes, p.InputInts(3));
  TENON_ASSIGN_OR_RETURN(s->keep_dims, p.AttrBool("keep_dims"));
  TENON_RETURN_IF_ERROR(CheckedShape(p, s->shape).status());
  s->reduced.assign(s->sizes.rank, false);
  for (int64_t a : axes) {
    TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, a, s->sizes.rank));
    s->reduced[axis] = true;
  }
  for (int d = 0; d < s->sizes.rank; ++d) {
    if (!s->reduced[d]) {
      s->out.push_back(s->shape[d]);
    } else if (s->keep_dims) {
      s->out.push_back(1);
    }
  }
  // A reduced dimension of 0 may have hidden that the others are too large.
  TENON_RETURN_IF_ERROR(CheckedShape(p, s->out.dims()).status());
  s->type = p.input_type(1);
  s->maximum = absl::StrContains(p.op().name, "Max");
  p.set_scratch_bytes(s->sizes.count * sizeof(Placed));
  if (absl::EndsWith(p.op().name, "Sparse")) {
    const Shape rank({s->out.rank()});
    p.set_dynamic_output(0);
    p.set_dynamic_output(1);
    p.set_output_shape(2, rank);
    p.set_output_value(2, Tensor::Of<int64_t>(DataType::kInt64, s->out.dims(), rank));
    p.set_run(&RunReduceSparse, std::move(s));
  } else {
    p.set_output_shape(0, s->out);
    p.set_run(&RunReduceDense, std::move(s));
  }
  return absl::OkStatus();
}

struct SoftmaxState {
  SparseSizes sizes;
  DataType type;
};

// Entries [begin, end) of `order`, a row.
template <typename Element>
void SoftmaxRow(Element element, const void* values, const int64_t* order, int64_t begin,
                int64_t end, void* out) {
  const auto at = [&](int64_t k) { return element.template As<double>(values, order[k]); };
  // The greatest value is subtracted so that no exponential overflows.
  double most = at(begin), sum = 0;
  for (int64_t k = begin + 1; k < end; ++k) most = std::max(most, at(k));
  for (int64_t k = begin; k < end; ++k) sum += std::exp(at(k) - most);
  for (int64_t k = begin; k < end; ++k) element.Put(out, k, std::exp(at(k) - most) / sum);
}

// Over the last dimension; the result is in the order of sorted entries.
absl::Status RunSoftmax(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SoftmaxState*>(state);
  const int rank = s.sizes.rank;
  for (const int64_t dim : absl::MakeSpan(static_cast<const int64_t*>(args.in[2]), rank)) {
    if (dim < 0)
      return absl::InvalidArgumentError(absl::StrCat("the shape has the dimension ", dim));
  }
  int64_t* const order = static_cast<int64_t*>(args.scratch);
  SortEntries(args.in[0], s.sizes, order);
  const auto row = [&](int64_t k) { return EntryAt(args.in[0], rank, order[k]).first(rank - 1); };
  VisitFloat(s.type, [&](auto element) {
    for (int64_t begin = 0; begin < s.sizes.count;) {
      int64_t end = begin + 1;
      while (end < s.sizes.count && CompareEntries(row(end), row(begin)) == 0) ++end;
      SoftmaxRow(element, args.in[1], order, begin, end, args.out[0]);
      begin = end;
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareSoftmax(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const SparseSizes sizes, ReadSparse(p, 0, 1, 2));
  if (sizes.rank < 2) return p.Invalid("the sparse tensor must have at least 2 dimensions");
  p.set_output_shape(0, p.input_shape(1));
  p.set_scratch_bytes(sizes.count * sizeof(int64_t));
  p.set_run(&RunSoftmax, std::make_shared<SoftmaxState>(SoftmaxState{sizes, p.input_type(1)}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseReduceKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseReduceSum", {{"T", kNumberTypes}}, PrepareReduce, 0b1100},
      {"SparseReduceMax", {{"T", kRealTypes}}, PrepareReduce, 0b1100},
      {"SparseReduceSumSparse", {{"T", kNumberTypes}}, PrepareReduce, 0b1100},
      {"SparseReduceMaxSparse", {{"T", kRealTypes}}, PrepareReduce, 0b1100},
      {"SparseSoftmax", {{"T", kFloatTypes}}, PrepareSoftmax},
  };
  return specs;
}

}  // namespace tenon::cpu
