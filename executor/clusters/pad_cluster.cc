// The part of RunnableCluster that chooses which dimensions of its inputs are padded.
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/clusters/padding_proof.h"
#include "executor/clusters/runnable_cluster.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

// Each trial lowers the cluster once more.
constexpr size_t kMostSingleTrials = 16;

absl::Status Refused(const PaddingFault& fault, const Graph& graph) {
  if (fault.node == kNoNode)
    return absl::UnimplementedError(absl::StrCat("the cluster ", fault.why));
  return absl::UnimplementedError(absl::StrCat("node '", graph.name(fault.node), "' (",
                                               graph.op_name(fault.node), ") ", fault.why));
}

}  // namespace

std::optional<RunnableCluster::PaddedInputs> RunnableCluster::Pad(const Inputs& inputs,
                                                                  const stablehlo::Program& exact) {
  std::optional<PaddedInputs> best;
  std::vector<InputDim> chosen;
  size_t trials = 0;
  // Adds dimensions to those that are chosen, if they may be.
  const auto add = [&](absl::Span<const InputDim> dims)
                       ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> absl::Status {
    std::vector<InputDim> more = chosen;
    more.insert(more.end(), dims.begin(), dims.end());
    ++trials;
    TENON_ASSIGN_OR_RETURN(best, TryToPad(inputs, more, exact));
    chosen = std::move(more);
    return absl::OkStatus();
  };
  const std::vector<std::vector<InputDim>> groups = open_.Groups(inputs, buckets_);
  std::vector<InputDim> all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  if (all.empty()) return std::nullopt;
  if (absl::Status refused = add(all); !refused.ok()) {
    for (const auto& group : groups) {
      if (groups.size() > 1) refused = add(group);
      if (refused.ok()) continue;
      const bool by_themselves = group.size() > 1;
      for (const InputDim& dim : group) {
        const absl::Status one =
            by_themselves && trials < kMostSingleTrials ? add({&dim, 1}) : refused;
        if (!one.ok()) NoteDims({&dim, 1}, one.message());
      }
    }
  }
  NoteDims(chosen, "");
  return best;
}

absl::StatusOr<RunnableCluster::PaddedInputs> RunnableCluster::TryToPad(
    const Inputs& inputs, absl::Span<const InputDim> dims, const stablehlo::Program& exact) {
  PaddedInputs padded{inputs, std::nullopt};
  for (const InputDim& dim : dims) {
    Shape& shape = padded.inputs[dim.input].shape;
    shape.set_dim(dim.axis, buckets_.Of(shape.dim(dim.axis)));
    TENON_RETURN_IF_ERROR(Shape::Make(shape.dims()).status());
  }
  const stablehlo::Program* lowered = nullptr;
  const auto made = programs_.find(SignatureOf(padded.inputs));
  if (made != programs_.end() && made->second.ok()) {
    lowered = &(*made->second)->outline;
  } else {
    TENON_ASSIGN_OR_RETURN(padded.lowered,
                           LowerCluster(*cluster_, padded.inputs, options_, /*trace=*/true));
    lowered = &*padded.lowered;
  }
  const std::optional<PaddingFault> fault = FindPaddingFault(exact, *lowered);
  if (fault) return Refused(*fault, *cluster_->graph);
  return padded;
}

void RunnableCluster::NoteDims(absl::Span<const InputDim> dims, std::string_view why_not) {
  for (const InputDim& dim : dims) {
    {
      absl::MutexLock lock(&reason_mutex_);
      const auto [it, is_new] = dims_.try_emplace(dim);
      const bool was_told = !is_new && it->second == why_not;
      it->second = std::string(why_not);
      if (was_told || why_not.empty()) continue;
    }
    WarnOf(Named(absl::UnimplementedError(absl::StrCat(
        "dimension ", dim.axis, " of '", InputName(dim.input), "' is not padded: ", why_not))));
  }
}

}  // namespace tenon
