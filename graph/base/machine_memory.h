// How much memory this machine has.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace tenon {

inline size_t MachineMemoryBytes() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tenon
