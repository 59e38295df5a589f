// Arithmetic on indices: UnravelIndex, and dimensions under another data format: DataFormatDimMap,
// DataFormatVecPermute.
#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct UnravelState {
  int64_t count = 0;
  int rank = 0;
  bool index64 = false;
};

// The product of the dimensions, which are positive; it must fit the type of the indices.
absl::StatusOr<int64_t> CountPlaces(const UnravelState& s, const void* dims) {
  int64_t product = 1;
  for (int d = 0; d < s.rank; ++d) {
    const int64_t n = LoadIndex(dims, s.index64, d);
    if (n <= 0)
      return absl::InvalidArgumentError(absl::StrCat("dims[", d, "] must be positive, it is ", n));
    if (__builtin_mul_overflow(product, n, &product) || (!s.index64 && product > INT32_MAX))
      return absl::InvalidArgumentError("the product of 'dims' is too large for their type");
  }
  return product;
}

// Column i of the result holds the coordinates of index i.
absl::Status RunUnravel(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const UnravelState*>(state);
  TENON_ASSIGN_OR_RETURN(const int64_t places, CountPlaces(s, args.in[1]));
  for (int64_t i = 0; i < s.count; ++i) {
    int64_t rest = LoadIndex(args.in[0], s.index64, i);
    if (rest < 0 || rest >= places) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", rest, " is not in [0, ", places, ")"));
    }
    for (int d = s.rank - 1; d >= 0; --d) {
      const int64_t n = LoadIndex(args.in[1], s.index64, d);
      StoreIndex(args.out[0], s.index64, d * s.count + i, rest % n);
      rest /= n;
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareUnravelIndex(Prepare& p) {
  const Shape& indices = p.input_shape(0);
  const Shape& dims = p.input_shape(1);
  if (indices.rank() > 1 || indices.num_elements() == 0)
    return p.Invalid("'indices' must be a scalar or a vector that is not empty");
  if (dims.rank() != 1 || dims.dim(0) > kMaxRank)
    return p.Invalid(absl::StrCat("'dims' must be a vector of at most ", kMaxRank, " elements"));
  auto s = std::make_shared<UnravelState>();
  s->count = indices.num_elements();
  s->rank = static_cast<int>(dims.dim(0));
  s->index64 = p.input_type(0) == DataType::kInt64;
  Shape out({dims.dim(0)});
  if (indices.rank() == 1) out.push_back(s->count);
  p.set_output_shape(0, out);
  p.set_run(&RunUnravel, std::move(s));
  return absl::OkStatus();
}

// Where each letter of `src` stands in `dst`; nullopt unless one is a permutation of the other.
std::optional<Dims> PlacesOfLetters(std::string_view src, std::string_view dst) {
  Dims places;
  for (char letter : src) {
    const size_t at = dst.find(letter);
    if (at == std::string_view::npos || std::count(src.begin(), src.end(), letter) != 1)
      return std::nullopt;
    places.push_back(static_cast<int64_t>(at));
  }
  if (src.size() != dst.size()) return std::nullopt;
  return places;
}

struct Formats {
  std::string src, dst;
};

absl::StatusOr<Formats> ReadFormats(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view src, p.AttrString("src_format"));
  TENON_ASSIGN_OR_RETURN(const std::string_view dst, p.AttrString("dst_format"));
  if ((src.size() != 4 && src.size() != 5) || !PlacesOfLetters(src, dst).has_value()) {
    return p.Invalid(absl::StrCat("'src_format' and 'dst_format' must be two orders of 4 or 5 ",
                                  "letters, they are ", src, " and ", dst));
  }
  return Formats{std::string(src), std::string(dst)};
}

struct DimMapState {
  Dims to;
  int64_t count = 0;
  bool index64 = false;
};

// Dimensions count on beyond both ends.
absl::Status RunDimMap(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DimMapState*>(state);
  const int64_t n = static_cast<int64_t>(s.to.size());
  for (int64_t i = 0; i < s.count; ++i) {
    const int64_t at = LoadIndex(args.in[0], s.index64, i) % n;
    StoreIndex(args.out[0], s.index64, i, s.to[at < 0 ? at + n : at]);
  }
  return absl::OkStatus();
}

absl::Status PrepareDimMap(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Formats formats, ReadFormats(p));
  auto s = std::make_shared<DimMapState>();
  s->to = *PlacesOfLetters(formats.src, formats.dst);
  s->count = p.input_shape(0).num_elements();
  s->index64 = p.input_type(0) == DataType::kInt64;
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_run(&RunDimMap, std::move(s));
  return absl::OkStatus();
}

struct VecPermuteState {
  ElementCopy copy;
  Dims to = {};
  int64_t row = 1;
};

absl::Status RunVecPermute(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const VecPermuteState*>(state);
  for (size_t i = 0; i < s.to.size(); ++i)
    s.copy(args.in[0], static_cast<int64_t>(i) * s.row, args.out[0], s.to[i] * s.row, s.row);
  return absl::OkStatus();
}

// One element, or pair, per dimension; or per spatial dimension only.
absl::Status PrepareVecPermute(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Formats formats, ReadFormats(p));
  const Shape& in = p.input_shape(0);
  const int64_t all = static_cast<int64_t>(formats.src.size()), spatial = all - 2;
  if (in.rank() < 1 || in.rank() > 2 || (in.dim(0) != all && in.dim(0) != spatial) ||
      (in.rank() == 2 && in.dim(1) != 2)) {
    return p.Invalid(absl::StrCat("the input must be a vector, or rows of 2, of ", spatial, " or ",
                                  all, " dimensions"));
  }
  if (in.dim(0) == spatial) {
    const auto not_spatial = [](char c) { return c != 'H' && c != 'W' && c != 'D'; };
    std::erase_if(formats.src, not_spatial);
    std::erase_if(formats.dst, not_spatial);
    if (static_cast<int64_t>(formats.src.size()) != spatial) {
      return p.Invalid(
          absl::StrCat("the formats must have ", spatial, " of the letters D, H and W"));
    }
  }
  auto s = std::make_shared<VecPermuteState>(VecPermuteState{ElementCopy(p.input_type(0))});
  s->to = *PlacesOfLetters(formats.src, formats.dst);
  s->row = in.rank() == 2 ? 2 : 1;
  p.set_output_shape(0, in);
  p.set_run(&RunVecPermute, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> IndexMapKernels() {
  static const CpuKernelSpec specs[] = {
      {"UnravelIndex", {}, PrepareUnravelIndex},
      {"DataFormatDimMap", {}, PrepareDimMap},
      {"DataFormatVecPermute", {}, PrepareVecPermute},
  };
  return specs;
}

}  // namespace tenon::cpu
