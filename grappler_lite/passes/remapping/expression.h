// Reads arithmetic that is written out as nodes, below one node that may be replaced with all of
// it: products and sums whatever the order and nesting of their operands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Whether `a` is `b` but for the rounding of a float.
bool Near(double a, double b);

struct Product {
  double scale = 1;
  std::vector<Output> factors;
  bool IsPowerOf(Output x, int exponent) const;
};

struct Sum {
  double constant = 0;
  std::vector<Output> terms;
};

// Only nodes that have one use are looked into, so that all of them go with the root, and no more
// than a few dozen. With Sharing::kYes nodes may be used more than once: ask IsClosed at the end.
enum class Sharing : uint8_t { kNo, kYes };
class Expression {
 public:
  Expression(const Sweep& sweep, NodeId root, Sharing sharing = Sharing::kNo)
      : s_(sweep), root_(root), sharing_(sharing) {}

  // What is multiplied to make `o`: itself, if that is no product.
  Product ProductAt(Output o);
  // x + y, or x + constant.
  std::optional<Sum> SumAt(Output o);
  // x, if `o` is op(x).
  std::optional<Output> ArgumentOf(Output o, std::string_view op);
  // x, if `o` is the reduction `op` of x over its last dimension, which is kept.
  std::optional<Output> LastAxisArgumentOf(Output o, std::string_view op);
  // The inputs of the node of `o`, if it is an `op`; else none.
  std::span<const Output> OperandsOf(Output o, std::string_view op);
  // The value of a scalar constant of floats.
  std::optional<double> ScalarAt(Output o) const;

  // Whether nobody beyond the expression uses what was looked into but for the root.
  bool IsClosed() const;
  // How many inputs of the nodes that were looked into are x.
  int edges_to(Output x) const;

 private:
  bool LookInto(Output o);

  const Sweep& s_;
  const NodeId root_;
  const Sharing sharing_;
  absl::InlinedVector<NodeId, 16> inside_;
};

}  // namespace tenon
