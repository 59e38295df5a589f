// Reads arithmetic that is written out as nodes, below one node that may be replaced with all of
// it: products and sums whatever the order and nesting of their operands.
#pragma once

#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "grappler_lite/rewriter.h"

namespace tenon {

// Whether `a` is `b` but for the rounding of a float.
bool Near(double a, double b);

struct Product {
  double scale = 1;
  absl::InlinedVector<Output, 4> factors;
  bool IsPowerOf(Output x, int exponent) const;
};

struct Sum {
  double constant = 0;
  absl::InlinedVector<Output, 4> terms;
};

// Only nodes that nobody beyond the expression uses are looked into, and no more than a few dozen.
class Expression {
 public:
  Expression(const Sweep& sweep, NodeId root) : s_(sweep), root_(root) {}

  // What is multiplied to make `o`: itself, if that is no product.
  Product ProductAt(Output o);
  // x + y, or x + constant.
  std::optional<Sum> SumAt(Output o);
  // x, if `o` is op(x).
  std::optional<Output> ArgumentOf(Output o, std::string_view op);
  // The inputs of the node of `o`, if it is an `op`; else none.
  std::span<const Output> OperandsOf(Output o, std::string_view op);
  // The value of a scalar constant of floats.
  std::optional<double> ScalarAt(Output o) const;

  // How many inputs of the nodes that were looked into are x.
  int edges_to(Output x) const;

 private:
  bool LookInto(Output o);

  const Sweep& s_;
  const NodeId root_;
  absl::InlinedVector<NodeId, 16> inside_;
};

}  // namespace tenon
