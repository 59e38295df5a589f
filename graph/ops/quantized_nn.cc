// Quantized neural networks.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kQuantizedNnOps[] = {
    {"_FusedQuantizedConv2D", "device_inputs: Tdevice_inputs; host_inputs: Thost_inputs",
     "device_outputs: Tdevice_outputs; host_outputs: Thost_outputs",
     "Tinput: quantizedtype = DT_QUINT8; Tfilter: quantizedtype = DT_QINT8; "
     "Tbias: {float, qint32} = DT_QINT32; Tsummand: {float, quint8, qint8, qint32}; "
     "out_type: quantizedtype = DT_QINT32; Tdevice_inputs: list(type) >= 0 = []; "
     "Thost_inputs: list(type) >= 0; Tdevice_outputs: list(type) >= 0 = []; "
     "Thost_outputs: list(type) >= 0; data_format: string = 'NHWC'; strides: list(int); "
     "is_filter_const: bool = true; is_bias_const: bool = true; "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0",
     DeviceConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"_FusedQuantizedDepthwiseConv2D", "device_inputs: Tdevice_inputs; host_inputs: Thost_inputs",
     "device_outputs: Tdevice_outputs; host_outputs: Thost_outputs",
     "Tinput: quantizedtype = DT_QUINT8; Tfilter: quantizedtype = DT_QINT8; "
     "Tbias: {float, qint32} = DT_QINT32; Tsummand: {float, quint8, qint8, qint32}; "
     "out_type: quantizedtype = DT_QINT32; Tdevice_inputs: list(type) >= 0 = []; "
     "Thost_inputs: list(type) >= 0; Tdevice_outputs: list(type) >= 0 = []; "
     "Thost_outputs: list(type) >= 0; data_format: string = 'NHWC'; strides: list(int); "
     "is_filter_const: bool = true; is_bias_const: bool = true; "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0",
     DeviceDepthwiseConv2DShape, kPure, OpFacts{.cost = {CostRule::kChannelWindow}}},
    {"QuantizeAndDequantize",
     "input: T",
     "output: T",
     "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; "
     "input_min: float = 0; input_max: float = 0; T: {bfloat16, half, float, double}",
     UnchangedShape,
     kPure,
     {},
     22,
     "Replaced by QuantizeAndDequantizeV2"},
    {"QuantizedAdd", "x: T1; y: T2; min_x: float; max_x: float; min_y: float; max_y: float",
     "z: Toutput; min_z: float; max_z: float",
     "T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32",
     QuantizedBinaryShape},
    {"QuantizedAvgPool", "input: T; min_input: float; max_input: float",
     "output: T; min_output: float; max_output: float",
     "T: quantizedtype; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}",
     QuantizedPoolShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"QuantizedBatchNormWithGlobalNormalization",
     "t: Tinput; t_min: float; t_max: float; m: Tinput; m_min: float; m_max: float; v: Tinput; "
     "v_min: float; v_max: float; beta: Tinput; beta_min: float; beta_max: float; gamma: Tinput; "
     "gamma_min: float; gamma_max: float",
     "result: out_type; result_min: float; result_max: float",
     "Tinput: quantizedtype; out_type: quantizedtype; variance_epsilon: float; "
     "scale_after_normalization: bool",
     QuantizedBatchNormShape},
    {"QuantizedBiasAdd",
     "input: T1; bias: T2; min_input: float; max_input: float; min_bias: float; max_bias: float",
     "output: out_type; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; out_type: quantizedtype", QuantizedBiasAddShape},
    {"QuantizedConcat",
     "concat_dim: int32; values: N * T; input_mins: N * float; input_maxes: N * float",
     "output: T; output_min: float; output_max: float", "N: int >= 2; T: type",
     QuantizedConcatShape},
    {"QuantizedConcatV2",
     "values: N * T; axis: Tidx; input_mins: N * float; input_maxes: N * float",
     "output: T; output_min: float; output_max: float",
     "N: int >= 2; T: type; Tidx: {int32, int64} = DT_INT32", QuantizedConcatV2Shape},
    {"QuantizedConv2D",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
     QuantizedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DAndRelu",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DAndReluAndRequantize",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float; min_freezed_output: float; max_freezed_output: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QUINT8; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DAndRequantize",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float; min_freezed_output: float; max_freezed_output: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT8; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     QuantizedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DPerChannel",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBias",
     "input: Tinput; filter: Tfilter; bias: float; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasAndRelu",
     "input: Tinput; filter: Tfilter; bias: float; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasAndReluAndRequantize",
     "input: Tinput; filter: Tfilter; bias: Tbias; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; min_freezed_output: float; max_freezed_output: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; "
     "out_type: quantizedtype = DT_QUINT8; strides: list(int); padding: {'SAME', 'VALID'}; "
     "dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasAndRequantize",
     "input: Tinput; filter: Tfilter; bias: Tbias; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; min_freezed_output: float; max_freezed_output: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; "
     "out_type: quantizedtype = DT_QINT8; strides: list(int); padding: {'SAME', 'VALID'}; "
     "dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []",
     FusedConv2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
     "input: Tinput; filter: Tfilter; bias: Tbias; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; min_freezed_output: float; max_freezed_output: float; "
     "summand: Tsummand; min_summand: float; max_summand: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; "
     "Tsummand: quantizedtype; out_type: quantizedtype = DT_QUINT8; strides: list(int); "
     "padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DWithSumShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasSumAndRelu",
     "input: Tinput; filter: Tfilter; bias: float; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; summand: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DWithSumShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedConv2DWithBiasSumAndReluAndRequantize",
     "input: Tinput; filter: Tfilter; bias: Tbias; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; min_freezed_output: float; max_freezed_output: float; "
     "summand: Tsummand; min_summand: float; max_summand: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; "
     "Tsummand: quantizedtype; out_type: quantizedtype = DT_QUINT8; strides: list(int); "
     "padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     FusedConv2DWithSumShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"QuantizedDepthwiseConv2D",
     "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; "
     "max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
     DepthwiseConv2DShape, kPure, OpFacts{.cost = {CostRule::kChannelWindow}}},
    {"QuantizedDepthwiseConv2DWithBias",
     "input: Tinput; filter: Tfilter; bias: float; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
     DepthwiseConv2DShape, kPure, OpFacts{.cost = {CostRule::kChannelWindow}}},
    {"QuantizedDepthwiseConv2DWithBiasAndRelu",
     "input: Tinput; filter: Tfilter; bias: float; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; out_type: quantizedtype = DT_QINT32; "
     "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]; "
     "padding_list: list(int) = []",
     DepthwiseConv2DShape, kPure, OpFacts{.cost = {CostRule::kChannelWindow}}},
    {"QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
     "input: Tinput; filter: Tfilter; bias: Tbias; min_input: float; max_input: float; "
     "min_filter: float; max_filter: float; min_freezed_output: float; max_freezed_output: float",
     "output: out_type; min_output: float; max_output: float",
     "Tinput: quantizedtype; Tfilter: quantizedtype; Tbias: {float, qint32}; "
     "out_type: quantizedtype = DT_QUINT8; strides: list(int); padding: {'SAME', 'VALID'}; "
     "dilations: list(int) = [1, 1, 1, 1]; padding_list: list(int) = []",
     DepthwiseConv2DShape, kPure, OpFacts{.cost = {CostRule::kChannelWindow}}},
    {"QuantizedInstanceNorm", "x: T; x_min: float; x_max: float",
     "y: T; y_min: float; y_max: float",
     "T: quantizedtype; output_range_given: bool = false; given_y_min: float = 0; "
     "given_y_max: float = 0; variance_epsilon: float = 1e-5; min_separation: float = 0.001",
     RankRule<"4 0 0 -> =0 [] []">},
    {"_QuantizedMatMul", "device_inputs: Tdevice_inputs; host_inputs: Thost_inputs",
     "device_outputs: Tdevice_outputs; host_outputs: Thost_outputs",
     "Tdevice_inputs: list(type) >= 0 = []; Thost_inputs: list(type) >= 0 = []; "
     "Tdevice_outputs: list(type) >= 0 = []; Thost_outputs: list(type) >= 0 = []; "
     "T1: quantizedtype; T2: quantizedtype; "
     "Tbias: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = DT_FLOAT; "
     "U: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = DT_FLOAT; "
     "Tout: {bfloat16, float, qint8, quint8, qint32, qint16, quint16} = DT_FLOAT; "
     "transpose_a: bool = false; transpose_b: bool = false; is_weight_const: bool = true; "
     "is_bias_const: bool = true; fused_ops: list(string) = []; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'SCALED'; "
     "output_quant_mode: {'MIN_FIRST', 'SCALED'} = 'SCALED'; leakyrelu_alpha: float = 0.2",
     MatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMatMulWithBias",
     "a: T1; b: T2; bias: Tbias; min_a: float; max_a: float; min_b: float; max_b: float",
     "out: Toutput; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; "
     "Toutput: quantizedtype = DT_QINT32; transpose_a: bool = false; transpose_b: bool = false; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'",
     FusedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMatMulWithBiasAndDequantize",
     "a: T1; b: T2; bias: Tbias; min_a: float; max_a: float; min_b: float; max_b: float; "
     "min_freezed_output: float; max_freezed_output: float",
     "out: Toutput",
     "T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; Toutput: {float}; "
     "transpose_a: bool = false; transpose_b: bool = false; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'",
     FusedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMatMulWithBiasAndRelu",
     "a: T1; b: T2; bias: float; min_a: float; max_a: float; min_b: float; max_b: float",
     "out: Toutput; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32; "
     "transpose_a: bool = false; transpose_b: bool = false; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'",
     FusedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMatMulWithBiasAndReluAndRequantize",
     "a: T1; b: T2; bias: Tbias; min_a: float; max_a: float; min_b: float; max_b: float; "
     "min_freezed_output: float; max_freezed_output: float",
     "out: Toutput; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; "
     "Toutput: quantizedtype = DT_QUINT8; transpose_a: bool = false; transpose_b: bool = false; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'",
     FusedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMatMulWithBiasAndRequantize",
     "a: T1; b: T2; bias: Tbias; min_a: float; max_a: float; min_b: float; max_b: float; "
     "min_freezed_output: float; max_freezed_output: float",
     "out: Toutput; min_out: float; max_out: float",
     "T1: quantizedtype; T2: quantizedtype; Tbias: {float, qint32}; "
     "Toutput: quantizedtype = DT_QUINT8; transpose_a: bool = false; transpose_b: bool = false; "
     "input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'",
     FusedMatMulShape, kPure, OpFacts{.cost = {CostRule::kProduct}}},
    {"QuantizedMaxPool", "input: T; min_input: float; max_input: float",
     "output: T; min_output: float; max_output: float",
     "T: quantizedtype; ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}",
     QuantizedPoolShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"_QuantizedMaxPool3D", "input: T; min_input: float; max_input: float",
     "output: T; min_output: float; max_output: float",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: quantizedtype",
     QuantizedPool3DShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"QuantizedMul", "x: T1; y: T2; min_x: float; max_x: float; min_y: float; max_y: float",
     "z: Toutput; min_z: float; max_z: float",
     "T1: quantizedtype; T2: quantizedtype; Toutput: quantizedtype = DT_QINT32",
     QuantizedBinaryShape},
    {"QuantizedReluX",
     "features: Tinput; max_value: float; min_features: float; max_features: float",
     "activations: out_type; min_activations: float; max_activations: float",
     "Tinput: quantizedtype; out_type: quantizedtype = DT_QUINT8", RankRule<"* 0 0 0 -> =0 [] []">},
    {"QuantizedReshape", "tensor: T; shape: Tshape; input_min: float; input_max: float",
     "output: T; output_min: float; output_max: float",
     "T: type; Tshape: {int32, int64} = DT_INT32", QuantizedReshapeShape},
    {"QuantizedResizeBilinear", "images: T; size: int32; min: float; max: float",
     "resized_images: T; out_min: float; out_max: float",
     "T: {quint8, qint32, float}; align_corners: bool = false; half_pixel_centers: bool = false",
     QuantizedResizeShape},
    {"RequantizationRangePerChannel", "input: T; input_min: float; input_max: float",
     "output_min: float; output_max: float", "T: quantizedtype = DT_QINT32; clip_value_max: float",
     RequantizationRangePerChannelShape},
    {"RequantizePerChannel",
     "input: T; input_min: float; input_max: float; requested_output_min: float; "
     "requested_output_max: float",
     "output: out_type; output_min: float; output_max: float",
     "T: quantizedtype = DT_QINT32; out_type: quantizedtype = DT_QUINT8",
     RequantizePerChannelShape},
    {"UniformDequantize", "input: Tin; scales: float; zero_points: int32", "output: Tout",
     "Tin: {qint8, quint8, qint32}; Tout: {float}; quantization_axis: int = -1; "
     "quantization_min_val: int; quantization_max_val: int",
     UnchangedShape},
    {"UniformQuantize", "input: Tin; scales: float; zero_points: int32", "output: Tout",
     "Tin: {float}; Tout: {qint8, quint8, qint32}; quantization_axis: int = -1; "
     "quantization_min_val: int; quantization_max_val: int",
     UnchangedShape},
    {"UniformQuantizedAdd",
     "lhs: T; rhs: T; lhs_scales: float; lhs_zero_points: int32; rhs_scales: float; "
     "rhs_zero_points: int32; output_scales: float; output_zero_points: int32",
     "output: T",
     "lhs_quantization_axis: int = -1; lhs_quantization_min_val: int; "
     "lhs_quantization_max_val: int; rhs_quantization_axis: int = -1; "
     "rhs_quantization_min_val: int; rhs_quantization_max_val: int; "
     "output_quantization_axis: int = -1; output_quantization_min_val: int; "
     "output_quantization_max_val: int; T: {qint32}",
     BroadcastBinaryShape},
    {"UniformQuantizedClipByValue", "operand: T; min: T; max: T; scales: float; zero_points: int32",
     "output: T",
     "T: {qint32}; quantization_axis: int = -1; quantization_min_val: int; "
     "quantization_max_val: int",
     UnchangedShape},
    {"UniformQuantizedConvolution",
     "lhs: Tin; rhs: Tin; lhs_scales: float; lhs_zero_points: int32; rhs_scales: float; "
     "rhs_zero_points: int32; output_scales: float; output_zero_points: int32",
     "output: Tout",
     "Tin: {qint8}; Tout: {qint32}; window_strides: list(int) = []; padding: string; "
     "explicit_padding: list(int) = []; lhs_dilation: list(int) = []; "
     "rhs_dilation: list(int) = []; batch_group_count: int = 1; feature_group_count: int = 1; "
     "dimension_numbers: string = ''; lhs_quantization_axis: int = -1; "
     "lhs_quantization_min_val: int; lhs_quantization_max_val: int; "
     "rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; "
     "rhs_quantization_max_val: int; output_quantization_axis: int = -1; "
     "output_quantization_min_val: int; output_quantization_max_val: int",
     UniformConvolutionShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"UniformQuantizedConvolutionHybrid",
     "lhs: Tlhs; rhs: Trhs; rhs_scales: float; rhs_zero_points: int32", "output: Tout",
     "Tlhs: {float}; Trhs: {qint8}; Tout: {float}; window_strides: list(int) = []; "
     "padding: string; explicit_padding: list(int) = []; lhs_dilation: list(int) = []; "
     "rhs_dilation: list(int) = []; batch_group_count: int = 1; feature_group_count: int = 1; "
     "dimension_numbers: string = ''; rhs_quantization_axis: int = -1; "
     "rhs_quantization_min_val: int; rhs_quantization_max_val: int",
     UniformConvolutionShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"UniformQuantizedDot",
     "lhs: Tin; rhs: Tin; lhs_scales: float; lhs_zero_points: int32; rhs_scales: float; "
     "rhs_zero_points: int32; output_scales: float; output_zero_points: int32",
     "output: Tout",
     "Tin: {qint8}; Tout: {qint32}; lhs_quantization_axis: int = -1; "
     "lhs_quantization_min_val: int; lhs_quantization_max_val: int; "
     "rhs_quantization_axis: int = -1; rhs_quantization_min_val: int; "
     "rhs_quantization_max_val: int; output_quantization_axis: int = -1; "
     "output_quantization_min_val: int; output_quantization_max_val: int",
     UniformDotShape},
    {"UniformQuantizedDotHybrid", "lhs: Tlhs; rhs: Trhs; rhs_scales: float; rhs_zero_points: int32",
     "output: Tout",
     "Tlhs: {float}; Trhs: {qint8}; Tout: {float}; rhs_quantization_axis: int = -1; "
     "rhs_quantization_min_val: int; rhs_quantization_max_val: int",
     UniformDotShape},
    {"UniformRequantize",
     "input: Tin; input_scales: float; input_zero_points: int32; output_scales: float; "
     "output_zero_points: int32",
     "output: Tout",
     "Tin: {qint8, qint32}; Tout: {qint8, qint32}; input_quantization_axis: int = -1; "
     "input_quantization_min_val: int; input_quantization_max_val: int; "
     "output_quantization_axis: int = -1; output_quantization_min_val: int; "
     "output_quantization_max_val: int",
     UnchangedShape},
};

}  // namespace

absl::Span<const OpSpec> QuantizedNn() { return kQuantizedNnOps; }

}  // namespace tenon::ops
