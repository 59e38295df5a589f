// The shape of a reduction's result, and the layout of its loops: alternating kept and reduced
// dimensions.
#include "plugin/cpu/reduction/reduce_shape.h"

#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<std::vector<bool>> ReadReducedAxes(const Prepare& p) {
  const int rank = p.input_shape(0).rank();
  TENON_ASSIGN_OR_RETURN(const Dims axes, InputIntsOfAnyRank(p, 1));
  std::vector<bool> reduced(rank, false);
  for (int64_t a : axes) {
    const absl::StatusOr<int> axis = NormalizeAxis(p, a, rank);
    if (!axis.ok()) {
      return NoteAnswer(axis.status(), absl::StatusCode::kInvalidArgument,
                        absl::StrCat("Invalid reduction dimension (", a, " for input with ", rank,
                                     " dimension(s)"));
    }
    // TensorFlow refuses an axis that is given twice, also as a negative number.
    if (reduced[*axis]) {
      return NoteAnswer(
          p.Invalid(absl::StrCat("axis ", *axis, " is given twice")),
          absl::StatusCode::kInvalidArgument,
          absl::StrCat("Invalid reduction arguments: Axes contains duplicate dimension: ", *axis));
    }
    reduced[*axis] = true;
  }
  return reduced;
}

Shape ReducedShape(const Shape& in, const std::vector<bool>& reduced, bool keep_dims) {
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!reduced[d]) {
      out.push_back(in.dim(d));
    } else if (keep_dims) {
      out.push_back(1);
    }
  }
  return out;
}

// Dimensions of size 1 are dropped and neighbours of one kind are merged, so that kept and reduced
// dimensions alternate and the loops below are as few and as long as can be. In a dense tensor
// merged neighbours have the inner one's stride.
ReduceLayout ReduceLayout::Make(const Shape& in, const std::vector<bool>& reduced,
                                int64_t element_bytes) {
  ReduceLayout l;
  const Dims stride = DenseStrides(in, element_bytes);
  Dims size, merged_stride;
  std::vector<bool> merged;
  for (int d = 0; d < in.rank(); ++d) {
    if (in.dim(d) == 1) continue;
    if (!merged.empty() && merged.back() == reduced[d]) {
      size.back() *= in.dim(d);
      merged_stride.back() = stride[d];
      continue;
    }
    size.push_back(in.dim(d));
    merged_stride.push_back(stride[d]);
    merged.push_back(reduced[d]);
  }
  // A tensor of one element counts as a run of one.
  l.inner_reduced = merged.empty() || merged.back();
  for (size_t i = 0; i < merged.size(); ++i) {
    if (merged[i]) {
      l.reduced_size.push_back(size[i]);
      l.reduced_stride.push_back(merged_stride[i]);
      l.reduced_count *= size[i];
      // The innermost kept dimension is the row of outputs that ReduceRowTiles accumulates
      // together.
    } else if (i + 1 == merged.size()) {
      l.columns = size[i];
    } else {
      l.kept_size.push_back(size[i]);
      l.kept_stride.push_back(merged_stride[i]);
      l.kept_count *= size[i];
    }
  }
  // A loop of one turn, so that loops need no case of "nothing is reduced".
  if (l.reduced_size.empty()) {
    l.reduced_size.push_back(1);
    l.reduced_stride.push_back(element_bytes);
  }
  return l;
}

int64_t ReduceLayout::KeptOffset(int64_t o) const {
  int64_t offset = 0;
  for (int d = static_cast<int>(kept_size.size()) - 1; d >= 0; --d) {
    offset += o % kept_size[d] * kept_stride[d];
    o /= kept_size[d];
  }
  return offset;
}

}  // namespace tenon::cpu
