// What debuggers put into graphs: DebugIdentity and its later versions, DebugNanCount.
#include <cmath>

#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

absl::Status CheckNobodyListens(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto urls, p.AttrStringList("debug_urls"));
  if (urls.empty()) return absl::OkStatus();
  return p.Unimplemented("tensors are sent to no debugger: 'debug_urls' must be empty");
}

absl::Status PrepareDebugIdentity(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckNobodyListens(p));
  p.set_output_shape(0, p.input_shape(0));
  p.Alias(0, 0);
  return absl::OkStatus();
}

struct NanCount {
  int64_t n;
  DataType type;
};

absl::Status RunNanCount(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NanCount*>(state);
  int64_t count = 0;
  VisitFloat(s.type, [&](auto element) {
    for (int64_t i = 0; i < s.n; ++i)
      count += std::isnan(element.template As<double>(args.in[0], i)) ? 1 : 0;
  });
  *static_cast<int64_t*>(args.out[0]) = count;
  return absl::OkStatus();
}

absl::Status PrepareNanCount(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckNobodyListens(p));
  p.set_output_shape(0, Shape({1}));
  p.set_run(&RunNanCount,
            std::make_shared<NanCount>(NanCount{p.input_shape(0).num_elements(), p.input_type(0)}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> DebugKernels() {
  static const CpuKernelSpec specs[] = {
      {"DebugIdentity", {}, PrepareDebugIdentity},
      {"DebugIdentityV2", {}, PrepareDebugIdentity},
      {"DebugIdentityV3", {}, PrepareDebugIdentity},
      {"DebugNanCount", {{"T", kRealTypes}}, PrepareNanCount},
  };
  return specs;
}

}  // namespace tenon::cpu
