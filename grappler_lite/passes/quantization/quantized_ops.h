// Products and convolutions of bytes in the place of those of floats.
// Private to grappler_lite/passes/quantization/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grappler_lite/passes/quantization/value_grids.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Why a node stays as it is; empty if the user switched the rewrite off.
using Obstacle = std::optional<std::string>;
// Whether there is none; notes it otherwise.
bool Applied(Sweep& s, NodeId n, const Obstacle& obstacle);

// Makes n, a Conv2D or _FusedConv2D, a _TenonQuantizedConv2D. With `input` its weights must have
// exact codes, and its images are what `input` says; without, both become bytes by their extremes,
// the images in the run. nullopt if n changed. Fewer weights than `min_weights` are an obstacle; of
// 1x1 convolutions with `input`, fewer than a sixteenth of that.
Obstacle QuantizeConv(Sweep& s, NodeId n, const std::optional<GridValue>& input,
                      int64_t min_weights);

// Makes n, a product by constant weights, a _TenonQuantizedMatMul; for a _TenonProjections makes
// one for each of its products. The weights must have exact codes, and the left side is what
// `input` says. nullopt if n changed. Fewer weights than `min_weights` are an obstacle.
Obstacle QuantizeProduct(Sweep& s, NodeId n, const GridValue& input, int64_t min_weights);

}  // namespace tenon
