// gather and scatter.
#include <algorithm>
#include <cstring>
#include <limits>

#include "checks.h"
#include "families.h"
#include "region.h"
#include "strided.h"

namespace pjref {
namespace {

Dims ListOf(const Op& op, const Attribute& numbers, const char* key) {
  Op holder;
  holder.name = op.name;
  holder.place = op.place;
  holder.attributes = numbers;
  return holder.Integers(key);
}

int64_t IndexVectorDim(const Attribute& numbers) {
  const Attribute* found = numbers.Find("index_vector_dim");
  return found ? found->integer : 0;
}

// How indices lead to windows of an operand, for both directions. "window" are the axes of the
// result or updates that run within a window.
struct Indexing {
  Dims window, dropped, batching, index_batching, map;
  int64_t vector_dim;
  Dims sizes;  // of a window, over the operand's axes

  static Indexing OfGather(const Op& op) {
    const Attribute* numbers = op.Find("dimension_numbers");
    CheckThat(op, numbers != nullptr, "requires attribute 'dimension_numbers'");
    return {ListOf(op, *numbers, "offset_dims"),
            ListOf(op, *numbers, "collapsed_slice_dims"),
            ListOf(op, *numbers, "operand_batching_dims"),
            ListOf(op, *numbers, "start_indices_batching_dims"),
            ListOf(op, *numbers, "start_index_map"),
            IndexVectorDim(*numbers),
            op.Integers("slice_sizes")};
  }
  // The sizes of windows are those of the updates.
  static Indexing OfScatter(const Op& op, const Type& operand, const Type& updates) {
    const Attribute* numbers = op.Find("scatter_dimension_numbers");
    CheckThat(op, numbers != nullptr, "requires attribute 'scatter_dimension_numbers'");
    Indexing made = {ListOf(op, *numbers, "update_window_dims"),
                     ListOf(op, *numbers, "inserted_window_dims"),
                     ListOf(op, *numbers, "input_batching_dims"),
                     ListOf(op, *numbers, "scatter_indices_batching_dims"),
                     ListOf(op, *numbers, "scatter_dims_to_operand_dims"),
                     IndexVectorDim(*numbers),
                     {}};
    CheckAxes(op, "update_window_dims", made.window, updates.rank());
    CheckThat(
        op, made.window.size() + made.dropped.size() + made.batching.size() == operand.dims.size(),
        "expects rank of input to match the sizes of update_window_dims, inserted_window_dims and "
        "input_batching_dims");
    size_t next = 0;
    for (int64_t axis = 0; axis < operand.rank(); ++axis) {
      const bool drops = Contains(made.dropped, axis) || Contains(made.batching, axis);
      CheckThat(op, drops || next < made.window.size(),
                "inserted_window_dims must be unique axes of the input");
      made.sizes.push_back(drops ? 1 : updates.dims[made.window[next++]]);
    }
    return made;
  }

  // `moved` is the gather's result or the scatter's updates.
  void Check(const Op& op, const Type& operand, const Type& indices, const Type& moved) const {
    const int64_t rank = operand.rank();
    CheckKind(op, operand, kAll);
    CheckKind(op, indices, kIntegers);
    CheckThat(op, vector_dim >= 0 && vector_dim <= indices.rank(),
              "index_vector_dim is out of range");
    const int64_t entries = vector_dim < indices.rank() ? indices.dims[vector_dim] : 1;
    CheckSize(op, "the index map", map, entries);
    CheckAxes(op, "the index map", map, rank);
    CheckAxes(op, "collapsed or inserted axes", dropped, rank);
    CheckAxes(op, "batching axes", batching, rank);
    CheckAxes(op, "batching axes of the indices", index_batching, indices.rank());
    CheckSize(op, "batching axes of the indices", index_batching,
              static_cast<int64_t>(batching.size()));
    CheckAxes(op, "window axes", window, moved.rank());
    CheckThat(op, std::is_sorted(window.begin(), window.end()), "window axes must be sorted");
    CheckSize(op, "slice_sizes", sizes, rank);
    CheckThat(op, window.size() + dropped.size() + batching.size() == operand.dims.size(),
              "window, collapsed and batching axes must be all axes of the operand");
    CheckWindow(op, operand, indices, moved);
  }

