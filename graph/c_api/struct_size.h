// Checks `struct_size` of the structs that plug-ins fill in.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon {

// A zeroed struct with kPadding bytes behind it, for a plug-in that was built with later headers
// and writes a larger struct.
template <typename T>
union Padded {
  static constexpr size_t kPadding = 512;
  T value;
  unsigned char bytes[sizeof(T) + kPadding];
  Padded() : bytes{} {}
};

// Returns the `struct_size` that the host writes before it calls the plug-in: `size`, the size by
// the host's headers. While AbiWatch is on, returns 509 whatever `size` is: WatchStructSize then
// finds a plug-in that leaves the member alone.
size_t PresetStructSize(size_t size);

// Reports a violation by the call in progress if the plug-in left `struct_size` at the preset value
// or at 0. Does nothing while AbiWatch is off. `name` is the struct's name, `macro` the name of the
// macro with the right size.
void WatchStructSize(size_t struct_size, std::string_view name, std::string_view macro);

}  // namespace tenon
