// _TenonCodedGather: rows of a constant table that is kept in 8 or 4 bits.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/coded/coded_weights.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The rows are the columns of the panels.
struct CodedGather {
  std::shared_ptr<const CodedPanels> panels;
  DataType index_type;
  int bits;
  int64_t lines, width, count;
};

absl::Status RunCodedGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CodedGather*>(state);
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t at = LoadIndex(args.in[0], s.index_type, i);
    if (at < 0 || at >= s.lines) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", at, " is not in [0, ", s.lines, ")"));
    }
  }
  auto* const out = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(s.count, GrainFor(s.width * 8), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ExpandColumn(*s.panels, s.width, s.bits, LoadIndex(args.in[0], s.index_type, i),
                   out + i * s.width);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareCodedGather(Prepare& p) {
  const Shape &indices = p.input_shape(0), &table = p.input_shape(1);
  if (table.rank() != 2) return p.Invalid("the table must be a matrix");
  Dims dims(indices.dims().begin(), indices.dims().end());
  dims.push_back(table.dim(1));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, dims));
  TENON_ASSIGN_OR_RETURN(const std::string_view code, p.AttrString("code"));
  p.set_output_shape(0, output);
  // As in Gather, nothing looks at the indices of a result without elements.
  if (output.num_elements() == 0) return absl::OkStatus();
  const int bits = code == "int4" ? 4 : 8;
  TENON_ASSIGN_OR_RETURN(auto panels, PackCodes(p, 1, table.dim(1), table.dim(0),
                                                /*transposed=*/true, bits));
  p.set_run(&RunCodedGather, std::make_shared<CodedGather>(
                                 CodedGather{std::move(panels), p.input_type(0), bits, table.dim(0),
                                             table.dim(1), indices.num_elements()}));
  return absl::OkStatus();
}

constexpr uint64_t kIndexTypes = TypeBits(DataType::kInt32, DataType::kInt64);
const CpuKernelSpec kCodedGatherKernels[] = {
    {"_TenonCodedGather",
     {{"T", TypeBit(DataType::kFloat)}, {"Tindices", kIndexTypes}},
     &PrepareCodedGather},
};

}  // namespace

absl::Span<const CpuKernelSpec> CodedGatherKernels() { return kCodedGatherKernels; }

}  // namespace tenon::cpu
