// Why nodes are where they are: the codes, and one row of facts for each. All that depends on a
// code reads its row, so a new code is an enumerator here and a row in place_codes.cc.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace tenon {

// Why a node is on its device (NodePlacement::reason), or why it is not on another device
// (RejectedDevice::code). As a reason, kNoKernel says that no device has a kernel for the node, or
// that the device it asks for has none. Meanings: see place_codes.cc.
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

// The facts of a code, which must not be kCount; of all codes, in the order of the enumerators.
const PlaceCodeFacts& FactsOf(PlaceCode code);
absl::Span<const PlaceCodeFacts> AllPlaceCodes();

// "NO_KERNEL", "DTYPE", …
inline std::string_view PlaceCodeName(PlaceCode code) { return FactsOf(code).name; }

}  // namespace tenon
