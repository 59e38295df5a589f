// The gradient of Einsum: the sum that has the result's labels in place of the operand's.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

constexpr std::string_view kEllipsis = "...";

bool HasEllipsis(std::string_view labels) { return labels.find(kEllipsis) != labels.npos; }
bool HasLabel(std::string_view labels, char label) { return labels.find(label) != labels.npos; }

// An equation as the labels of operands and result, "ab" "bc" "ac". An operand that takes part in
// batches without saying so has an ellipsis at its end.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

Equation Parse(std::string_view equation_text) {
  const std::string text = absl::StrReplaceAll(equation_text, {{" ", ""}});
  const size_t arrow = text.find("->");
  Equation equation;
  equation.operands = absl::StrSplit(text.substr(0, arrow), ',');
  if (arrow != text.npos) equation.result = text.substr(arrow + 2);
  if (!HasEllipsis(equation.result)) return equation;
  for (std::string& operand : equation.operands) {
    if (!HasEllipsis(operand)) operand += kEllipsis;
  }
  return equation;
}

Value EinsumOf(absl::Span<const Value> inputs, std::string_view labels, std::string_view result) {
  return Op("Einsum", inputs, {{"equation", attr::String(absl::StrCat(labels, "->", result))}});
}

// The axis of the first of these labels; from the end, below 0, behind an ellipsis.
int AxisOfLabel(std::string_view labels, char label) {
  const size_t at = labels.find(label), dots = labels.find(kEllipsis);
  return static_cast<int>(at) - (at > dots ? static_cast<int>(labels.size()) : 0);
}

// The gradient of an operand that has labels which nothing else has: it was summed along them.
// `inputs` with `labels` give the gradient along the other labels; it is repeated along these.
Value RepeatedGradient(Value x, const std::string& of_x, std::string_view alone,
                       absl::Span<const Value> inputs, const std::string& labels) {
  GraphBuilder& b = x.builder();
  std::string others;
  for (const char label : of_x) {
    if (label == '.' || (!HasLabel(alone, label) && !HasLabel(others, label))) others += label;
  }
  const Value summed = EinsumOf(inputs, labels, others), shape = ShapeOf(x), rank = RankOf(x);
  std::vector<Value> sizes;
  for (const char label : alone) {
    const int axis = AxisOfLabel(of_x, label);
    const Value at = b.Scalar(DataType::kInt32, axis);
    sizes.push_back(Gather(shape, ExpandDims(axis < 0 ? at + rank : at, 0)));
  }
  sizes.push_back(ShapeOf(summed));
  return EinsumOf({Op("BroadcastTo", {summed, Concat(sizes, 0)})}, absl::StrCat(alone, others),
                  of_x);
}

// The gradient of operand i, before batches that were repeated are summed.
Value OfOperand(GradientScope& s, const Equation& equation, int i) {
  const Value x = s.x(i);
  const std::string& of_x = equation.operands[i];
  std::vector<Value> inputs = {s.dy()};
  std::string labels = equation.result;
  if (s.num_inputs() == 2) {
    inputs.push_back(Conj(s.x(1 - i)));
    absl::StrAppend(&labels, ",", equation.operands[1 - i]);
  }
  std::string alone;
  for (const char label : of_x) {
    if (label != '.' && !HasLabel(labels, label) && !HasLabel(alone, label)) alone += label;
  }
  return alone.empty() ? EinsumOf(inputs, labels, of_x)
                       : RepeatedGradient(x, of_x, alone, inputs, labels);
}

// Where the axes of the ellipsis of x begin, and their sizes.
struct BatchAxes {
  int64_t begin;
  Value sizes;
};
BatchAxes BatchAxesOf(Value x, const std::string& labels) {
  GraphBuilder& b = x.builder();
  const auto begin = static_cast<int64_t>(labels.find(kEllipsis));
  const Value count = RankOf(x) - static_cast<double>(labels.size() - kEllipsis.size());
  return {begin, Slice(ShapeOf(x), b.Ints({begin}), ExpandDims(count, 0))};
}

bool HaveSameBatches(const PartialShape& x, const std::string& of_x, const PartialShape& y,
                     const std::string& of_y) {
  if (!x.fully_defined() || !y.fully_defined()) return false;
  const auto batches = [](const PartialShape& shape, const std::string& labels) {
    const size_t begin = labels.find(kEllipsis);
    const size_t count = shape.dims().size() + kEllipsis.size() - labels.size();
    return shape.dims().subspan(begin, count);
  };
  return batches(x, of_x) == batches(y, of_y);
}

Value SumOfBatches(Value dx, Value x, const BatchAxes& of_x, const BatchAxes& of_other) {
  const Value axes = Op("BroadcastGradientArgs", {of_x.sizes, of_other.sizes});
  return ReshapeLike(Sum(dx, axes + static_cast<double>(of_x.begin)), x);
}

void EinsumGradient(GradientScope& s) {
  const Equation equation = Parse(s.String("equation"));
  if (s.num_inputs() > 2 || equation.operands.size() != static_cast<size_t>(s.num_inputs())) {
    s.Unimplemented(absl::StrCat("an equation of ", equation.operands.size(), " operands for ",
                                 s.num_inputs(), " inputs; 1 and 2 are built"));
    return;
  }
  if (s.num_inputs() == 1) {
    s.Set(0, OfOperand(s, equation, 0));
    return;
  }
  const bool sums =
      HasEllipsis(equation.result) &&
      !HaveSameBatches(s.x(0).shape(), equation.operands[0], s.x(1).shape(), equation.operands[1]);
  for (int i = 0; i < 2; ++i) {
    if (!s.wanted(i)) continue;
    const Value dx = OfOperand(s, equation, i);
    s.Set(i, sums ? SumOfBatches(dx, s.x(i), BatchAxesOf(s.x(i), equation.operands[i]),
                                 BatchAxesOf(s.x(1 - i), equation.operands[1 - i]))
                  : dx);
  }
}

constexpr GradientRow kEinsum[] = {{"Einsum", EinsumGradient}};

}  // namespace

absl::Span<const GradientRow> LinalgEinsum() { return kEinsum; }

}  // namespace tenon::gradients