  void CheckWindow(const Op& op, const Type& operand, const Type& indices,
                   const Type& moved) const {
    for (size_t i = 0; i < sizes.size(); ++i) {
      CheckThat(op, sizes[i] >= 0 && sizes[i] <= operand.dims[i],
                "slice size " + std::to_string(sizes[i]) +
                    " is out of bounds for operand dimension " + std::to_string(operand.dims[i]) +
                    " at index " + std::to_string(i));
    }
    for (const Dims* axes : {&dropped, &batching}) {
      for (int64_t axis : *axes)
        CheckThat(op, sizes[axis] <= 1, "a collapsed axis has a slice size above 1");
    }
    for (int64_t axis : batching) {
      CheckThat(op, !Contains(dropped, axis) && !Contains(map, axis),
                "a batching axis is used twice");
    }
    for (size_t i = 0; i < batching.size(); ++i) {
      CheckThat(op,
                index_batching[i] != vector_dim &&
                    indices.dims[index_batching[i]] == operand.dims[batching[i]],
                "batching axes of operand and indices differ");
    }
    const Dims batch = BatchDims(indices.dims);
    CheckThat(op, moved.rank() == static_cast<int64_t>(batch.size() + window.size()),
              "'" + ToString(moved) + "' does not have the axes of windows and of indices");
    size_t next_batch = 0, next_window = 0;
    const Dims kept = WindowDims();
    for (int64_t axis = 0; axis < moved.rank(); ++axis) {
      const int64_t expected = Contains(window, axis) ? kept[next_window++] : batch[next_batch++];
      CheckThat(op, moved.dims[axis] == expected,
                "'" + ToString(moved) + "' should have " + std::to_string(expected) +
                    " elements along axis " + std::to_string(axis));
    }
  }

  Dims BatchDims(const Dims& indices) const {
    Dims dims = indices;
    if (vector_dim < static_cast<int64_t>(indices.size())) dims.erase(dims.begin() + vector_dim);
    return dims;
  }
  // The operand's axes that a window keeps, and their sizes.
  Dims WindowAxes() const {
    Dims axes;
    for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
      if (!Contains(dropped, axis) && !Contains(batching, axis)) axes.push_back(axis);
    }
    return axes;
  }
  Dims WindowDims() const {
    Dims dims;
    for (int64_t axis : WindowAxes()) dims.push_back(sizes[axis]);
    return dims;
  }
};

// Walks over all index vectors.
class Walk {
 public:
  Walk(const Indexing& how, const Array& indices, const Type& moved)
      : how_(how),
        values_(LoadAll<int64_t>(indices)),
        is_u64_(indices.element() == Element::kU64),
        strides_(StridesOf(indices.dims())),
        batch_(how.BatchDims(indices.dims())),
        at_(batch_.size(), 0) {
    const Dims moved_strides = StridesOf(moved.dims);
    for (int64_t axis = 0; axis < moved.rank(); ++axis) {
      (Contains(how.window, axis) ? window_steps_ : batch_steps_).push_back(moved_strides[axis]);
    }
  }

  bool Empty() const { return std::find(batch_.begin(), batch_.end(), 0) != batch_.end(); }
  bool Next() { return Advance(batch_, &at_); }
  // Where the window begins in the operand.
  Dims Start() const {
    Dims start(how_.sizes.size(), 0);
    int64_t base = 0, step = 0;
    for (size_t i = 0, axis = 0; axis < strides_.size(); ++axis) {
      if (static_cast<int64_t>(axis) == how_.vector_dim) {
        step = strides_[axis];
      } else {
        base += at_[i++] * strides_[axis];
      }
    }
    for (size_t i = 0; i < how_.map.size(); ++i) {
      int64_t value = values_[base + static_cast<int64_t>(i) * step];
      if (is_u64_ && value < 0) value = std::numeric_limits<int64_t>::max();
      start[how_.map[i]] = value;
    }
    for (size_t i = 0; i < how_.batching.size(); ++i) {
      const int64_t axis = how_.index_batching[i];
      start[how_.batching[i]] = at_[axis > how_.vector_dim ? axis - 1 : axis];
    }
    return start;
  }
  // Where the window begins in the result or updates, and its steps there.
  int64_t Moved() const {
    int64_t offset = 0;
    for (size_t i = 0; i < at_.size(); ++i) offset += at_[i] * batch_steps_[i];
    return offset;
  }
  const Dims& window_steps() const { return window_steps_; }

