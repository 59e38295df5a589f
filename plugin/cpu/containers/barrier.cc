// Barriers: elements by key that wait until all of their components have come.
#include <limits>
#include <map>

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {
namespace {

// Thread-safe.
class Barrier : public Resource {
 public:
  static constexpr std::string_view kKind = "barrier";
  std::string_view kind() const override { return kKind; }

  struct Options {
    TypeVector types;
    std::vector<Shape> shapes;
  };
  struct Element {
    std::string key;
    std::vector<Tensor> components;
  };
  using Elements = std::multimap<int64_t, Element>;  // by the insertion that brought the key

  Barrier(std::string_view name, Options options) : Resource(name), options_(std::move(options)) {}
  const Options& options() const { return options_; }

  // Component `component` of each key.
  absl::Status Insert(const Tensor& keys, const Tensor& values, size_t component);
  struct Wanted {
    int64_t count = 0;
    bool fewer = false;       // of a closed barrier
    bool incomplete = false;  // wait for elements whose components are still to come
  };
  absl::StatusOr<Elements> Take(const Wanted& wanted);

  void Close(bool cancel_pending) {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    if (!cancel_pending) return;
    cancelled_ = true;
    incomplete_.clear();
  }
  int64_t ready() {
    absl::MutexLock lock(&mutex_);
    return static_cast<int64_t>(ready_.size());
  }
  int64_t incomplete() {
    absl::MutexLock lock(&mutex_);
    return static_cast<int64_t>(incomplete_.size());
  }

 private:
  struct Waiting {
    int64_t insertion = 0;
    std::vector<Tensor> components;
  };

  bool IsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ && (cancelled_ || incomplete_.empty());
  }

  const Options options_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // TensorFlow counts insertions from the lowest int64 on; callers see the number.
  int64_t insertion_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::min();
  std::map<std::string, Waiting> incomplete_ ABSL_GUARDED_BY(mutex_);
  Elements ready_ ABSL_GUARDED_BY(mutex_);
};

// A failure in the middle keeps the keys before it: each component is complete by itself.
absl::Status Barrier::Insert(const Tensor& keys, const Tensor& values, size_t component) {
  const Shape& row = options_.shapes[component];
  absl::MutexLock lock(&mutex_);
  if (cancelled_) return absl::CancelledError(absl::StrCat("barrier '", name(), "' is closed"));
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    std::string key(keys.StringAt(i));
    const auto known = incomplete_.find(key);
    if (known == incomplete_.end() && closed_) {
      return absl::CancelledError(
          absl::StrCat("barrier '", name(), "' is closed and takes no new key '", key, "'"));
    }
    Waiting& waiting = known == incomplete_.end() ? incomplete_[key] : known->second;
    if (waiting.components.empty()) {
      waiting.insertion = insertion_;
      waiting.components.resize(options_.types.size());
    }
    if (waiting.components[component].initialized()) {
      return absl::InvalidArgumentError(absl::StrCat("key '", key, "' has component ", component,
                                                     " in barrier '", name(), "' already"));
    }
    waiting.components[component] = RowOf(values, i, row);
    if (std::all_of(waiting.components.begin(), waiting.components.end(),
                    [](const Tensor& t) { return t.initialized(); })) {
      ready_.emplace(waiting.insertion, Element{key, std::move(waiting.components)});
      incomplete_.erase(key);
    }
  }
  ++insertion_;
  return absl::OkStatus();
}

absl::StatusOr<Barrier::Elements> Barrier::Take(const Wanted& wanted) {
  absl::MutexLock lock(&mutex_);
  const auto has = [&] { return static_cast<int64_t>(ready_.size()); };
  // Without wait_for_incomplete, a closed barrier does not wait for elements that may never be
  // complete.
  const auto may_go_on = [&] {
    return has() >= wanted.count || IsOver() || (closed_ && !wanted.incomplete && !wanted.fewer);
  };
  TENON_RETURN_IF_ERROR(
      AwaitOtherRun(mutex_, absl::Condition(&may_go_on), "Barrier take").status());
  int64_t count = wanted.count;
  if (has() < count && closed_ && wanted.fewer && has() > 0) count = has();
  if (has() < count) {
    const std::string text = absl::StrCat("barrier '", name(), "' has ", has(),
                                          " complete elements where ", count, " are wanted, and ");
    if (closed_) return absl::OutOfRangeError(absl::StrCat(text, "is closed"));
    return absl::DeadlineExceededError(
        absl::StrCat(text, "too few came in the time that the run may wait"));
  }
  Elements taken;
  while (static_cast<int64_t>(taken.size()) < count) taken.insert(ready_.extract(ready_.begin()));
  return taken;
}

absl::Status PrepareBarrier(Prepare& p) {
  Barrier::Options options;
  TENON_ASSIGN_OR_RETURN(options.types, TypesOf(p, "component_types"));
  TENON_ASSIGN_OR_RETURN(const AttrValue shapes, p.AttrOf("shapes"));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> declared, shapes.AsShapeList());
  for (const PartialShape& shape : declared) {
    if (!shape.fully_defined()) return p.Invalid("'shapes' must be known");
    options.shapes.push_back(*shape.ToShape());
  }
  if (options.shapes.size() != options.types.size())
    return p.Invalid("'shapes' must have as many elements as 'component_types'");
  TENON_ASSIGN_OR_RETURN(ObjectRef<Barrier> barrier,
                         SharedResource<Barrier>(p, [&](std::string_view name) {
                           return ObjectRef<Barrier>::Make(name, options);
                         }));
  if (!(barrier->options().types == options.types))
    return p.Invalid(
        absl::StrCat("there is a barrier '", barrier->name(), "' of other component types"));
  return SetHandle(p, ObjectRef<Object>::Adopt(barrier.release()));
}

