// Convolution, pooling, normalisation, losses, recurrent cells.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kNnOps[] = {
    {"ApproxTopK", "input: T", "values: T; indices: int32",
     "k: int >= 0; reduction_dimension: int = -1; recall_target: float = 0.95; "
     "is_max_k: bool = true; reduction_input_size_override: int = -1; "
     "aggregate_to_topk: bool = true; T: {half, bfloat16, float}",
     ApproxTopKShape},
    {"AvgPool", "value: T", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {half, bfloat16, float, double}",
     Pool2DShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .dims = DimRule::kKeepsBatch,
             .precision = Precision::kInfer,
             .cost = {CostRule::kPool}}},
    {"AvgPool3D", "input: T", "output: T",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float, double}",
     Pool3DShape, kPure, OpFacts{.precision = Precision::kInfer, .cost = {CostRule::kPool}}},
    {"AvgPool3DGrad", "orig_input_shape: int32; grad: T", "output: T",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float, double}",
     AvgPool3DGradShape, kPure,
     OpFacts{.precision = Precision::kInfer, .cost = {CostRule::kPoolGradient}}},
    {"AvgPoolGrad", "orig_input_shape: int32; grad: T", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: {half, bfloat16, float, double}",
     AvgPoolGradShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .dims = DimRule::kByFirst,
             .precision = Precision::kInfer,
             .cost = {CostRule::kPoolGradient}}},
    {"BatchNormWithGlobalNormalizationGrad",
     "t: T; m: T; v: T; gamma: T; backprop: T",
     "dx: T; dm: T; dv: T; db: T; dg: T",
     "T: numbertype; variance_epsilon: float; scale_after_normalization: bool",
     BatchNormGlobalGradShape,
     kPure,
     {},
     9,
     "Use tf.nn.batch_normalization()"},
    {"BiasAdd", "value: T; bias: T", "output: T",
     "T: numbertype; data_format: {'NHWC', 'NCHW'} = 'NHWC'", BiasAddShape, kPure,
     OpFacts{.safe = Safe::kIfShapesKnown,
             .fuses = Fuses::kContraction,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kInfer}},
    {"BiasAddGrad", "out_backprop: T", "output: T",
     "T: numbertype; data_format: {'NHWC', 'NCHW'} = 'NHWC'", BiasAddGradShape, kPure,
     OpFacts{.precision = Precision::kInfer}},
    {"BiasAddV1", "value: T; bias: T", "output: T", "T: numbertype", BiasAddShape, kPure,
     OpFacts{.precision = Precision::kInfer}},
    {"BlockLSTM",
     "seq_len_max: int64; x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T",
     "i: T; cs: T; f: T; o: T; ci: T; co: T; h: T",
     "forget_bias: float = 1; cell_clip: float = 3; use_peephole: bool = false; T: {half, float}",
     BlockLSTMShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"BlockLSTMGrad",
     "seq_len_max: int64; x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T; i: T; "
     "cs: T; f: T; o: T; ci: T; co: T; h: T; cs_grad: T; h_grad: T",
     "x_grad: T; cs_prev_grad: T; h_prev_grad: T; w_grad: T; wci_grad: T; wcf_grad: T; "
     "wco_grad: T; b_grad: T",
     "use_peephole: bool; T: {half, float}",
     RankRule<"* 3 2 2 2 1 1 1 1 -> =1 =2 =3 =4 =5 =6 =7 =8">, kPure,
     OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"BlockLSTMGradV2",
     "seq_len_max: int64; x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T; i: T; "
     "cs: T; f: T; o: T; ci: T; co: T; h: T; cs_grad: T; h_grad: T",
     "x_grad: T; cs_prev_grad: T; h_prev_grad: T; w_grad: T; wci_grad: T; wcf_grad: T; "
     "wco_grad: T; b_grad: T",
     "use_peephole: bool; T: {half, float}",
     RankRule<"* 3 2 2 2 1 1 1 1 -> =1 =2 =3 =4 =5 =6 =7 =8">, kPure,
     OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"BlockLSTMV2",
     "seq_len_max: int64; x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T",
     "i: T; cs: T; f: T; o: T; ci: T; co: T; h: T",
     "cell_clip: float = 0; use_peephole: bool = false; T: {half, float}", BlockLSTMShape, kPure,
     OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CTCBeamSearchDecoder", "inputs: T; sequence_length: int32",
     "decoded_indices: top_paths * int64; decoded_values: top_paths * int64; "
     "decoded_shape: top_paths * int64; log_probability: T",
     "beam_width: int >= 1; top_paths: int; merge_repeated: bool = true; "
     "T: {float, double} = DT_FLOAT",
     CTCBeamSearchDecoderShape, kPure, OpFacts{.cost = {CostRule::kElements, 16000}}},
    {"CTCGreedyDecoder", "inputs: T; sequence_length: int32",
     "decoded_indices: int64; decoded_values: int64; decoded_shape: int64; log_probability: T",
     "merge_repeated: bool = false; blank_index: int = -1; T: {float, double} = DT_FLOAT",
     CTCGreedyDecoderShape},
    {"CTCLoss", "inputs: T; labels_indices: int64; labels_values: int32; sequence_length: int32",
     "loss: T; gradient: T",
     "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
     "ignore_longer_outputs_than_inputs: bool = false; T: {float, double} = DT_FLOAT",
     CTCLossShape},
    {"CTCLossV2",
     "inputs: float; labels_indices: int64; labels_values: int32; sequence_length: int32",
     "loss: float; gradient: float",
     "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
     "ignore_longer_outputs_than_inputs: bool = false",
     CTCLossShape},
    {"Conv", "input: T; filter: T", "output: T",
     "T: {half, bfloat16, float, double, int32}; strides: list(int); "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'; "
     "dilations: list(int) = []; batch_dims: int = 1; groups: int = 1",
     ConvShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"Conv2D", "input: T; filter: T", "output: T",
     "T: {half, bfloat16, float, double, int32}; strides: list(int); "
     "use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "dilations: list(int) = [1, 1, 1, 1]",
     Conv2DShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .fuses = Fuses::kContraction,
             .dims = DimRule::kKeepsBatch,
             .precision = Precision::kAllow,
             .cost = {CostRule::kWindow}}},
    {"Conv2DBackpropFilter", "input: T; filter_sizes: int32; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int); use_cudnn_on_gpu: bool = true; "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]",
     Conv2DBackpropFilterShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .precision = Precision::kAllow,
             .cost = {CostRule::kWindowOfFilter}}},
    {"Conv2DBackpropFilterV2", "input: T; filter: T; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int); use_cudnn_on_gpu: bool = true; "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]",
     LikeInput1Rank4Shape, kPure, OpFacts{.cost = {CostRule::kWindowOfFilter}}},
    {"Conv2DBackpropInput", "input_sizes: int32; filter: T; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double, int32}; strides: list(int); "
     "use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "dilations: list(int) = [1, 1, 1, 1]",
     Conv2DBackpropInputShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .dims = DimRule::kByFirst,
             .precision = Precision::kAllow,
             .cost = {CostRule::kWindowOfInput}}},
    {"Conv2DBackpropInputV2", "input: T; filter: T; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double, int32}; strides: list(int); "
     "use_cudnn_on_gpu: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "dilations: list(int) = [1, 1, 1, 1]",
     LikeInput0Rank4Shape, kPure, OpFacts{.cost = {CostRule::kWindowOfInput}}},
    {"Conv3D", "input: T; filter: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]",
     Conv3DShape, kPure,
     OpFacts{.fuses = Fuses::kContraction,
             .dims = DimRule::kKeepsBatch,
             .precision = Precision::kAllow,
             .cost = {CostRule::kWindow}}},
    {"Conv3DBackpropFilter", "input: T; filter: T; out_backprop: T", "output: T",
     "T: {half, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "dilations: list(int) = [1, 1, 1, 1, 1]",
     LikeInput1Shape, kPure, OpFacts{.cost = {CostRule::kWindowOfFilter}}, 10,
     "Use Conv3DBackpropFilterV2"},
    {"Conv3DBackpropFilterV2", "input: T; filter_sizes: int32; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]",
     Conv3DBackpropFilterShape, kPure,
     OpFacts{.precision = Precision::kAllow, .cost = {CostRule::kWindowOfFilter}}},
    {"Conv3DBackpropInput", "input: T; filter: T; out_backprop: T", "output: T",
     "T: {half, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "dilations: list(int) = [1, 1, 1, 1, 1]",
     LikeInput0Rank5Shape, kPure, OpFacts{.cost = {CostRule::kWindowOfInput}}, 10,
     "Use Conv3DBackpropInputV2"},
    {"Conv3DBackpropInputV2", "input_sizes: Tshape; filter: T; out_backprop: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; dilations: list(int) = [1, 1, 1, 1, 1]; "
     "Tshape: {int32, int64} = DT_INT32",
     Conv3DBackpropInputShape, kPure,
     OpFacts{.precision = Precision::kAllow, .cost = {CostRule::kWindowOfInput}}},
    {"CudnnRNN", "input: T; input_h: T; input_c: T; params: T",
     "output: T; output_h: T; output_c: T; reserve_space: T",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; is_training: bool = true",
     CudnnRnnShape, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNBackprop",
     "input: T; input_h: T; input_c: T; params: T; output: T; output_h: T; output_c: T; "
     "output_backprop: T; output_h_backprop: T; output_c_backprop: T; reserve_space: T",
     "input_backprop: T; input_h_backprop: T; input_c_backprop: T; params_backprop: T",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0",
     RankRule<"-> =0 =1 =2 =3">, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNBackpropV2",
     "input: T; input_h: T; input_c: T; params: T; output: T; output_h: T; output_c: T; "
     "output_backprop: T; output_h_backprop: T; output_c_backprop: T; reserve_space: T; "
     "host_reserved: int8",
     "input_backprop: T; input_h_backprop: T; input_c_backprop: T; params_backprop: T",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0",
     RankRule<"-> =0 =1 =2 =3">, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNBackpropV3",
     "input: T; input_h: T; input_c: T; params: T; sequence_lengths: int32; output: T; "
     "output_h: T; output_c: T; output_backprop: T; output_h_backprop: T; output_c_backprop: T; "
     "reserve_space: T; host_reserved: int8",
     "input_backprop: T; input_h_backprop: T; input_c_backprop: T; params_backprop: T",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; num_proj: int = 0; time_major: bool = true",
     RankRule<"-> =0 =1 =2 =3">, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNCanonicalToParams",
     "num_layers: int32; num_units: int32; input_size: int32; weights: num_params * T; "
     "biases: num_params * T",
     "params: T",
     "T: {bfloat16, half, float, double}; num_params: int; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0",
     RankRule<"-> [-1]">, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNCanonicalToParamsV2",
     "num_layers: int32; num_units: int32; input_size: int32; weights: num_params_weights * T; "
     "biases: num_params_biases * T",
     "params: T",
     "T: {bfloat16, half, float, double}; num_params_weights: int; num_params_biases: int; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; num_proj: int = 0",
     RankRule<"-> [-1]">, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNParamsSize", "num_layers: int32; num_units: int32; input_size: int32",
     "params_size: S",
     "T: {bfloat16, half, float, double}; S: {int32, int64}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; num_proj: int = 0",
     RankRule<"0 0 0 -> [1]">, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNParamsToCanonical",
     "num_layers: int32; num_units: int32; input_size: int32; params: T",
     "weights: num_params * T; biases: num_params * T",
     "T: {bfloat16, half, float, double}; num_params: int; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0",
     CudnnRnnCanonicalShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNParamsToCanonicalV2",
     "num_layers: int32; num_units: int32; input_size: int32; params: T",
     "weights: num_params_weights * T; biases: num_params_biases * T",
     "T: {bfloat16, half, float, double}; num_params_weights: int; num_params_biases: int; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; num_proj: int = 0",
     CudnnRnnCanonicalShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNV2", "input: T; input_h: T; input_c: T; params: T",
     "output: T; output_h: T; output_c: T; reserve_space: T; host_reserved: int8",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; is_training: bool = true",
     CudnnRnnShape, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"CudnnRNNV3", "input: T; input_h: T; input_c: T; params: T; sequence_lengths: int32",
     "output: T; output_h: T; output_c: T; reserve_space: T; host_reserved: int8",
     "T: {bfloat16, half, float, double}; "
     "rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'; "
     "input_mode: {'linear_input', 'skip_input', 'auto_select'} = 'linear_input'; "
     "direction: {'unidirectional', 'bidirectional'} = 'unidirectional'; dropout: float = 0; "
     "seed: int = 0; seed2: int = 0; num_proj: int = 0; is_training: bool = true; "
     "time_major: bool = true",
     CudnnRnnShape, kStateful, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"DepthwiseConv2dNative", "input: T; filter: T", "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int); "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]",
     DepthwiseConv2DShape, kPure,
     OpFacts{.fuses = Fuses::kContraction,
             .dims = DimRule::kKeepsBatch,
             .precision = Precision::kAllow,
             .cost = {CostRule::kChannelWindow}}},
    {"DepthwiseConv2dNativeBackpropFilter", "input: T; filter_sizes: int32; out_backprop: T",
     "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int); "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]",
     Conv2DBackpropFilterShape, kPure,
     OpFacts{.precision = Precision::kAllow, .cost = {CostRule::kWindowOfFilter}}},
    {"DepthwiseConv2dNativeBackpropInput", "input_sizes: int32; filter: T; out_backprop: T",
     "output: T",
     "T: {half, bfloat16, float, double}; strides: list(int); "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]",
     DepthwiseBackpropInputShape, kPure,
     OpFacts{.precision = Precision::kAllow, .cost = {CostRule::kWindowOfInput}}},
    {"Dilation2D", "input: T; filter: T", "output: T",
     "T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; "
     "padding: {'SAME', 'VALID'}",
     Dilation2DShape, kPure, OpFacts{.cost = {CostRule::kWindow}}},
    {"Dilation2DBackpropFilter", "input: T; filter: T; out_backprop: T", "filter_backprop: T",
     "T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; "
     "padding: {'SAME', 'VALID'}",
     LikeInput1Shape, kPure, OpFacts{.cost = {CostRule::kWindowOfFilter}}},
    {"Dilation2DBackpropInput", "input: T; filter: T; out_backprop: T", "in_backprop: T",
     "T: realnumbertype; strides: list(int) >= 4; rates: list(int) >= 4; "
     "padding: {'SAME', 'VALID'}",
     Dilation2DBackpropInputShape, kPure, OpFacts{.cost = {CostRule::kWindowOfInput}}},
    {"FractionalAvgPool", "value: T",
     "output: T; row_pooling_sequence: int64; col_pooling_sequence: int64",
     "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; "
     "deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float, double, int32, int64}",
     FractionalPoolShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"FractionalAvgPoolGrad",
     "orig_input_tensor_shape: int64; out_backprop: T; row_pooling_sequence: int64; "
     "col_pooling_sequence: int64",
     "output: T", "overlapping: bool = false; T: {float, double, int32, int64}",
     FractionalAvgPoolGradShape, kPure, OpFacts{.cost = {CostRule::kPoolGradient}}},
    {"FractionalMaxPool", "value: T",
     "output: T; row_pooling_sequence: int64; col_pooling_sequence: int64",
     "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; "
     "deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float, double, int32, int64}",
     FractionalPoolShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"FractionalMaxPoolGrad",
     "orig_input: T; orig_output: T; out_backprop: T; row_pooling_sequence: int64; "
     "col_pooling_sequence: int64",
     "output: T", "overlapping: bool = false; T: {float, double, int32, int64}",
     LikeInput0Rank4Shape, kPure, OpFacts{.cost = {CostRule::kPoolGradient}}},
    {"FusedBatchNorm", "x: T; scale: T; offset: T; mean: T; variance: T",
     "y: T; batch_mean: T; batch_variance: T; reserve_space_1: T; reserve_space_2: T",
     "T: {float}; epsilon: float = 0.0001; exponential_avg_factor: float = 1; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true",
     FusedBatchNormShape, kPure,
     OpFacts{.fuses = Fuses::kContraction, .dims = DimRule::kLikeFirst}},
    {"_FusedBatchNormEx",
     "x: T; scale: U; offset: U; mean: U; variance: U; side_input: num_side_inputs * T",
     "y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U; "
     "reserve_space_3: U",
     "T: {half, float, bfloat16}; U: {float}; epsilon: float = 0.0001; "
     "exponential_avg_factor: float = 1; num_side_inputs: int >= 0 = 0; "
     "activation_mode: string = 'Identity'; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "is_training: bool = true",
     FusedBatchNormShape, kPure,
     OpFacts{.dims = DimRule::kLikeFirst, .precision = Precision::kInfer}},
    {"FusedBatchNormGrad", "y_backprop: T; x: T; scale: T; reserve_space_1: T; reserve_space_2: T",
     "x_backprop: T; scale_backprop: T; offset_backprop: T; reserve_space_3: T; reserve_space_4: T",
     "T: {float}; epsilon: float = 0.0001; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "is_training: bool = true",
     FusedBatchNormGradShape, kPure, OpFacts{.dims = DimRule::kLikeFirst}},
    {"_FusedBatchNormGradEx",
     "y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U; "
     "reserve_space_3: U; offset: float; y: T",
     "x_backprop: T; scale_backprop: U; offset_backprop: U; reserve_space_4: U; "
     "reserve_space_5: U; side_input_backprop: num_side_inputs * T",
     "T: {half, float}; U: {float}; epsilon: float = 0.0001; num_side_inputs: int >= 0 = 0; "
     "activation_mode: string = 'Identity'; "
     "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true",
     FusedBatchNormGradExShape},
    {"FusedBatchNormGradV2",
     "y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U",
     "x_backprop: T; scale_backprop: U; offset_backprop: U; reserve_space_3: U; reserve_space_4: U",
     "T: {half, bfloat16, float}; U: {float}; epsilon: float = 0.0001; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; is_training: bool = true",
     FusedBatchNormGradShape, kPure,
     OpFacts{.dims = DimRule::kLikeFirst, .precision = Precision::kInfer}},
    {"FusedBatchNormGradV3",
     "y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U; "
     "reserve_space_3: U",
     "x_backprop: T; scale_backprop: U; offset_backprop: U; reserve_space_4: U; reserve_space_5: U",
     "T: {half, bfloat16, float}; U: {float}; epsilon: float = 0.0001; "
     "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true",
     FusedBatchNormGradShape, kPure,
     OpFacts{.dims = DimRule::kLikeFirst, .precision = Precision::kInfer}},
    {"FusedBatchNormV2", "x: T; scale: U; offset: U; mean: U; variance: U",
     "y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U",
     "T: {half, bfloat16, float}; U: {float}; epsilon: float = 0.0001; "
     "exponential_avg_factor: float = 1; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "is_training: bool = true",
     FusedBatchNormShape, kPure,
     OpFacts{.fuses = Fuses::kContraction,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kInfer}},
    {"FusedBatchNormV3", "x: T; scale: U; offset: U; mean: U; variance: U",
     "y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U; "
     "reserve_space_3: U",
     "T: {half, bfloat16, float}; U: {bfloat16, float}; epsilon: float = 0.0001; "
     "exponential_avg_factor: float = 1; "
     "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'; is_training: bool = true",
     FusedBatchNormShape, kPure,
     OpFacts{.fuses = Fuses::kContraction,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kInfer}},
    {"_FusedConv2D", "input: T; filter: T; args: TArgs; host_args: num_host_args * float",
     "output: T",
     "T: {half, float, double, int8, qint8}; TArgs: list(type); num_args: int >= 0; "
     "num_host_args: int >= 0 = 0; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'; "
     "filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'; "
     "dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true; "
     "fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
     Conv2DShape, kPure,
     OpFacts{
         .fuses = Fuses::kContraction, .dims = DimRule::kKeepsBatch, .cost = {CostRule::kWindow}}},
    {"_FusedConv3D", "input: T; filter: T; args: num_args * T", "output: T",
     "T: {bfloat16, float, half}; num_args: int >= 0; strides: list(int) >= 5; "
     "padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; "
     "dilations: list(int) = [1, 1, 1, 1, 1]; padding_list: list(int) = []; "
     "fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2",
     Conv3DShape, kPure,
     OpFacts{
         .fuses = Fuses::kContraction, .dims = DimRule::kKeepsBatch, .cost = {CostRule::kWindow}}},
    {"_FusedDepthwiseConv2dNative", "input: T; filter: T; args: num_args * T", "output: T",
     "T: {half, bfloat16, float, double}; num_args: int >= 0; strides: list(int); "
     "padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; epsilon: float = 0.0001; "
     "leakyrelu_alpha: float = 0.2",
     DepthwiseConv2DShape, kPure,
     OpFacts{.fuses = Fuses::kContraction,
             .dims = DimRule::kKeepsBatch,
             .cost = {CostRule::kChannelWindow}}},
    {"GRUBlockCell", "x: T; h_prev: T; w_ru: T; w_c: T; b_ru: T; b_c: T", "r: T; u: T; c: T; h: T",
     "T: {float}", GRUBlockCellShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"GRUBlockCellGrad",
     "x: T; h_prev: T; w_ru: T; w_c: T; b_ru: T; b_c: T; r: T; u: T; c: T; d_h: T",
     "d_x: T; d_h_prev: T; d_c_bar: T; d_r_bar_u_bar: T", "T: {float}", GRUBlockCellGradShape,
     kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"InTopK", "predictions: float; targets: T", "precision: bool",
     "k: int; T: {int32, int64} = DT_INT32", InTopKShape},
    {"InTopKV2", "predictions: float; targets: T; k: T", "precision: bool",
     "T: {int32, int64} = DT_INT32", InTopKShape},
    {"IsotonicRegression", "input: T", "output: output_dtype; segments: int32",
     "T: realnumbertype; output_dtype: {half, bfloat16, float, double} = DT_FLOAT",
     RankRule<"-> =0 =0">},
    {"L2Loss", "t: T", "output: T", "T: {half, bfloat16, float, double}", ScalarShape, kPure,
     OpFacts{.precision = Precision::kDeny}},
    {"LRN", "input: T", "output: T",
     "depth_radius: int = 5; bias: float = 1; alpha: float = 1; beta: float = 0.5; "
     "T: {half, bfloat16, float} = DT_FLOAT",
     LikeInput0Rank4Shape},
    {"LRNGrad", "input_grads: T; input_image: T; output_image: T", "output: T",
     "depth_radius: int = 5; bias: float = 1; alpha: float = 1; beta: float = 0.5; "
     "T: {half, bfloat16, float} = DT_FLOAT",
     LRNGradShape},
    {"LSTMBlockCell", "x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T",
     "i: T; cs: T; f: T; o: T; ci: T; co: T; h: T",
     "forget_bias: float = 1; cell_clip: float = 3; use_peephole: bool = false; T: {half, float}",
     LSTMBlockCellShape, kPure, OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"LSTMBlockCellGrad",
     "x: T; cs_prev: T; h_prev: T; w: T; wci: T; wcf: T; wco: T; b: T; i: T; cs: T; f: T; o: T; "
     "ci: T; co: T; cs_grad: T; h_grad: T",
     "cs_prev_grad: T; dicfo: T; wci_grad: T; wcf_grad: T; wco_grad: T",
     "use_peephole: bool; T: {half, float}", LSTMBlockCellGradShape, kPure,
     OpFacts{.cost = {CostRule::kLargestTwo}}},
    {"LogSoftmax", "logits: T", "logsoftmax: T", "T: {half, bfloat16, float, double}",
     AtLeastVectorShape, kPure,
     OpFacts{.safe = Safe::kIfShapesKnown,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kInfer}},
    {"MakeUnique", "input: float", "output: float", "", RankRule<"2 -> =0">},
    {"MaxPool", "input: T", "output: T",
     "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, "
     "qint8} = DT_FLOAT; ksize: list(int) >= 4; strides: list(int) >= 4; "
     "padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; "
     "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
     Pool2DShape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .dims = DimRule::kKeepsBatch,
             .precision = Precision::kClear,
             .cost = {CostRule::kPool}}},
    {"MaxPool3D", "input: T", "output: T",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float}",
     Pool3DShape, kPure, OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPool}}},
    {"MaxPool3DGrad", "orig_input: TInput; orig_output: TInput; grad: T", "output: T",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: {half, bfloat16, float} = DT_FLOAT; "
     "TInput: {half, bfloat16, float} = DT_FLOAT",
     LikeInput0Rank5Shape, kPure,
     OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPoolGradient}}},
    {"MaxPool3DGradGrad", "orig_input: T; orig_output: T; grad: T", "output: T",
     "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; "
     "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'; T: realnumbertype",
     MaxPool3DGradGradShape, kPure, OpFacts{.cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGrad", "orig_input: T; orig_output: T; grad: T", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID', 'EXPLICIT'}; "
     "explicit_paddings: list(int) = []; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "T: realnumbertype = DT_FLOAT",
     LikeInput0Rank4Shape, kPure,
     OpFacts{.safe = Safe::kIfWindow,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kClear,
             .cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGradGrad", "orig_input: T; orig_output: T; grad: T", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; "
     "data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype",
     MaxPoolGradGradShape, kPure,
     OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGradGradV2", "orig_input: T; orig_output: T; grad: T; ksize: int32; strides: int32",
     "output: T",
     "padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; T: realnumbertype",
     MaxPoolGradGradV2Shape, kPure,
     OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGradGradWithArgmax", "input: T; grad: T; argmax: Targmax", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; "
     "include_batch_in_index: bool = false; Targmax: {int32, int64}; T: realnumbertype",
     MaxPoolGradGradWithArgmaxShape, kPure, OpFacts{.cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGradV2", "orig_input: T; orig_output: T; grad: T; ksize: int32; strides: int32",
     "output: T",
     "padding: {'SAME', 'VALID'}; data_format: {'NHWC', 'NCHW'} = 'NHWC'; "
     "T: realnumbertype = DT_FLOAT",
     LikeInput0Rank4Shape, kPure,
     OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPoolGradient}}},
    {"MaxPoolGradWithArgmax", "input: T; grad: T; argmax: Targmax", "output: T",
     "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}; "
     "include_batch_in_index: bool = false; Targmax: {int32, int64}; T: realnumbertype",
     LikeInput0Rank4Shape, kPure, OpFacts{.cost = {CostRule::kPoolGradient}}},
    {"MaxPoolV2", "input: T; ksize: int32; strides: int32", "output: T",
     "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, "
     "qint8} = DT_FLOAT; padding: {'SAME', 'VALID'}; "
     "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
     MaxPoolV2Shape, kPure, OpFacts{.precision = Precision::kClear, .cost = {CostRule::kPool}}},
    {"MaxPoolWithArgmax", "input: T", "output: T; argmax: Targmax",
     "ksize: list(int) >= 4; strides: list(int) >= 4; Targmax: {int32, int64} = DT_INT64; "
     "padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; T: realnumbertype",
     Pool2DShape, kPure, OpFacts{.cost = {CostRule::kPool}}},
    {"Softmax", "logits: T", "softmax: T", "T: {half, bfloat16, float, double}", AtLeastVectorShape,
     kPure,
     OpFacts{.safe = Safe::kIfShapesKnown,
             .dims = DimRule::kLikeFirst,
             .precision = Precision::kInfer,
             .cost = {CostRule::kReduce}}},
    {"SoftmaxCrossEntropyWithLogits", "features: T; labels: T", "loss: T; backprop: T",
     "T: {half, bfloat16, float, double}", SoftmaxCrossEntropyShape, kPure,
     OpFacts{.precision = Precision::kDeny}},
    {"SparseSoftmaxCrossEntropyWithLogits", "features: T; labels: Tlabels", "loss: T; backprop: T",
     "T: {half, bfloat16, float, double}; Tlabels: {int32, int64} = DT_INT64",
     SparseSoftmaxCrossEntropyShape, kPure, OpFacts{.precision = Precision::kDeny}},
    {"TopK", "input: T", "values: T; indices: int32",
     "k: int >= 0; sorted: bool = true; T: realnumbertype", TopKV2Shape, kPure,
     OpFacts{.precision = Precision::kClear, .cost = {CostRule::kSort}}, 7, "Use TopKV2 instead"},
    {"TopKUnique", "input: float", "topk: float; topk_indices: int32", "k: int",
     RankRule<"2n -> [n,#k] [n,#k]">},
    {"TopKWithUnique", "input: float", "topk: float; topk_indices: int32", "k: int",
     RankRule<"2n -> [n,#k] [n,#k]">},
};

}  // namespace

absl::Span<const OpSpec> Nn() { return kNnOps; }

}  // namespace tenon::ops
