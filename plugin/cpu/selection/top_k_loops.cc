#include "plugin/cpu/selection/top_k_loops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

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

}  // namespace

RunFn FindTopK(DataType type, bool nth) {
  RunFn run = nullptr;
  VisitElement(type, [&]<typename Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Native>)
      run = nth ? &RunRows<Element, true> : &RunRows<Element, false>;
  });
  return run;
}

size_t TopKScratch(const Workers& workers, const TopKState& s) {
  return TileScratchBytes(workers, Tiles(s), SlotBytes(s));
}

}  // namespace tenon::cpu
