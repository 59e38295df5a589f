// EditDistance: how many insertions, deletions and replacements lead from one sequence to another,
// for each pair of sequences along the last dimension of two sparse tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Whether element i of `a` is element j of `b`.
bool SameElement(DataType type, const void* a, int64_t i, const void* b, int64_t j) {
  if (type == DataType::kString) return StringAt(a, i) == StringAt(b, j);
  if (type == DataType::kBool)
    return static_cast<const bool*>(a)[i] == static_cast<const bool*>(b)[j];
  bool same = false;
  VisitElement(type, [&](auto element) {
    using Wide = typename decltype(element)::Wide;
    same = element.template As<Wide>(a, i) == element.template As<Wide>(b, j);
  });
  return same;
}

struct EditDistance {
  DataType type;
  bool normalize;
  Shape out;
  std::array<int64_t, 2> values;  // of hypothesis and truth
};

using Sequences = absl::flat_hash_map<int64_t, std::vector<int64_t>>;  // by place in the output

// The values of each sequence. INVALID_ARGUMENT for one whose place is not in the output.
absl::StatusOr<Sequences> Group(const EditDistance& s, const void* indices, int64_t n) {
  Sequences groups;
  const int rank = s.out.rank() + 1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t* const index = static_cast<const int64_t*>(indices) + i * rank;
    int64_t place = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      if (index[d] < 0 || index[d] >= s.out.dim(d)) {
        return absl::InvalidArgumentError(absl::StrCat("value ", i, " has index ", index[d],
                                                       " in dimension ", d, " of ", s.out.dim(d)));
      }
      place = place * s.out.dim(d) + index[d];
    }
    groups[place].push_back(i);
  }
  return groups;
}

// Levenshtein's distance by the algorithm of Wagner and Fischer, of which one row of the table is
// kept.
int64_t Distance(DataType type, const void* a, const std::vector<int64_t>& as, const void* b,
                 const std::vector<int64_t>& bs) {
  std::vector<int64_t> row(bs.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < as.size(); ++i) {
    int64_t diagonal = std::exchange(row[0], static_cast<int64_t>(i) + 1);
    for (size_t j = 0; j < bs.size(); ++j) {
      const int64_t replaced = diagonal + (SameElement(type, a, as[i], b, bs[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

absl::Status RunEditDistance(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const EditDistance*>(state);
  TENON_ASSIGN_OR_RETURN(const Sequences hypotheses, Group(s, args.in[0], s.values[0]));
  TENON_ASSIGN_OR_RETURN(const Sequences truths, Group(s, args.in[3], s.values[1]));
  auto* const out = static_cast<float*>(args.out[0]);
  std::fill_n(out, s.out.num_elements(), 0.0F);
  const std::vector<int64_t> none;
  for (const auto& [place, truth] : truths) {
    const auto found = hypotheses.find(place);
    const auto& hypothesis = found == hypotheses.end() ? none : found->second;
    out[place] = static_cast<float>(Distance(s.type, args.in[4], truth, args.in[1], hypothesis));
    if (s.normalize) out[place] /= static_cast<float>(truth.size());
  }
  // Against an empty truth the normalized distance is a division by 0.
  for (const auto& [place, hypothesis] : hypotheses) {
    if (truths.contains(place)) continue;
    out[place] = s.normalize ? std::numeric_limits<float>::infinity()
                             : static_cast<float>(hypothesis.size());
  }
  return absl::OkStatus();
}

absl::Status CheckSparse(const Prepare& p, int first, std::string_view name) {
  const Shape &indices = p.input_shape(first), &values = p.input_shape(first + 1),
              &shape = p.input_shape(first + 2);
  if (indices.rank() == 2 && values.rank() == 1 && shape.rank() == 1 &&
      indices.dim(0) == values.dim(0) && indices.dim(1) == shape.dim(0) && shape.dim(0) > 0) {
    return absl::OkStatus();
  }
  return p.Invalid(absl::StrCat("the indices, values and shape of the ", name, " do not fit"));
}

absl::Status PrepareEditDistance(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckSparse(p, 0, "hypothesis"));
  TENON_RETURN_IF_ERROR(CheckSparse(p, 3, "truth"));
  TENON_ASSIGN_OR_RETURN(const Dims hypothesis, p.InputInts(2));
  TENON_ASSIGN_OR_RETURN(const Dims truth, p.InputInts(5));
  if (hypothesis.size() != truth.size())
    return p.Invalid("hypothesis and truth must have one rank");
  Dims dims;
  for (size_t d = 0; d + 1 < truth.size(); ++d) dims.push_back(std::max(hypothesis[d], truth[d]));
  TENON_ASSIGN_OR_RETURN(Shape out, CheckedShape(p, dims));
  TENON_ASSIGN_OR_RETURN(const bool normalize, p.AttrBool("normalize"));
  p.set_output_shape(0, out);
  p.set_run(
      &RunEditDistance,
      std::make_shared<EditDistance>(EditDistance{
          p.input_type(1), normalize, out, {p.input_shape(1).dim(0), p.input_shape(4).dim(0)}}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> EditDistanceKernels() {
  constexpr uint64_t kTypes = kNumberTypes | TypeBits(DataType::kBool, DataType::kString);
  static const CpuKernelSpec specs[] = {
      {"EditDistance", {{"T", kTypes}}, PrepareEditDistance, 1 << 2 | 1 << 5},
  };
  return specs;
}

}  // namespace tenon::cpu
