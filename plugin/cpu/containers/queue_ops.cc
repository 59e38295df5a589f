// The ops on queues. Those of version 1 pass their handle by reference; nothing else differs.
#include <algorithm>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/containers/queue.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Queue::Options> OptionsOf(const Prepare& p) {
  Queue::Options options;
  TENON_ASSIGN_OR_RETURN(options.types, TypesOf(p, "component_types"));
  TENON_ASSIGN_OR_RETURN(const AttrValue shapes, p.AttrOf("shapes"));
  TENON_ASSIGN_OR_RETURN(options.shapes, shapes.AsShapeList());
  if (!options.shapes.empty() && options.shapes.size() != options.types.size())
    return p.Invalid("'shapes' must have as many elements as 'component_types'");
  TENON_ASSIGN_OR_RETURN(options.capacity, p.AttrInt("capacity"));
  return options;
}

absl::Status SetQueue(Prepare& p, const Queue::Options& options,
                      absl::FunctionRef<std::unique_ptr<WaitingTuples>()> tuples) {
  TENON_ASSIGN_OR_RETURN(ObjectRef<Queue> queue,
                         SharedResource<Queue>(p, [&](std::string_view name) {
                           return ObjectRef<Queue>::Make(name, options, tuples());
                         }));
  if (!(queue->options().types == options.types)) {
    return p.Invalid(
        absl::StrCat("there is a queue '", queue->name(), "' of other component types"));
  }
  return SetHandle(p, ObjectRef<Object>::Adopt(queue.release()));
}

absl::Status PrepareQueue(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Queue::Options options, OptionsOf(p));
  return SetQueue(p, options, &FirstInFirstOut);
}

absl::Status PreparePaddingQueue(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Queue::Options options, OptionsOf(p));
  const bool ranked = std::all_of(options.shapes.begin(), options.shapes.end(),
                                  [](const PartialShape& s) { return s.known_rank(); });
  if (options.shapes.size() != options.types.size() || !ranked)
    return p.Invalid("'shapes' must have a shape of known rank for each of 'component_types'");
  options.pads = true;
  return SetQueue(p, options, &FirstInFirstOut);
}

// The priority comes before what the attributes tell of.
absl::Status PreparePriorityQueue(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Queue::Options options, OptionsOf(p));
  if (options.shapes.empty()) options.shapes.resize(options.types.size());
  options.types.insert(options.types.begin(), DataType::kInt64);
  options.shapes.insert(options.shapes.begin(), PartialShape(Shape()));
  return SetQueue(p, options, &SmallestFirst);
}

absl::Status PrepareShuffleQueue(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Queue::Options options, OptionsOf(p));
  TENON_ASSIGN_OR_RETURN(options.min_left, p.AttrInt("min_after_dequeue"));
  if (options.min_left < 0) return p.Invalid("'min_after_dequeue' must not be negative");
  if (options.capacity >= 0 && options.min_left >= options.capacity)
    return p.Invalid("'min_after_dequeue' must be less than 'capacity'");
  TENON_ASSIGN_OR_RETURN(const int64_t seed, p.AttrInt("seed"));
  TENON_ASSIGN_OR_RETURN(const int64_t seed2, p.AttrInt("seed2"));
  return SetQueue(p, options, [&] { return Shuffled(SeededGenerator(p, seed, seed2)); });
}

