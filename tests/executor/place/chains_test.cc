#include "executor/place/chains.h"

#include <gmock/gmock.h>

namespace tenon {
namespace {

using ::testing::ElementsAre;

const std::vector<int32_t> kTwo = {4, 7}, kFirst = {4};

TEST(LanesOfChains, BranchesPartAndChainsStayTogether) {
  // 0 -> (1 -> 2), (3 -> 4) -> 5
  const std::vector<ChainNode> fork = {{{}, &kTwo},  {{0}, &kTwo}, {{1}, &kTwo},
                                       {{0}, &kTwo}, {{3}, &kTwo}, {{2, 4}, &kTwo}};
  EXPECT_THAT(LanesOfChains(fork, 4, 1), ElementsAre(4, 4, 4, 7, 7, 7));
  // A crossing that takes as long as what it saves is none.
  EXPECT_THAT(LanesOfChains(fork, 1, 2), ElementsAre(4, 4, 4, 4, 4, 4));
}

TEST(LanesOfChains, NodesWithoutAChoiceStayAndTakeTheirTime) {
  // What takes time on the first lane sends the other branch away; what takes none does not.
  const std::vector<ChainNode> bound = {{{}, &kFirst}, {{}, &kTwo}};
  EXPECT_THAT(LanesOfChains(bound, 4, 1), ElementsAre(4, 7));
  const std::vector<ChainNode> outside = {{{}, nullptr, 9}, {{}, &kTwo}, {{0, 1}, nullptr, 3}};
  EXPECT_THAT(LanesOfChains(outside, 4, 1), ElementsAre(9, 4, 3));
}

}  // namespace
}  // namespace tenon
