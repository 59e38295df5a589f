#include "executor/clusters/cluster.h"

namespace tenon {
namespace {

struct NoClusterText {
  std::string_view name, means;
};
// In the order of the enumerators.
constexpr NoClusterText kNoClusterTexts[] = {
    {"", ""},
    {"NOT_RUN", "the run does not compute it"},
    {"FED", "a feed gives its value"},
    {"HOST",
     "it works on the host: placeholders, state, strings, results whose shape depends on values"},
    {"BORDER", "a value that cannot leave a program would have to"},
    {"TRIVIAL", "nothing beside it would be computed"},
    {"OFF", "clusters are turned off"},
    {"OP_LIST", "the lists of ops to cluster leave it out"},
    {"FUEL", "the fuel for clusters is used up"},
    {"SMALL", "its cluster would have fewer nodes than the least number"},
};

}  // namespace

std::string_view NoClusterName(NoCluster code) {
  return kNoClusterTexts[static_cast<size_t>(code)].name;
}
std::string_view NoClusterMeans(NoCluster code) {
  return kNoClusterTexts[static_cast<size_t>(code)].means;
}

}  // namespace tenon
