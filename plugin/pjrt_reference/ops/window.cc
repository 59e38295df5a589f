// reduce_window and select_and_scatter, a place of the window at a time for all of its positions.
#include "window.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "checks.h"
#include "families.h"
#include "region.h"
#include "strided.h"

namespace pjref {

WindowAxis::Met WindowAxis::MeetsAt(int64_t w) const {
  const int64_t offset =
      w * window_dilation - low;  // Element i of the result meets i * stride + offset.
  const int64_t span = (in - 1) * base_dilation;
  Met met = {0, base_dilation / std::gcd(stride, base_dilation), 0, 0, 0};
  if (in == 0 || out == 0) return met;
  met.first = offset < 0 ? (-offset + stride - 1) / stride : 0;
  int64_t tries = met.step;
  while (tries > 0 && (met.first * stride + offset) % base_dilation != 0) {
    ++met.first;
    --tries;
  }
  if (tries == 0 || span < offset) return met;
  const int64_t last = std::min(out - 1, (span - offset) / stride);
  if (last < met.first) return met;
  met.count = (last - met.first) / met.step + 1;
  met.in_first = (met.first * stride + offset) / base_dilation;
  met.in_step = met.step * stride / base_dilation;
  return met;
}

void SetOutput(const Op& op, WindowAxis* axis) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto fair = [&](int64_t value, int64_t least, const char* what) {
    CheckThat(op, value >= least && value < kMost,
              std::string("has a window whose ") + what + " is " + std::to_string(value));
  };
  fair(axis->window, 1, "size");
  fair(axis->stride, 1, "stride");
  fair(axis->base_dilation, 1, "base dilation");
  fair(axis->window_dilation, 1, "window dilation");
  fair(axis->low, -kMost + 1, "padding");
  fair(axis->high, -kMost + 1, "padding");
  CheckThat(op, axis->in < kMost, "has an axis that is too long");
  const int64_t padded =
      (axis->in == 0 ? 0 : (axis->in - 1) * axis->base_dilation + 1) + axis->low + axis->high;
  const int64_t reach = (axis->window - 1) * axis->window_dilation + 1;
  axis->out = padded < reach || padded <= 0 ? 0 : (padded - reach) / axis->stride + 1;
}

Array ElementsAt(const Array& from, const Array& otherwise, const std::vector<WindowAxis>& axes,
                 const Dims& place) {
  Dims dims, counts, from_steps, to_steps;
  for (const WindowAxis& axis : axes) dims.push_back(axis.out);
  Array out({from.element(), dims});
  const Dims in_strides = StridesOf(from.dims()), out_strides = StridesOf(dims);
  int64_t in = 0, at = 0;
  bool whole = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis::Met met = axes[i].MeetsAt(place[i]);
    whole = whole && met.count == dims[i];
    counts.push_back(met.count);
    in += met.in_first * in_strides[i];
    at += met.first * out_strides[i];
    from_steps.push_back(met.in_step * in_strides[i]);
    to_steps.push_back(met.step * out_strides[i]);
  }
  if (!whole) Fill(otherwise, out);
  if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return out;
  const size_t size = ByteSize(from.element());
  CopyStrided(from.data() + in * size, from_steps, out.data() + at * size, to_steps, counts, size);
  return out;
}

namespace {

// `sizes` and what else is said of windows, one axis for each dimension of the operand.
std::vector<WindowAxis> WindowAxesOf(const Op& op, const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const Dims ones(dims.size(), 1);
  const Dims sizes = op.Integers("window_dimensions", ones),
             strides = op.Integers("window_strides", ones),
             base = op.Integers("base_dilations", ones),
             window = op.Integers("window_dilations", ones),
             padding = op.Integers("padding", Dims(2 * dims.size(), 0));
  CheckSize(op, "window_dimensions", sizes, rank);
  CheckSize(op, "window_strides", strides, rank);
  CheckSize(op, "base_dilations", base, rank);
  CheckSize(op, "window_dilations", window, rank);
  CheckSize(op, "padding", padding, 2 * rank);
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    WindowAxis axis = {dims[i],   sizes[i],       strides[i],         base[i],
                       window[i], padding[2 * i], padding[2 * i + 1], 0};
    SetOutput(op, &axis);
    axes.push_back(axis);
  }
  return axes;
}

Dims OutputOf(const std::vector<WindowAxis>& axes) {
  Dims dims;
  for (const WindowAxis& axis : axes) dims.push_back(axis.out);
  return dims;
}

Dims PlacesOf(const std::vector<WindowAxis>& axes) {
  Dims dims;
  for (const WindowAxis& axis : axes) dims.push_back(axis.window);
  return dims;
}

void CheckReduceWindow(const Op& op) {
  const size_t count = op.operands.size() / 2;
  CheckThat(op, count > 0, "expects an operand and its initial value");
  CheckCounts(op, 2 * count, count, 1);
  const Dims& dims = op.operand_types[0].dims;
  const Dims out = OutputOf(WindowAxesOf(op, dims));
  std::vector<Type> scalars;
  for (size_t i = 0; i < count; ++i) {
    const Type& type = op.operand_types[i];
    CheckKind(op, type, kAll);
    CheckThat(op, type.dims == dims, "expects all inputs to have compatible shapes");
    CheckThat(op, op.operand_types[count + i] == Type({type.element, {}}),
              "the initial value is no scalar of the operand's type");
    CheckResult(op, i, {type.element, out});
    scalars.push_back({type.element, {}});
  }
  std::vector<Type> arguments = scalars;
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  CheckRegion(op, 0, arguments, scalars);
}

