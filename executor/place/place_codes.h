// Why nodes are where they are: the codes, and one row of facts for each. All that depends on a
// code reads its row, so a new code is an enumerator and a row of kPlaceCodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "absl/types/span.h"

namespace tenon {

// Why a node is on its device (NodePlacement::reason), or why it is not on another device
// (RejectedDevice::code). As a reason, kNoKernel says that no device has a kernel for the node, or
// that the device it asks for has none. Meanings: see kPlaceCodes.
enum class PlaceCode : uint8_t {
  kNoKernel,
  kDtype,
  kHostMemory,
  kColocation,
  kResource,
  kPinned,
  kPassMoved,
  kPriority,
  kGreedy,
  kUnavailable,
  kSpread,
  kCount,  // the number of codes, itself none: new codes go before it
};

// Why a node's reason kept it from another device that has a kernel for it.
enum class PassedOver : uint8_t {
  kByItself,      // the reason says it all: its code and its meaning are told
  kByRequest,     // the node or its group asks for a device
  kByGroup,       // the group is elsewhere
  kByPass,        // a pass chose the device
  kByNeighbours,  // the neighbours are elsewhere, or nothing computes the node
  kByPriority,    // a request for the type of the chosen device, else priorities
};

// What holds for a code.
struct PlaceCodeFacts {
  PlaceCode code;
  std::string_view name;   // as the command line prints it
  std::string_view means;  // a part of a sentence about a node, for people
  // As the reason of a node. A reason holds as long as the node has its op and its device.
  bool outlives_op;    // it holds for any op that a pass gives the node
  bool of_neighbours;  // it speaks of neighbours, which passes move: it is worded anew after them
  bool yields_to_neighbours;  // neighbour rules may move the node
  bool yields_to_passes;      // passes may move the node
  PassedOver passed_over;
};

// In the order of the enumerators, which reasons.cc checks. tests/scripts/docs.sh compares names
// and meanings with docs/graph_run.md.
inline constexpr PlaceCodeFacts kPlaceCodes[] = {
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
static_assert(std::size(kPlaceCodes) == static_cast<size_t>(PlaceCode::kCount));

// The facts of a code, which must not be kCount; of all codes, in the order of the enumerators.
inline const PlaceCodeFacts& FactsOf(PlaceCode code) {
  return kPlaceCodes[static_cast<size_t>(code)];
}
inline absl::Span<const PlaceCodeFacts> AllPlaceCodes() { return kPlaceCodes; }

// "NO_KERNEL", "DTYPE", …
inline std::string_view PlaceCodeName(PlaceCode code) { return FactsOf(code).name; }

}  // namespace tenon
