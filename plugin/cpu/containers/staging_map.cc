// MapStage and what takes from it: elements by key, whose components may come and go one by one.
#include <algorithm>
#include <map>

#include "absl/synchronization/mutex.h"
#include "plugin/cpu/containers/staging.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_limits.h"

namespace tenon::cpu {
namespace {

// Thread-safe. Elements wait until they are complete; then they may be taken.
class StagingMap : public Resource {
 public:
  static constexpr std::string_view kKind = "staging map";
  std::string_view kind() const override { return kKind; }
  StagingMap(std::string_view name, StagingLimits limits, size_t components)
      : Resource(name), limits_(limits), components_(components) {}

  size_t components() const { return components_; }

  absl::Status Put(int64_t key, const std::vector<size_t>& indices, StagedTuple tuple) {
    const int64_t bytes = BytesOf(tuple);
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(limits_.Check(name(), bytes));
    const auto may_go_on = [&] {
      return limits_.HaveRoom(static_cast<int64_t>(complete_.size()), bytes_, bytes);
    };
    TENON_ASSIGN_OR_RETURN(const bool has_room,
                           AwaitOtherRun(mutex_, absl::Condition(&may_go_on), "MapStage"));
    if (!has_room) return NoRoomError(name());
    const auto known = incomplete_.find(key);
    // Merged in a copy: a component that is refused leaves the element as it was.
    StagedTuple merged = known == incomplete_.end() ? StagedTuple(components_) : known->second;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (merged[indices[i]].initialized()) {
        return absl::InvalidArgumentError(absl::StrCat("component ", indices[i], " of key ", key,
                                                       " is staged in '", name(), "' already"));
      }
      merged[indices[i]] = std::move(tuple[i]);
    }
    if (complete_.contains(key)) return absl::OkStatus();  // it stays as it is
    bytes_ += bytes;
    if (!std::all_of(merged.begin(), merged.end(), IsThere)) {
      incomplete_[key] = std::move(merged);
      return absl::OkStatus();
    }
    if (known != incomplete_.end()) incomplete_.erase(known);
    complete_.emplace(key, std::move(merged));
    return absl::OkStatus();
  }

  // These components of the element with that key, which stays with the others.
  absl::StatusOr<StagedTuple> Take(int64_t key, const std::vector<size_t>& indices) {
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(WaitFor(&key));
    return TakeFrom(complete_.find(key), indices);
  }

  // The same of the element with the smallest key, which it returns too.
  absl::StatusOr<StagedTuple> TakeFirst(const std::vector<size_t>& indices, int64_t* key) {
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(WaitFor(nullptr));
    *key = complete_.begin()->first;
    return TakeFrom(complete_.begin(), indices);
  }

  absl::StatusOr<StagedTuple> Peek(int64_t key, const std::vector<size_t>& indices) {
    absl::MutexLock lock(&mutex_);
    TENON_RETURN_IF_ERROR(WaitFor(&key));
    return Components(*complete_.find(key), indices);
  }

  int64_t Count() {
    absl::MutexLock lock(&mutex_);
    return static_cast<int64_t>(complete_.size());
  }
  int64_t CountIncomplete() {
    absl::MutexLock lock(&mutex_);
    return static_cast<int64_t>(incomplete_.size());
  }
  void Clear() {
    absl::MutexLock lock(&mutex_);
    complete_.clear();
    incomplete_.clear();
    bytes_ = 0;
  }

 private:
  // Ordered, for TakeFirst. MapStage promises no order and OrderedMapStage does; both are served by
  // this.
  using Elements = std::map<int64_t, StagedTuple>;

  static bool IsThere(const Tensor& component) { return component.initialized(); }

  absl::Status WaitFor(const int64_t* key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto is_there = [&] {
      return key == nullptr ? !complete_.empty() : complete_.contains(*key);
    };
    TENON_ASSIGN_OR_RETURN(const bool came,
                           AwaitOtherRun(mutex_, absl::Condition(&is_there), "MapUnstage"));
    if (came) return absl::OkStatus();
    return absl::DeadlineExceededError(
        absl::StrCat("staging area '", name(), "' has no complete element",
                     key == nullptr ? "" : absl::StrCat(" of key ", *key),
                     ", and none became complete in the time that the run may wait"));
  }

  absl::StatusOr<StagedTuple> Components(const Elements::value_type& element,
                                         const std::vector<size_t>& indices) const {
    StagedTuple tuple;
    for (const size_t i : indices) {
      if (!element.second[i].initialized()) {
        return absl::InvalidArgumentError(absl::StrCat("component ", i, " of key ", element.first,
                                                       " was taken from '", name(), "' already"));
      }
      tuple.push_back(element.second[i]);
    }
    return tuple;
  }

  absl::StatusOr<StagedTuple> TakeFrom(Elements::iterator element,
                                       const std::vector<size_t>& indices)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    TENON_ASSIGN_OR_RETURN(StagedTuple tuple, Components(*element, indices));
    for (const size_t i : indices) element->second[i] = Tensor();
    bytes_ -= BytesOf(tuple);
    if (std::none_of(element->second.begin(), element->second.end(), IsThere))
      complete_.erase(element);
    return tuple;
  }

