// Elementwise loops over broadcast operands. A plan merges dimensions that all operands treat
// alike; a step then runs whole, by rows, or by blocks whose operands are expanded first.
#include "plugin/cpu/elementwise/loops/broadcast.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kMergedBlock =
    512;  // elements that are expanded or converted at a time: they stay in the first cache
constexpr int64_t kShortRow =
    48;  // below this many elements a call per row costs more than expanding
constexpr int64_t kShortRowsLoop = 8;  // the same where a loop takes many rows
constexpr int64_t kMaxElementBytes = 24;

using Pointers = std::array<const void*, kMaxOperands>;

const void* At(const void* base, int64_t bytes) { return static_cast<const char*>(base) + bytes; }

// One contiguous piece, converted in blocks where the step asks for it.
void CallLoop(const ElementStep& step, const Pointers& in, void* out, int64_t n) {
  if (!step.converts) {
    step.loop(in.data(), out, n, step.param);
    return;
  }
  // Doubles, so that a cast between half and a type of 8 bytes fits.
  alignas(64) double wide[kMaxOperands + 1][kMergedBlock];
  for (int64_t begin = 0; begin < n; begin += kMergedBlock) {
    const int64_t count = std::min(kMergedBlock, n - begin);
    Pointers operands = in;
    for (int k = 0; k < step.operands; ++k) {
      operands[k] = At(in[k], begin * step.in_size[k]);
      if (step.widen[k] == nullptr) continue;
      step.widen[k](&operands[k], wide[k], count, 0);
      operands[k] = wide[k];
    }
    void* result = static_cast<char*>(out) + begin * step.out_size;
    if (step.narrow == nullptr) {
      step.loop(operands.data(), result, count, step.param);
      continue;
    }
    step.loop(operands.data(), wide[kMaxOperands], count, step.param);
    const void* narrow_in = wide[kMaxOperands];
    step.narrow(&narrow_in, result, count, 0);
  }
}

// Where a linear position of the result stands in the merged dimensions, and each operand with it.
class Cursor {
 public:
  Cursor(const ElementStep& step, int64_t position) : plan_(step.plan), operands_(step.operands) {
    index_.resize(plan_.size.size());
    offset_.fill(0);
    for (int d = static_cast<int>(index_.size()) - 1; d >= 0; --d) {
      index_[d] = position % plan_.size[d];
      position /= plan_.size[d];
      for (int k = 0; k < operands_; ++k) offset_[k] += index_[d] * plan_.stride[k][d];
    }
  }
  int64_t row_left() const { return plan_.size.back() - index_.back(); }
  // Whole rows from here on that are evenly spaced; at least one, of which the first may have
  // begun.
  int64_t rows_left() const {
    const size_t d = index_.size() - 1;
    return d == 0 || index_[d] != 0 ? 1 : plan_.size[d - 1] - index_[d - 1];
  }
  int64_t offset(int k) const { return offset_[k]; }
  // By at most row_left().
  void Advance(int64_t count) { Carry(static_cast<int>(index_.size()) - 1, count); }
  // From the begin of a row, by at most rows_left().
  void AdvanceRows(int64_t rows) { Carry(static_cast<int>(index_.size()) - 2, rows); }

 private:
  void Carry(int d, int64_t count) {
    Move(d, count);
    // Dimension 0 does not wrap: behind its end the range is over.
    while (d > 0 && index_[d] == plan_.size[d]) {
      Move(d, -plan_.size[d]);
      Move(--d, 1);
    }
  }
  void Move(int d, int64_t count) {
    index_[d] += count;
    for (int k = 0; k < operands_; ++k) offset_[k] += count * plan_.stride[k][d];
  }

  const BroadcastPlan& plan_;
  int operands_;
  Dims index_;
  std::array<int64_t, kMaxOperands> offset_;
};

// A scalar operand needs expanding once for all blocks.
struct Scratch {
  alignas(64) char bytes[kMaxOperands][kMergedBlock * kMaxElementBytes];
  std::array<const void*, kMaxOperands> filled = {};
  std::array<int64_t, kMaxOperands> filled_count = {};