void ReduceWindow(Frame* frame, const Op& op) {
  const ElementFunction body(frame, op.regions[0]);
  const size_t count = op.operands.size() / 2;
  const std::vector<WindowAxis> axes = WindowAxesOf(op, op.operand_types[0].dims);
  const Dims places = PlacesOf(axes);
  const int64_t elements = op.result_types[0].count();
  std::vector<Array> results;
  for (size_t i = 0; i < count; ++i) results.push_back(Splat(frame->In(op, count + i), {elements}));
  Dims place(axes.size(), 0);
  do {
    std::vector<Array> arguments = results;
    for (size_t i = 0; i < count; ++i) {
      arguments.push_back(ElementsAt(frame->In(op, i), frame->In(op, count + i), axes, place));
    }
    if (elements > 0) results = body.Apply(arguments, elements);
  } while (Advance(places, &place));
  for (size_t i = 0; i < count; ++i)
    frame->Out(op, i, results[i].WithDims(op.result_types[i].dims));
}

void CheckSelectAndScatter(const Op& op) {
  CheckCounts(op, 3, 1, 2);
  const Type& type = op.operand_types[0];
  const Type scalar = {type.element, {}};
  CheckThat(op, op.operand_types[2] == scalar,
            "the initial value is no scalar of the operand's type");
  CheckThat(
      op, op.operand_types[1] == Type({type.element, OutputOf(WindowAxesOf(op, type.dims))}),
      "source '" + ToString(op.operand_types[1]) + "' does not have an element for each window");
  CheckRegion(op, 0, {scalar, scalar}, {{Element::kI1, {}}});
  CheckRegion(op, 1, {scalar, scalar}, {scalar});
  CheckResult(op, 0, type);
}

// Which element of the operand each window selects; -1 if it holds padding alone.
std::vector<int64_t> Selected(const ElementFunction& select, const Array& operand,
                              const std::vector<WindowAxis>& axes) {
  const Dims out = OutputOf(axes), places = PlacesOf(axes);
  const int64_t windows = Type{Element::kI1, out}.count();
  Array numbers({Element::kI64, operand.dims()}), none({Element::kI64, {}}),
      zero({operand.element(), {}});
  std::iota(numbers.data<int64_t>(), numbers.data<int64_t>() + numbers.count(), 0);
  *none.data<int64_t>() = -1;
  std::memset(zero.data(), 0, zero.bytes());
  std::vector<int64_t> best(static_cast<size_t>(windows), -1);
  Array kept({operand.element(), {windows}});
  std::memset(kept.data(), 0, kept.bytes());
  const size_t size = ByteSize(operand.element());
  Dims place(axes.size(), 0);
  do {
    const Array numbered = ElementsAt(numbers, none, axes, place);
    const Array elements = ElementsAt(operand, zero, axes, place);
    const std::vector<Array> keeps = select.Apply({kept, elements}, windows);
    for (int64_t i = 0; i < windows; ++i) {
      const int64_t number = numbered.data<int64_t>()[i];
      if (number < 0 || (best[i] >= 0 && keeps[0].data()[i])) continue;
      best[i] = number;
      std::memcpy(kept.data() + i * size, elements.data() + i * size, size);
    }
  } while (Advance(places, &place));
  return best;
}

void SelectAndScatter(Frame* frame, const Op& op) {
  const std::vector<WindowAxis> axes = WindowAxesOf(op, op.operand_types[0].dims);
  const Array& source = frame->In(op, 1);
  Array out(op.result_types[0]);
  Fill(frame->In(op, 2), out);
  if (source.count() == 0) return frame->Out(op, std::move(out));
  const std::vector<int64_t> selected =
      Selected(ElementFunction(frame, op.regions[0]), frame->In(op, 0), axes);
  const ElementFunction scatter(frame, op.regions[1]);
  const size_t size = ByteSize(out.element());
  // Windows may select the same element: in each round every element takes part once.
  std::vector<int64_t> left(selected.size());
  std::iota(left.begin(), left.end(), 0);
  std::vector<int64_t> used(static_cast<size_t>(out.count()), -1);
  for (int64_t round = 0; !left.empty(); ++round) {
    std::vector<int64_t> now, later;
    for (int64_t i : left) {
      if (selected[i] < 0) continue;
      int64_t& last = used[selected[i]];
      (last == round ? later : now).push_back(i);
      last = round;
    }
    const auto count = static_cast<int64_t>(now.size());
    if (count == 0) break;
    Array held({out.element(), {count}}), added({out.element(), {count}});
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(held.data() + i * size, out.data() + selected[now[i]] * size, size);
      std::memcpy(added.data() + i * size, source.data() + now[i] * size, size);
    }
    const Array made = scatter.Apply({held, added}, count)[0];
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out.data() + selected[now[i]] * size, made.data() + i * size, size);
    }
    left = std::move(later);
  }
  frame->Out(op, std::move(out));
}

}  // namespace

const std::vector<OpRow>& WindowRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.reduce_window", &CheckReduceWindow, &ReduceWindow, nullptr},
      {"stablehlo.select_and_scatter", &CheckSelectAndScatter, &SelectAndScatter, nullptr},
  };
  return kRows;
}

}  // namespace pjref
