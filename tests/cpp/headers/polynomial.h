// A part of a program that includes the functions of one family alone.
#pragma once

#include "tenon/ops/math.h"

// x * x + 3 * x
tenon::Tensor Polynomial(const tenon::Tensor& x);
