#include "executor/values/tensor_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "executor/values/element.h"
#include "executor/values/text.h"

namespace tenon::cli {
namespace {

constexpr int64_t kWholeUpTo = 100;  // elements
constexpr int64_t kEdge = 3;         // shown at either end of a long dimension
constexpr int64_t kGap = -1;
constexpr int kMaxShownRank = 12;  // tensors of more dimensions are shown flat: Write recurses

// Indices of a dimension that are shown; kGap stands for those left out.
std::vector<int64_t> Shown(int64_t dim, bool abbreviate) {
  std::vector<int64_t> indices;
  if (!abbreviate || dim <= 2 * kEdge + 1) {
    for (int64_t i = 0; i < dim; ++i) indices.push_back(i);
    return indices;
  }
  for (int64_t i = 0; i < kEdge; ++i) indices.push_back(i);
  indices.push_back(kGap);
  for (int64_t i = dim - kEdge; i < dim; ++i) indices.push_back(i);
  return indices;
}

// Writes all shown elements in one style, so that columns align.
class Renderer {
 public:
  Renderer(const Tensor& tensor, std::string_view indent)
      : tensor_(tensor), rank_(tensor.shape().rank()), indent_(indent) {
    const bool abbreviate = tensor.num_elements() > kWholeUpTo;
    for (int d = 0; d < rank_; ++d) shown_.push_back(Shown(tensor.shape().dim(d), abbreviate));
  }

  std::string Text() {
    Collect(0, 0);
    ChooseStyle();
    for (const int64_t i : elements_) width_ = std::max(width_, DisplayWidth(Element(i)));
    std::string text(indent_);
    Write(0, 0, text);
    return text + "\n";
  }

 private:
  // Recursion is over dimensions, at most kMaxShownRank of them.
  void Collect(int d, int64_t offset) {
    if (d == rank_) {
      elements_.push_back(offset);
      return;
    }
    for (const int64_t i : shown_[d]) {
      if (i != kGap) Collect(d + 1, offset * tensor_.shape().dim(d) + i);
    }
  }

  // One style for all elements, as NumPy chooses it: fixed point with as few decimals as the shown
  // numbers need (at most six), or scientific, where fixed point would lose the small ones.
  void ChooseStyle() {
    if (!IsFloatLike(tensor_.dtype())) return;
    double largest = 0, smallest = HUGE_VAL;
    for (const int64_t i : elements_) {
      const double value = std::fabs(ElementAsDouble(tensor_, i));
      if (!std::isfinite(value) || value == 0) continue;
      largest = std::max(largest, value);
      smallest = std::min(smallest, value);
    }
    decimals_ = 0;
    scientific_ = largest >= 1e7 || smallest < 1e-4 || largest > 1000 * smallest;
    if (scientific_) return;
    for (const int64_t i : elements_) {
      const double value = ElementAsDouble(tensor_, i);
      if (!std::isfinite(value)) continue;
      while (decimals_ < 6 &&
             std::fabs(std::round(value * std::pow(10, decimals_)) / std::pow(10, decimals_) -
                       value) > 5e-7)
        ++decimals_;
    }
  }

  std::string Element(int64_t i) const {
    if (!IsFloatLike(tensor_.dtype())) return ElementText(tensor_, i);
    const double value = ElementAsDouble(tensor_, i);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return scientific_ ? absl::StrFormat("%.5e", value) : absl::StrFormat("%.*f", decimals_, value);
  }

  void Write(int d, int64_t offset, std::string& text) const {
    if (d == rank_) {
      const std::string element = Element(offset);
      absl::StrAppend(&text, std::string(width_ - DisplayWidth(element), ' '), element);
      return;
    }
    text += '[';
    bool first = true;
    for (const int64_t i : shown_[d]) {
      if (!first) Separate(d, text);
      first = false;
      if (i == kGap) {
        text += "…";
      } else {
        Write(d + 1, offset * tensor_.shape().dim(d) + i, text);
      }
    }
    text += ']';
  }

  // A blank between elements, a line between rows, an empty line between matrices.
  void Separate(int d, std::string& text) const {
    if (d == rank_ - 1) {
      text += ' ';
      return;
    }
    text += d < rank_ - 2 ? "\n\n" : "\n";
    absl::StrAppend(&text, indent_, std::string(d + 1, ' '));
  }

  const Tensor& tensor_;
  int rank_;
  std::string_view indent_;
  std::vector<std::vector<int64_t>> shown_;
  std::vector<int64_t> elements_;
  size_t width_ = 0;
  int decimals_ = 0;
  bool scientific_ = false;
};

}  // namespace

std::string TypeText(DataType dtype, const PartialShape& shape) {
  const std::string_view name = DataTypeShortName(dtype);
  if (!shape.known_rank()) return absl::StrCat(name, "[...]");
  return shape.rank() == 0 ? std::string(name) : absl::StrCat(name, shape.ToString());
}

std::string IndexText(const Shape& shape, int64_t i) {
  Dims index(shape.rank());
  for (int d = shape.rank(); d-- > 0;) {
    index[d] = i % shape.dim(d);
    i /= shape.dim(d);
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

std::string TensorText(const Tensor& tensor, std::string_view indent) {
  if (!tensor.initialized() ||
      (!IsMemcpyable(tensor.dtype()) && tensor.dtype() != DataType::kString)) {
    return absl::StrCat(indent, "(no printable elements)\n");
  }
  if (tensor.num_elements() == 0) return absl::StrCat(indent, "(empty)\n");
  if (tensor.shape().rank() > kMaxShownRank) {
    return Renderer(tensor.Reshaped(Shape({tensor.num_elements()})), indent).Text();
  }
  return Renderer(tensor, indent).Text();
}

}  // namespace tenon::cli
