// ParseExample, ParseExampleV2, ParseSingleExample: features of serialized tf.Examples.
#include "graph/base/status_macros.h"
#include "plugin/cpu/preprocess/feature_parser.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status RunParseExample(const void* state, const StepArgs& args) {
  return static_cast<const FeatureParser*>(state)->Run(args);
}

absl::Status SetParser(Prepare& p, FeatureKeys keys, int first_default) {
  const auto denses = static_cast<int>(keys.dense.size());
  if (keys.num_outputs() != p.num_outputs() || first_default + denses != p.num_inputs())
    return p.Invalid("keys, types and defaults of the features do not correspond");
  TENON_ASSIGN_OR_RETURN(FeatureParser parser,
                         FeatureParser::Make(p, std::move(keys), first_default, "dense_shapes"));
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunParseExample, std::make_shared<FeatureParser>(std::move(parser)));
  return absl::OkStatus();
}

absl::Status PrepareExampleV2(Prepare& p) {
  FeatureKeys keys;
  TENON_ASSIGN_OR_RETURN(keys.sparse, KeysOfVector(p, 2));
  TENON_ASSIGN_OR_RETURN(keys.dense, KeysOfVector(p, 3));
  TENON_ASSIGN_OR_RETURN(keys.ragged, KeysOfVector(p, 4));
  return SetParser(p, std::move(keys), 5);
}

absl::Status PrepareExampleV1(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t sparses, p.AttrInt("Nsparse"));
  TENON_ASSIGN_OR_RETURN(const int64_t denses, p.AttrInt("Ndense"));
  if (p.input_shape(0).rank() != 1) return p.Invalid("'serialized' must be a vector");
  const auto first_dense = static_cast<int>(2 + sparses);
  const auto first_default = static_cast<int>(first_dense + denses);
  FeatureKeys keys;
  TENON_ASSIGN_OR_RETURN(keys.sparse, KeysOfScalars(p, 2, first_dense));
  TENON_ASSIGN_OR_RETURN(keys.dense, KeysOfScalars(p, first_dense, first_default));
  return SetParser(p, std::move(keys), first_default);
}

absl::Status PrepareSingleExample(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("'serialized' must be a scalar");
  FeatureKeys keys;
  TENON_ASSIGN_OR_RETURN(keys.sparse, KeysOfAttr(p, "sparse_keys"));
  TENON_ASSIGN_OR_RETURN(keys.dense, KeysOfAttr(p, "dense_keys"));
  return SetParser(p, std::move(keys), 1);
}

}  // namespace

absl::Span<const CpuKernelSpec> ParseExampleKernels() {
  static const CpuKernelSpec specs[] = {
      {"ParseExampleV2", {}, PrepareExampleV2},
      {"ParseExample", {}, PrepareExampleV1},
      {"ParseSingleExample", {}, PrepareSingleExample},
  };
  return specs;
}

}  // namespace tenon::cpu
