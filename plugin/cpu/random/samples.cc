#include "plugin/cpu/random/samples.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/philox_source.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

template <typename T>
T Saturated(double x) {
  constexpr double kBeyond = static_cast<double>(uint64_t{1} << (sizeof(T) * 8 - 1));
  if (!(x >= -kBeyond)) return std::numeric_limits<T>::min();
  return x < kBeyond ? static_cast<T>(x) : std::numeric_limits<T>::max();
}

}  // namespace

absl::StatusOr<SampleLayout> PrepareSamples(Prepare& p, const Shape& parameters, bool whole) {
  const int input = InputNamed(p.op(), "shape");
  if (p.input_shape(input).rank() != 1) return p.Invalid("'shape' must be a vector");
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(input));
  const auto rank = static_cast<size_t>(parameters.rank());
  if (whole) {
    const bool ends = dims.size() >= rank && std::equal(parameters.dims().begin(),
                                                        parameters.dims().end(), dims.end() - rank);
    if (!ends) {
      return p.Invalid(
          absl::StrCat("'shape' must end with that of the parameters, ", parameters.ToString()));
    }
  } else {
    dims.insert(dims.end(), parameters.dims().begin(), parameters.dims().end());
  }
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  p.set_output_shape(0, out);
  return SampleLayout{DimProduct(out, 0, out.rank() - parameters.rank()),
                      parameters.num_elements()};
}

void ForSamples(
    const SampleLayout& layout, Workers& workers,
    absl::FunctionRef<void(int64_t distribution, int64_t first, int64_t last, int64_t at)> draw) {
  if (layout.samples == 0) return;
  constexpr int64_t kSamplesPerPiece = 1024;
  workers.ParallelFor(layout.samples * layout.distributions, kSamplesPerPiece,
                      [&](int64_t begin, int64_t end) {
                        while (begin < end) {
                          const int64_t distribution = begin / layout.samples;
                          const int64_t first = begin % layout.samples;
                          const int64_t last = std::min(layout.samples, first + end - begin);
                          draw(distribution, first, last, begin);
                          begin += last - first;
                        }
                      });
}

void StoreSample(DataType type, void* out, int64_t i, double x) {
  switch (type) {
    case DataType::kInt32:
      static_cast<int32_t*>(out)[i] = Saturated<int32_t>(x);
      return;
    case DataType::kInt64:
      static_cast<int64_t*>(out)[i] = Saturated<int64_t>(x);
      return;
    default:
      VisitFloat(type, [&](auto element) { element.Put(out, i, x); });
  }
}

double LoadParameter(DataType type, const void* data, int64_t i) {
  if (HasType(kIndexTypes, type))
    return static_cast<double>(LoadIndex(data, type == DataType::kInt64, i));
  double x = 0;
  VisitFloat(type, [&](auto element) { x = element.template As<double>(data, i); });
  return x;
}

}  // namespace tenon::cpu
