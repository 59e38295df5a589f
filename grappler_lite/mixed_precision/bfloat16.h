#pragma once

#include <memory>

#include "grappler_lite/pass.h"

namespace tenon {

std::unique_ptr<Pass> MakeAutoMixedPrecisionBfloat16();

}  // namespace tenon