absl::Status CheckComponent(const Queue& queue, size_t i, DataType type, const Shape& shape) {
  const Queue::Options& has = queue.options();
  if (has.types[i] != type || (!has.shapes.empty() && !has.shapes[i].CompatibleWith(shape))) {
    return absl::InvalidArgumentError(
        absl::StrCat("component ", i, " is ", DataTypeName(type), shape.ToString(),
                     ", that of queue '", queue.name(), "' is ", DataTypeName(has.types[i]),
                     has.shapes.empty() ? "" : has.shapes[i].ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Queue*> QueueOfTuples(const StepArgs& args, size_t components) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  if (queue->options().types.size() == components) return queue;
  return absl::InvalidArgumentError(absl::StrCat("queue '", queue->name(), "' has ",
                                                 queue->options().types.size(), " components, not ",
                                                 components));
}

absl::Status RunEnqueue(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Queue * queue, QueueOfTuples(args, s.inputs.size() - 1));
  std::vector<Tuple> tuples(1);
  for (size_t i = 0; i + 1 < s.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(static_cast<int>(i) + 1));
    TENON_RETURN_IF_ERROR(CheckComponent(*queue, i, value.dtype(), value.shape()));
    tuples[0].push_back(std::move(value));
  }
  return queue->Put(std::move(tuples));
}

// Row k of each component is tuple k.
absl::Status RunEnqueueMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Queue * queue, QueueOfTuples(args, s.inputs.size() - 1));
  std::vector<Tuple> tuples;
  for (size_t i = 0; i + 1 < s.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Tensor rows, args.run_state->TakeInput(static_cast<int>(i) + 1));
    if (rows.shape().rank() < 1)
      return absl::InvalidArgumentError(absl::StrCat("component ", i, " is a scalar"));
    const Shape row = RowShape(rows.shape());
    TENON_RETURN_IF_ERROR(CheckComponent(*queue, i, rows.dtype(), row));
    const auto count = static_cast<size_t>(rows.shape().dim(0));
    if (i == 0) tuples.resize(count);
    if (count != tuples.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("component ", i, " has ", count, " rows, the first has ", tuples.size()));
    }
    for (size_t k = 0; k < count; ++k)
      tuples[k].push_back(RowOf(rows, static_cast<int64_t>(k), row));
  }
  return queue->Put(std::move(tuples));
}

absl::Status RunDequeue(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(Queue * queue, QueueOfTuples(args, s.outputs.size()));
  TENON_ASSIGN_OR_RETURN(std::vector<Tuple> taken, queue->Take(1, false));
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    if (taken[0][i].dtype() != s.outputs[i])
      return CheckComponent(*queue, i, s.outputs[i], taken[0][i].shape());
    args.run_state->SetOutput(static_cast<int>(i), std::move(taken[0][i]));
  }
  return absl::OkStatus();
}

struct ManyState : NodeFacts {
  explicit ManyState(const Prepare& p)
      : NodeFacts(p), up_to(p.op().name.find("UpTo") != std::string::npos) {}
  bool up_to;
};

// The shape of component i of these tuples, of which each is to become one row.
absl::StatusOr<Shape> RowOfAll(const Queue& queue, const std::vector<Tuple>& tuples, size_t i) {
  const PartialShape& declared = queue.options().shapes[i];
  if (declared.fully_defined()) return *declared.ToShape();
  Dims dims(declared.dims().begin(), declared.dims().end());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != kUnknownDim) continue;
    dims[d] = 0;
    for (const Tuple& tuple : tuples)
      dims[d] = std::max(dims[d], tuple[i].shape().dim(static_cast<int>(d)));
  }
  return Shape::Make(dims);
}

// Copies a tensor into the corner of a row; what it does not reach is 0.
void PutInCorner(const Tensor& from, const Shape& row, void* to, int64_t begin) {
  const ElementCopy copy(from.dtype());
  const int64_t size = row.num_elements();
  if (from.shape() == row) return copy(from.data(), 0, to, begin, size);
  copy.Zero(to, begin, size);
  if (from.num_elements() == 0) return;
  const int rank = row.rank();  // at least 1: scalars are equal
  const int64_t run = from.shape().dim(rank - 1);
  Dims at(static_cast<size_t>(rank) - 1);
  for (int64_t k = 0; k < from.num_elements(); k += run) {
    int64_t place = 0;
    for (int d = 0; d + 1 < rank; ++d) place = (place + at[d]) * row.dim(d + 1);
    copy(from.data(), k, to, begin + place, run);
    for (int d = rank - 2; d >= 0 && ++at[d] == from.shape().dim(d); --d) at[d] = 0;
  }
}

