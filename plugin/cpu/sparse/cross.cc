#include "plugin/cpu/sparse/cross.h"

#include <farmhash.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/string_element.h"

namespace tenon::cpu {
namespace {

uint64_t ShiftMix(uint64_t x) { return x ^ (x >> 47); }

}  // namespace

std::string_view CrossColumn::StringOf(int64_t i) const { return StringAt(values.data(), i); }

std::string CrossColumn::TextOf(int64_t i) const {
  return strings() ? std::string(StringOf(i)) : absl::StrCat(values.IntAt(i));
}

uint64_t CrossColumn::Fingerprint(int64_t i) const {
  if (!strings()) return static_cast<uint64_t>(values.IntAt(i));
  const std::string_view s = StringOf(i);
  return util::Fingerprint64(s.data(), s.size());
}

CrossColumn DenseColumn(const Tensor& matrix) {
  CrossColumn column{matrix, {}, true};
  for (int64_t r = 0; r <= matrix.shape().dim(0); ++r)
    column.starts.push_back(r * matrix.shape().dim(1));
  return column;
}

absl::StatusOr<CrossSizes> CountCrosses(const std::vector<CrossColumn>& columns, int64_t rows) {
  CrossSizes sizes;
  double total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double crosses = 1;
    for (const CrossColumn& c : columns) crosses *= static_cast<double>(c.CountAt(r));
    total += crosses;
    constexpr double kBytes = 3 * sizeof(int64_t);  // of the result, for each
    TENON_RETURN_IF_ERROR(CheckStringBytes(total * kBytes));
    sizes.starts.push_back(sizes.starts.back() + static_cast<int64_t>(crosses));
    sizes.most = std::max(sizes.most, static_cast<int64_t>(crosses));
  }
  return sizes;
}

void ForEachCross(const std::vector<CrossColumn>& columns, const CrossSizes& sizes,
                  absl::FunctionRef<void(int64_t at, const std::vector<int64_t>& chosen)> put) {
  std::vector<int64_t> chosen(columns.size());
  for (size_t r = 0; r + 1 < sizes.starts.size(); ++r) {
    for (size_t c = 0; c < columns.size(); ++c) chosen[c] = columns[c].starts[r];
    for (int64_t at = sizes.starts[r]; at < sizes.starts[r + 1]; ++at) {
      put(at, chosen);
      for (size_t c = columns.size(); c-- > 0;) {
        if (++chosen[c] < columns[c].starts[r + 1]) break;
        chosen[c] = columns[c].starts[r];
      }
    }
  }
}

std::string JoinCross(const std::vector<CrossColumn>& columns, const std::vector<int64_t>& chosen,
                      std::string_view separator) {
  std::string joined;
  for (size_t c = 0; c < columns.size(); ++c)
    absl::StrAppend(&joined, c == 0 ? "" : separator, columns[c].TextOf(chosen[c]));
  return joined;
}

uint64_t JoinFingerprints(uint64_t a, uint64_t b) {
  // The factor of MurmurHash64A.
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995;
  const uint64_t mixed = ((a ^ kFactor) ^ (ShiftMix(b * kFactor) * kFactor)) * kFactor;
  return ShiftMix(ShiftMix(mixed) * kFactor);
}

uint64_t CrossFingerprint(const std::vector<CrossColumn>& columns,
                          const std::vector<int64_t>& chosen, uint64_t start) {
  uint64_t fingerprint = start;
  for (size_t c = 0; c < columns.size(); ++c)
    fingerprint = JoinFingerprints(fingerprint, columns[c].Fingerprint(chosen[c]));
  return fingerprint;
}

int64_t BucketOf(uint64_t fingerprint, int64_t buckets) {
  const int64_t divisor = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(fingerprint % static_cast<uint64_t>(divisor));
}

}  // namespace tenon::cpu
