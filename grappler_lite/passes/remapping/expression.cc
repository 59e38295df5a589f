// Reads a small expression back from its root. Products and sums are brought to a normal form, a
// factor or summand that is a number and the rest, so that a pattern need not list the orders and
// splittings in which exporters write it.

#include "grappler_lite/passes/remapping/expression.h"

#include <algorithm>
#include <cmath>

#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/passes/remapping/contraction.h"

namespace tenon {
namespace {

constexpr size_t kMostNodes = 32;
constexpr int kMostFactors = 6;
constexpr int kMostSteps = 12;  // into one product: a chain of products by constants has no end

}  // namespace

// The constants of models are floats, of about 7 digits.
bool Near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

bool Product::IsPowerOf(Output x, int exponent) const {
  return static_cast<int>(factors.size()) == exponent &&
         std::all_of(factors.begin(), factors.end(), [&](const Output& f) { return f == x; });
}

bool Expression::LookInto(Output o) {
  const Graph& g = s_.graph();
  if (std::find(inside_.begin(), inside_.end(), o.node) != inside_.end()) return o.port == 0;
  if (inside_.size() >= kMostNodes || s_.fed(o.node) || g.op(o.node) == nullptr) return false;
  // The node is to go away with the root: the root alone reads it (where nodes are shared, IsClosed
  // asks at the end), and no node waits through it.
  if (o.node != root_) {
    if (!OnlyFor(s_, o, root_, sharing_ == Sharing::kYes ? s_.uses(o) : 1)) return false;
    if (!g.control_inputs(o.node).empty()) return false;
  }
  inside_.push_back(o.node);
  return true;
}

std::optional<double> Expression::ScalarAt(Output o) const {
  const Graph& g = s_.graph();
  if (g.op_name(o.node) != "Const") return std::nullopt;
  const std::optional<Tensor> t = s_.ConstOf(o, 1);
  if (!t || t->shape().rank() != 0) return std::nullopt;
  const bool is_wide = t->dtype() == DataType::kFloat || t->dtype() == DataType::kDouble;
  return is_wide ? NumberAt(*t, 0) : std::nullopt;
}

std::span<const Output> Expression::OperandsOf(Output o, std::string_view op) {
  if (s_.graph().op_name(o.node) != op || !LookInto(o)) return {};
  return s_.graph().data_inputs(o.node);
}

std::optional<Output> Expression::ArgumentOf(Output o, std::string_view op) {
  const std::span<const Output> operands = OperandsOf(o, op);
  return operands.size() == 1 ? std::optional<Output>(operands[0]) : std::nullopt;
}

std::optional<Output> Expression::LastAxisArgumentOf(Output o, std::string_view op) {
  const std::span<const Output> in = OperandsOf(o, op);
  if (in.empty() || !BoolAttr(s_.graph(), o.node, "keep_dims")) return std::nullopt;
  const int rank = s_.shape(in[0]).rank();
  const std::optional<Tensor> axis = s_.ConstOf(in[1], 1);
  if (!axis || axis->num_elements() != 1 || !IsInteger(axis->dtype()) || rank < 1 ||
      (axis->IntAt(0) != -1 && axis->IntAt(0) != rank - 1))
    return std::nullopt;
  return in[0];
}

Product Expression::ProductAt(Output o) {
  const Graph& g = s_.graph();
  Product p;
  struct Factor {
    Output output;
    int exponent;
  };
  absl::InlinedVector<Factor, 8> open = {{o, 1}};
  int steps = 0;
  while (!open.empty()) {
    const auto [at, exponent] = open.back();
    open.pop_back();
    if (const std::optional<double> c = ScalarAt(at)) {
      p.scale *= std::pow(*c, exponent);
      continue;
    }
    const std::string_view op = g.op_name(at.node);
    const bool one = op == "Neg" || op == "Square",
               two = op == "Mul" || op == "RealDiv" || op == "Pow";
    const auto parts = static_cast<int>(p.factors.size() + open.size());
    if ((one || two) && parts < kMostFactors && exponent <= kMostFactors && steps < kMostSteps) {
      const std::span<const Output> in = g.data_inputs(at.node);
      const std::optional<double> right = two && op != "Mul" ? ScalarAt(in[1]) : std::nullopt;
      const bool whole_power = op != "Pow" || (right && (*right == 2 || *right == 3));
      if ((one || op == "Mul" || right) && whole_power && LookInto(at)) {
        ++steps;
        const int power = op == "Square" ? 2 : op == "Pow" ? static_cast<int>(*right) : 1;
        open.push_back({in[0], exponent * power});
        if (op == "Mul") open.push_back({in[1], exponent});
        if (op == "Neg") p.scale *= exponent % 2 == 0 ? 1 : -1;
        if (op == "RealDiv") p.scale /= std::pow(*right, exponent);
        continue;
      }
    }
    // No pattern has as many factors, so that a product that is cut off here is none.
    for (int i = 0; i < exponent && std::ssize(p.factors) < kMostFactors; ++i)
      p.factors.push_back(at);
  }
  return p;
}

std::optional<Sum> Expression::SumAt(Output o) {
  const std::string_view op = s_.graph().op_name(o.node);
  if ((op != "AddV2" && op != "Add") || !LookInto(o)) return std::nullopt;
  Sum sum;
  for (const Output& in : s_.graph().data_inputs(o.node)) {
    if (const std::optional<double> c = ScalarAt(in)) {
      sum.constant += *c;
    } else {
      sum.terms.push_back(in);
    }
  }
  return sum;
}

bool Expression::IsClosed() const {
  const auto closed = [&](NodeId n) { return n == root_ || s_.uses({n, 0}) == edges_to({n, 0}); };
  return std::all_of(inside_.begin(), inside_.end(), closed);
}

int Expression::edges_to(Output x) const {
  int count = 0;
  for (NodeId n : inside_) {
    const std::span<const Output> in = s_.graph().data_inputs(n);
    count += static_cast<int>(std::count(in.begin(), in.end(), x));
  }
  return count;
}

}  // namespace tenon
