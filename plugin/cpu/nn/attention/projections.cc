// _TenonProjections: the products of one tensor with several, each computed as the product that it
// was, so that merging them changes no bit: query, key and value of an attention are made in one
// step.
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/arrays/sub_kernels.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status PrepareProjections(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool transposed, p.AttrBool("transpose_b"));
  const int products = p.num_outputs();
  const bool biased = p.num_inputs() > 1 + products;
  if (biased && p.num_inputs() != 1 + 2 * products)
    return p.Invalid(absl::StrCat("there must be a bias for each of the ", products, " products"));
  SubKernels parts(p);
  SubTensor a = parts.Input(0);
  if (a.shape.rank() < 1) return p.Invalid("a must have at least rank 1");
  const Dims rows(a.shape.dims().begin(), a.shape.dims().end() - 1);
  // All leading dimensions become rows of one matrix.
  a.shape = Shape({Shape(rows).num_elements(), a.shape.dim(a.shape.rank() - 1)});
  // A known value has the old shape. Only b's matters to a product: constant weights are packed.
  a.value = nullptr;
  std::vector<SubTensor> results;
  for (int i = 0; i < products; ++i) {
    SubTensor b = parts.Input(1 + i);
    if (b.shape.rank() < 1 || (transposed && b.shape.rank() != 2))
      return p.Invalid(absl::StrCat("b ", i, " must be a matrix, not ", b.shape.ToString()));
    const Dims columns =
        transposed ? Dims{b.shape.dim(0)} : Dims(b.shape.dims().begin() + 1, b.shape.dims().end());
    if (!transposed) b.shape = Shape({b.shape.dim(0), Shape(columns).num_elements()});
    const std::optional<Tensor> matrix =
        b.value != nullptr ? std::optional(b.value->Reshaped(b.shape)) : std::nullopt;
    b.value = matrix ? &*matrix : nullptr;
    std::vector<std::pair<std::string, std::string>> attrs = {
        {"T", attr::Type(a.type)},
        {"transpose_a", attr::Bool(false)},
        {"transpose_b", attr::Bool(transposed)}};
    std::vector<SubTensor> inputs = {a, b};
    if (biased) {
      inputs.push_back(parts.Input(1 + products + i));
      attrs.insert(attrs.begin() + 1, {{"fused_ops", attr::StringList({"BiasAdd"})}});
    }
    TENON_ASSIGN_OR_RETURN(SubTensor result,
                           parts.Call(biased ? "_FusedMatMul" : "MatMul", std::move(attrs), a.type,
                                      std::move(inputs)));
    Dims dims = rows;
    dims.insert(dims.end(), columns.begin(), columns.end());
    TENON_ASSIGN_OR_RETURN(result.shape, CheckedShape(p, dims));
    results.push_back(std::move(result));
  }
  parts.Finish(results);
  return absl::OkStatus();
}

const CpuKernelSpec kProjectionsKernels[] = {
    {"_TenonProjections", {{"T", kHalfTypes | TypeBit(DataType::kFloat)}}, &PrepareProjections},
};

}  // namespace

absl::Span<const CpuKernelSpec> ProjectionsKernels() { return kProjectionsKernels; }

}  // namespace tenon::cpu
