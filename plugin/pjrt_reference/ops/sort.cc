// sort and top_k.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "checks.h"
#include "families.h"
#include "region.h"
#include "strided.h"

namespace pjref {
namespace {

void CheckSort(const Op& op) {
  const size_t count = op.operands.size();
  CheckThat(op, count > 0, "expects at least one operand");
  CheckCounts(op, count, count, 1);
  const Type& first = op.operand_types[0];
  int64_t axis = op.Integer("dimension", -1);
  CheckThat(op, axis >= -first.rank() && axis < first.rank(), "dimension is out of range");
  std::vector<Type> arguments;
  for (size_t i = 0; i < count; ++i) {
    CheckKind(op, op.operand_types[i], kAll);
    CheckThat(op, op.operand_types[i].dims == first.dims,
              "requires the same shape for all operands");
    CheckResult(op, i, op.operand_types[i]);
    arguments.insert(arguments.end(), 2, {op.operand_types[i].element, {}});
  }
  CheckRegion(op, 0, arguments, {{Element::kI1, {}}});
}

// The comparator's answer for all pairs of neighbours `a[i]`, `b[i]` of a line.
class Comparator {
 public:
  Comparator(const ElementFunction& body, const std::vector<Array>& line)
      : body_(body), line_(line) {}

  // Whether element a[i] goes before b[i], for each i.
  std::vector<char> Before(const std::vector<int64_t>& a, const std::vector<int64_t>& b) const {
    const auto count = static_cast<int64_t>(a.size());
    std::vector<Array> arguments;
    for (const Array& values : line_) {
      arguments.push_back(Picked(values, a));
      arguments.push_back(Picked(values, b));
    }
    const Array made = body_.Apply(arguments, count)[0];
    return std::vector<char>(made.data(), made.data() + count);
  }

  static Array Picked(const Array& values, const std::vector<int64_t>& order) {
    Array out({values.element(), {static_cast<int64_t>(order.size())}});
    const size_t size = ByteSize(values.element());
    for (size_t i = 0; i < order.size(); ++i) {
      std::memcpy(out.data() + i * size, values.data() + order[i] * size, size);
    }
    return out;
  }

 private:
  const ElementFunction& body_;
  const std::vector<Array>& line_;
};

// A merge sort from the bottom up. All merges of a round take a step together, so that the
// comparator is asked for many pairs at once: n log n comparisons in about n rounds of calls.
// Stable.
std::vector<int64_t> Sorted(const Comparator& comparator, int64_t length) {
  std::vector<int64_t> order(static_cast<size_t>(length)), merged(order.size());
  std::iota(order.begin(), order.end(), 0);
  struct Merge {
    int64_t left, left_end, right, right_end, out;
  };
  for (int64_t width = 1; width < length; width *= 2) {
    std::vector<Merge> merges;
    for (int64_t at = 0; at < length; at += 2 * width) {
      const int64_t middle = std::min(at + width, length);
      merges.push_back({at, middle, middle, std::min(at + 2 * width, length), at});
    }
    while (!merges.empty()) {
      std::vector<int64_t> a, b;
      std::vector<Merge> open;
      for (Merge& merge : merges) {
        if (merge.left < merge.left_end && merge.right < merge.right_end) {
          a.push_back(order[merge.right]);
          b.push_back(order[merge.left]);
          open.push_back(merge);
          continue;
        }
        while (merge.left < merge.left_end) merged[merge.out++] = order[merge.left++];
        while (merge.right < merge.right_end) merged[merge.out++] = order[merge.right++];
      }
      if (open.empty()) break;
      const std::vector<char> right_first = comparator.Before(a, b);
      for (size_t i = 0; i < open.size(); ++i) {
        merged[open[i].out++] = right_first[i] ? order[open[i].right++] : order[open[i].left++];
      }
      merges = std::move(open);
    }
    order.swap(merged);
  }
  return order;
}

Dims LastAxis(int64_t rank, int64_t axis) {
  Dims axes;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) axes.push_back(i);
  }
  axes.push_back(axis);
  return axes;
}

Dims Inverse(const Dims& axes) {
  Dims inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) inverse[axes[i]] = static_cast<int64_t>(i);
  return inverse;
}

void Sort(Frame* frame, const Op& op) {
  const ElementFunction body(frame, op.regions[0]);
  const Type& type = op.operand_types[0];
  const int64_t axis = op.Integer("dimension", -1);
  const Dims axes = LastAxis(type.rank(), axis < 0 ? axis + type.rank() : axis);
  std::vector<Array> in, out;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    in.push_back(Transposed(frame->In(op, i), axes));
    out.emplace_back(in.back().type());
  }
  const int64_t length = in[0].dims().back();
  const int64_t lines = length == 0 ? 0 : in[0].count() / length;
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<Array> values;
    for (const Array& array : in) {
      Array one({array.element(), {length}});
      std::memcpy(one.data(), array.data() + line * one.bytes(), one.bytes());
      values.push_back(std::move(one));
    }
    const std::vector<int64_t> order = Sorted(Comparator(body, values), length);
    for (size_t i = 0; i < values.size(); ++i) {
      const Array sorted = Comparator::Picked(values[i], order);
      std::memcpy(out[i].data() + line * sorted.bytes(), sorted.data(), sorted.bytes());
    }
  }
  for (size_t i = 0; i < out.size(); ++i) frame->Out(op, i, Transposed(out[i], Inverse(axes)));
}

void CheckTopK(const Op& op) {
  CheckCounts(op, 1, 2);
  const Type& type = op.operand_types[0];
  CheckKind(op, type, kReals);
  CheckThat(op, type.rank() > 0, "expects an operand of rank 1 or more");
  const int64_t k = op.Integer("k", -1);
  CheckThat(op, k >= 0 && k <= type.dims.back(),
            "k must be in [0, " + std::to_string(type.dims.back()) + "]");
  Type values = type;
  values.dims.back() = k;
  CheckResult(op, 0, values);
  CheckResult(op, 1, {Element::kI32, values.dims});
}

// The largest first, a NaN before all; the lower index where two are equal.
template <typename T>
void TopLines(const Array& in, int64_t k, const Array& values, const Array& indices) {
  const int64_t length = in.dims().back();
  const int64_t lines = length == 0 ? 0 : in.count() / length;
  const std::vector<T> all = LoadAll<T>(in);
  std::vector<int64_t> order(static_cast<size_t>(length));
  for (int64_t line = 0; line < lines; ++line) {
    const T* row = all.data() + line * length;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
      const bool nan_a = row[a] != row[a], nan_b = row[b] != row[b];
      if (nan_a != nan_b) return nan_a;
      if (!nan_a && row[a] != row[b]) return row[a] > row[b];
      return a < b;
    });
    for (int64_t i = 0; i < k; ++i) {
      Store(&row[order[i]], line * k + i, 1, values);
      indices.data<int32_t>()[line * k + i] = static_cast<int32_t>(order[i]);
    }
  }
}

void TopK(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array values(op.result_types[0]), indices(op.result_types[1]);
  VisitComputed(in.element(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) TopLines<T>(in, op.Integer("k", 0), values, indices);
  });
  frame->Out(op, 0, std::move(values));
  frame->Out(op, 1, std::move(indices));
}

}  // namespace

const std::vector<OpRow>& SortRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.sort", &CheckSort, &Sort, nullptr},
      {"chlo.top_k", &CheckTopK, &TopK, nullptr},
  };
  return kRows;
}

}  // namespace pjref
