// "Did you mean": the candidate that is closest to a misspelt name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

// Edit distance (insertions, deletions, substitutions, swaps of neighbours), or limit + 1 when it
// is above `limit`.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// Keeps the closest of the names offered to it. Names further away than a third of the wanted one's
// length never win.
class ClosestName {
 public:
  explicit ClosestName(std::string_view wanted);
  // `name` must outlive the finder.
  void Offer(std::string_view name);
  std::string_view best() const { return best_; }
  // " (did you mean 'x'?)", or empty.
  std::string Hint() const;

 private:
  std::string_view wanted_;
  std::string_view best_;
  size_t limit_;
};

}  // namespace tenon