 private:
  const Indexing& how_;
  std::vector<int64_t> values_;
  bool is_u64_;
  Dims strides_, batch_, at_, window_steps_, batch_steps_;
};

void CheckGather(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckThat(op, op.operand_types[0].element == op.result_types[0].element,
            "requires the same element type for operand and result");
  Indexing::OfGather(op).Check(op, op.operand_types[0], op.operand_types[1], op.result_types[0]);
}

void Gather(Frame* frame, const Op& op) {
  const Array& in = frame->In(op, 0);
  Array out(op.result_types[0]);
  const Indexing how = Indexing::OfGather(op);
  Walk walk(how, frame->In(op, 1), out.type());
  if (walk.Empty()) return frame->Out(op, std::move(out));
  const Dims strides = StridesOf(in.dims()), dims = how.WindowDims();
  Dims steps;
  for (int64_t axis : how.WindowAxes()) steps.push_back(strides[axis]);
  const size_t size = ByteSize(out.element());
  do {
    const Dims start = walk.Start();
    int64_t from = 0;
    for (size_t i = 0; i < start.size(); ++i) {
      from += std::clamp<int64_t>(start[i], 0, in.dims()[i] - how.sizes[i]) * strides[i];
    }
    CopyStrided(in.data() + from * size, steps, out.data() + walk.Moved() * size,
                walk.window_steps(), dims, size);
  } while (walk.Next());
  frame->Out(op, std::move(out));
}

void CheckScatter(const Op& op) {
  const size_t count = op.result_types.size();
  CheckThat(op, count > 0, "expects results");
  CheckCounts(op, 2 * count + 1, count, 1);
  std::vector<Type> scalars, arguments;
  for (size_t i = 0; i < count; ++i) {
    const Type& into = op.operand_types[i];
    const Type& updates = op.operand_types[count + 1 + i];
    CheckThat(
        op,
        into.dims == op.operand_types[0].dims && updates.dims == op.operand_types[count + 1].dims,
        "expects all inputs, and all updates, to have the same shape");
    CheckThat(op, into.element == updates.element,
              "updates must have the element type of the input");
    CheckResult(op, i, into);
    scalars.push_back({into.element, {}});
  }
  arguments = scalars;
  arguments.insert(arguments.end(), scalars.begin(), scalars.end());
  CheckRegion(op, 0, arguments, scalars);
  const Type& updates = op.operand_types[count + 1];
  Indexing::OfScatter(op, op.operand_types[0], updates)
      .Check(op, op.operand_types[0], op.operand_types[count], updates);
}

void Scatter(Frame* frame, const Op& op) {
  const size_t count = op.result_types.size();
  const Array& indices = frame->In(op, count);
  const Type& updates = op.operand_types[count + 1];
  const Indexing how = Indexing::OfScatter(op, op.operand_types[0], updates);
  const ElementFunction body(frame, op.regions[0]);
  Walk walk(how, indices, updates);
  const Dims dims = how.WindowDims();
  const int64_t elements = Type{Element::kI1, dims}.count();
  std::vector<Array> moved, out;
  for (size_t i = 0; i < count; ++i) moved.push_back(frame->In(op, count + 1 + i));
  for (size_t i = 0; i < count; ++i) out.push_back(frame->Take(op, i));
  const Dims strides = StridesOf(op.operand_types[0].dims), dense = StridesOf(dims);
  Dims steps;
  for (int64_t axis : how.WindowAxes()) steps.push_back(strides[axis]);
  if (walk.Empty() || elements == 0) {
    for (size_t i = 0; i < count; ++i) frame->Out(op, i, std::move(out[i]));
    return;
  }
  do {
    const Dims start = walk.Start();
    bool inside = true;
    int64_t to = 0;
    for (size_t i = 0; i < start.size(); ++i) {
      inside = inside && start[i] >= 0 && start[i] <= op.operand_types[0].dims[i] - how.sizes[i];
      if (inside) to += start[i] * strides[i];
    }
    if (!inside) continue;
    std::vector<Array> arguments;
    for (size_t i = 0; i < 2 * count; ++i) {
      const Array& from = i < count ? out[i] : moved[i - count];
      const auto size = static_cast<int64_t>(ByteSize(from.element()));
      Array window({from.element(), {elements}});
      CopyStrided(from.data() + (i < count ? to : walk.Moved()) * size,
                  i < count ? steps : walk.window_steps(), window.data(), dense, dims,
                  ByteSize(from.element()));
      arguments.push_back(std::move(window));
    }
    const std::vector<Array> made = body.Apply(arguments, elements);
    for (size_t i = 0; i < count; ++i) {
      const size_t size = ByteSize(out[i].element());
      CopyStrided(made[i].data(), dense, out[i].data() + to * size, steps, dims, size);
    }
  } while (walk.Next());
  for (size_t i = 0; i < count; ++i) frame->Out(op, i, std::move(out[i]));
}

}  // namespace

const std::vector<OpRow>& IndexingRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.gather", &CheckGather, &Gather, nullptr},
      {"stablehlo.scatter", &CheckScatter, &Scatter, nullptr},
  };
  return kRows;
}

}  // namespace pjref
