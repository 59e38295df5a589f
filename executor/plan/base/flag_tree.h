// Who lives when: the liveness flags of a plan, each below the one without which it never lives.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon {

// What tells values apart that choose outputs: a constant's data, or else (null) their storage.
using Chooser = std::pair<const void*, int32_t>;

class FlagTree {
 public:
  static constexpr int32_t kAlways = 0;  // the flag that always lives
  // Deeper flags are not known to imply others: branches within them are not jumped over as a
  // whole.
  static constexpr int32_t kMaxDepth = 64;

  struct Flag {
    int32_t parent = 0;  // lives whenever the flag does
    int32_t depth = 0;
    int32_t family = 0;  // its first flag; 0: none
    int32_t family_size = 0;
    Chooser chosen_by = {nullptr, -1};
  };

  FlagTree() : flags_(1) {}

  int32_t size() const { return static_cast<int32_t>(flags_.size()); }
  const Flag& operator[](int32_t flag) const { return flags_[flag]; }

  // New flags below `parent`, numbered one after the other. Returns the first.
  int32_t Add(int32_t count, int32_t parent);
  // The same for the outputs of one Switch: exactly one of them lives if the parent does.
  int32_t AddFamily(int32_t count, int32_t parent, Chooser chosen_by);

  // Whether `other` lives whenever `flag` does.
  bool Implies(int32_t flag, int32_t other) const;
  // The deepest flag that lives whenever `a` or `b` does.
  int32_t Common(int32_t a, int32_t b) const;

 private:
  std::vector<Flag> flags_;
};

}  // namespace tenon
