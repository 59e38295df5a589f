#include "plugin/cpu/selection/points.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

int64_t Points::PieceOf(const void* indices, int64_t i) const {
  const int64_t depth = static_cast<int64_t>(size.size());
  int64_t offset = 0;
  for (int64_t d = 0; d < depth; ++d) {
    int64_t at = LoadIndex(indices, index_type, i * depth + d);
    if (wrap && size[d] > 0) {
      at %= size[d];
      if (at < 0) at += size[d];
    }
    if (at < 0 || at >= size[d]) return -1;
    offset = offset * size[d] + at;
  }
  return offset;
}

absl::Status Points::Outside(const void* indices, int64_t i) const {
  const int64_t depth = static_cast<int64_t>(size.size());
  std::vector<int64_t> point;
  for (int64_t d = 0; d < depth; ++d)
    point.push_back(LoadIndex(indices, index_type, i * depth + d));
  return absl::InvalidArgumentError(absl::StrCat("indices[", i, "] = [", absl::StrJoin(point, ", "),
                                                 "] does not index into shape [",
                                                 absl::StrJoin(size, ","), "]"));
}

absl::Status CheckIndexRange(const Prepare& p, DataType index_type, int64_t size) {
  const absl::Status status = CheckIndexRange(index_type, size);
  return status.ok() ? status : p.Invalid(status.message());
}

absl::Status CheckIndexRange(DataType index_type, int64_t size) {
  const size_t bits = DataTypeSize(index_type) * 8;
  if (size <= static_cast<int64_t>(std::numeric_limits<uint64_t>::max() >> (65 - bits)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("params of ", size, " places are too large for ",
                                                 DataTypeName(index_type), " indexing"));
}

absl::StatusOr<Points> DescribePoints(const Prepare& p, const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates) {
  absl::StatusOr<Points> points = DescribePoints(indices, index_type, target, updates);
  if (!points.ok()) return p.Invalid(points.status().message());
  if (updates != nullptr) TENON_RETURN_IF_ERROR(CheckedShape(p, updates->dims()).status());
  return points;
}

absl::StatusOr<Points> DescribePoints(const Shape& indices, DataType index_type,
                                      const Shape& target, Shape* updates) {
  if (indices.rank() < 1)
    return absl::InvalidArgumentError("the indices must have at least one dimension");
  const int last = indices.rank() - 1;
  if (indices.dim(last) > target.rank()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "points of ", indices.dim(last), " coordinates in ", target.rank(), " dimensions"));
  }
  const int depth = static_cast<int>(indices.dim(last));
  Points points;
  for (int d = 0; d < depth; ++d) points.size.push_back(target.dim(d));
  points.count = DimProduct(indices, 0, last);
  points.piece = DimProduct(target, depth, target.rank());
  points.index_type = index_type;
  if (depth == 0 && points.piece == 0) points.count = 0;  // no memory stands behind their number
  if (updates != nullptr) {
    Dims dims(indices.dims().begin(), indices.dims().end() - 1);
    for (int d = depth; d < target.rank(); ++d) dims.push_back(target.dim(d));
    TENON_ASSIGN_OR_RETURN(*updates, Shape::Make(dims));
  }
  return points;
}

absl::Status CheckPointsExist(const Shape& indices, const Shape& target) {
  if (target.rank() < 1)
    return absl::InvalidArgumentError("the params must have at least one dimension");
  if (target.num_elements() > 0 || DimProduct(indices, 0, indices.rank() - 1) == 0)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("indices ", indices.ToString(), " name points of ",
                                                 target.ToString(), ", which is empty"));
}

absl::Status CheckPointUpdates(const Shape& indices, const Shape& updates, const Shape& target) {
  if (updates.rank() < 1 || target.rank() < 1) {
    return absl::InvalidArgumentError(absl::StrCat("the updates ", updates.ToString(),
                                                   " and what they go to, ", target.ToString(),
                                                   ", must have at least one dimension"));
  }
  const bool has_indices = indices.num_elements() > 0, has_updates = updates.num_elements() > 0;
  if (has_indices == has_updates && (!has_indices || target.num_elements() > 0))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "of indices ", indices.ToString(), ", updates ", updates.ToString(), " and what they go to, ",
      target.ToString(), ", some are empty and others are not"));
}

absl::Status ReadBadIndicesPolicy(const Prepare& p, Points* points) {
  TENON_ASSIGN_OR_RETURN(const std::string_view policy, p.AttrString("bad_indices_policy"));
  points->skip = policy == "IGNORE";
  if (points->skip || policy.empty() || policy == "DEFAULT" || policy == "ERROR")
    return absl::OkStatus();
  return p.Invalid(
      absl::StrCat("'bad_indices_policy' must be DEFAULT, ERROR, IGNORE or empty, it is ", policy));
}

bool Scatter::CombineBy(ElementOp op, DataType type) {
  const Shape piece({points.piece});
  return MakeElementStep(op, type, piece, piece, &combine);
}

absl::Status Scatter::Run(const void* indices, const void* updates, void* target) const {
  // Points may repeat and are applied in order, so nothing is shared among threads.
  Workers alone(1);
  for (int64_t i = 0; i < points.count; ++i) {
    const int64_t at = points.PieceOf(indices, i);
    if (at < 0) {
      if (points.skip) continue;
      return points.Outside(indices, i);
    }
    if (joins) {
      for (int64_t e = 0; e < points.piece; ++e)
        AppendString(target, at * points.piece + e, StringAt(updates, i * points.piece + e));
      continue;
    }
    if (combine.loop == nullptr) {
      copy(updates, i * points.piece, target, at * points.piece, points.piece);
      continue;
    }
    char* to = static_cast<char*>(target) + at * points.piece * copy.bytes();
    const void* in[] = {to, static_cast<const char*>(updates) + i * points.piece * copy.bytes()};
    if (combine.converts) {
      RunElementStep(combine, in, to, &alone);
    } else {
      combine.loop(in, to, points.piece, combine.param);
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon::cpu
