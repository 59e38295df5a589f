// The logistic function as cells of recurrent networks compute it.
#pragma once

#include <cmath>

namespace tenon::cpu {

inline float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace tenon::cpu
