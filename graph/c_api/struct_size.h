// The structs that plug-ins fill in, and their `struct_size`.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon {

// Zeros, with room for a plug-in that was built with later headers and writes a larger struct.
template <typename T>
union Roomy {
  static constexpr size_t kRoom = 512;
  T value;
  unsigned char bytes[sizeof(T) + kRoom];
  Roomy() : bytes{} {}
};

// What the host writes into `struct_size` before: the size by its own headers. While the interface
// is watched a larger one, as a later host would, to see whether the plug-in sets its own.
size_t PresetStructSize(size_t size);

// A violation if the plug-in left what PresetStructSize gave, or 0. By the call in progress.
void WatchStructSize(size_t struct_size, std::string_view name, std::string_view macro);

}  // namespace tenon
