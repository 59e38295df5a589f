// Windows that slide over images: whether sizes, strides and padding agree in every run.
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/analysis/cannot_fail.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

constexpr int kRank = 4, kBatch = 0, kChannels = 3;
constexpr std::array kSpatial = {1, 2};
using Sizes = std::array<int64_t, kRank>;  // negative: unknown

// The sizes of a window, or the steps that it takes, which leave batch and channels alone.
std::optional<Sizes> StepsOf(const Graph& g, NodeId n, std::string_view attr) {
  const AttrValue* value = g.attr(n, attr);
  const std::vector<int64_t> list = value != nullptr
                                        ? value->AsIntList().value_or(std::vector<int64_t>())
                                        : std::vector<int64_t>();
  if (list.size() != kRank || list[kBatch] != 1 || list[kChannels] != 1) return std::nullopt;
  Sizes sizes;
  for (int d = 0; d < kRank; ++d) {
    if (list[d] <= 0) return std::nullopt;
    sizes[d] = list[d];
  }
  return sizes;
}

std::optional<Sizes> SizesOf(const PartialShape& shape) {
  if (shape.rank() != kRank) return std::nullopt;
  Sizes sizes;
  for (int d = 0; d < kRank; ++d) sizes[d] = shape.dim(d);
  return sizes;
}

// What a vector holds that says the shape of a tensor.
std::optional<Sizes> SizesIn(const TensorInfo& vector) {
  Sizes sizes;
  if (vector.value != nullptr) {
    if (!IsInteger(vector.value->dtype()) || vector.value->num_elements() != kRank)
      return std::nullopt;
    for (int d = 0; d < kRank; ++d) sizes[d] = vector.value->IntAt(d);
    if (sizes[kBatch] < 0) return std::nullopt;
    return sizes;
  }
  if (!vector.partial_value || vector.partial_value->size() != kRank) return std::nullopt;
  for (int d = 0; d < kRank; ++d) sizes[d] = (*vector.partial_value)[d];
  return sizes;
}

// Whether a window of known sizes gives `to` when it goes over `from`, but for the batch; an
// unknown `to` is what inference will make of it.
bool Slides(const Graph& g, NodeId n, const Sizes& from, const Sizes& window,
            const std::optional<Sizes>& to) {
  const std::optional<Sizes> steps = StepsOf(g, n, "strides");
  const std::string_view kind = TextAttr(g, n, "padding");
  if (!steps || (kind != "SAME" && kind != "VALID")) return false;
  for (const int d : kSpatial) {
    const int64_t step = (*steps)[d];
    if (from[d] <= 0 || window[d] <= 0) return false;
    if (kind == "VALID" && from[d] < window[d]) return false;
    // TensorFlow's formulas: ceil(size / step) with padding, floor((size - window) / step) + 1
    // without.
    const int64_t count =
        kind == "SAME" ? (from[d] - 1) / step + 1 : (from[d] - window[d]) / step + 1;
    if (to && (*to)[d] != count) return false;
  }
  return true;
}

bool IsPlain(const Graph& g, NodeId n) {
  if (g.attr(n, "data_format") != nullptr && TextAttr(g, n, "data_format") != "NHWC") return false;
  const AttrValue* dilations = g.attr(n, "dilations");
  if (dilations == nullptr) return true;
  const std::optional<Sizes> apart = StepsOf(g, n, "dilations");
  return apart && (*apart)[kSpatial[0]] == 1 && (*apart)[kSpatial[1]] == 1;
}

// Filters: rows, columns, channels that they take, channels that they give.
bool ConvolutionFits(const Graph& g, NodeId n, const std::optional<Sizes>& image,
                     const std::optional<Sizes>& filter, const std::optional<Sizes>& result,
                     bool is_given) {
  if (!image || !filter || (is_given && !result)) return false;
  constexpr int kTaken = 2, kGiven = 3;
  for (const int64_t size : *filter) {
    if (size <= 0) return false;
  }
  if ((*image)[kChannels] != (*filter)[kTaken]) return false;
  if (is_given && (*result)[kChannels] != (*filter)[kGiven]) return false;
  const Sizes window = {1, (*filter)[0], (*filter)[1], 1};
  return Slides(g, n, *image, window, is_given ? result : std::nullopt);
}

bool PoolFits(const Graph& g, NodeId n, const std::optional<Sizes>& image,
              const std::optional<Sizes>& result) {
  const std::optional<Sizes> window = StepsOf(g, n, "ksize");
  if (!image || !window || (*image)[kChannels] <= 0) return false;
  if (result && (*result)[kChannels] != (*image)[kChannels]) return false;
  return Slides(g, n, *image, *window, result);
}

}  // namespace

bool WindowsFit(const Graph& g, NodeId n, InfoOf info, SameDim same_dim) {
  if (g.facts(n).safe != Safe::kIfWindow || !IsFloating(g.output_type({n, 0})) || !IsPlain(g, n))
    return false;
  const std::span<const Output> in = g.data_inputs(n);
  const auto sizes = [&](int i) { return SizesOf(info(in[i]).shape); };
  // A gradient must have the batch of the image, which Slides leaves out.
  const auto same_batch = [&](Output a, Output b) {
    const int64_t x = info(a).shape.dim(kBatch), y = info(b).shape.dim(kBatch);
    return x >= 0 || y >= 0 ? x == y : same_dim(a, kBatch, b, kBatch);
  };
  const Output result = {n, 0};
  const auto result_known = [&] { return info(result).shape.rank() == kRank; };
  if (OpIs(g, n, {"Conv2D"})) return ConvolutionFits(g, n, sizes(0), sizes(1), std::nullopt, false);
  if (OpIs(g, n, {"MaxPool", "AvgPool"})) return PoolFits(g, n, sizes(0), std::nullopt);
  if (OpIs(g, n, {"Conv2DBackpropInput"}))
    return result_known() &&
           ConvolutionFits(g, n, SizesIn(info(in[0])), sizes(1), sizes(2), true) &&
           same_batch(result, in[2]);
  if (OpIs(g, n, {"Conv2DBackpropFilter"}))
    return ConvolutionFits(g, n, sizes(0), SizesIn(info(in[1])), sizes(2), true) &&
           same_batch(in[0], in[2]);
  if (OpIs(g, n, {"AvgPoolGrad"}))
    return sizes(1) && result_known() && PoolFits(g, n, SizesIn(info(in[0])), sizes(1)) &&
           same_batch(result, in[1]);
  // What is left is MaxPoolGrad: image, its pooled image, and the gradient of the latter.
  return sizes(1) && sizes(2) && PoolFits(g, n, sizes(0), sizes(1)) &&
         PoolFits(g, n, sizes(0), sizes(2)) && same_batch(in[0], in[1]) && same_batch(in[0], in[2]);
}

}  // namespace tenon
