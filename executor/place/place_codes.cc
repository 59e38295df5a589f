#include "executor/place/place_codes.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace tenon {
namespace {

// In the order of the enumerators. tests/scripts/docs.sh compares names and meanings with
// docs/graph_run.md.
constexpr PlaceCodeFacts kCodes[] = {
    {.code = PlaceCode::kNoKernel,
     .name = "NO_KERNEL",
     .means = "no kernel of the op for the device",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByPriority},
    {.code = PlaceCode::kDtype,
     .name = "DTYPE",
     .means = "a kernel of the op for the device, but for other dtypes",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByItself},
    {.code = PlaceCode::kHostMemory,
     .name = "HOST_MEMORY",
     .means = "its values (strings, resources, variants) lie in host memory",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByItself},
    {.code = PlaceCode::kColocation,
     .name = "COLOCATION",
     .means = "it follows its colocation group",
     .outlives_op = true,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByGroup},
    {.code = PlaceCode::kResource,
     .name = "RESOURCE",
     .means = "it follows the nodes that share its resource or reference",
     .outlives_op = true,
     .of_neighbours = false,
     .yields_to_neighbours = true,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByGroup},
    {.code = PlaceCode::kPinned,
     .name = "PINNED",
     .means = "the graph, a rule or the default device asks for the device",
     .outlives_op = true,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = false,
     .passed_over = PassedOver::kByRequest},
    {.code = PlaceCode::kPassMoved,
     .name = "PASS_MOVED",
     .means = "an optimization pass put it there",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByPass},
    {.code = PlaceCode::kPriority,
     .name = "PRIORITY",
     .means = "the device of highest priority that has a kernel",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = true,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByPriority},
    {.code = PlaceCode::kGreedy,
     .name = "GREEDY",
     .means = "beside its neighbours, where it causes the fewest copies",
     .outlives_op = false,
     .of_neighbours = true,
     .yields_to_neighbours = true,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByNeighbours},
    {.code = PlaceCode::kUnavailable,
     .name = "UNAVAILABLE",
     .means = "the requested device does not exist",
     .outlives_op = false,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByPriority},
    {.code = PlaceCode::kSpread,
     .name = "SPREAD",
     .means = "a branch for another device of the type, which is free while the first one computes",
     .outlives_op = true,
     .of_neighbours = false,
     .yields_to_neighbours = false,
     .yields_to_passes = true,
     .passed_over = PassedOver::kByItself},
};
static_assert(std::size(kCodes) == static_cast<size_t>(PlaceCode::kCount));
static_assert(std::ranges::adjacent_find(kCodes, std::ranges::greater_equal(),
                                         &PlaceCodeFacts::code) == std::end(kCodes));

}  // namespace

const PlaceCodeFacts& FactsOf(PlaceCode code) { return kCodes[static_cast<size_t>(code)]; }

absl::Span<const PlaceCodeFacts> AllPlaceCodes() { return kCodes; }

}  // namespace tenon
