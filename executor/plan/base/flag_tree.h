// The liveness flags of a plan, as a tree: a flag never lives while its parent is dead. Flags are
// numbered in the order in which they are added; a run has one boolean for each (Frame::alive).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon {

// The identity of a value that chooses the output of a Switch: {data of a constant, -1}, or {null,
// storage}. {null, -1} stands for none.
using Chooser = std::pair<const void*, int32_t>;

class FlagTree {
 public:
  static constexpr int32_t kAlways = 0;  // the flag that always lives

  struct Flag {
    int32_t parent = 0;                 // lives whenever this flag lives
    int32_t depth = 0;                  // of kAlways: 0
    int32_t jump = 0;                   // a flag above it, most often far above (see flag_tree.cc)
    int32_t family = 0;                 // the first flag of its family; 0: it has none
    int32_t family_size = 0;            // the number of flags in its family
    Chooser chosen_by = {nullptr, -1};  // of a family: what its Switch decides by
  };

  FlagTree() : flags_(1) {}

  int32_t size() const { return static_cast<int32_t>(flags_.size()); }
  // Valid until flags are added.
  const Flag& operator[](int32_t flag) const { return flags_[flag]; }

  // Adds `count` flags below `parent`, with consecutive numbers. Returns the first number.
  int32_t Add(int32_t count, int32_t parent);
  // The same for the flags of one Switch's outputs: exactly one of them lives while the parent
  // lives.
  int32_t AddFamily(int32_t count, int32_t parent, Chooser chosen_by);

  // These two take time in the logarithm of the depth, so branches may nest as deeply as they like.
  //
  // Whether `other` lives whenever `flag` lives, as far as the tree tells: true is certain. A flag
  // implies itself.
  bool Implies(int32_t flag, int32_t other) const;
  // The deepest flag that lives whenever `a` or `b` does.
  int32_t Common(int32_t a, int32_t b) const;

 private:
  int32_t JumpOfChildren(int32_t parent) const;
  // The flag of this depth that `flag` is or hangs below; `flag` itself if it is no deeper.
  int32_t AtDepth(int32_t flag, int32_t depth) const;

  std::vector<Flag> flags_;
};

}  // namespace tenon
