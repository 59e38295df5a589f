#include "executor/plan/base/flag_tree.h"

namespace tenon {

int32_t FlagTree::Add(int32_t count, int32_t parent) {
  const int32_t first = size();
  if (flags_[parent].depth >= kMaxDepth) parent = kAlways;
  flags_.resize(flags_.size() + count, {parent, flags_[parent].depth + 1});
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

bool FlagTree::Implies(int32_t flag, int32_t other) const {
  while (flags_[flag].depth > flags_[other].depth) flag = flags_[flag].parent;
  return flag == other;
}

int32_t FlagTree::Common(int32_t a, int32_t b) const {
  while (a != b) {
    int32_t& deeper = flags_[a].depth >= flags_[b].depth ? a : b;
    deeper = flags_[deeper].parent;
  }
  return a;
}

}  // namespace tenon