  const RepeatFn repeat = FindRepeat();

  const void* Filled(int k, const void* element, int64_t size, int64_t n) {
    if (filled[k] != element || filled_count[k] < n) {
      repeat(element, size, n, bytes[k]);
      filled[k] = element;
      filled_count[k] = n;
    }
    return bytes[k];
  }
};

// Rows long enough for a call each.
void RunRows(const ElementStep& step, const void* const* in, void* out, int64_t begin,
             int64_t end) {
  Scratch scratch;
  Cursor cursor(step, begin);
  while (begin < end) {
    const int64_t left = std::min(cursor.row_left(), end - begin);
    bool repeats = false;
    for (int k = 0; k < step.operands; ++k) repeats |= step.plan.stride[k].back() == 0;
    // A repeated element is laid out for a block at most. Without one, the whole row takes one
    // call.
    const int64_t count = repeats ? std::min(left, kMergedBlock) : left;
    Pointers operands = {};
    for (int k = 0; k < step.operands; ++k) {
      const void* from = At(in[k], cursor.offset(k) * step.in_size[k]);
      operands[k] =
          step.plan.stride[k].back() == 0 ? scratch.Filled(k, from, step.in_size[k], count) : from;
    }
    CallLoop(step, operands, static_cast<char*>(out) + begin * step.out_size, count);
    cursor.Advance(count);
    begin += count;
  }
}

// Rows of any length, as many at a time as are evenly spaced.
void RunRowsLoop(const ElementStep& step, const void* const* in, void* out, int64_t begin,
                 int64_t end) {
  const int last = static_cast<int>(step.plan.size.size()) - 1;
  ElementRows shape = {};
  for (int k = 0; k < 2; ++k) {
    shape.row_stride[k] = last > 0 ? step.plan.stride[k][last - 1] : 0;
    shape.repeats[k] = step.plan.stride[k][last] == 0;
  }
  Cursor cursor(step, begin);
  while (begin < end) {
    shape.columns = std::min(cursor.row_left(), end - begin);
    const bool whole = shape.columns == step.plan.size[last];
    shape.rows = whole ? std::min(cursor.rows_left(), (end - begin) / shape.columns) : 1;
    const void* operands[] = {At(in[0], cursor.offset(0) * step.in_size[0]),
                              At(in[1], cursor.offset(1) * step.in_size[1])};
    step.rows_loop(operands, static_cast<char*>(out) + begin * step.out_size, shape);
    begin += shape.rows * shape.columns;
    // A single row may be the part of one, from the middle of which AdvanceRows must not start.
    if (shape.rows > 1) {
      cursor.AdvanceRows(shape.rows);
    } else {
      cursor.Advance(shape.columns);
    }
  }
}

// Whether operand k lies in memory as the result does.
bool LikeResult(const BroadcastPlan& plan, int k) {
  int64_t expected = 1;
  for (int d = static_cast<int>(plan.size.size()) - 1; d >= 0; --d) {
    if (plan.stride[k][d] != expected) return false;
    expected *= plan.size[d];
  }
  return true;
}

// Short rows: operands that do not lie as the result does are expanded, a block at a time.
void RunBlocks(const ElementStep& step, const void* const* in, void* out, int64_t begin,
               int64_t end) {
  Scratch scratch;
  std::array<bool, kMaxOperands> direct;
  for (int k = 0; k < step.operands; ++k) direct[k] = LikeResult(step.plan, k);
  Cursor cursor(step, begin);
  while (begin < end) {
    const int64_t count = std::min(kMergedBlock, end - begin);
    for (int64_t done = 0; done < count;) {
      const int64_t run = std::min(cursor.row_left(), count - done);
      for (int k = 0; k < step.operands; ++k) {
        if (direct[k]) continue;
        const int64_t size = step.in_size[k];
        const void* from = At(in[k], cursor.offset(k) * size);
        char* to = scratch.bytes[k] + done * size;
        if (step.plan.stride[k].back() == 0) {
          scratch.repeat(from, size, run, to);
        } else {
          std::memcpy(to, from, run * size);
        }
      }
      cursor.Advance(run);
      done += run;
    }
    Pointers operands = {};
    for (int k = 0; k < step.operands; ++k) {
      operands[k] = direct[k] ? At(in[k], begin * step.in_size[k]) : scratch.bytes[k];
    }
    CallLoop(step, operands, static_cast<char*>(out) + begin * step.out_size, count);
    begin += count;
  }
}

