// Matrix products as a part of other kernels.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "absl/status/statusor.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// c[m, n] = a[m, k] * b[k, n] in float by the kernel of MatMul, in row-major order. A transposed a
// is stored [k, m], a transposed b [n, k].
struct ProductShape {
  int64_t m = 0, k = 0, n = 0;
  bool transpose_a = false, transpose_b = false;
};

// A prepared product. Immutable once made: several threads may run it. With k = 0, c is zeros.
class Product {
 public:
  // Prepares the product by the kernel of MatMul, with the session and the workers of `p`; `p`
  // itself is not changed. Returns the error of that preparation.
  static absl::StatusOr<Product> Make(const Prepare& p, const ProductShape& shape);

  size_t scratch_bytes() const { return scratch_bytes_; }
  // Returns the scratch bytes, rounded up to kTensorAlignment, that serve all of `products` if they
  // run one after the other.
  static size_t SharedScratch(std::initializer_list<const Product*> products);
  // Computes c. `scratch` has scratch_bytes() bytes, aligned to kTensorAlignment. `c` must not
  // overlap the factors. The work is split over `workers`. Errors are those of the kernel.
  absl::Status Run(const float* a, const float* b, float* c, void* scratch, Workers* workers) const;

 private:
  RunFn run_ = nullptr;  // null if c has no elements
  std::shared_ptr<const void> state_;
  size_t scratch_bytes_ = 0;
};

}  // namespace tenon::cpu
