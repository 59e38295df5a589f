// First-in, first-out queues of tuples of tensors.
#include <deque>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "plugin/cpu/element_copy.h"
#include "plugin/cpu/lists/tensor_list.h"
#include "plugin/cpu/state/families.h"
#include "plugin/cpu/state/whole_tensor.h"

namespace tenon::cpu {
namespace {

using Tuple = std::vector<Tensor>;

// How long a run waits for another one to fill or to empty a queue.
constexpr absl::Duration kPatience = absl::Seconds(60);

// Thread-safe: a tuple, or all tuples of one call, go in and come out together.
class Queue : public Resource {
 public:
  static constexpr std::string_view kKind = "queue";
  std::string_view kind() const override { return kKind; }

  struct Options {
    TypeVector types;
    std::vector<PartialShape> shapes;  // none: any
    int64_t capacity = -1;             // negative: any number
  };
  Queue(std::string_view name, Options options) : Resource(name), options_(std::move(options)) {}

  const Options& options() const { return options_; }

  absl::Status Put(std::vector<Tuple> tuples) {
    const auto count = static_cast<int64_t>(tuples.size());
    absl::MutexLock lock(&mutex_);
    const auto may_go_on = [&] { return closed_ || HasRoom(count); };
    mutex_.AwaitWithTimeout(absl::Condition(&may_go_on), kPatience);
    if (closed_) return absl::CancelledError(absl::StrCat("queue '", name(), "' is closed"));
    if (!HasRoom(count)) {
      return absl::DeadlineExceededError(
          absl::StrCat("queue '", name(), "' has had no room for ", count,
                       " more elements for 60 seconds; its capacity is ", options_.capacity));
    }
    for (Tuple& tuple : tuples) tuples_.push_back(std::move(tuple));
    return absl::OkStatus();
  }

  // `count` tuples; of a closed queue what is left, if that is enough for the caller.
  absl::StatusOr<std::vector<Tuple>> Take(int64_t count, bool up_to) {
    absl::MutexLock lock(&mutex_);
    const auto may_go_on = [&] { return closed_ || Has(count); };
    mutex_.AwaitWithTimeout(absl::Condition(&may_go_on), kPatience);
    if (!Has(count) && closed_ && up_to && !tuples_.empty())
      count = static_cast<int64_t>(tuples_.size());
    if (!Has(count)) {
      const std::string has = absl::StrCat("queue '", name(), "' has ", tuples_.size(),
                                           " elements where ", count, " are wanted, and ");
      if (closed_) return absl::OutOfRangeError(absl::StrCat(has, "is closed"));
      return absl::DeadlineExceededError(absl::StrCat(has, "none came for 60 seconds"));
    }
    std::vector<Tuple> taken;
    for (int64_t i = 0; i < count; ++i) {
      taken.push_back(std::move(tuples_.front()));
      tuples_.pop_front();
    }
    return taken;
  }

  int64_t size() {
    absl::MutexLock lock(&mutex_);
    return static_cast<int64_t>(tuples_.size());
  }
  bool closed() {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }
  void Close() {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }

 private:
  bool Has(int64_t count) const { return static_cast<int64_t>(tuples_.size()) >= count; }
  bool HasRoom(int64_t count) const {
    return options_.capacity < 0 ||
           static_cast<int64_t>(tuples_.size()) + count <= options_.capacity;
  }

  const Options options_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Tuple> tuples_ ABSL_GUARDED_BY(mutex_);
};

// A queue belongs to its shared name, or else to its node.
absl::Status PrepareQueue(Prepare& p) {
  Queue::Options options;
  TENON_ASSIGN_OR_RETURN(const AttrValue types, p.AttrOf("component_types"));
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> components, types.AsTypeList());
  options.types.assign(components.begin(), components.end());
  TENON_ASSIGN_OR_RETURN(const AttrValue shapes, p.AttrOf("shapes"));
  TENON_ASSIGN_OR_RETURN(options.shapes, shapes.AsShapeList());
  if (!options.shapes.empty() && options.shapes.size() != options.types.size())
    return p.Invalid("'shapes' must have as many elements as 'component_types'");
  TENON_ASSIGN_OR_RETURN(options.capacity, p.AttrInt("capacity"));
  TENON_ASSIGN_OR_RETURN(const std::string_view container, p.AttrString("container"));
  TENON_ASSIGN_OR_RETURN(const std::string_view shared, p.AttrString("shared_name"));
  const std::string_view name = shared.empty() ? p.node_name() : shared;
  ObjectRef<Queue> queue = p.session().resources().LookupOrCreate<Queue>(
      container, name, [&] { return ObjectRef<Queue>::Make(name, options); });
  if (!(queue->options().types == options.types))
    return p.Invalid(absl::StrCat("there is a queue '", name, "' of other component types"));
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kResource, ObjectRef<Object>::Adopt(queue.release())));
  p.set_output_shape(0, Shape());
  p.set_output_value(0, std::move(handle));
  return absl::OkStatus();
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

// Tuples one below the other.
absl::Status RunDequeueMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ManyState*>(state);
  TENON_ASSIGN_OR_RETURN(Queue * queue, QueueOfTuples(args, s.outputs.size()));
  TENON_ASSIGN_OR_RETURN(const int64_t wanted, IntInput(args, 1));
  const Queue::Options& has = queue->options();
  if (wanted < 0)
    return absl::InvalidArgumentError(absl::StrCat("'n' must not be negative: ", wanted));
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    if (has.types[i] != s.outputs[i] || has.shapes.empty() || !has.shapes[i].fully_defined()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "component ", i, " of queue '", queue->name(), "' must be ", DataTypeName(s.outputs[i]),
          " of a known shape, so that many can be taken together"));
    }
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tuple> taken, queue->Take(wanted, s.up_to));
  const auto count = static_cast<int64_t>(taken.size());
  for (size_t i = 0; i < s.outputs.size(); ++i) {
    const Shape row = *has.shapes[i].ToShape();
    Dims dims = {count};
    dims.insert(dims.end(), row.dims().begin(), row.dims().end());
    TENON_ASSIGN_OR_RETURN(const Shape out, Shape::Make(dims));
    TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(static_cast<int>(i), out));
    const ElementCopy copy(s.outputs[i]);
    for (int64_t k = 0; k < count; ++k)
      copy(taken[k][i].data(), 0, data, k * row.num_elements(), row.num_elements());
  }
  return absl::OkStatus();
}

absl::Status RunSize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(queue->size());
  return absl::OkStatus();
}

absl::Status RunIsClosed(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  *static_cast<bool*>(args.out[0]) = queue->closed();
  return absl::OkStatus();
}

absl::Status RunClose(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Queue * queue, InputAs<Queue>(args, 0));
  queue->Close();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> QueueKernels() {
  static const CpuKernelSpec specs[] = {
      {"FIFOQueue", {}, PrepareQueue, 0, true},
      {"FIFOQueueV2", {}, PrepareQueue, 0, true},
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
      WholeTensorKernel("QueueSize", PrepareScalar<&RunSize>),
      WholeTensorKernel("QueueSizeV2", PrepareScalar<&RunSize>),
      WholeTensorKernel("QueueIsClosed", PrepareScalar<&RunIsClosed>),
      WholeTensorKernel("QueueIsClosedV2", PrepareScalar<&RunIsClosed>),
      WholeTensorKernel("QueueClose", PrepareWhole<&RunClose>),
      WholeTensorKernel("QueueCloseV2", PrepareWhole<&RunClose>),
  };
  return specs;
}

}  // namespace tenon::cpu
