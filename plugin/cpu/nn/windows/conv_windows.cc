// Convolutions and their input's gradients in floats, for windows of any kind: sums over channels
// where they lie, without copies of windows. Slower than the best of oneDNN, much faster than its
// reference code.
#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/linalg/products/activation_loop.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/windows/float_images.h"
#include "plugin/cpu/nn/windows/window_filter.h"
#include "plugin/cpu/nn/windows/window_phase.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using Side = FloatImages::Side;
using Direction = WindowFilter::Direction;

constexpr int64_t kTaskRows = 96;  // a multiple of what the loops compute at a time
// Steps whose pointers are kept at once. More steps are added up in further passes over the sums.
constexpr int64_t kMostSteps = 128;
constexpr int64_t kPanelFloats = 64 << 10;  // weights of a block of columns that stay near

// Some targets of one phase, numbered across the batch.
struct Task {
  int64_t phase, first, count;
};

class WindowConv {
 public:
  WindowConv(const Prepare& p, const ConvProblem& q, Direction direction)
      : q_(q),
        forward_(direction == Direction::kForward),
        source_input_(forward_ ? 0 : 2),
        source_(q, forward_ ? Side::kInput : Side::kOutput, p.input_type(source_input_)),
        target_(q, forward_ ? Side::kOutput : Side::kInput, p.output_type(0)),
        filter_(q, direction),
        phases_(forward_ ? std::vector{WindowPhase::OfOutputs(q)} : WindowPhase::OfInputs(q)),
        activation_(q.fused.activation, q.fused.alpha),
        outside_(source_.channels()) {
    for (int i = 0; i < p.num_inputs(); ++i) types_.push_back(p.input_type(i));
    for (const WindowPhase& phase : phases_) {
      moves_.push_back(phase.moves());
      for (int64_t& move : moves_.back()) move *= source_.channels();
    }
    for (size_t i = 0; i < phases_.size(); ++i) {
      const int64_t rows = q.batch * phases_[i].targets();
      for (int64_t first = 0; first < rows; first += kTaskRows)
        tasks_.push_back(
            {static_cast<int64_t>(i), first, std::min<int64_t>(kTaskRows, rows - first)});
    }
  }

  absl::Status PackFilter(Prepare& p) {
    if (p.input_value(1) == nullptr) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(packed_, filter_.PackConstant(p));
    return absl::OkStatus();
  }

  size_t ScratchBytes(const Workers& workers) const {
    return PrologueBytes() +
           TileScratchBytes(workers, static_cast<int64_t>(tasks_.size()), SlotBytes());
  }

  static absl::Status Run(const void* state, const StepArgs& args) {
    return static_cast<const WindowConv*>(state)->RunTasks(args);
  }

 private:
  // What a run prepares for its tasks.
  struct Shared {
    const float *source, *filter;
    const float *scale = nullptr, *shift = nullptr;  // one value per channel made, or null
  };
  // Of one row of a task.
  struct Row {
    WindowPhase::Target target;
    int64_t image;
  };
  // Scratch of a task.
  struct Slot {
    Row* rows;
    const float** first;  // of each row: where its first source would lie
    float** out;          // of each row
    const float** in;     // of each tile that is not wholly inside: by step and row
    WindowProduct::Tile* tiles;
    float* surplus;  // a row that nobody reads
    float* targets;  // of the task, if they are not stored as they are made
  };

  bool has_shift() const { return q_.fused.bias >= 0 || q_.fused.batch_norm >= 0; }
  size_t vector_bytes() const { return AlignedBytes(target_.channels() * sizeof(float)); }
  size_t PrologueBytes() const {
    return source_.ReadBytes() + (packed_ ? 0 : filter_.bytes()) +
           (has_shift() ? 2 * vector_bytes() : 0);
  }
  // Gives the bytes of a slot, and where its parts lie if it begins at `scratch`.
  size_t Lay(char* scratch, Slot& slot) const {
    size_t bytes = 0;
    const auto take = [&](auto*& array, int64_t count) {
      if (scratch != nullptr)
        array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(scratch + bytes);
      bytes += AlignedBytes(count * sizeof(*array));
    };
    take(slot.rows, kTaskRows);
    take(slot.first, kTaskRows);
    take(slot.out, kTaskRows);
    take(slot.in, kTaskRows * kMostSteps);
    take(slot.tiles, kTaskRows);
    take(slot.surplus, target_.channels());
    take(slot.targets, target_.is_plain() ? 0 : kTaskRows * target_.channels());
    return bytes;
  }
  size_t SlotBytes() const {
    Slot slot = {};
    return Lay(nullptr, slot);
  }