  const StagingLimits limits_;
  const size_t components_;
  absl::Mutex mutex_;
  Elements complete_ ABSL_GUARDED_BY(mutex_), incomplete_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct MapState : NodeFacts {
  explicit MapState(const Prepare& p) : NodeFacts(p) {}
  ObjectRef<StagingMap> map;
};

template <RunFn kRun>
absl::Status PrepareMap(Prepare& p) {
  auto s = std::make_shared<MapState>(p);
  TENON_ASSIGN_OR_RETURN(const StagingLimits limits, StagingLimits::Of(p));
  TENON_ASSIGN_OR_RETURN(const TypeVector types, TypesOf(p, "dtypes"));
  TENON_ASSIGN_OR_RETURN(s->map, SharedResource<StagingMap>(p, [&](std::string_view name) {
                           return ObjectRef<StagingMap>::Make(name, limits, types.size());
                         }));
  if (s->map->components() != types.size()) {
    return p.Invalid(absl::StrCat("elements of staging area '", s->map->name(), "' have ",
                                  s->map->components(), " components"));
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

// Which components an input names, each more than the one before.
absl::StatusOr<std::vector<size_t>> Indices(const StepArgs& args, int input, const StagingMap& map,
                                            size_t wanted) {
  const Tensor value = args.run_state->Input(input);
  std::vector<size_t> indices;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const int64_t index = value.IntAt(i);
    if (index < 0 || index >= static_cast<int64_t>(map.components()) ||
        (i > 0 && index <= value.IntAt(i - 1))) {
      return absl::InvalidArgumentError(absl::StrCat("indices[", i, "] is ", index,
                                                     "; indices must rise and be less than ",
                                                     map.components()));
    }
    indices.push_back(static_cast<size_t>(index));
  }
  if (indices.size() == wanted) return indices;
  return absl::InvalidArgumentError(
      absl::StrCat(indices.size(), " indices for ", wanted, " values"));
}

absl::Status RunMapStage(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t key, IntInput(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<size_t> indices,
                         Indices(args, 1, *s.map, s.inputs.size() - 2));
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, TakeTuple(args, 2, s.inputs.size()));
  return s.map->Put(key, indices, std::move(tuple));
}

absl::Status RunMapUnstage(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t key, IntInput(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<size_t> indices,
                         Indices(args, 1, *s.map, s.outputs.size()));
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, s.map->Take(key, indices));
  return SetTuple(args, 0, s.outputs, std::move(tuple));
}

absl::Status RunUnstageFirst(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_ASSIGN_OR_RETURN(const std::vector<size_t> indices,
                         Indices(args, 0, *s.map, s.outputs.size() - 1));
  int64_t key = 0;
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, s.map->TakeFirst(indices, &key));
  args.run_state->SetOutput(0, Tensor::Of<int64_t>(DataType::kInt64, {key}, Shape()));
  return SetTuple(args, 1, s.outputs, std::move(tuple));
}

absl::Status RunMapPeek(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t key, IntInput(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::vector<size_t> indices,
                         Indices(args, 1, *s.map, s.outputs.size()));
  TENON_ASSIGN_OR_RETURN(StagedTuple tuple, s.map->Peek(key, indices));
  return SetTuple(args, 0, s.outputs, std::move(tuple));
}

absl::Status RunMapSize(const void* state, const StepArgs& args) {
  return SetCount(args, static_cast<const MapState*>(state)->map->Count());
}

absl::Status RunMapIncompleteSize(const void* state, const StepArgs& args) {
  return SetCount(args, static_cast<const MapState*>(state)->map->CountIncomplete());
}

absl::Status RunMapClear(const void* state, const StepArgs&) {
  static_cast<const MapState*>(state)->map->Clear();
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StagingMapKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("MapStage", PrepareMap<&RunMapStage>),
      WholeTensorKernel("MapUnstage", PrepareMap<&RunMapUnstage>),
      WholeTensorKernel("MapUnstageNoKey", PrepareMap<&RunUnstageFirst>),
      WholeTensorKernel("MapPeek", PrepareMap<&RunMapPeek>),
      WholeTensorKernel("MapSize", PrepareMap<&RunMapSize>),
      WholeTensorKernel("MapIncompleteSize", PrepareMap<&RunMapIncompleteSize>),
      WholeTensorKernel("MapClear", PrepareMap<&RunMapClear>),
      WholeTensorKernel("OrderedMapStage", PrepareMap<&RunMapStage>),
      WholeTensorKernel("OrderedMapUnstage", PrepareMap<&RunMapUnstage>),
      WholeTensorKernel("OrderedMapUnstageNoKey", PrepareMap<&RunUnstageFirst>),
      WholeTensorKernel("OrderedMapPeek", PrepareMap<&RunMapPeek>),
      WholeTensorKernel("OrderedMapSize", PrepareMap<&RunMapSize>),
      WholeTensorKernel("OrderedMapIncompleteSize", PrepareMap<&RunMapIncompleteSize>),
      WholeTensorKernel("OrderedMapClear", PrepareMap<&RunMapClear>),
  };
  return specs;
}

}  // namespace tenon::cpu
