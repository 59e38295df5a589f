// Einsum of one or two operands: sums over labels of one operand, then one batched product, then
// the order of the result.

#include <algorithm>
#include <map>

#include "../base/gemm.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"
#include "reduction.h"

namespace opencl {
namespace {

// A letter, or kEllipsis + the distance from the right end of an ellipsis.
using Labels = std::vector<int>;
constexpr int kEllipsis = 1000;

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// A tensor whose dimensions have labels.
struct Operand {
  Tensor tensor;
  Labels labels;

  int64_t SizeOf(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? 1 : tensor.dims[static_cast<size_t>(at - labels.begin())];
  }
  Dims SizesOf(const Labels& some) const {
    Dims sizes;
    for (const int label : some) sizes.push_back(SizeOf(label));
    return sizes;
  }
  // How many elements it is to the next place of each label; along the diagonal of one that stands
  // more than once.
  Dims StepsOf(const Labels& some) const {
    const Dims strides = RowMajorStrides(tensor.dims);
    Dims steps(some.size(), 0);
    for (size_t i = 0; i < some.size(); ++i) {
      for (size_t d = 0; d < strides.size(); ++d) {
        if (labels[d] == some[i]) steps[i] += strides[d];
      }
    }
    return steps;
  }
};

// Copies into the order of `to`, where a label may stand more than once: then all but the diagonal
// is 0. Of a label that `from` has more than once the diagonal is read.
void Put(Call& call, const Operand& from, const Operand& to) {
  Labels labels;
  for (const int label : to.labels) {
    if (!Has(labels, label)) labels.push_back(label);
  }
  if (labels.size() != to.labels.size()) Clear(call, to.tensor);
  CopyStrided(call, from.tensor, 0, to.tensor, 0,
              {to.SizesOf(labels), {from.StepsOf(labels), to.StepsOf(labels)}});
}

// The operand in the order of `labels`, each of which it has; of a label that it has twice the
// diagonal. Whether or not it is copied, its dimensions are those of `labels`.
Operand Ordered(Call& call, const Operand& from, const Labels& labels) {
  if (from.labels == labels) return from;
  const Operand to{call.Temp(from.tensor.type, from.SizesOf(labels)), labels};
  Put(call, from, to);
  return to;
}

class Einsum {
 public:
  Einsum(const Construction& node, const PlainRow&) : equation_(node.String("equation")) {
    const size_t arrow = equation_.find("->");
    if (arrow == equation_.npos) Refuse("Einsum: '" + equation_ + "' has no '->'");
    const std::string left = equation_.substr(0, arrow);
    const size_t comma = left.find(',');
    terms_.push_back(left.substr(0, comma));
    if (comma != left.npos) terms_.push_back(left.substr(comma + 1));
    result_ = equation_.substr(arrow + 2);
  }

  void Compute(Call& call) const {
    if (call.inputs() != static_cast<int>(terms_.size()) ||
        terms_.back().find(',') != std::string::npos)
      Refuse("Einsum: '" + equation_ + "' does not have " + std::to_string(call.inputs()) +
             " terms");
    std::vector<Operand> operands;
    std::map<int, int64_t> sizes;
    int ellipsis = 0;
    for (int i = 0; i < call.inputs(); ++i) {
      const Tensor tensor = call.In(i);
      operands.push_back(
          {tensor, LabelsOf(terms_[static_cast<size_t>(i)], tensor.rank(), ellipsis)});
      NoteSizes(operands.back(), &sizes);
    }
    const Labels wanted = LabelsOf(result_, -1, ellipsis);
    Dims dims;
    for (const int label : wanted) {
      const auto found = sizes.find(label);
      if (found == sizes.end())
        Refuse("Einsum: the result of '" + equation_ + "' has a label that no operand has");
      dims.push_back(found->second);
    }
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    for (size_t i = 0; i < operands.size(); ++i)
      operands[i] = Reduced(call, operands[i], wanted,
                            operands.size() == 2 ? &operands[1 - i] : nullptr, sizes);
    Put(call, operands.size() == 2 ? Product(call, operands[0], operands[1], wanted) : operands[0],
        {out, wanted});
  }

 private:
  // Of a term for a tensor of `rank` dimensions, or of the result (-1), whose ellipsis has as many
  // dimensions as the longest of an operand.
  Labels LabelsOf(const std::string& term, int rank, int& ellipsis) const {
    const size_t dots = term.find("...");
    const int letters = static_cast<int>(term.size()) - (dots == term.npos ? 0 : 3);
    const int hidden = rank < 0 ? (dots == term.npos ? 0 : ellipsis) : rank - letters;
    if (hidden < 0 || (dots == term.npos && hidden != 0)) {
      Refuse("Einsum: term '" + term + "' does not fit a tensor of " + std::to_string(rank) +
             " dimensions");
    }
    ellipsis = std::max(ellipsis, hidden);
    Labels labels;
    for (size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (int d = hidden; d-- > 0;) labels.push_back(kEllipsis + d);
        i += 2;
      } else if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
        labels.push_back(term[i]);
      } else {
        Refuse("Einsum: term '" + term + "' holds '" + term.substr(i, 1) + "'");
      }
    }
    return labels;
  }