  Shared MakeShared(const StepArgs& args) const {
    char* memory = static_cast<char*>(args.scratch);
    Shared shared = {source_.Read(args, source_input_, memory), nullptr};
    memory += source_.ReadBytes();
    if (packed_) {
      shared.filter = static_cast<const float*>(packed_->data);
    } else {
      auto* const filter = reinterpret_cast<float*>(memory);
      filter_.Pack(*args.workers, types_[1], args.in[1], filter);
      shared.filter = filter;
      memory += filter_.bytes();
    }
    if (has_shift()) SetAffine(args, memory, shared);
    return shared;
  }

  void SetAffine(const StepArgs& args, char* memory, Shared& shared) const {
    auto* const scale = reinterpret_cast<float*>(memory);
    auto* const shift = reinterpret_cast<float*>(memory + vector_bytes());
    const int64_t n = target_.channels();
    shared.shift = shift;
    if (const int bias = q_.fused.bias; bias >= 0) {
      return VisitFloat(types_[bias], [&](auto element) {
        for (int64_t c = 0; c < n; ++c) shift[c] = element.template As<float>(args.in[bias], c);
      });
    }
    shared.scale = scale;
    std::array<const void*, 4> values;
    std::array<DataType, 4> types;
    for (int i = 0; i < 4; ++i) {
      values[i] = args.in[q_.fused.batch_norm + i];
      types[i] = types_[q_.fused.batch_norm + i];
    }
    ComputeAffine(values, types, q_.fused.epsilon, n, scale, shift);
  }

  absl::Status RunTasks(const StepArgs& args) const {
    const Shared shared = MakeShared(args);
    StepArgs rest = args;
    rest.scratch = static_cast<char*>(args.scratch) + PrologueBytes();
    return ForEachTile(rest, static_cast<int64_t>(tasks_.size()), SlotBytes(),
                       [&](int64_t t, char* scratch) {
                         Slot slot = {};
                         Lay(scratch, slot);
                         RunTask(args, shared, tasks_[t], slot);
                         return absl::OkStatus();
                       });
  }

  // The rows, rounded up to whole tiles: surplus rows are computed like the last, into nowhere.
  int64_t SetRows(const StepArgs& args, const Shared& shared, const Task& task,
                  const Slot& slot) const {
    const WindowPhase& phase = phases_[task.phase];
    const int64_t targets = phase.targets(), tile = filter_.loops().rows;
    const int64_t rows = (task.count + tile - 1) / tile * tile;
    Row row = {phase.TargetAt(task.first % targets), task.first / targets};
    for (int64_t r = 0, t = task.first % targets; r < rows; ++r) {
      slot.rows[r] = row;
      slot.first[r] =
          shared.source + row.image * source_.image() + row.target.source * source_.channels();
      slot.out[r] = r < task.count ? OutOf(args, slot, r) : slot.surplus;
      // Surplus rows repeat the last target.
      if (r + 1 >= task.count) continue;
      phase.Advance(row.target);
      if (++t == targets) t = 0, ++row.image;
    }
    return rows;
  }

  float* OutOf(const StepArgs& args, const Slot& slot, int64_t r) const {
    if (!target_.is_plain()) return slot.targets + r * target_.channels();
    const Row& row = slot.rows[r];
    return static_cast<float*>(args.out[0]) + row.image * target_.image() +
           row.target.place * target_.channels();
  }

  // For steps [begin, end) of rows [r, r + those of a tile).
  WindowProduct::Tile TileAt(const Task& task, const Slot& slot, int64_t r, int64_t begin,
                             int64_t end) const {
    const int64_t rows = filter_.loops().rows;
    const std::vector<int64_t>& moves = moves_[task.phase];
    const Row* const first = slot.rows + r;
    if (std::all_of(first, first + rows, [](const Row& row) { return row.target.inside; }))
      return {slot.first + r, 0, moves.data() + begin, slot.out + r};
    const float** const in = slot.in + r * kMostSteps;
    for (int64_t i = 0; i < rows; ++i) {
      phases_[task.phase].Locate(first[i].target, slot.first[r + i], moves.data(), outside_.data(),
                                 begin, end, in + i, rows);
    }
    return {in, rows, unmoved_.data(), slot.out + r};
  }

