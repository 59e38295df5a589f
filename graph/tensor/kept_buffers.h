// Memory that is never freed, since a device that did not end its work in time may still use it.
#pragma once

#include "graph/tensor/tensor.h"

namespace tenon {

// Takes the reference for the rest of the process; a null one is ignored. Thread-safe. Checkers of
// leaks find the buffer reachable.
void KeepForEver(BufferRef buffer);

}  // namespace tenon
