// The memory of the test's process, as the system counts it.
#pragma once

#include <cstdint>

namespace tenon::testing {

int64_t ResidentBytes();      // now
int64_t PeakResidentBytes();  // the most so far

}  // namespace tenon::testing
