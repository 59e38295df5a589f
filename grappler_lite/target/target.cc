// A target is the oldest version of TensorFlow that must run the graph. Ops that optimizers write
// have kernels for a few types and fusions only: a table says which, by version.

#include "grappler_lite/target/target.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/base/closest.h"
#include "graph/tensor/dtype.h"
#include "grappler_lite/target/tensorflow_versions.h"

namespace tenon {
namespace {

// What a kernel of a fused op does not do.
enum Limit : uint8_t {
  kNone = 0,
  kChannelsLast = 1,  // channels are last
  kNoGroups = 2,      // each filter reads all channels
  kStraight = 4,      // `a` of a product is not transposed
  kNoPaddings = 8,    // no EXPLICIT padding
  kNoSummand = 16,    // a normalization adds nothing
};
constexpr bool kPlain = false, kOneDnn = true;

// A kernel of TensorFlow for an op that only optimizers write.
struct FusedKernel {
  std::string_view op;
  std::string_view types;
  std::string_view fused;  // lists of fused_ops; empty: the op has none
  int since;               // TensorFlow 2.`since`
  bool onednn;             // runs only with oneDNN
  uint8_t limits;
};

constexpr std::string_view kBiasActivations =
    "BiasAdd BiasAdd+Relu BiasAdd+Relu6 BiasAdd+Elu BiasAdd+LeakyRelu";
constexpr std::string_view kNormActivations =
    "FusedBatchNorm FusedBatchNorm+Relu FusedBatchNorm+Relu6 FusedBatchNorm+Elu "
    "FusedBatchNorm+LeakyRelu";
constexpr std::string_view kSums =
    "BiasAdd+Add BiasAdd+Add+Relu BiasAdd+Add+Relu6 BiasAdd+Add+Elu BiasAdd+Add+LeakyRelu";
constexpr std::string_view kProductActivations =
    "BiasAdd BiasAdd+Relu BiasAdd+Relu6 BiasAdd+Elu BiasAdd+LeakyRelu BiasAdd+Tanh "
    "BiasAdd+Sigmoid";

// Each was run in the packages of TensorFlow 2.0 to 2.21 with oneDNN off, and with it on from 2.7
// on (2.5 and 2.6 have it too, but there even plain convolutions stopped the process). A row holds
// for its version and all later ones. Left out: kernels that oneDNN has for 16 bits, which need
// AVX-512, and what needs no row since TensorFlow makes it when it loads the graph: before 2.11
// _FusedConv2D was another op, without TArgs.
constexpr FusedKernel kFusedKernels[] = {
    {"_FusedMatMul", "float", "BiasAdd BiasAdd+Relu BiasAdd+Relu6 BiasAdd+Elu", 0, kPlain, kNone},
    {"_FusedMatMul", "float", "BiasAdd+LeakyRelu", 5, kPlain, kNone},
    {"_FusedMatMul", "float", "BiasAdd+Tanh BiasAdd+Sigmoid", 16, kPlain, kNone},
    {"_FusedMatMul", "half", kProductActivations, 16, kPlain, kNone},
    {"_FusedMatMul", "bfloat16", kProductActivations, 20, kPlain, kNone},
    {"_FusedMatMul", "float", "BiasAdd+Add BiasAdd+Tanh BiasAdd+Sigmoid", 7, kOneDnn, kStraight},
    {"_FusedMatMul", "float", "BiasAdd+GeluExact BiasAdd+GeluApproximate", 8, kOneDnn, kStraight},
    {"_FusedConv2D", "float double", kBiasActivations, 11, kPlain, kChannelsLast | kNoGroups},
    {"_FusedConv2D", "float double", kNormActivations, 11, kPlain, kChannelsLast | kNoGroups},
    {"_FusedConv2D", "float", kBiasActivations, 11, kOneDnn, kNone},
    {"_FusedConv2D", "float", kNormActivations, 11, kOneDnn, kNone},
    {"_FusedConv2D", "float", kSums, 11, kOneDnn, kNone},
    {"_FusedConv2D", "float", "BiasAdd+Mish", 14, kOneDnn, kNone},
    {"_FusedConv3D", "float", kBiasActivations, 8, kOneDnn, kNoGroups},
    {"_FusedConv3D", "float", kSums, 8, kOneDnn, kNoGroups},
    {"_FusedConv3D", "float", "BiasAdd+Mish", 14, kOneDnn, kNoGroups},
    {"_FusedDepthwiseConv2dNative", "float", "BiasAdd BiasAdd+Relu BiasAdd+Relu6 BiasAdd+Elu", 7,
     kOneDnn, kNoPaddings},
    {"_FusedBatchNormEx", "float", "", 7, kOneDnn, kNoSummand},
    {"_MklFusedBatchMatMulV2", "float", "Mul+Add", 8, kOneDnn, kNone},
    {"_MklSwish", "float", "", 8, kOneDnn, kNone},
    {"_MklFusedMish", "float", "", 9, kOneDnn, kNone},
};

bool IsIn(std::string_view list, std::string_view word) {
  const std::vector<std::string_view> words = absl::StrSplit(list, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What decides between kernels of a node's op.
struct Asked {
  std::string type, fused;
  uint8_t limits = kNone;  // those that it would violate
};

Asked AskedBy(const AttrSet& attrs, bool grouped) {
  Asked asked;
  const auto text = [&](std::string_view name) -> std::string_view {
    const AttrValue* value = attrs.Find(name);
    return value == nullptr ? "" : value->AsString().value_or("");
  };
  if (const AttrValue* type = attrs.Find("T"))
    asked.type = DataTypeSpecName(type->AsType().value_or(DataType::kInvalid));
  if (const AttrValue* fused = attrs.Find("fused_ops"))
    asked.fused =
        absl::StrJoin(fused->AsStringList().value_or(std::vector<std::string_view>()), "+");
  const AttrValue* const transposed = attrs.Find("transpose_a");
  const AttrValue* const summands = attrs.Find("num_side_inputs");
  if (text("data_format").starts_with("NC")) asked.limits |= kChannelsLast;
  if (grouped) asked.limits |= kNoGroups;
  // Here and below a malformed attribute counts against the kernel.
  if (transposed != nullptr && transposed->AsBool().value_or(true)) asked.limits |= kStraight;
  if (text("padding") == "EXPLICIT") asked.limits |= kNoPaddings;
  if (summands != nullptr && summands->AsInt().value_or(1) != 0) asked.limits |= kNoSummand;
  return asked;
}

}  // namespace

bool Target::Has(std::string_view op, const AttrSet& attrs, bool grouped) const {
  if (!is_tensorflow()) return true;
  if (TensorFlowOpSince(op) > minor_) return false;
  std::optional<Asked> asked;
  for (const FusedKernel& kernel : kFusedKernels) {
    if (kernel.op != op) continue;
    if (!asked) asked = AskedBy(attrs, grouped);
    if (kernel.since <= minor_ && (onednn_ || !kernel.onednn) && IsIn(kernel.types, asked->type) &&
        IsIn(kernel.fused, asked->fused) && (asked->limits & kernel.limits) == 0)
      return true;
  }
  return !asked.has_value();  // an op that users write too
}

namespace {

constexpr std::string_view kTenon = "tenon", kTensorFlow = "tensorflow", kVersion = "@2.",
                           kWithOneDnn = "+onednn";

absl::Status UnknownTarget(std::string_view name) {
  ClosestName closest(name);
  for (std::string_view known : {kTensorFlow, std::string_view("tensorflow+onednn"), kTenon})
    closest.Offer(known);
  return absl::InvalidArgumentError(absl::StrCat(
      "'", name, "' is no target", closest.Hint(),
      "; there are tensorflow (every TensorFlow 2.x), tensorflow@2.N (2.N and later; N "
      "from 0 to ",
      kNewestTensorFlow, "), either with +onednn behind it, and tenon"));
}

}  // namespace

absl::StatusOr<Target> Target::Parse(std::string_view name) {
  if (name == kTenon) return Target();
  std::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, kTensorFlow)) return UnknownTarget(name);
  const bool onednn = absl::ConsumeSuffix(&rest, kWithOneDnn);
  if (rest.empty()) return TensorFlow(onednn ? kNewestTensorFlow : 0, onednn);
  int minor;
  // SimpleAtoi would take signs and spaces too. A leading 0 would give a version two names.
  const bool is_number = absl::ConsumePrefix(&rest, kVersion) &&
                         (rest == "0" || !rest.starts_with('0')) &&
                         std::all_of(rest.begin(), rest.end(), absl::ascii_isdigit);
  if (!is_number || !absl::SimpleAtoi(rest, &minor)) return UnknownTarget(name);
  if (minor > kNewestTensorFlow)
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "': the newest TensorFlow that is known is 2.", kNewestTensorFlow,
                     "; tensorflow@2.", kNewestTensorFlow, " is for it and all later ones"));
  return TensorFlow(minor, onednn);
}

std::string Target::name() const {
  if (!is_tensorflow()) return std::string(kTenon);
  const bool is_implied = minor_ == (onednn_ ? kNewestTensorFlow : 0);
  return absl::StrCat(kTensorFlow, is_implied ? "" : absl::StrCat(kVersion, minor_),
                      onednn_ ? kWithOneDnn : "");
}

}  // namespace tenon
