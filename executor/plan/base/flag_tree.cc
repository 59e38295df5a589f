// Skew-binary jump pointers (Myers): each flag stores, besides its parent, one flag farther up. A
// search upwards takes a number of steps that is logarithmic in the depth, and a flag takes
// constant memory.

#include "executor/plan/base/flag_tree.h"

#include <algorithm>

namespace tenon {

// Where two jumps of one length follow each other above the parent, the child's jump spans both and
// the step to the parent; else it goes to the parent. The length depends on the depth alone, so
// flags of one depth jump to one depth. Any flag above is reached in a number of jumps and steps to
// parents that grows as the logarithm of the depth.
int32_t FlagTree::JumpOfChildren(int32_t parent) const {
  const int32_t jump = flags_[parent].jump, next = flags_[jump].jump;
  const bool equal =
      flags_[parent].depth - flags_[jump].depth == flags_[jump].depth - flags_[next].depth;
  return equal ? next : parent;
}

int32_t FlagTree::Add(int32_t count, int32_t parent) {
  const int32_t first = size();
  const Flag added{
      .parent = parent, .depth = flags_[parent].depth + 1, .jump = JumpOfChildren(parent)};
  flags_.resize(flags_.size() + count, added);
  return first;
}

int32_t FlagTree::AddFamily(int32_t count, int32_t parent, Chooser chosen_by) {
  const int32_t first = Add(count, parent);
  for (int32_t flag = first; flag < first + count; ++flag) {
    flags_[flag].family = first;
    flags_[flag].family_size = count;
    flags_[flag].chosen_by = chosen_by;
  }
  return first;
}

int32_t FlagTree::AtDepth(int32_t flag, int32_t depth) const {
  while (flags_[flag].depth > depth) {
    const int32_t jump = flags_[flag].jump;
    flag = flags_[jump].depth >= depth ? jump : flags_[flag].parent;
  }
  return flag;
}

bool FlagTree::Implies(int32_t flag, int32_t other) const {
  return AtDepth(flag, flags_[other].depth) == other;
}

int32_t FlagTree::Common(int32_t a, int32_t b) const {
  const int32_t depth = std::min(flags_[a].depth, flags_[b].depth);
  a = AtDepth(a, depth);
  b = AtDepth(b, depth);
  while (a != b) {
    // Flags of one depth jump to one depth. If the jumps differ, the common flag lies above both,
    // and both jump. Equal jumps may lie above the common flag, so both go to their parents.
    const bool far = flags_[a].jump != flags_[b].jump;
    a = far ? flags_[a].jump : flags_[a].parent;
    b = far ? flags_[b].jump : flags_[b].parent;
  }
  return a;
}

}  // namespace tenon
