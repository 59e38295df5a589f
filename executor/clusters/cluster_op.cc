#include "executor/clusters/cluster_op.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "executor/clusters/runnable_cluster.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_registry.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon {
namespace {

constexpr const char* kClusterNumber = "cluster";
// A kernel states by a bit for each input whether it needs the value; the last bit is for all
// further inputs. So there is a kernel, with a label, for each number of constants.
constexpr size_t kMostClusterConstants = 32;

std::string LabelOfConstants(size_t constants) {
  return absl::StrCat(std::min(constants, kMostClusterConstants), "_constants");
}

struct LiveClusters {
  absl::Mutex mutex;
  absl::flat_hash_map<int64_t, RunnableCluster*> by_number ABSL_GUARDED_BY(mutex);
  std::random_device random ABSL_GUARDED_BY(mutex);
};

LiveClusters& AllLiveClusters() {
  static auto& all = *new LiveClusters;
  return all;
}

absl::Status PrepareClusterNode(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t number, p.AttrInt(kClusterNumber));
  RunnableCluster* cluster = nullptr;
  {
    LiveClusters& all = AllLiveClusters();
    const absl::MutexLock lock(&all.mutex);
    if (const auto found = all.by_number.find(number); found != all.by_number.end())
      cluster = found->second;
  }
  if (cluster == nullptr)
    return absl::InvalidArgumentError(
        "the op stands for a cluster of a running session, which no file can hold");
  return cluster->Prepare(p);
}

std::array<CpuKernelSpec, kMostClusterConstants + 1> MakeClusterKernels() {
  std::array<CpuKernelSpec, kMostClusterConstants + 1> specs;
  for (size_t i = 0; i <= kMostClusterConstants; ++i) {
    specs[i].op = kClusterOp;
    specs[i].prepare = &PrepareClusterNode;
    specs[i].value_inputs = i == kMostClusterConstants ? kAllInputs : (uint32_t{1} << i) - 1;
  }
  return specs;
}

absl::StatusOr<OpDef> MakeClusterOp() {
  OpDefBuilder builder(kClusterOp);
  TENON_RETURN_IF_ERROR(builder.AddInput("constants: Tconstants"));
  TENON_RETURN_IF_ERROR(builder.AddInput("arguments: Targuments"));
  TENON_RETURN_IF_ERROR(builder.AddOutput("results: Tresults"));
  for (const char* list : {"Tconstants", "Targuments", "Tresults"})
    TENON_RETURN_IF_ERROR(builder.AddAttr(absl::StrCat(list, ": list(type) >= 0")));
  TENON_RETURN_IF_ERROR(builder.AddAttr(absl::StrCat(kClusterNumber, ": int")));
  return std::move(builder).Finish();
}

absl::Status RegisterOpAndKernels() {
  TENON_ASSIGN_OR_RETURN(OpDef op, MakeClusterOp());
  TENON_RETURN_IF_ERROR(OpRegistry::Global().Register(std::move(op)));
  static const auto specs = MakeClusterKernels();
  for (size_t i = 0; i < specs.size(); ++i) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = kClusterOp;
    kernel->device_type = "CPU";
    kernel->label = LabelOfConstants(i);
    kernel->cpu = &specs[i];
    KernelRegistry::Global().Register(std::move(kernel));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterClusterOp() {
  static const absl::Status status = RegisterOpAndKernels();
  return status;
}

ClusterNumber::ClusterNumber(RunnableCluster& cluster) {
  LiveClusters& all = AllLiveClusters();
  const absl::MutexLock lock(&all.mutex);
  do {
    const uint64_t bits = uint64_t{all.random()} << 32 | all.random();
    value_ = static_cast<int64_t>(bits >> 1);
  } while (!all.by_number.emplace(value_, &cluster).second);
}

ClusterNumber::~ClusterNumber() {
  LiveClusters& all = AllLiveClusters();
  const absl::MutexLock lock(&all.mutex);
  all.by_number.erase(value_);
}

std::vector<Graph::NewAttr> ClusterAttrs(absl::Span<const DataType> constants,
                                         absl::Span<const DataType> arguments,
                                         absl::Span<const DataType> results,
                                         const ClusterNumber& number) {
  return {{"Tconstants", attr::TypeList(constants)},
          {"Targuments", attr::TypeList(arguments)},
          {"Tresults", attr::TypeList(results)},
          {kClusterNumber, attr::Int(number.value())},
          {"_kernel", attr::String(LabelOfConstants(constants.size()))}};
}

}  // namespace tenon
