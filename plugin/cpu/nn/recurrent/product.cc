// A matrix product inside of another kernel: the MatMul kernel, prepared for fixed shapes and run
// with the caller's pointers and scratch.
#include "plugin/cpu/nn/recurrent/product.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "graph/base/status_macros.h"
#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/op_registry.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {

absl::StatusOr<Product> Product::Make(const Prepare& p, const ProductShape& shape) {
  const OpDef* def = OpRegistry::Global().Find("MatMul");
  const CpuKernelSpec* kernel = nullptr;
  for (const CpuKernelSpec& spec : MatMulKernels()) {
    if (std::string_view(spec.op) == "MatMul") kernel = &spec;
  }
  if (def == nullptr || kernel == nullptr) return p.Unimplemented("there is no kernel of MatMul");
  const auto matrix = [](int64_t rows, int64_t columns, bool transpose) {
    return Prepare::Input{transpose ? Shape({columns, rows}) : Shape({rows, columns})};
  };
  const std::string type = attr::Type(DataType::kFloat);
  const std::string transpose_a = attr::Bool(shape.transpose_a);
  const std::string transpose_b = attr::Bool(shape.transpose_b);
  const AttrSet attrs({{"T", AttrValue(type)},
                       {"transpose_a", AttrValue(transpose_a)},
                       {"transpose_b", AttrValue(transpose_b)}});
  NodeTypes types;
  types.inputs.assign(2, DataType::kFloat);
  types.outputs.assign(1, DataType::kFloat);
  // A node that is not in any graph: op, attributes and shapes are all that the kernel asks for.
  // Without input values it packs nothing.
  Prepare sub(
      p.node_name(), *def, attrs, types,
      {matrix(shape.m, shape.k, shape.transpose_a), matrix(shape.k, shape.n, shape.transpose_b)},
      p.session(), p.workers());
  TENON_RETURN_IF_ERROR(kernel->prepare(sub));
  Product product;
  product.run_ = sub.run();
  product.state_ = sub.state();
  product.scratch_bytes_ = sub.scratch_bytes();
  return product;
}

size_t Product::SharedScratch(std::initializer_list<const Product*> products) {
  size_t bytes = 0;
  for (const Product* product : products) bytes = std::max(bytes, product->scratch_bytes_);
  return AlignedBytes(bytes);
}

absl::Status Product::Run(const float* a, const float* b, float* c, void* scratch,
                          Workers* workers) const {
  // The product has no elements.
  if (run_ == nullptr) return absl::OkStatus();
  void* const in[] = {const_cast<float*>(a), const_cast<float*>(b)};
  void* const out[] = {c};
  return run_(state_.get(), StepArgs{in, out, scratch, workers, nullptr});
}

}  // namespace tenon::cpu
