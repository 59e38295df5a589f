// Whether nodes of one run may run at the same time.
#pragma once

namespace tenon {

enum class InterOp {
  kOff,
  kOn,      // where it makes the run shorter, by the estimated times
  kAlways,  // wherever results allow it, whatever it costs: for tests
};

}  // namespace tenon
