// TopK and its kin, NthElement: the largest elements of each row.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct TopKState {
  ElementCopy copy;
  DataType type;
  int64_t rows = 1, columns = 0, k = 0;
  DataType index_type = DataType::kInt32;  // TopKV2's
};

// Before in the result: larger, NaN above all; of equals the one that stands first.
template <typename T>
bool Before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return false;
    if (std::isnan(a)) return true;
  }
  return a > b;
}

// Returns the place of the largest of a row. For k = 1 TensorFlow compares by vectors, which pass
// over NaN, and then one by one; so the lanes do here, and NaN is not above all as it is for other
// k.
template <typename Key>
int64_t LargestOf(const TopKState& s, Key key) {
  using T = decltype(key(0));
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  const int64_t lanes = LanesOf(s.type), in_lanes = s.columns / lanes * lanes;
  T largest = kLowest, rest = kLowest;
  for (int64_t i = 0; i < in_lanes; ++i) largest = key(i) > largest ? key(i) : largest;
  for (int64_t i = in_lanes; i < s.columns; ++i) rest = rest > key(i) ? rest : key(i);
  if (!(largest > rest)) largest = rest;
  for (int64_t i = 0; i < s.columns; ++i) {
    if (key(i) == largest) return i;
  }
  return 0;
}

// Writes the places of elements, the k largest of the row among them, and returns their number.
// What does not stand before the k-th largest element so far is passed over, which few elements do
// not: so most of the row is only compared with one number.
template <typename Key, typename Order>
int64_t ListCandidates(const TopKState& s, Key key, Order before, int64_t* order) {
  constexpr int64_t kTogether = 16;
  const int64_t most = std::min(s.columns, 2 * s.k + 64);
  std::iota(order, order + most, 0);
  if (most == s.columns || s.k == 0) return most;
  int64_t count = most;
  decltype(key(0)) least{};  // the k-th largest so far
  const auto drop = [&] {
    std::nth_element(order, order + s.k - 1, order + count, before);
    count = s.k;
    least = key(order[s.k - 1]);
  };
  drop();
  for (int64_t i = most; i < s.columns;) {
    const int64_t end = std::min(i + kTogether, s.columns);
    int some = 0;
    // NaN, which is not below anything, is not passed over.
    for (int64_t j = i; j < end; ++j) some |= static_cast<int>(!(key(j) <= least));
    if (some == 0) {
      i = end;
      continue;
    }
    for (; i < end; ++i) {
      if (!Before(key(i), least)) continue;
      order[count++] = i;
      if (count == most) drop();
    }
  }
  return count;
}

template <typename Element>
void TopRow(const TopKState& s, int64_t row, const StepArgs& args, int64_t* order) {
  const Element element;
  const auto key = [&](int64_t i) {
    return element.template As<typename Element::Native>(args.in[0], row * s.columns + i);
  };
  const auto put = [&](int64_t i, int64_t from) {
    s.copy(args.in[0], row * s.columns + from, args.out[0], row * s.k + i);
    StoreIndex(args.out[1], s.index_type, row * s.k + i, from);
  };
  if constexpr (std::is_floating_point_v<typename Element::Native>) {
    if (s.k == 1) return put(0, LargestOf(s, key));
  }
  const auto before = [&](int64_t a, int64_t b) {
    if (Before(key(a), key(b))) return true;
    return !Before(key(b), key(a)) && a < b;
  };
  const int64_t count = ListCandidates(s, key, before, order);
  if (s.k < count) std::nth_element(order, order + s.k, order + count, before);
  std::sort(order, order + s.k, before);
  for (int64_t i = 0; i < s.k; ++i) put(i, order[i]);
}

// The n-th smallest (largest) of a row.
template <typename Element>
void NthOfRow(const TopKState& s, int64_t row, const StepArgs& args,
              typename Element::Native* values) {
  using T = typename Element::Native;
  const Element element;
  for (int64_t i = 0; i < s.columns; ++i)
    values[i] = element.template As<T>(args.in[0], row * s.columns + i);
  std::nth_element(values, values + s.k, values + s.columns, [](T a, T b) { return Before(b, a); });
  element.Put(args.out[0], row, values[s.k]);
}

