// Einsum of one or two operands: diagonals and sums of single operands, then one batched matrix
// product, then diagonals of the output and a transpose. Labels are letters; dimensions of an
// ellipsis get labels of their own, aligned at the right.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/arrays/sub_kernels.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// A letter, or kEllipsis + distance from the ellipsis' right end.
using Labels = std::vector<int>;
// Above every letter.
constexpr int kEllipsis = 1000;

bool IsEllipsis(int label) { return label >= kEllipsis; }
bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// `term` for a tensor of `rank` dimensions, or (rank < 0) with an ellipsis of `ellipsis`
// dimensions.
absl::StatusOr<Labels> ParseTerm(const Prepare& p, std::string_view term, int rank, int ellipsis) {
  const size_t dots = term.find("...");
  const int letters = static_cast<int>(term.size()) - (dots == std::string_view::npos ? 0 : 3);
  if (rank >= 0) {
    ellipsis = rank - letters;
    if (ellipsis < 0 || (dots == std::string_view::npos && ellipsis != 0)) {
      return p.Invalid(
          absl::StrCat("the term '", term, "' does not fit a tensor of ", rank, " dimensions"));
    }
  }
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      // The last dimension of an ellipsis has distance 0 in every term, which aligns ellipses at
      // the right.
      for (int d = ellipsis; d-- > 0;) labels.push_back(kEllipsis + d);
      i += 2;
    } else if (absl::ascii_isalpha(term[i])) {
      labels.push_back(term[i]);
    } else {
      return p.Invalid(absl::StrCat("the term '", term, "' holds '", term.substr(i, 1), "'"));
    }
  }
  return labels;
}

struct Operand {
  SubTensor tensor;
  Labels labels;

  int64_t size(int label) const {
    const auto it = std::find(labels.begin(), labels.end(), label);
    return it == labels.end() ? 1 : tensor.shape.dim(static_cast<int>(it - labels.begin()));
  }
};

// A copy with dimensions in the order of `order`, each once; a repeated label walks the diagonal.
// Missing labels have size 1.
void Arrange(SubKernels& parts, Operand& o, const Labels& order) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(o.tensor.type));
  const Dims strides = DenseStrides(o.tensor.shape, bytes);
  Shape shape;
  for (int label : order) shape.push_back(o.size(label));
  const Dims to = DenseStrides(shape, bytes);
  StridedCopy copy(o.tensor.type);
  // Nothing moves if no elements are left out (a diagonal does) and dimensions above 1 keep their
  // order: the tensor then only gets another shape.
  bool in_order = shape.num_elements() == o.tensor.shape.num_elements();
  size_t last = 0;
  for (size_t d = 0; d < order.size(); ++d) {
    int64_t from = 0;
    for (size_t k = 0; k < o.labels.size(); ++k) {
      if (o.labels[k] != order[d]) continue;
      // A repeated label adds the strides of all its dimensions: a step along the diagonal.
      from += strides[k];
      if (shape.dim(static_cast<int>(d)) != 1) {
        in_order = in_order && k >= last;
        last = k;
      }
    }
    copy.AddDim(shape.dim(static_cast<int>(d)), from, to[d]);
  }
  o.labels = order;
  if (in_order) {
    o.tensor.shape = shape;
    return;
  }
  copy.Finish();
  o.tensor = parts.Copy(o.tensor, shape, std::move(copy));
}

// Each label once: diagonals are taken.
void TakeDiagonals(SubKernels& parts, Operand& o) {
  Labels unique;
  for (int label : o.labels) {
    if (!Has(unique, label)) unique.push_back(label);
  }
  if (unique.size() != o.labels.size()) Arrange(parts, o, unique);
}

// Sums over labels that neither `other` nor the output has.
absl::Status SumAway(SubKernels& parts, Operand& o, const Labels& keep) {
  std::vector<int32_t> axes;
  Labels left;
  for (size_t d = 0; d < o.labels.size(); ++d) {
    if (Has(keep, o.labels[d])) {
      left.push_back(o.labels[d]);
    } else {
      axes.push_back(static_cast<int32_t>(d));
    }
  }
  if (axes.empty()) return absl::OkStatus();
  const Shape shape({static_cast<int64_t>(axes.size())});
  const Tensor value = Tensor::Of<int32_t>(DataType::kInt32, axes, shape);
  const SubTensor axes_tensor{-1, DataType::kInt32, shape, &value};
  TENON_ASSIGN_OR_RETURN(
      o.tensor,
      parts.Call("Sum", {{"T", attr::Type(o.tensor.type)}, {"Tidx", attr::Type(DataType::kInt32)}},
                 o.tensor.type, {o.tensor, axes_tensor}));
  o.labels = left;
  return absl::OkStatus();
}

