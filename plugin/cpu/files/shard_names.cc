// Names of the files of a checkpoint in several parts.
#include "absl/strings/str_format.h"
#include "plugin/cpu/files/file_facts.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

absl::Status RunShardedFilename(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::string base, TextInput(args, 0, "basename"));
  TENON_ASSIGN_OR_RETURN(const int64_t shard, IntInput(args, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t count, IntInput(args, 2));
  return SetTextOutput(args, absl::StrFormat("%s-%05d-of-%05d", base, shard, count));
}

absl::Status RunShardedFilespec(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::string base, TextInput(args, 0, "basename"));
  TENON_ASSIGN_OR_RETURN(const int64_t count, IntInput(args, 1));
  // Escaped, since two question marks could begin a trigraph.
  return SetTextOutput(args, absl::StrFormat("%s-\?\?\?\?\?-of-%05d", base, count));
}

CpuKernelSpec Foldable(CpuKernelSpec spec) {
  spec.stateful = false;
  return spec;
}

}  // namespace

absl::Span<const CpuKernelSpec> ShardNameKernels() {
  static const CpuKernelSpec specs[] = {
      Foldable(WholeTensorKernel("ShardedFilename", PrepareWhole<&RunShardedFilename>)),
      Foldable(WholeTensorKernel("ShardedFilespec", PrepareWhole<&RunShardedFilespec>)),
  };
  return specs;
}

}  // namespace tenon::cpu
