// A pass that is wrong where a graph asks for it.
#pragma once

#include "grappler_lite/pipeline/pass.h"

namespace tenon::testing {

// "plant": each Abs with the attribute _plant becomes an Identity ("plant.drop_abs", for "drop") or
// a Neg ("plant.negate_abs", for "negate"; "plant.slant_abs", which is declared to be tolerant, for
// "slant"). Right for values that let it be.
PassEntry PlantedPass();

}  // namespace tenon::testing
