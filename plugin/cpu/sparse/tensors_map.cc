// Sparse tensors that wait for a batch under a number: AddSparseToTensorsMap,
// AddManySparseToTensorsMap, TakeManySparseFromTensorsMap.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/sparse/sparse_parts.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Thread-safe. Numbers count from 0 and are not used again.
class SparseTensorsMap : public Resource {
 public:
  static constexpr std::string_view kKind = "map of sparse tensors";
  std::string_view kind() const override { return kKind; }
  explicit SparseTensorsMap(std::string_view name) : Resource(name) {}

  // The first of their numbers, which follow one another.
  int64_t Add(std::vector<SparseParts> tensors) {
    absl::MutexLock lock(&mutex_);
    const int64_t first = next_;
    for (SparseParts& t : tensors) tensors_.emplace_hint(tensors_.end(), next_++, std::move(t));
    return first;
  }

  // Removes them from the map. INVALID_ARGUMENT, with those before it removed, for a number that is
  // not there.
  absl::StatusOr<std::vector<SparseParts>> Take(absl::Span<const int64_t> numbers) {
    absl::MutexLock lock(&mutex_);
    std::vector<SparseParts> taken;
    for (const int64_t number : numbers) {
      auto entry = tensors_.extract(number);
      if (entry.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("there is no sparse tensor ", number, " in map '", name(), "'"));
      }
      taken.push_back(std::move(entry.mapped()));
    }
    return taken;
  }

 private:
  absl::Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, SparseParts> tensors_ ABSL_GUARDED_BY(mutex_);
};

struct MapState : NodeFacts {
  explicit MapState(const Prepare& p) : NodeFacts(p) {}
  ObjectRef<SparseTensorsMap> map;
};

absl::Status RunAddToMap(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_RETURN_IF_ERROR(SparseInputs(args).status());
  SparseParts t;
  TENON_ASSIGN_OR_RETURN(t.indices, args.run_state->TakeInput(0));
  TENON_ASSIGN_OR_RETURN(t.values, args.run_state->TakeInput(1));
  TENON_ASSIGN_OR_RETURN(t.shape, args.run_state->TakeInput(2));
  std::vector<SparseParts> one;
  one.push_back(std::move(t));
  *static_cast<int64_t*>(args.out[0]) = s.map->Add(std::move(one));
  return absl::OkStatus();
}

absl::Status RunAddMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  TENON_ASSIGN_OR_RETURN(const SparseParts t, SparseInputs(args));
  std::vector<SparseParts> rows;
  TENON_RETURN_IF_ERROR(ForRows(
      t,
      [&](int64_t count) {
        rows.resize(count);
        return absl::OkStatus();
      },
      [&](int64_t row, SparseParts entries) {
        rows[row] = std::move(entries);
        return absl::OkStatus();
      }));
  const auto count = static_cast<int64_t>(rows.size());
  TENON_ASSIGN_OR_RETURN(void* numbers, args.run_state->AllocateOutput(0, Shape({count})));
  const int64_t first = s.map->Add(std::move(rows));
  for (int64_t i = 0; i < count; ++i) static_cast<int64_t*>(numbers)[i] = first + i;
  return absl::OkStatus();
}

absl::Status RunTake(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const MapState*>(state);
  const Tensor numbers = args.run_state->Input(0);
  if (numbers.shape().rank() != 1 || numbers.num_elements() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'sparse_handles' must be a vector of at least one number, its shape is ",
                     numbers.shape().ToString()));
  }
  const auto count = static_cast<size_t>(numbers.num_elements());
  TENON_ASSIGN_OR_RETURN(const std::vector<SparseParts> taken,
                         s.map->Take({numbers.flat<int64_t>(), count}));
  for (const SparseParts& t : taken) {
    if (t.values.dtype() == s.outputs[1]) continue;
    return absl::InvalidArgumentError(absl::StrCat("map '", s.map->name(), "' holds ",
                                                   DataTypeName(t.values.dtype()), " values where ",
                                                   DataTypeName(s.outputs[1]), " are wanted"));
  }
  return SetJoinedSparse(taken, numbers.shape(), args);
}

template <RunFn kRun>
absl::Status PrepareMap(Prepare& p) {
  auto s = std::make_shared<MapState>(p);
  TENON_ASSIGN_OR_RETURN(s->map, SharedResource<SparseTensorsMap>(p, [](std::string_view name) {
                           return ObjectRef<SparseTensorsMap>::Make(name);
                         }));
  if (kRun == &RunAddToMap) {
    p.set_output_shape(0, Shape());
  } else {
    for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  }
  p.set_run(kRun, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseTensorsMapKernels() {
  constexpr uint64_t kTypes = kNumberTypes | TypeBits(DataType::kBool, DataType::kString);
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("AddSparseToTensorsMap", "T", kTypes, PrepareMap<&RunAddToMap>),
      WholeTensorKernel("AddManySparseToTensorsMap", "T", kTypes, PrepareMap<&RunAddMany>),
      WholeTensorKernel("TakeManySparseFromTensorsMap", "dtype", kTypes, PrepareMap<&RunTake>),
  };
  return specs;
}

}  // namespace tenon::cpu