// The commonest short rows: a matrix against a row, or against a column. The row is laid out once,
// long enough for a block from any column on; column elements are repeated by the loop below.
template <typename T>
void RepeatEach(const void* from, int64_t columns, int64_t begin, int64_t count, void* to) {
  const T* element = static_cast<const T*>(from) + begin / columns;
  T* out = static_cast<T*>(to);
  int64_t left = columns - begin % columns;
  for (int64_t i = 0; i < count; ++element, left = columns) {
    const int64_t end = std::min(count, i + left);
    for (; i < end; ++i) out[i] = *element;
  }
}

bool IsMatrixCase(const ElementStep& step) {
  if (step.plan.size.size() != 2) return false;
  for (int k = 0; k < step.operands; ++k) {
    if (step.in_size[k] != 1 && step.in_size[k] != 4 && step.in_size[k] != 8) return false;
  }
  return true;
}

void RunMatrix(const ElementStep& step, const void* const* in, void* out, int64_t begin,
               int64_t end) {
  const int64_t columns = step.plan.size[1];
  alignas(64) char scratch[kMaxOperands][(kMergedBlock + kShortRow) * 8];
  for (int k = 0; k < step.operands; ++k) {
    if (step.plan.stride[k][0] != 0) continue;
    const int64_t row = step.in_size[k] * (step.plan.stride[k][1] == 0 ? 1 : columns);
    for (int64_t at = 0; at < (kMergedBlock + columns) * step.in_size[k]; at += row) {
      std::memcpy(scratch[k] + at, in[k],
                  std::min(row, static_cast<int64_t>(sizeof scratch[k]) - at));
    }
  }
  for (; begin < end; begin += kMergedBlock) {
    const int64_t count = std::min(kMergedBlock, end - begin);
    Pointers operands = {};
    for (int k = 0; k < step.operands; ++k) {
      if (step.plan.stride[k][0] == 0) {
        operands[k] = scratch[k] + begin % columns * step.in_size[k];
      } else if (step.plan.stride[k][1] != 0) {
        operands[k] = At(in[k], begin * step.in_size[k]);
      } else {
        operands[k] = scratch[k];
        if (step.in_size[k] == 1) RepeatEach<uint8_t>(in[k], columns, begin, count, scratch[k]);
        if (step.in_size[k] == 4) RepeatEach<uint32_t>(in[k], columns, begin, count, scratch[k]);
        if (step.in_size[k] == 8) RepeatEach<uint64_t>(in[k], columns, begin, count, scratch[k]);
      }
    }
    CallLoop(step, operands, static_cast<char*>(out) + begin * step.out_size, count);
  }
}

}  // namespace

void RunElementRange(const ElementStep& step, const void* const* in, void* out, int64_t begin,
                     int64_t end) {
  if (begin >= end) return;  // a Cursor cannot stand in an empty result
  if (step.plan.flat) {
    Pointers operands = {};
    for (int k = 0; k < step.operands; ++k) operands[k] = At(in[k], begin * step.in_size[k]);
    CallLoop(step, operands, static_cast<char*>(out) + begin * step.out_size, end - begin);
  } else if (step.rows_loop != nullptr && step.plan.size.back() >= kShortRowsLoop) {
    RunRowsLoop(step, in, out, begin, end);
  } else if (step.plan.size.size() == 1 || step.plan.size.back() >= kShortRow) {
    RunRows(step, in, out, begin, end);
  } else if (IsMatrixCase(step)) {
    RunMatrix(step, in, out, begin, end);
  } else {
    RunBlocks(step, in, out, begin, end);
  }
}

