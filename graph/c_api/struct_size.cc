// Under the ABI check struct_size is preset with a number that no plug-in sets, so that a plug-in
// which leaves the member alone is found.

#include "graph/c_api/struct_size.h"

#include "absl/strings/str_cat.h"
#include "graph/c_api/abi_watch.h"

namespace tenon {
namespace {

// An odd number, which no struct has as its size, and small enough for the room.
constexpr size_t kPreset = 509;
static_assert(kPreset < Padded<char>::kPadding);

}  // namespace

// A later host would write a larger size: a plug-in that leaves it there would let that host read
// members that the plug-in does not have.
size_t PresetStructSize(size_t size) { return AbiWatch::Active() == nullptr ? size : kPreset; }

void WatchStructSize(size_t struct_size, std::string_view name, std::string_view macro) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr || (struct_size != 0 && struct_size != kPreset)) return;
  watch->Report("struct_size", absl::StrCat(name, ".struct_size is not set; set it to ", macro));
}

}  // namespace tenon
