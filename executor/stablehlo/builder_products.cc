// Products, convolutions and gathers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/builder.h"

namespace tenon::stablehlo {
namespace {

bool IsIn(IntSpan list, int64_t value) { return std::ranges::find(list, value) != list.end(); }

}  // namespace

Value Builder::Dot(const Value& x, const Value& y, IntSpan batch_x, IntSpan batch_y, IntSpan sum_x,
                   IntSpan sum_y, DataType dtype) {
  Shape shape;
  for (const int64_t d : batch_x) shape.push_back(x.shape.dim(static_cast<int>(d)));
  for (int i = 0; i < x.rank(); ++i) {
    if (!IsIn(batch_x, i) && !IsIn(sum_x, i)) shape.push_back(x.shape.dim(i));
  }
  for (int i = 0; i < y.rank(); ++i) {
    if (!IsIn(batch_y, i) && !IsIn(sum_y, i)) shape.push_back(y.shape.dim(i));
  }
  Value v = Begin(dtype, shape);
  Text("stablehlo.dot_general ");
  Names({x, y});
  if (!batch_x.empty())
    absl::StrAppend(&out_.text, ", batching_dims = ", List(batch_x), " x ", List(batch_y));
  absl::StrAppend(&out_.text, ", contracting_dims = ", List(sum_x), " x ", List(sum_y),
                  ", precision = [", precision_, ", ", precision_, "]");
  Note(OpKind::kDot, "dot", {x, y}, {v}, {batch_x, batch_y, sum_x, sum_y});
  EndTyped({x, y}, {v});
  return v;
}

Value Builder::Conv(const Value& x, const Value& filter, const ConvDims& dims, const Shape& shape) {
  Value v = Begin(x.dtype, shape);
  Text("stablehlo.convolution(");
  Names({x, filter});
  absl::StrAppend(&out_.text, ") dim_numbers = ", dims.text,
                  ", window = {stride = ", List(dims.stride), ", pad = [");
  for (size_t i = 0; i < dims.low.size(); ++i)
    absl::StrAppend(&out_.text, i > 0 ? ", " : "", "[", dims.low[i], ", ", dims.high[i], "]");
  absl::StrAppend(&out_.text, "], lhs_dilate = ", List(dims.lhs_dilation),
                  ", rhs_dilate = ", List(dims.rhs_dilation),
                  "} {batch_group_count = ", dims.batch_groups,
                  " : i64, feature_group_count = ", dims.feature_groups,
                  " : i64, precision_config = [#stablehlo<precision ", precision_,
                  ">, #stablehlo<precision ", precision_, ">]}");
  Note(OpKind::kConvolution, dims.text, {x, filter}, {v},
       {{dims.batch},
        {dims.result_batch},
        {dims.batch_groups},
        {dims.feature_groups},
        dims.stride,
        dims.low,
        dims.high,
        dims.lhs_dilation,
        dims.rhs_dilation});
  EndTyped({x, filter}, {v});
  return v;
}

Value Builder::Cholesky(const Value& x) {
  Value v = Begin(x.dtype, x.shape);
  Text("stablehlo.cholesky ");
  AppendName(x);
  Text(", lower = true : ");
  AppendType(x);
  Note(OpKind::kLastAxes, "cholesky", {x}, {v}, {{2}});
  End();
  return v;
}

Value Builder::TriangularSolve(const Value& a, const Value& b, bool lower,
                               std::string_view transpose) {
  Value v = Begin(b.dtype, b.shape);
  Text("\"stablehlo.triangular_solve\"(");
  Names({a, b});
  absl::StrAppend(&out_.text, ") {left_side = true, lower = ", lower ? "true" : "false",
                  ", transpose_a = #stablehlo<transpose ", transpose, ">, unit_diagonal = false}");
  Note(OpKind::kLastAxes, absl::StrCat("triangular_solve ", lower, transpose), {a, b}, {v}, {{2}});
  EndTyped({a, b}, {v});
  return v;
}

Value Builder::Fft(std::string_view type, const Value& x, IntSpan length, DataType dtype,
                   const Shape& shape) {
  Value v = Begin(dtype, shape);
  Text("stablehlo.fft ");
  AppendName(x);
  absl::StrAppend(&out_.text, ", type = ", type, ", length = ", List(length));
  Note(OpKind::kLastAxes, absl::StrCat("fft ", type, List(length)), {x}, {v},
       {{static_cast<int64_t>(length.size())}});
  EndTyped({x}, {v});
  return v;
}

Value Builder::Gather(const Value& x, const Value& indices, const GatherDims& dims,
                      const Shape& shape) {
  Value v = Begin(x.dtype, shape);
  Text("\"stablehlo.gather\"(");
  Names({x, indices});
  std::string numbers;
  const auto field = [&numbers](std::string_view name, const Ints& list) {
    if (!list.empty()) absl::StrAppend(&numbers, name, " = ", List(list), ", ");
  };
  field("offset_dims", dims.offset_dims);
  field("collapsed_slice_dims", dims.collapsed_slice_dims);
  field("start_index_map", dims.start_index_map);
  absl::StrAppend(&out_.text, ") {dimension_numbers = #stablehlo.gather<", numbers,
                  "index_vector_dim = ", dims.index_vector_dim,
                  ">, indices_are_sorted = false, slice_sizes = ", Array(dims.slice_sizes), "}");
  Note(OpKind::kGather, "gather", {x, indices}, {v},
       {dims.offset_dims,
        dims.collapsed_slice_dims,
        dims.start_index_map,
        dims.slice_sizes,
        {dims.index_vector_dim}});
  EndTyped({x, indices}, {v});
  return v;
}

}  // namespace tenon::stablehlo