std::optional<BroadcastPlan> BroadcastPlan::Make(absl::Span<const Shape> operands) {
  int rank = 0;
  for (const Shape& s : operands) rank = std::max(rank, s.rank());
  BroadcastPlan plan;
  const int count = static_cast<int>(operands.size());
  std::array<Dims, kMaxOperands> repeats;  // per merged dimension, innermost first
  Dims size;
  Dims shape(rank);
  for (int d = rank - 1; d >= 0; --d) {
    int64_t dim = 1;
    for (const Shape& s : operands) {
      const int own = d - (rank - s.rank());
      if (own >= 0 && s.dim(own) != 1) {
        if (dim != 1 && dim != s.dim(own)) return std::nullopt;
        dim = s.dim(own);
      }
    }
    shape[d] = dim;
    // Of size 1 in all operands: the dimension moves nothing.
    if (dim == 1) continue;
    bool merges = !size.empty();
    std::array<bool, kMaxOperands> repeat = {};
    for (int k = 0; k < count; ++k) {
      const int own = d - (rank - operands[k].rank());
      repeat[k] = own < 0 || operands[k].dim(own) == 1;
      // Neighbours merge where each operand either repeats along both or runs along both.
      merges = merges && repeats[k].back() == repeat[k];
    }
    if (merges) {
      size.back() *= dim;
      continue;
    }
    size.push_back(dim);
    for (int k = 0; k < count; ++k) repeats[k].push_back(repeat[k]);
  }
  plan.flat = true;
  const int merged = static_cast<int>(size.size());
  for (int k = 0; k < count; ++k) {
    plan.stride[k].resize(merged);
    int64_t stride = 1;
    for (int i = 0; i < merged; ++i) {
      plan.stride[k][merged - 1 - i] = repeats[k][i] ? 0 : stride;
      plan.flat = plan.flat && !repeats[k][i];
      if (!repeats[k][i]) stride *= size[i];
    }
  }
  std::reverse(size.begin(), size.end());
  plan.size = size;
  absl::StatusOr<Shape> checked = Shape::Make(shape);
  if (!checked.ok()) return std::nullopt;
  plan.shape = *std::move(checked);
  return plan;
}

void RunElementStep(const ElementStep& step, const void* const* in, void* out, Workers* workers) {
  workers->ParallelFor(step.n, step.grain, [&](int64_t begin, int64_t end) {
    RunElementRange(step, in, out, begin, end);
  });
}

bool MakeElementStep(ElementOp op, DataType type, const Shape& a, const Shape& b,
                     ElementStep* step) {
  if (!ChooseLoop(op, type, type, step)) return false;
  const Shape operands[] = {a, b};
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  // The callers' shapes broadcast.
  step->plan = *BroadcastPlan::Make(operands);
  step->operands = 2;
  step->n = step->plan.shape.num_elements();
  step->grain = GrainFor(3 * bytes);
  step->in_size.fill(bytes);
  step->out_size = bytes;
  return true;
}

bool ChooseLoop(ElementOp op, DataType in, DataType out, ElementStep* step) {
  const bool half = (in == DataType::kHalf || in == DataType::kBfloat16);
  step->loop = FindElementLoop(op, in);
  if (step->loop != nullptr) return true;
  if (!half) return false;
  step->loop = FindElementLoop(op, DataType::kFloat);
  // No loop of half precision: float loops between conversions, block by block.
  step->converts = true;
  step->widen.fill(FindCastLoop(in, DataType::kFloat));
  // Comparisons give bool, which needs no narrowing.
  if (out == in) step->narrow = FindCastLoop(DataType::kFloat, in);
  return step->loop != nullptr;
}

}  // namespace tenon::cpu
