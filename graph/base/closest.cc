// Edit distance by dynamic programming, with three rows of the table. The limit shrinks with each
// better name, so that most later names are given up after a few rows.

#include "graph/base/closest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

// Longer names match nothing: the cost is quadratic, and names made by programs, not typing errors,
// are that long.
constexpr size_t kMaxLength = 128;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  // The difference of lengths is a lower bound of the distance.
  if (b.size() - a.size() > limit || b.size() > kMaxLength) return limit + 1;
  std::vector<size_t> before(a.size() + 1), last(a.size() + 1), row(a.size() + 1);
  for (size_t i = 0; i <= a.size(); ++i) last[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    row[0] = j;
    size_t least = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      const size_t change = last[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[i] = std::min({change, last[i] + 1, row[i - 1] + 1});
      // A swap of two neighbours counts as one edit. `before` is the row above `last`, so a byte
      // that was swapped is not edited again: enough for typing errors.
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[i] = std::min(row[i], before[i - 2] + 1);
      }
      least = std::min(least, row[i]);
    }
    // No later row can be below the least value of this one.
    if (least > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[a.size()], limit + 1);
}

ClosestName::ClosestName(std::string_view wanted)
    // More edits than a third of the name make another name, not a typing error.
    : wanted_(wanted), limit_(std::max<size_t>(1, wanted.size() / 3)) {}

void ClosestName::Offer(std::string_view name) {
  if (found_) return;
  found_ = name == wanted_;
  if (found_) best_ = name;
  if (found_) return;
  const size_t distance = EditDistance(wanted_, name, limit_);
  if (distance > limit_) return;
  best_ = name;
  // The next winner must be closer; nothing is closer than one edit but the name itself.
  limit_ = distance == 0 ? 0 : distance - 1;
}

std::string ClosestName::Hint() const {
  return best_.empty() ? std::string() : absl::StrCat(" (did you mean '", best_, "'?)");
}

}  // namespace tenon