  void RunTask(const StepArgs& args, const Shared& shared, const Task& task,
               const Slot& slot) const {
    const WindowPhase& phase = phases_[task.phase];
    const int64_t rows = SetRows(args, shared, task, slot), tile = filter_.loops().rows;
    // As many steps as have their weights, for one block of columns, within kPanelFloats: the rows
    // of the task then find them in the cache.
    const int64_t most =
        std::clamp(kPanelFloats / (filter_.depth() * filter_.block()), int64_t{1}, kMostSteps);
    int64_t begin = 0;
    // At least one pass, also of no steps, which stores zeros.
    do {
      const int64_t end = std::min(begin + most, phase.steps());
      WindowProduct g = {};
      for (int64_t r = 0; r < rows; r += tile)
        slot.tiles[g.num_tiles++] = TileAt(task, slot, r, begin, end);
      g.tiles = slot.tiles, g.steps = end - begin, g.add = begin > 0;
      g.places = phase.places().data() + begin;
      Multiply(shared, g);
      begin = end;
    } while (begin < phase.steps());
    if (forward_ && !q_.fused.empty()) Finish(args, shared, task, slot);
    if (!target_.is_plain()) Store(args, task, slot);
  }

  // All groups and columns.
  void Multiply(const Shared& shared, WindowProduct& g) const {
    g.depth = filter_.depth();
    for (int64_t group = 0; group < filter_.groups(); ++group) {
      for (int64_t j = 0; j < filter_.columns(); j += filter_.block()) {
        g.in_at = group * filter_.depth();
        g.out_at = group * filter_.columns() + j;
        g.columns = std::min(filter_.block(), filter_.columns() - j);
        g.weights = shared.filter + filter_.BlockAt(group, j);
        filter_.Multiply(g);
      }
    }
  }

  // What is fused, on the rows of a forward task, which lie one after the other.
  void Finish(const StepArgs& args, const Shared& shared, const Task& task,
              const Slot& slot) const {
    float* const x = slot.out[0];
    const int64_t n = target_.channels();
    const ElementRows rows = {task.count, n, {n, 0}, {false, false}};
    const auto apply = [&](ElementOp op, const float* per_channel) {
      const void* const in[] = {x, per_channel};
      if (per_channel != nullptr) FindElementRowsLoop(op, DataType::kFloat)(in, x, rows);
    };
    apply(ElementOp::kMul, shared.scale);
    apply(ElementOp::kAdd, shared.shift);
    for (int64_t r = 0; r < task.count && q_.fused.add >= 0; ++r) {
      const Row& row = slot.rows[r];
      target_.Add(args, q_.fused.add, types_[q_.fused.add], row.image, row.target.place, x + r * n);
    }
    activation_.Run(x, task.count * n);
  }

  void Store(const StepArgs& args, const Task& task, const Slot& slot) const {
    for (int64_t r = 0; r < task.count; ++r)
      target_.Write(args, slot.rows[r].image, slot.rows[r].target.place, slot.out[r]);
  }

  const ConvProblem q_;
  const bool forward_;
  const int source_input_;
  const FloatImages source_, target_;
  const WindowFilter filter_;
  const std::vector<WindowPhase> phases_;
  const ActivationLoop activation_;
  std::vector<std::vector<int64_t>> moves_;  // of each phase, in floats
  const std::vector<float> outside_;         // the zeros beyond the images
  const std::vector<int64_t> unmoved_ = std::vector<int64_t>(kMostSteps);
  std::vector<DataType> types_;  // of the inputs
  std::vector<Task> tasks_;
  std::shared_ptr<const PackedBytes> packed_;  // null if the filter is not constant
};

absl::Status PrepareDirection(Prepare& p, const ConvProblem& q, Direction direction) {
  const bool is_float = HasType(kHalfTypes | TypeBit(DataType::kFloat), p.output_type(0));
  if (!is_float || q.window_places() * q.place_elements() == 0)
    return p.Unimplemented("sums over windows of another kind");
  auto state = std::make_shared<WindowConv>(p, q, direction);
  TENON_RETURN_IF_ERROR(state->PackFilter(p));
  p.set_scratch_bytes(state->ScratchBytes(p.workers()));
  p.set_run(&WindowConv::Run, std::move(state));
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareWindowConv(Prepare& p, const ConvProblem& problem) {
  return PrepareDirection(p, problem, Direction::kForward);
}

absl::Status PrepareWindowInputGrad(Prepare& p, const ConvProblem& problem) {
  return PrepareDirection(p, problem, Direction::kBackward);
}

}  // namespace tenon::cpu
