// ScalarSummary, TensorSummary, TensorSummaryV2, MergeSummary.
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/summary/summary_wire.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

absl::Status SetSummary(const StepArgs& args, std::string_view summary) {
  TENON_ASSIGN_OR_RETURN(const Tensor out, Tensor::Allocate(DataType::kString, Shape()));
  PutString(out.data(), 0, summary);
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

absl::Status RunScalar(const void*, const StepArgs& args) {
  const Tensor tags = args.run_state->Input(0), values = args.run_state->Input(1);
  if (!(tags.shape() == values.shape())) {
    return absl::InvalidArgumentError(absl::StrCat("the tags must have the values' shape, ",
                                                   values.shape().ToString(), ", they have ",
                                                   tags.shape().ToString()));
  }
  std::string summary;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    float x = 0;
    VisitReal(values.dtype(),
              [&](auto element, auto) { x = element.template As<float>(values.data(), i); });
    AddSummaryValue(&summary, [&](WireWriter& fields) {
      WriteText(fields, kTag, StringAt(tags.data(), i));
      fields.Float(kSimpleValue, x);
    });
  }
  return SetSummary(args, summary);
}

absl::Status RunTensor(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const std::string wire, TensorToWire(args.run_state->Input(0)));
  std::string summary;
  AddSummaryValue(&summary, [&](WireWriter& fields) {
    WriteText(fields, kNodeName, s.name);
    fields.Bytes(kTensor, wire);
  });
  return SetSummary(args, summary);
}

// The message, or nothing where it is malformed, as TensorFlow has it.
std::string_view WellFormed(std::string_view message) {
  WireReader reader(message);
  for (WireField field; reader.Next(&field);) continue;
  return reader.ok() ? message : std::string_view();
}

absl::Status RunTensorV2(const void*, const StepArgs& args) {
  const Tensor tag = args.run_state->Input(0), metadata = args.run_state->Input(2);
  if (tag.shape().rank() != 0 || metadata.shape().rank() != 0)
    return absl::InvalidArgumentError("'tag' and 'serialized_summary_metadata' must be scalars");
  TENON_ASSIGN_OR_RETURN(const std::string wire, TensorToWire(args.run_state->Input(1)));
  std::string summary;
  AddSummaryValue(&summary, [&](WireWriter& fields) {
    WriteText(fields, kTag, StringAt(tag.data(), 0));
    fields.Bytes(kTensor, wire);
    fields.Bytes(kMetadata, WellFormed(StringAt(metadata.data(), 0)));
  });
  return SetSummary(args, summary);
}

// The tag of a Summary.Value; nullopt for bytes that are none.
std::optional<std::string_view> TagOf(std::string_view value) {
  std::string_view tag;
  WireReader reader(value);
  for (WireField field; reader.Next(&field);) {
    if (field.number == kTag && field.type == WireType::kBytes) tag = field.bytes;
  }
  return reader.ok() ? std::optional(tag) : std::nullopt;
}

absl::Status RunMerge(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  std::string summary;
  absl::flat_hash_set<std::string> tags;
  for (size_t k = 0; k < s.inputs.size(); ++k) {
    const Tensor input = args.run_state->Input(static_cast<int>(k));
    for (int64_t i = 0; i < input.num_elements(); ++i) {
      WireReader reader(StringAt(input.data(), i));
      bool fits = true;
      for (WireField field; fits && reader.Next(&field);) {
        if (field.number != kSummaryValue || field.type != WireType::kBytes) continue;
        const std::optional<std::string_view> tag = TagOf(field.bytes);
        fits = tag.has_value();
        // Those of tensors have none, and stand for themselves.
        if (fits && !tag->empty() && !tags.emplace(*tag).second) {
          return absl::InvalidArgumentError(
              absl::StrCat("tag '", *tag, "' stands in the summaries more than once"));
        }
        WireWriter(&summary).Bytes(kSummaryValue, field.bytes);
      }
      if (!fits || !reader.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("string ", i, " of input ", k, " is no Summary"));
      }
    }
  }
  return SetSummary(args, summary);
}

}  // namespace

absl::Span<const CpuKernelSpec> SummaryKernels() {
  constexpr uint64_t kTypes = kNumberTypes | TypeBits(DataType::kBool, DataType::kString);
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("ScalarSummary", "T", kRealTypes, PrepareWhole<&RunScalar>),
      WholeTensorKernel("TensorSummary", "T", kTypes, PrepareWhole<&RunTensor>),
      WholeTensorKernel("TensorSummaryV2", "T", kTypes, PrepareWhole<&RunTensorV2>),
      WholeTensorKernel("MergeSummary", PrepareWhole<&RunMerge>),
  };
  return specs;
}

}  // namespace tenon::cpu
