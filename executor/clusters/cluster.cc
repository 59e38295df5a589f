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
    {"HOST", "it works on the host: placeholders, state, strings"},
    {"BORDER", "a value that cannot leave a program would have to"},
    {"TRIVIAL", "nothing beside it would be computed"},
};

}  // namespace

std::string_view NoClusterName(NoCluster code) {
  return kNoClusterTexts[static_cast<size_t>(code)].name;
}
std::string_view NoClusterMeans(NoCluster code) {
  return kNoClusterTexts[static_cast<size_t>(code)].means;
}

}  // namespace tenon
