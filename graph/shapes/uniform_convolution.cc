// The convolution of UniformQuantizedConvolution, which is XLA's: the order of the dimensions is
// given by a message, both operands may be dilated, and features or the batch may be split into
// groups.

#include "graph/shapes/uniform_convolution.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/shapes/common_shapes.h"
#include "graph/wire/wire.h"

namespace tenon::ops {
namespace {

using Order = UniformConvolution::Order;

// Appends the values of a repeated field of integers, packed or not.
bool AppendInts(const WireField& field, std::vector<int64_t>* values) {
  if (field.type == WireType::kVarint) values->push_back(static_cast<int64_t>(field.scalar));
  if (field.type != WireType::kBytes) return field.type == WireType::kVarint;
  const char *pos = field.bytes.data(), *const end = pos + field.bytes.size();
  for (uint64_t value; pos != end; values->push_back(static_cast<int64_t>(value)))
    if (!WireReader::ReadVarint(&pos, end, &value)) return false;
  return true;
}

// Parses TensorFlow's message UniformQuantizedConvolutionDimensionNumbersAttr. Fields 1 to 3 are
// batch, features and spatial dimensions of the lhs; 4 to 6 input features, output features
// (`batch` of the rhs) and spatial dimensions of the rhs; 7 to 9 those of the output, as of the
// lhs.
bool ParseDimensionNumbers(std::string_view message, UniformConvolution* conv) {
  int64_t* const numbers[] = {&conv->lhs.batch,   &conv->lhs.feature, nullptr,
                              &conv->rhs.feature, &conv->rhs.batch,   nullptr,
                              &conv->out.batch,   &conv->out.feature, nullptr};
  std::vector<int64_t>* const lists[] = {&conv->lhs.spatial, &conv->rhs.spatial,
                                         &conv->out.spatial};
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number < 1 || field.number > 9) continue;
    if (field.number % 3 == 0) {
      if (!AppendInts(field, lists[field.number / 3 - 1])) return false;
    } else {
      if (field.type != WireType::kVarint) return false;
      *numbers[field.number - 1] = static_cast<int64_t>(field.scalar);
    }
  }
  return reader.ok();
}

// The order without dimension_numbers: batch, features, spatial dimensions, for all three tensors.
void SetDefaultOrder(int spatial_dims, UniformConvolution* conv) {
  conv->lhs = {0, 1, {}};
  for (int i = 0; i < spatial_dims; ++i) conv->lhs.spatial.push_back(2 + i);
  conv->rhs = conv->out = conv->lhs;
}

absl::Status CheckOrder(const Order& order, int rank, std::string_view name) {
  std::vector<int64_t> all = order.spatial;
  all.push_back(order.batch);
  all.push_back(order.feature);
  std::sort(all.begin(), all.end());
  bool fits = static_cast<int>(all.size()) == rank;
  for (int i = 0; fits && i < rank; ++i) fits = all[i] == i;
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("dimension_numbers must name each of the ", rank,
                                                 " dimensions of ", name, " once, not ",
                                                 absl::StrJoin(all, ", ")));
}

absl::Status CheckList(std::string_view name, const std::vector<int64_t>& values, size_t size,
                       int64_t least) {
  const auto fits = [&](int64_t v) { return v >= least && v <= INT32_MAX; };
  if (values.size() == size && std::all_of(values.begin(), values.end(), fits))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must hold ", size, " values of at least ",
                                                 least, ", not ", absl::StrJoin(values, ", ")));
}

absl::Status FillList(std::string_view name, size_t size, std::vector<int64_t>* values) {
  if (values->empty()) values->assign(size, 1);
  return CheckList(name, *values, size, 1);
}

// The extent of `size` elements that lie `dilation` apart.
absl::StatusOr<int64_t> Dilated(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  TENON_ASSIGN_OR_RETURN(const int64_t gaps, MultiplyDims(size - 1, dilation));
  return AddDims(gaps, 1);
}