struct InsertState : NodeFacts {
  explicit InsertState(const Prepare& p)
      : NodeFacts(p), component(p.AttrInt("component_index").value_or(-1)) {}
  int64_t component;
};

absl::Status RunInsertMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const InsertState*>(state);
  TENON_ASSIGN_OR_RETURN(Barrier * barrier, InputAs<Barrier>(args, 0));
  const Barrier::Options& has = barrier->options();
  if (s.component < 0 || s.component >= static_cast<int64_t>(has.types.size())) {
    return absl::InvalidArgumentError(absl::StrCat("'component_index' is ", s.component,
                                                   ", elements of barrier '", barrier->name(),
                                                   "' have ", has.types.size(), " components"));
  }
  const auto component = static_cast<size_t>(s.component);
  const Tensor keys = args.run_state->Input(1);
  TENON_ASSIGN_OR_RETURN(const Tensor values, args.run_state->TakeInput(2));
  const Shape& row = has.shapes[component];
  if (keys.shape().rank() != 1 || values.dtype() != has.types[component] ||
      absl::MakeConstSpan(Stacked(keys.num_elements(), row)) != values.shape().dims()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "keys of shape ", keys.shape().ToString(), " with ", DataTypeName(values.dtype()),
        values.shape().ToString(), " where component ", component, " of barrier '", barrier->name(),
        "' is ", DataTypeName(has.types[component]), row.ToString()));
  }
  return barrier->Insert(keys, values, component);
}

struct TakeState : NodeFacts {
  explicit TakeState(const Prepare& p)
      : NodeFacts(p),
        fewer(p.AttrBool("allow_small_batch").value_or(false)),
        incomplete(p.AttrBool("wait_for_incomplete").value_or(false)) {}
  bool fewer, incomplete;
};

absl::Status RunTakeMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const TakeState*>(state);
  TENON_ASSIGN_OR_RETURN(Barrier * barrier, InputAs<Barrier>(args, 0));
  TENON_ASSIGN_OR_RETURN(const int64_t wanted, IntInput(args, 1));
  const Barrier::Options& has = barrier->options();
  if (wanted < 0)
    return absl::InvalidArgumentError(absl::StrCat("'num_elements' is negative: ", wanted));
  if (!std::equal(s.outputs.begin() + 2, s.outputs.end(), has.types.begin(), has.types.end())) {
    return absl::InvalidArgumentError(
        absl::StrCat("barrier '", barrier->name(), "' has other component types"));
  }
  TENON_ASSIGN_OR_RETURN(const Barrier::Elements taken,
                         barrier->Take({wanted, s.fewer, s.incomplete}));
  const auto count = static_cast<int64_t>(taken.size());
  TENON_ASSIGN_OR_RETURN(void* insertions, args.run_state->AllocateOutput(0, Shape({count})));
  TENON_ASSIGN_OR_RETURN(const Tensor keys, Tensor::Allocate(DataType::kString, Shape({count})));
  int64_t i = 0;
  for (const auto& [insertion, element] : taken) {
    static_cast<int64_t*>(insertions)[i] = insertion;
    keys.SetString(i++, element.key);
  }
  args.run_state->SetOutput(1, keys);
  for (size_t c = 0; c < has.types.size(); ++c) {
    const Shape& row = has.shapes[c];
    TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(count, row)));
    TENON_ASSIGN_OR_RETURN(void* out,
                           args.run_state->AllocateOutput(static_cast<int>(c) + 2, shape));
    const ElementCopy copy(has.types[c]);
    i = 0;
    for (const auto& [insertion, element] : taken)
      copy(element.components[c].data(), 0, out, i++ * row.num_elements(), row.num_elements());
  }
  return absl::OkStatus();
}

absl::Status RunReadySize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Barrier * barrier, InputAs<Barrier>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(barrier->ready());
  return absl::OkStatus();
}

absl::Status RunIncompleteSize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Barrier * barrier, InputAs<Barrier>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(barrier->incomplete());
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BarrierKernels() {
  static const CpuKernelSpec specs[] = {
      {"Barrier", {}, PrepareBarrier, 0, true},
      WholeTensorKernel("BarrierInsertMany", "T", kEveryType,
                        PrepareWhole<&RunInsertMany, InsertState>),
      WholeTensorKernel("BarrierTakeMany", PrepareWhole<&RunTakeMany, TakeState>),
      WholeTensorKernel("BarrierClose", PrepareWhole<&RunClose<Barrier>, CloseState>),
      WholeTensorKernel("BarrierReadySize", PrepareScalar<&RunReadySize>),
      WholeTensorKernel("BarrierIncompleteSize", PrepareScalar<&RunIncompleteSize>),
  };
  return specs;
}

}  // namespace tenon::cpu