// Tuples one below the other. Types and shapes are checked before tuples are taken: an error behind
// that would lose the tuples.
absl::Status RunDequeueMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ManyState*>(state);
  TENON_ASSIGN_OR_RETURN(Queue * queue, QueueOfTuples(args, s.outputs.size()));
  TENON_ASSIGN_OR_RETURN(const int64_t wanted, IntInput(args, 1));
  const Queue::Options& has = queue->options();
  if (wanted < 0)
    return absl::InvalidArgumentError(absl::StrCat("'n' must not be negative: ", wanted));
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    if (has.types[i] != s.outputs[i] || has.shapes.empty() ||
        !(has.pads || has.shapes[i].fully_defined())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "component ", i, " of queue '", queue->name(), "' must be ", DataTypeName(s.outputs[i]),
          " of a known shape, so that many can be taken together"));
    }
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tuple> taken, queue->Take(wanted, s.up_to));
  const auto count = static_cast<int64_t>(taken.size());
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(const Shape row, RowOfAll(*queue, taken, i));
    TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(Stacked(count, row)));
    TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(static_cast<int>(i), out));
    for (int64_t k = 0; k < count; ++k) PutInCorner(taken[k][i], row, data, k * row.num_elements());
  }
  return absl::OkStatus();
}

absl::Status RunQueueSize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(queue->size());
  return absl::OkStatus();
}

absl::Status RunIsClosed(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  *static_cast<bool*>(args.out[0]) = queue->closed();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> QueueKernels() {
  static const CpuKernelSpec specs[] = {
      {"FIFOQueue", {}, PrepareQueue, 0, true},
      {"FIFOQueueV2", {}, PrepareQueue, 0, true},
      {"PaddingFIFOQueue", {}, PreparePaddingQueue, 0, true},
      {"PaddingFIFOQueueV2", {}, PreparePaddingQueue, 0, true},
      {"PriorityQueue", {}, PreparePriorityQueue, 0, true},
      {"PriorityQueueV2", {}, PreparePriorityQueue, 0, true},
      {"RandomShuffleQueue", {}, PrepareShuffleQueue, 0, true},
      {"RandomShuffleQueueV2", {}, PrepareShuffleQueue, 0, true},
      WholeTensorKernel("QueueEnqueue", PrepareWhole<&RunEnqueue>),
      WholeTensorKernel("QueueEnqueueV2", PrepareWhole<&RunEnqueue>),
      WholeTensorKernel("QueueEnqueueMany", PrepareWhole<&RunEnqueueMany>),
      WholeTensorKernel("QueueEnqueueManyV2", PrepareWhole<&RunEnqueueMany>),
      WholeTensorKernel("QueueDequeue", PrepareWhole<&RunDequeue>),
      WholeTensorKernel("QueueDequeueV2", PrepareWhole<&RunDequeue>),
      WholeTensorKernel("QueueDequeueMany", PrepareWhole<&RunDequeueMany, ManyState>),
      WholeTensorKernel("QueueDequeueManyV2", PrepareWhole<&RunDequeueMany, ManyState>),
      WholeTensorKernel("QueueDequeueUpTo", PrepareWhole<&RunDequeueMany, ManyState>),
      WholeTensorKernel("QueueDequeueUpToV2", PrepareWhole<&RunDequeueMany, ManyState>),
      WholeTensorKernel("QueueSize", PrepareScalar<&RunQueueSize>),
      WholeTensorKernel("QueueSizeV2", PrepareScalar<&RunQueueSize>),
      WholeTensorKernel("QueueIsClosed", PrepareScalar<&RunIsClosed>),
      WholeTensorKernel("QueueIsClosedV2", PrepareScalar<&RunIsClosed>),
      WholeTensorKernel("QueueClose", PrepareWhole<&RunClose<Queue>, CloseState>),
      WholeTensorKernel("QueueCloseV2", PrepareWhole<&RunClose<Queue>, CloseState>),
  };
  return specs;
}

}  // namespace tenon::cpu
