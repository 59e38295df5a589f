#include "executor/plan/base/flag_tree.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace tenon {
namespace {

// The flag and all without which it does not live.
std::set<int32_t> Ancestors(const FlagTree& flags, int32_t flag) {
  std::set<int32_t> found = {flag};
  while (flag != FlagTree::kAlways) found.insert(flag = flags[flag].parent);
  return found;
}

TEST(FlagTree, KnowsWhoLivesWheneverAnotherDoes) {
  std::mt19937 random(3);
  FlagTree flags;
  for (int i = 0; i < 60; ++i) flags.Add(1 + i % 3, static_cast<int32_t>(random() % flags.size()));
  for (int32_t a = 0; a < flags.size(); ++a) {
    const std::set<int32_t> of_a = Ancestors(flags, a);
    for (int32_t b = 0; b < flags.size(); ++b) {
      EXPECT_EQ(flags.Implies(a, b), of_a.contains(b)) << a << " and " << b;
      int32_t common = b;
      while (!of_a.contains(common)) common = flags[common].parent;
      EXPECT_EQ(flags.Common(a, b), common) << a << " and " << b;
    }
  }
}

TEST(FlagTree, FamiliesAreNumberedOneAfterTheOther) {
  FlagTree flags;
  const int32_t parent = flags.Add(1, FlagTree::kAlways);
  const int32_t first = flags.AddFamily(3, parent, {nullptr, 7});
  EXPECT_EQ(flags.size(), first + 3);
  for (int32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(flags[first + i].parent, parent);
    EXPECT_EQ(flags[first + i].family, first);
    EXPECT_EQ(flags[first + i].family_size, 3);
    EXPECT_EQ(flags[first + i].chosen_by, Chooser(nullptr, 7));
  }
  EXPECT_EQ(flags[parent].family, 0);
}

TEST(FlagTree, KnowsEachFlagAboveADeepOne) {
  constexpr int32_t kDeep = 1000;
  FlagTree flags;
  std::vector<int32_t> trunk = {FlagTree::kAlways};
  while (trunk.size() <= kDeep) trunk.push_back(flags.Add(1, trunk.back()));
  for (int32_t depth = 0; depth <= kDeep; ++depth) {
    EXPECT_EQ(flags[trunk[depth]].depth, depth);
    EXPECT_TRUE(flags.Implies(trunk[kDeep], trunk[depth]));
    const int32_t twig = flags.Add(1, trunk[depth]);
    EXPECT_FALSE(flags.Implies(trunk[kDeep], twig));
    EXPECT_EQ(flags.Common(trunk[kDeep], twig), trunk[depth]);
  }
}

}  // namespace
}  // namespace tenon
