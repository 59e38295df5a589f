#include "plugin/cpu/sparse/ragged/splits.h"

#include "absl/strings/str_cat.h"

namespace tenon::cpu {

int64_t Splits::RowOf(int64_t i, int64_t hint) const {
  if ((*this)[hint] <= i && i < (*this)[hint + 1]) return hint;
  // The last row that does not start behind i.
  int64_t first = 0, last = rows();
  while (last - first > 1) {
    const int64_t middle = first + (last - first) / 2;
    if ((*this)[middle] <= i) {
      first = middle;
    } else {
      last = middle;
    }
  }
  return first;
}

absl::Status CheckSplits(const Splits& splits, int64_t limit, int input) {
  const auto error = [&](auto... words) {
    return absl::InvalidArgumentError(absl::StrCat("row splits (input ", input, ") ", words...));
  };
  if (splits.count < 1) return error("must not be empty");
  if (splits[0] < 0) return error("must not be negative: ", splits[0]);
  for (int64_t i = 1; i < splits.count; ++i) {
    if (splits[i] < splits[i - 1])
      return error("must not decrease: ", splits[i - 1], " is followed by ", splits[i]);
  }
  if (splits.back() > limit)
    return error("end at ", splits.back(), ", behind the last of ", limit, " elements");
  return absl::OkStatus();
}

}  // namespace tenon::cpu
