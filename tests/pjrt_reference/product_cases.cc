// Each op of the interpreter against values that were worked out by hand, by NumPy or by
// definition: products, convolutions, linear algebra, control flow.
#include "op_case.h"

namespace tenon::pjrt_test {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Products, OpCases,
    testing::Values(
        OpCase{"matmul",
               "tensor<2x2xf32>",
               M "%n = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]> : "
                 "tensor<3x2xf32>\n%r = stablehlo.dot_general %m, %n, contracting_dims = [1] x "
                 "[0], precision = [HIGHEST, HIGHEST] : (tensor<2x3xf32>, tensor<3x2xf32>) -> "
                 "tensor<2x2xf32>",
               {4, 5, 10, 11}},
        OpCase{"batched",
               "tensor<2xf32>",
               M "%r = stablehlo.dot_general %m, %m, batching_dims = [0] x [0], contracting_dims = "
                 "[1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>",
               {14, 77}},
        OpCase{"int8_product", "tensor<4x5xi32>",
               "%a = stablehlo.constant dense<3> : tensor<4x6xi8>\n%b = stablehlo.constant "
               "dense<-100> : tensor<6x5xi8>\n%r = stablehlo.dot_general %a, %b, contracting_dims "
               "= [1] x [0] : (tensor<4x6xi8>, tensor<6x5xi8>) -> tensor<4x5xi32>",
               std::vector<double>(20, -1800)},
        OpCase{
            "bf16_to_f32",
            "tensor<1x1xf32>",
            "%a = stablehlo.constant dense<1.0> : tensor<1x300xbf16>\n%b = stablehlo.constant "
            "dense<1.0> : tensor<300x1xbf16>\n%r = stablehlo.dot_general %a, %b, contracting_dims "
            "= [1] x [0] : (tensor<1x300xbf16>, tensor<300x1xbf16>) -> tensor<1x1xf32>",
            {300}},
        OpCase{"dot",
               "tensor<2xf32>",
               M "%v = stablehlo.constant dense<[1.0, 1.0, 1.0]> : tensor<3xf32>\n%r = "
                 "stablehlo.dot %m, %v, precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, "
                 "tensor<3xf32>) -> tensor<2xf32>",
               {6, 15}},
        OpCase{"generic_dot",
               "tensor<2x2xf32>",
               M "%r = \"stablehlo.dot_general\"(%m, %m) <{dot_dimension_numbers = "
                 "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = "
                 "[1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision "
                 "DEFAULT>]}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>",
               {14, 32, 32, 77}},
        OpCase{"complex_product",
               "tensor<1x1xcomplex<f32>>",
               "%a = stablehlo.constant dense<[[(1.0, 2.0)]]> : tensor<1x1xcomplex<f32>>\n%r = "
               "stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "
               "(tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>",
               {-3, 4}},
        OpCase{"convolution",
               "tensor<1x2x2x1xf32>",
               "%a = stablehlo.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], "
               "[[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>\n%f = stablehlo.constant "
               "dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[1.0]]]]> : tensor<2x2x1x1xf32>\n%r = "
               "stablehlo.convolution(%a, %f) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
               "f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} "
               "{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = "
               "[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : "
               "(tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>",
               {6, 8, 12, 14}},
        OpCase{"convolution_nchw_strided",
               "tensor<1x1x2x2xf32>",
               "%a = stablehlo.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, "
               "9.0]]]]> : tensor<1x1x3x3xf32>\n%f = stablehlo.constant dense<1.0> : "
               "tensor<1x1x2x2xf32>\n%r = stablehlo.convolution(%a, %f) dim_numbers = [b, f, 0, "
               "1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} "
               "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
               "(tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>",
               {12, 9, 15, 9}},
        OpCase{"convolution_depthwise",
               "tensor<1x1x4xf32>",
               "%a = stablehlo.constant dense<[[[1.0, 10.0], [2.0, 20.0]]]> : "
               "tensor<1x2x2xf32>\n%f = stablehlo.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[1.0, "
               "1.0, 1.0, 1.0]]]> : tensor<2x1x4xf32>\n%r = \"stablehlo.convolution\"(%a, %f) "
               "<{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, "
               "feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<1x2x2xf32>, "
               "tensor<2x1x4xf32>) -> tensor<1x1x4xf32>",
               {3, 4, 50, 60}},
        OpCase{"convolution_backprop",
               "tensor<1x4x1xf32>",
               "%a = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>\n%f = "
               "stablehlo.constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>\n%r = "
               "stablehlo.convolution(%a, %f) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window "
               "= {pad = [[1, 1]], lhs_dilate = [2], reverse = [true]} {batch_group_count = 1 : "
               "i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> "
               "tensor<1x4x1xf32>",
               {1, 3, 2, 6}},
        OpCase{"convolution_batch_groups",
               "tensor<1x1x2xf32>",
               "%a = stablehlo.constant dense<[[[2.0]], [[5.0]]]> : tensor<2x1x1xf32>\n%f = "
               "stablehlo.constant dense<[[[10.0, 100.0]]]> : tensor<1x1x2xf32>\n%r = "
               "stablehlo.convolution(%a, %f) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window "
               "= {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : "
               "(tensor<2x1x1xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>",
               {20, 500}},
        OpCase{"batch_norm",
               "tensor<2x2xf32>",
               "%x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>\n%s = "
               "stablehlo.constant dense<[2.0, 1.0]> : tensor<2xf32>\n%o = stablehlo.constant "
               "dense<[0.5, 0.0]> : tensor<2xf32>\n%m = stablehlo.constant dense<[1.0, 3.0]> : "
               "tensor<2xf32>\n%v = stablehlo.constant dense<[3.0, 0.0]> : tensor<2xf32>\n%r = "
               "\"stablehlo.batch_norm_inference\"(%x, %s, %o, %m, %v) {epsilon = 1.0 : f32, "
               "feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, "
               "tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>",
               {0.5, -1, 2.5, 1}},
        OpCase{"cholesky",
               "tensor<2x2xf32>",
               "%a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>\n%r = "
               "\"stablehlo.cholesky\"(%a) {lower = true} : (tensor<2x2xf32>) -> tensor<2x2xf32>",
               {2, 0, 1, 2}},
        OpCase{"triangular_solve",
               "tensor<2x1xf32>",
               "%a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>\n%b = "
               "stablehlo.constant dense<[[2.0], [9.0]]> : tensor<2x1xf32>\n%r = "
               "\"stablehlo.triangular_solve\"(%a, %b) {left_side = true, lower = true, "
               "transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : "
               "(tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>",
               {1, 2}},
        OpCase{"triangular_solve_right",
               "tensor<1x2xf32>",
               "%a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>\n%b = "
               "stablehlo.constant dense<[[4.0, 8.0]]> : tensor<1x2xf32>\n%r = "
               "\"stablehlo.triangular_solve\"(%a, %b) {left_side = false, lower = true, "
               "transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : "
               "(tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>",
               {1, 2}},
        OpCase{"rfft",
               "tensor<3xcomplex<f32>>",
               "%a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n%r = "
               "stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> "
               "tensor<3xcomplex<f32>>",
               {10, 0, -2, 2, -2, 0}},
        OpCase{"irfft",
               "tensor<4xf32>",
               "%a = stablehlo.constant dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : "
               "tensor<3xcomplex<f32>>\n%r = stablehlo.fft %a, type = IRFFT, length = [4] : "
               "(tensor<3xcomplex<f32>>) -> tensor<4xf32>",
               {1, 2, 3, 4}},
        OpCase{"fft_of_prime_length",
               "tensor<3xcomplex<f32>>",
               "%a = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)]> : "
               "tensor<3xcomplex<f32>>\n%r = stablehlo.fft %a, type = FFT, length = [3] : "
               "(tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>",
               {7, 0, -2, 1.7320508, -2, -1.7320508}},
        // Known answers of Random123: key and counter 0.
        OpCase{"threefry",
               "tensor<2xui32>",
               "%s = stablehlo.constant dense<0> : tensor<2xui64>\n%n, %r = "
               "stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> "
               "(tensor<2xui64>, tensor<2xui32>)",
               {0x6b200159, 0x99ba4efe},
               0},
        OpCase{"philox",
               "tensor<4xui32>",
               "%s = stablehlo.constant dense<0> : tensor<2xui64>\n%n, %r = "
               "stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> "
               "(tensor<2xui64>, tensor<4xui32>)",
               {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
               0}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Control, OpCases,
    testing::Values(
        OpCase{"while",
               "tensor<i32>",
               "%z = stablehlo.constant dense<0> : tensor<i32>\n%one = stablehlo.constant dense<1> "
               ": tensor<i32>\n%w:2 = stablehlo.while(%i = %z, %v = %one) : tensor<i32>, "
               "tensor<i32>\n cond {\n %n = stablehlo.constant dense<10> : tensor<i32>\n %c = "
               "stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n "
               "stablehlo.return %c : tensor<i1>\n } do {\n %j = stablehlo.add %i, %one : "
               "tensor<i32>\n %u = stablehlo.add %v, %v : tensor<i32>\n stablehlo.return %j, %u : "
               "tensor<i32>, tensor<i32>\n }\n%r = stablehlo.add %w#1, %z : tensor<i32>",
               {1024}},
        OpCase{"if",
               "tensor<f32>",
               "%p = stablehlo.constant dense<false> : tensor<i1>\n%a = stablehlo.constant "
               "dense<1.0> : tensor<f32>\n%r = \"stablehlo.if\"(%p) ({\n stablehlo.return %a : "
               "tensor<f32>\n}, {\n %b = stablehlo.add %a, %a : tensor<f32>\n stablehlo.return %b "
               ": tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>",
               {2}},
        OpCase{"case_out_of_range",
               "tensor<i32>",
               "%i = stablehlo.constant dense<7> : tensor<i32>\n%r = \"stablehlo.case\"(%i) ({\n "
               "%b = stablehlo.constant dense<10> : tensor<i32>\n stablehlo.return %b : "
               "tensor<i32>\n}, {\n %b = stablehlo.constant dense<20> : tensor<i32>\n "
               "stablehlo.return %b : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>",
               {20}},
        OpCase{"barrier",
               F4,
               A B "%r, %q = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<4xf32>",
               {1, -2, 0.5, 4}},
        OpCase{"swap_in_loop",
               "tensor<i32>",
               "%z = stablehlo.constant dense<0> : tensor<i32>\n%one = stablehlo.constant dense<1> "
               ": tensor<i32>\n%five = stablehlo.constant dense<5> : tensor<i32>\n%w:3 = "
               "stablehlo.while(%i = %z, %v = %one, %u = %five) : tensor<i32>, tensor<i32>, "
               "tensor<i32>\n cond {\n %n = stablehlo.constant dense<3> : tensor<i32>\n %c = "
               "stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n "
               "stablehlo.return %c : tensor<i1>\n } do {\n %j = stablehlo.add %i, %one : "
               "tensor<i32>\n stablehlo.return %j, %u, %v : tensor<i32>, tensor<i32>, "
               "tensor<i32>\n }\n%r = stablehlo.subtract %w#1, %w#2 : tensor<i32>",
               {4}}),
    &NameOf);

}  // namespace
}  // namespace tenon::pjrt_test