  // Of an ellipsis' dimensions 1 broadcasts.
  void NoteSizes(const Operand& operand, std::map<int, int64_t>* sizes) const {
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      const int64_t size = operand.tensor.dims[d];
      const auto [known, is_new] = sizes->try_emplace(operand.labels[d], size);
      if (is_new || known->second == size) continue;
      const bool broadcasts = operand.labels[d] >= kEllipsis && (size == 1 || known->second == 1);
      if (!broadcasts)
        Refuse("Einsum: a label of '" + equation_ + "' has sizes " + std::to_string(known->second) +
               " and " + std::to_string(size));
      if (known->second == 1) known->second = size;
    }
  }

  // The operand with each label once, without dimensions of 1 that broadcast, and summed over
  // labels that neither the result nor the other operand has.
  static Operand Reduced(Call& call, const Operand& from, const Labels& wanted,
                         const Operand* other, const std::map<int, int64_t>& sizes) {
    Labels kept, summed;
    for (const int label : from.labels) {
      if (Has(kept, label) || Has(summed, label)) continue;
      if (from.SizeOf(label) == 1 && sizes.at(label) != 1) continue;
      const bool needed = Has(wanted, label) || (other != nullptr && Has(other->labels, label));
      (needed ? kept : summed).push_back(label);
    }
    Labels order = kept;
    order.insert(order.end(), summed.begin(), summed.end());
    Operand ordered = Ordered(call, from, order);
    if (summed.empty()) return ordered;
    const Operand to{call.Temp(from.tensor.type, from.SizesOf(kept)), kept};
    if (to.tensor.count != 0)
      SumMiddle(call, ordered.tensor, Count(from.SizesOf(summed)), 1, to.tensor);
    return to;
  }

  static Operand Product(Call& call, const Operand& a, const Operand& b, const Labels& wanted) {
    Labels batch, rows, inner, columns;
    for (const int label : a.labels) {
      if (!Has(b.labels, label)) {
        rows.push_back(label);
      } else {
        (Has(wanted, label) ? batch : inner).push_back(label);
      }
    }
    for (const int label : b.labels) {
      if (!Has(a.labels, label)) columns.push_back(label);
    }
    const auto joined = [](Labels labels, const Labels& middle, const Labels& end) {
      labels.insert(labels.end(), middle.begin(), middle.end());
      labels.insert(labels.end(), end.begin(), end.end());
      return labels;
    };
    const Operand left = Ordered(call, a, joined(batch, rows, inner));
    // As it is, b may be the transposed factor.
    const bool transposed = b.labels == joined(batch, columns, inner);
    const Operand right = transposed ? b : Ordered(call, b, joined(batch, inner, columns));
    Dims dims = left.SizesOf(joined(batch, rows, {}));
    for (const int label : columns) dims.push_back(right.SizeOf(label));
    const Operand product{call.Temp(left.tensor.type, dims), joined(batch, rows, columns)};
    Gemm gemm;
    gemm.a = left.tensor;
    gemm.b = right.tensor;
    gemm.c = product.tensor;
    gemm.transpose_b = transposed;
    gemm.batches = Count(left.SizesOf(batch));
    gemm.p.m = ProductSize(Count(left.SizesOf(rows)));
    gemm.p.n = ProductSize(Count(right.SizesOf(columns)));
    gemm.p.k = ProductSize(Count(left.SizesOf(inner)));
    gemm.p.a_step = gemm.p.k;
    gemm.p.b_step = transposed ? gemm.p.k : gemm.p.n;
    gemm.p.c_step = gemm.p.n;
    gemm.p.batches_inner = std::max(ProductSize(gemm.batches), 1);
    gemm.p.a_inner = int64_t{gemm.p.m} * gemm.p.k;
    gemm.p.b_inner = int64_t{gemm.p.k} * gemm.p.n;
    RunGemm(call, gemm);
    return product;
  }

  const std::string equation_;
  std::vector<std::string> terms_;
  std::string result_;
};

constexpr PlainRow kEinsum[] = {{{"Einsum", kFloats | kI32 | kI64}}};

}  // namespace

void RegisterEinsum() { RegisterTable<Einsum, kEinsum>(); }

}  // namespace opencl