// Some rows are a tile; scratch memory holds one row's order or values.
size_t SlotBytes(const TopKState& s) { return s.columns * sizeof(int64_t); }
int64_t RowsOfTile(const TopKState& s) { return GrainFor(s.columns * 32); }
int64_t Tiles(const TopKState& s) { return (s.rows + RowsOfTile(s) - 1) / RowsOfTile(s); }

template <typename Element, bool kNth>
absl::Status RunRows(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TopKState*>(state);
  return ForEachTile(args, Tiles(s), SlotBytes(s), [&](int64_t t, char* scratch) {
    for (int64_t r = t * RowsOfTile(s); r < std::min((t + 1) * RowsOfTile(s), s.rows); ++r) {
      if constexpr (kNth) {
        NthOfRow<Element>(s, r, args, reinterpret_cast<typename Element::Native*>(scratch));
      } else {
        TopRow<Element>(s, r, args, reinterpret_cast<int64_t*>(scratch));
      }
    }
    return absl::OkStatus();
  });
}

template <bool kNth>
absl::Status SetRun(Prepare& p, std::shared_ptr<TopKState> s) {
  if (s->rows == 0) return absl::OkStatus();
  RunFn run = nullptr;
  VisitElement(p.input_type(0), [&]<typename Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Native>) run = &RunRows<Element, kNth>;
  });
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_scratch_bytes(TileScratchBytes(p.workers(), Tiles(*s), SlotBytes(*s)));
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadCount(const Prepare& p) {
  if (p.input_shape(1).rank() != 0) return p.Invalid("'k' must be a scalar");
  return InputInt(p, 1);
}

// The k largest of each row.
absl::Status SetTopK(Prepare& p, int64_t k) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (k < 0 || k > in.dim(last))
    return p.Invalid(absl::StrCat("k must be between 0 and ", in.dim(last), ", it is ", k));
  auto s = std::make_shared<TopKState>(TopKState{ElementCopy(p.input_type(0)), p.input_type(0)});
  s->rows = SplitAt(in, last).outer;
  s->columns = in.dim(last);
  s->k = k;
  s->index_type = p.output_type(1);
  Shape out = in;
  out.set_dim(last, k);
  p.set_output_shape(0, out);
  p.set_output_shape(1, out);
  return SetRun<false>(p, std::move(s));
}

absl::Status PrepareTopK(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, ReadCount(p));
  return SetTopK(p, k);
}

absl::Status PrepareTopKOfAttr(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, p.AttrInt("k"));
  return SetTopK(p, k);
}

// Exact, whatever recall is asked for, as TensorFlow's on the CPU.
absl::Status PrepareApproxTopK(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt("reduction_dimension"));
  TENON_ASSIGN_OR_RETURN(const bool largest, p.AttrBool("is_max_k"));
  if (axis != -1 && axis != p.input_shape(0).rank() - 1)
    return p.Unimplemented(absl::StrCat("reduction_dimension ", axis, " is not the last one"));
  if (!largest) return p.Unimplemented("is_max_k false is not built");
  return PrepareTopKOfAttr(p);
}

absl::Status PrepareNth(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t n, ReadCount(p));
  TENON_ASSIGN_OR_RETURN(const bool reverse, p.AttrBool("reverse"));
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (n < 0 || n >= in.dim(last))
    return p.Invalid(absl::StrCat("n must be between 0 and ", in.dim(last) - 1, ", it is ", n));
  auto s = std::make_shared<TopKState>(TopKState{ElementCopy(p.input_type(0)), p.input_type(0)});
  s->rows = SplitAt(in, last).outer;
  s->columns = in.dim(last);
  s->k = reverse ? in.dim(last) - 1 - n : n;
  Shape out;
  for (int d = 0; d < last; ++d) out.push_back(in.dim(d));
  p.set_output_shape(0, out);
  return SetRun<true>(p, std::move(s));
}

}  // namespace

absl::Span<const CpuKernelSpec> TopKKernels() {
  static const CpuKernelSpec specs[] = {
      {"TopKV2", {{"T", kRealTypes}}, PrepareTopK, 0b10},
      {"TopK", {{"T", kRealTypes}}, PrepareTopKOfAttr},
      {"ApproxTopK", {{"T", kRealTypes}}, PrepareApproxTopK},
      {"NthElement", {{"T", kRealTypes}}, PrepareNth, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