// Sets `before` and `out` of an axis. SAME makes the output as large as the input divided by the
// stride, rounded up, and puts the odd element of padding behind.
absl::Status Place(const UniformConvolutionAttrs& attrs, size_t i, UniformConvolutionAxis* axis) {
  TENON_ASSIGN_OR_RETURN(const int64_t in, Dilated(axis->in, axis->lhs_dilation));
  TENON_ASSIGN_OR_RETURN(const int64_t size, Dilated(axis->size, axis->rhs_dilation));
  int64_t around = 0;
  axis->before = 0;
  if (attrs.padding == "EXPLICIT") {
    axis->before = attrs.explicit_padding[2 * i];
    around = axis->before + attrs.explicit_padding[2 * i + 1];
  } else if (attrs.padding == "SAME") {
    const int64_t out = in == 0 ? 0 : (in - 1) / axis->stride + 1;
    TENON_ASSIGN_OR_RETURN(const int64_t reach,
                           AddDims(std::max<int64_t>(out - 1, 0) * axis->stride, size));
    around = std::max<int64_t>(reach - in, 0);
    axis->before = around / 2;
  }
  TENON_ASSIGN_OR_RETURN(const int64_t padded, AddDims(in, around));
  const int64_t places = padded - size + 1;
  // A sum of places and stride could overflow.
  axis->out =
      places > 0 ? (places - 1) / axis->stride + 1 : (places + axis->stride - 1) / axis->stride;
  if (axis->out >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a window of ", size, " does not fit into ", padded, " places"));
}

absl::Status CheckGroups(const UniformConvolution& conv, const Shape& lhs, const Shape& rhs) {
  const int64_t lhs_features = lhs.dim(static_cast<int>(conv.lhs.feature));
  const int64_t rhs_features = rhs.dim(static_cast<int>(conv.rhs.feature));
  const int64_t out_features = rhs.dim(static_cast<int>(conv.rhs.batch));
  const int64_t batch = lhs.dim(static_cast<int>(conv.lhs.batch));
  if (conv.feature_groups > 0 && conv.batch_groups > 0 && lhs_features % conv.feature_groups == 0 &&
      lhs_features / conv.feature_groups == rhs_features &&
      out_features % conv.feature_groups == 0 && batch % conv.batch_groups == 0 &&
      out_features % conv.batch_groups == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "feature_group_count ", conv.feature_groups, " and batch_group_count ", conv.batch_groups,
      " do not divide ", lhs_features, " features by ", rhs_features, " of the rhs, ", out_features,
      " output features and a batch of ", batch));
}

}  // namespace

absl::StatusOr<UniformConvolution> MakeUniformConvolution(const UniformConvolutionAttrs& given,
                                                          const Shape& lhs, const Shape& rhs) {
  UniformConvolutionAttrs attrs = given;
  const int rank = lhs.rank();
  if (rank != rhs.rank() || rank < 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lhs and rhs must have the same rank of at least 3, not ", rank, " and ", rhs.rank()));
  }
  const size_t spatial = rank - 2;
  if (attrs.padding != "EXPLICIT" && attrs.padding != "SAME" && attrs.padding != "VALID") {
    return absl::InvalidArgumentError(
        absl::StrCat("padding must be EXPLICIT, SAME or VALID, not '", attrs.padding, "'"));
  }
  TENON_RETURN_IF_ERROR(CheckList("explicit_padding", attrs.explicit_padding,
                                  attrs.padding == "EXPLICIT" ? 2 * spatial : 0, 0));
  TENON_RETURN_IF_ERROR(FillList("window_strides", spatial, &attrs.strides));
  TENON_RETURN_IF_ERROR(FillList("lhs_dilation", spatial, &attrs.lhs_dilation));
  TENON_RETURN_IF_ERROR(FillList("rhs_dilation", spatial, &attrs.rhs_dilation));
  UniformConvolution conv{};
  if (!ParseDimensionNumbers(attrs.dimension_numbers, &conv))
    return absl::InvalidArgumentError("dimension_numbers is not a well-formed message");
  if (conv.lhs.spatial.empty()) SetDefaultOrder(static_cast<int>(spatial), &conv);
  TENON_RETURN_IF_ERROR(CheckOrder(conv.lhs, rank, "the lhs"));
  TENON_RETURN_IF_ERROR(CheckOrder(conv.rhs, rank, "the rhs"));
  TENON_RETURN_IF_ERROR(CheckOrder(conv.out, rank, "the output"));
  conv.feature_groups = attrs.feature_groups;
  conv.batch_groups = attrs.batch_groups;
  TENON_RETURN_IF_ERROR(CheckGroups(conv, lhs, rhs));
  Dims out(rank);
  out[conv.out.batch] = lhs.dim(static_cast<int>(conv.lhs.batch)) / conv.batch_groups;
  out[conv.out.feature] = rhs.dim(static_cast<int>(conv.rhs.batch));
  for (size_t i = 0; i < spatial; ++i) {
    UniformConvolutionAxis axis{lhs.dim(static_cast<int>(conv.lhs.spatial[i])),
                                rhs.dim(static_cast<int>(conv.rhs.spatial[i])),
                                0,
                                attrs.strides[i],
                                attrs.lhs_dilation[i],
                                attrs.rhs_dilation[i],
                                0};
    TENON_RETURN_IF_ERROR(Place(attrs, i, &axis));
    out[conv.out.spatial[i]] = axis.out;
    conv.axes.push_back(axis);
  }
  TENON_ASSIGN_OR_RETURN(conv.out_shape, Shape::Make(out));
  return conv;
}

}  // namespace tenon::ops
