// Reads the arithmetic that nodes spell out above one root node, so that one fused node can replace
// the root and these nodes. Products are recognized in any order and nesting of factors, sums in
// any order of two terms.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Whether `a` differs from `b` by at most 1e-6 of `b`, about the rounding of a float. Only 0 is
// near a `b` of 0.
bool Near(double a, double b);

// scale * factors[0] * factors[1] * …; a power repeats its factor.
struct Product {
  double scale = 1;
  std::vector<Output> factors;
  // Whether the factors are `exponent` times x; `scale` is not asked for.
  bool IsPowerOf(Output x, int exponent) const;
};

// constant + terms[0] + terms[1] + …
struct Sum {
  double constant = 0;
  std::vector<Output> terms;
};

// Whether nodes of an expression may have several uses.
//   kNo   each node has one use, so that all of them go with the root.
//   kYes  nodes may have several uses: the caller must ask IsClosed at the end.
enum class Sharing : uint8_t { kNo, kYes };
// Remembers the nodes that questions have looked into, at most 32, which then belong to the
// expression, even where the answer is no. Fed nodes and unknown ops end an expression. So do, but
// for the root, nodes with control edges in or out, preserved nodes, nodes on other devices than
// the root's and outputs other than the first. Not thread-safe.
class Expression {
 public:
  Expression(const Sweep& sweep, NodeId root, Sharing sharing = Sharing::kNo)
      : s_(sweep), root_(root), sharing_(sharing) {}

  // Returns the product that computes `o`, of Mul, Neg, Square, RealDiv by a scalar constant and
  // Pow by 2 or 3. A scalar constant is a scale without factors; where `o` is no product, `o` is
  // the only factor. Factors are not looked into beyond a limit, and at most 6 are given: a product
  // of 6 may have more.
  Product ProductAt(Output o);
  // Returns the sum that computes `o`, if `o` is an Add or AddV2; its operands are not looked into,
  // but for scalar constants.
  std::optional<Sum> SumAt(Output o);
  // x, if `o` is op(x).
  std::optional<Output> ArgumentOf(Output o, std::string_view op);
  // x, if `o` is the reduction `op` of x over x's last dimension, with keep_dims.
  std::optional<Output> LastAxisArgumentOf(Output o, std::string_view op);
  // The data inputs of the node of `o`, if its op is `op` and it may belong to the expression; else
  // empty.
  std::span<const Output> OperandsOf(Output o, std::string_view op);
  // The value of `o`, if `o` is a scalar constant of type float or double.
  std::optional<double> ScalarAt(Output o) const;

  // Whether only nodes of the expression read the nodes of the expression, the root apart: then
  // they go with the root.
  bool IsClosed() const;
  // The number of inputs of the expression's nodes that read x.
  int edges_to(Output x) const;

 private:
  bool LookInto(Output o);

  const Sweep& s_;
  const NodeId root_;
  const Sharing sharing_;
  absl::InlinedVector<NodeId, 16> inside_;
};

}  // namespace tenon