// Labels of every kind of a product; ellipsis labels count as batch.
struct Roles {
  Labels batch, contracted, free_a, free_b;
};

absl::StatusOr<Roles> AssignRoles(const Prepare& p, const Operand& a, const Operand& b,
                                  const Labels& out) {
  Roles r;
  for (int label : out) {
    const bool in_a = Has(a.labels, label), in_b = Has(b.labels, label);
    if (IsEllipsis(label) || (in_a && in_b)) {
      r.batch.push_back(label);
    } else if (in_a) {
      r.free_a.push_back(label);
    } else if (in_b) {
      r.free_b.push_back(label);
    }
  }
  for (int label : a.labels) {
    if (!Has(b.labels, label)) continue;
    if (!Has(out, label)) r.contracted.push_back(label);
    // Only dimensions of ellipses broadcast, as in TensorFlow.
    const int64_t sa = a.size(label), sb = b.size(label);
    if (sa != sb && !(IsEllipsis(label) && (sa == 1 || sb == 1))) {
      return p.Invalid(absl::StrCat("dimensions must be equal, but are ", sa, " and ", sb));
    }
  }
  return r;
}

Labels Joined(std::initializer_list<const Labels*> lists) {
  Labels all;
  for (const Labels* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// Whether the labels that have a size above 1 stand in this order in the operand already.
bool StandsAs(const Operand& o, const Labels& order) {
  Labels present, wanted;
  for (int label : o.labels) {
    if (o.size(label) != 1) present.push_back(label);
  }
  for (int label : order) {
    if (o.size(label) != 1) wanted.push_back(label);
  }
  return present == wanted;
}

int64_t SizeOf(const Operand& o, const Labels& labels) {
  int64_t n = 1;
  for (int label : labels) n *= o.size(label);
  return n;
}

// The operand as [batch …, rows, columns]; true if it lies as [batch …, columns, rows] and stays so
// (a complex one does not: what BatchMatMul calls adjoint conjugates it).
bool AsMatrices(SubKernels& parts, Operand& o, const Labels& batch, const Labels& rows,
                const Labels& columns) {
  const Labels straight = Joined({&batch, &rows, &columns}),
               swapped = Joined({&batch, &columns, &rows});
  // A product takes a transposed operand as it lies, which saves a copy.
  const bool swap = !IsComplex(o.tensor.type) && !StandsAs(o, straight) && StandsAs(o, swapped);
  Dims dims;
  for (int label : batch) dims.push_back(o.size(label));
  const int64_t r = SizeOf(o, rows), c = SizeOf(o, columns);
  dims.push_back(swap ? c : r);
  dims.push_back(swap ? r : c);
  Arrange(parts, o, swap ? swapped : straight);
  o.tensor.shape = Shape(dims);
  return swap;
}

absl::StatusOr<Operand> Multiply(Prepare& p, SubKernels& parts, Operand a, Operand b,
                                 const Labels& out) {
  TENON_ASSIGN_OR_RETURN(const Roles r, AssignRoles(p, a, b, out));
  Operand result;
  result.labels = Joined({&r.batch, &r.free_a, &r.free_b});
  Shape shape;
  for (int label : result.labels) {
    // Size 1 is broadcast, also to 0; so is a label that only one operand has.
    shape.push_back(a.size(label) == 1 ? b.size(label) : a.size(label));
  }
  const DataType type = a.tensor.type;
  const auto reshaped_value = [](const Operand& o, std::vector<Tensor>& keep) -> const Tensor* {
    if (o.tensor.value == nullptr) return nullptr;
    keep.push_back(o.tensor.value->Reshaped(o.tensor.shape));
    return &keep.back();
  };
  const bool swap_a = AsMatrices(parts, a, r.batch, r.free_a, r.contracted);
  const bool swap_b = AsMatrices(parts, b, r.batch, r.contracted, r.free_b);
  // An operand without any batch is one matrix: fewer dimensions let the product take all rows at
  // once.
  if (std::all_of(b.tensor.shape.dims().begin(), b.tensor.shape.dims().end() - 2,
                  [](int64_t d) { return d == 1; })) {
    b.tensor.shape = Shape(b.tensor.shape.dims().last(2));
  }
  std::vector<Tensor> values;
  // The pointers to its elements must stay valid.
  values.reserve(2);
  a.tensor.value = reshaped_value(a, values);
  b.tensor.value = reshaped_value(b, values);
  TENON_ASSIGN_OR_RETURN(result.tensor, parts.Call("BatchMatMulV2",
                                                   {{"T", attr::Type(type)},
                                                    {"adj_x", attr::Bool(swap_a)},
                                                    {"adj_y", attr::Bool(swap_b)}},
                                                   type, {a.tensor, b.tensor}));
  // The product merged the free dimensions of each operand into one.
  result.tensor.shape = shape;
  return result;
}

// A label that the output repeats, and the label of its own that the repetition gets meanwhile.
struct Repetition {
  int label, alias;
};
constexpr int kAlias = 256;  // above the letters

// Gives each repetition in `out` an alias.
std::vector<Repetition> NameRepetitions(Labels& out) {
  std::vector<Repetition> repetitions;
  for (size_t d = 0; d < out.size(); ++d) {
    if (std::find(out.begin(), out.begin() + d, out[d]) == out.begin() + d) continue;
    repetitions.push_back({out[d], kAlias + static_cast<int>(d)});
    out[d] = repetitions.back().alias;
  }
  return repetitions;
}

// Puts what lies along each repeated label on a diagonal, with zeros beside it.
absl::Status SpreadDiagonals(SubKernels& parts, Operand& o,
                             const std::vector<Repetition>& repetitions) {
  for (const Repetition& r : repetitions) {
    Labels order = o.labels;
    order.erase(std::find(order.begin(), order.end(), r.label));
    order.push_back(r.label);
    Arrange(parts, o, order);
    const DataType type = o.tensor.type;
    TENON_ASSIGN_OR_RETURN(o.tensor,
                           parts.Call("MatrixDiag", {{"T", attr::Type(type)}}, type, {o.tensor}));
    o.labels.push_back(r.alias);
  }
  return absl::OkStatus();
}

absl::Status PrepareEinsum(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view equation_attr, p.AttrString("equation"));
  std::string equation(equation_attr);
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  if (sides.size() != 2)
    return p.Invalid(absl::StrCat("the equation '", equation, "' must have one '->'"));
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  if (static_cast<int>(terms.size()) != p.num_inputs()) {
    return p.Invalid(absl::StrCat("the equation '", equation, "' has ", terms.size(), " terms for ",
                                  p.num_inputs(), " inputs"));
  }
  if (terms.size() > 2) return p.Unimplemented("more than two operands");
  SubKernels parts(p);
  std::vector<Operand> operands;
  int ellipsis = 0;
  Labels all;
  for (int i = 0; i < p.num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(Labels labels, ParseTerm(p, terms[i], p.input_shape(i).rank(), 0));
    operands.push_back({parts.Input(i), labels});
    for (size_t d = 0; d < labels.size(); ++d) {
      if (IsEllipsis(labels[d])) ellipsis = std::max(ellipsis, labels[d] - kEllipsis + 1);
      // `size` finds the first dimension of the label.
      if (operands[i].size(labels[d]) != p.input_shape(i).dim(static_cast<int>(d))) {
        return p.Invalid(absl::StrCat("dimensions of the repeated label '",
                                      std::string(1, static_cast<char>(labels[d])),
                                      "' must be equal"));
      }
    }
    all.insert(all.end(), labels.begin(), labels.end());
  }
  TENON_ASSIGN_OR_RETURN(Labels out, ParseTerm(p, sides[1], -1, ellipsis));
  for (const int label : out) {
    if (!Has(all, label))
      return p.Invalid(
          absl::StrCat("the output of '", equation, "' has a label that no input has"));
  }
  const std::vector<Repetition> repetitions = NameRepetitions(out);
  for (size_t i = 0; i < operands.size(); ++i) {
    TakeDiagonals(parts, operands[i]);
    // Before the product, so that it has fewer terms.
    const Labels keep = operands.size() == 1 ? out : Joined({&out, &operands[1 - i].labels});
    TENON_RETURN_IF_ERROR(SumAway(parts, operands[i], keep));
  }
  Operand result = operands[0];
  if (operands.size() == 2) {
    TENON_ASSIGN_OR_RETURN(result, Multiply(p, parts, operands[0], operands[1], out));
  }
  TENON_RETURN_IF_ERROR(SpreadDiagonals(parts, result, repetitions));
  Arrange(parts, result, out);
  parts.Finish({result.tensor});
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> EinsumKernels() {
  static const CpuKernelSpec specs[] = {
      {"Einsum", {{"T", kNumberTypes}}, PrepareEinsum},
  };
  return specs;
}

}  // namespace tenon::cpu
