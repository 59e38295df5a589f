// The physical memory of this machine.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace tenon {

// Returns the bytes of physical memory, used or free. Limits of containers (cgroups) do not count.
inline size_t MachineMemoryBytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tenon
