// Quantization, real and simulated.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kQuantizeOps[] = {
    {"Dequantize", "input: T; min_range: float; max_range: float", "output: dtype",
     "T: quantizedtype; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; "
     "narrow_range: bool = false; axis: int = -1; dtype: {bfloat16, float} = DT_FLOAT",
     DequantizeShape},
    {"FakeQuantWithMinMaxArgs", "inputs: float", "outputs: float",
     "min: float = -6; max: float = 6; num_bits: int = 8; narrow_range: bool = false",
     UnchangedShape},
    {"FakeQuantWithMinMaxArgsGradient", "gradients: float; inputs: float", "backprops: float",
     "min: float = -6; max: float = 6; num_bits: int = 8; narrow_range: bool = false",
     FakeQuantArgsGradShape},
    {"FakeQuantWithMinMaxVars", "inputs: float; min: float; max: float", "outputs: float",
     "num_bits: int = 8; narrow_range: bool = false", FakeQuantVarsShape},
    {"FakeQuantWithMinMaxVarsGradient", "gradients: float; inputs: float; min: float; max: float",
     "backprops_wrt_input: float; backprop_wrt_min: float; backprop_wrt_max: float",
     "num_bits: int = 8; narrow_range: bool = false", FakeQuantVarsGradShape},
    {"FakeQuantWithMinMaxVarsPerChannel", "inputs: float; min: float; max: float", "outputs: float",
     "num_bits: int = 8; narrow_range: bool = false", FakeQuantPerChannelShape},
    {"FakeQuantWithMinMaxVarsPerChannelGradient",
     "gradients: float; inputs: float; min: float; max: float",
     "backprops_wrt_input: float; backprop_wrt_min: float; backprop_wrt_max: float",
     "num_bits: int = 8; narrow_range: bool = false", FakeQuantPerChannelGradShape},
    {"QuantizeAndDequantizeV2", "input: T; input_min: T; input_max: T", "output: T",
     "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; "
     "T: {bfloat16, half, float, double}; "
     "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false; "
     "axis: int = -1",
     QuantizeAndDequantizeShape},
    {"QuantizeAndDequantizeV3", "input: T; input_min: T; input_max: T; num_bits: int32",
     "output: T",
     "signed_input: bool = true; range_given: bool = true; T: {bfloat16, half, float, double}; "
     "narrow_range: bool = false; axis: int = -1",
     QuantizeAndDequantizeShape},
    {"QuantizeAndDequantizeV4", "input: T; input_min: T; input_max: T", "output: T",
     "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; "
     "T: {bfloat16, half, float, double}; "
     "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false; "
     "axis: int = -1",
     QuantizeAndDequantizeShape},
    {"QuantizeAndDequantizeV4Grad", "gradients: T; input: T; input_min: T; input_max: T",
     "input_backprop: T; input_min_backprop: T; input_max_backprop: T",
     "T: {bfloat16, half, float, double}; axis: int = -1", QuantizeAndDequantizeGradShape},
    {"QuantizeDownAndShrinkRange", "input: Tinput; input_min: float; input_max: float",
     "output: out_type; output_min: float; output_max: float",
     "Tinput: quantizedtype; out_type: quantizedtype", QuantizedUnaryShape},
    {"QuantizeV2", "input: float; min_range: float; max_range: float",
     "output: T; output_min: float; output_max: float",
     "T: quantizedtype; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; "
     "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'; "
     "narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01",
     QuantizeV2Shape},
    {"QuantizedMatMul", "a: T1; b: T2; min_a: float; max_a: float; min_b: float; max_b: float",
     "out: Toutput; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32; "
     "transpose_a: bool = false; transpose_b: bool = false; Tactivation: quantizedtype = DT_QUINT8",
     QuantizedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedRelu", "features: Tinput; min_features: float; max_features: float",
     "activations: out_type; min_activations: float; max_activations: float",
     "Tinput: quantizedtype; out_type: quantizedtype = DT_QUINT8", QuantizedUnaryShape},
    {"QuantizedRelu6", "features: Tinput; min_features: float; max_features: float",
     "activations: out_type; min_activations: float; max_activations: float",
     "Tinput: quantizedtype; out_type: quantizedtype = DT_QUINT8", QuantizedUnaryShape},
    {"RequantizationRange", "input: Tinput; input_min: float; input_max: float",
     "output_min: float; output_max: float", "Tinput: quantizedtype", RequantizationRangeShape},
    {"Requantize",
     "input: Tinput; input_min: float; input_max: float; requested_output_min: float; "
     "requested_output_max: float",
     "output: out_type; output_min: float; output_max: float",
     "Tinput: quantizedtype; out_type: quantizedtype", QuantizedUnaryShape},
};

}  // namespace

absl::Span<const OpSpec> Quantize() { return kQuantizeOps; }

}  // namespace tenon::ops
