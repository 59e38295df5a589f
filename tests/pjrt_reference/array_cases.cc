// Each op of the interpreter against values that were worked out by hand, by NumPy or by
// definition: what moves and reduces elements.
#include "op_case.h"

namespace tenon::pjrt_test {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Movement, OpCases,
    testing::Values(
        OpCase{"reshape",
               "tensor<3x2xf32>",
               M "%r = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<3x2xf32>",
               {1, 2, 3, 4, 5, 6}},
        OpCase{"transpose",
               "tensor<3x2xf32>",
               M
               "%r = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>",
               {1, 4, 2, 5, 3, 6}},
        OpCase{"broadcast_in_dim",
               "tensor<2x3xf32>",
               "%a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%r = "
               "stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>",
               {1, 2, 3, 1, 2, 3}},
        OpCase{
            "broadcast_stretches",
            "tensor<2x2xf32>",
            "%a = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>\n%r = "
            "stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x2xf32>",
            {1, 1, 2, 2}},
        OpCase{"slice",
               "tensor<2x2xf32>",
               M "%r = stablehlo.slice %m [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>",
               {1, 3, 4, 6}},
        OpCase{"reverse",
               "tensor<2x3xf32>",
               M "%r = stablehlo.reverse %m, dims = [1] : tensor<2x3xf32>",
               {3, 2, 1, 6, 5, 4}},
        OpCase{"concatenate",
               "tensor<2x4xf32>",
               M "%c = stablehlo.constant dense<[[7.0], [8.0]]> : tensor<2x1xf32>\n%r = "
                 "stablehlo.concatenate %m, %c, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> "
                 "tensor<2x4xf32>",
               {1, 2, 3, 7, 4, 5, 6, 8}},
        OpCase{"pad",
               "tensor<3x4xf32>",
               M ZERO "%r = stablehlo.pad %m, %z, low = [1, -1], high = [0, 2], interior = [0, 0] "
                      ": (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>",
               {0, 0, 0, 0, 2, 3, 0, 0, 5, 6, 0, 0}},
        OpCase{"pad_interior",
               "tensor<6xf32>",
               ZERO "%a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%r = "
                    "stablehlo.pad %a, %z, low = [-1], high = [0], interior = [2] : "
                    "(tensor<3xf32>, tensor<f32>) -> tensor<6xf32>",
               {0, 0, 2, 0, 0, 3}},
        OpCase{"iota",
               "tensor<2x3xi32>",
               "%r = stablehlo.iota dim = 1 : tensor<2x3xi32>",
               {0, 1, 2, 0, 1, 2}},
        OpCase{"iota_bf16",
               "tensor<3xbf16>",
               "%r = stablehlo.iota dim = 0 : tensor<3xbf16>",
               {0, 1, 2}},
        OpCase{"dynamic_slice_clamps",
               "tensor<1x2xf32>",
               M "%i = stablehlo.constant dense<9> : tensor<i32>\n%j = stablehlo.constant "
                 "dense<-1> : tensor<i32>\n%r = stablehlo.dynamic_slice %m, %i, %j, sizes = [1, 2] "
                 ": (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
               {4, 5}},
        OpCase{"dynamic_update_slice",
               "tensor<2x3xf32>",
               M "%u = stablehlo.constant dense<[[9.0, 8.0]]> : tensor<1x2xf32>\n%i = "
                 "stablehlo.constant dense<1> : tensor<i32>\n%r = stablehlo.dynamic_update_slice "
                 "%m, %u, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> "
                 "tensor<2x3xf32>",
               {1, 2, 3, 4, 9, 8}},
        OpCase{"update_leaves_operand",
               "tensor<2x3xf32>",
               M "%u = stablehlo.constant dense<0.0> : tensor<2x3xf32>\n%i = stablehlo.constant "
                 "dense<0> : tensor<i32>\n%v = stablehlo.dynamic_update_slice %m, %u, %i, %i : "
                 "(tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> "
                 "tensor<2x3xf32>\n%r = stablehlo.add %m, %v : tensor<2x3xf32>",
               {1, 2, 3, 4, 5, 6}},
        OpCase{"dimension_size",
               "tensor<i32>",
               M "%r = \"stablehlo.get_dimension_size\"(%m) {dimension = 1 : i64} : "
                 "(tensor<2x3xf32>) -> tensor<i32>",
               {3}},
        OpCase{"empty",
               "tensor<0x2xf32>",
               "%a = stablehlo.constant dense<> : tensor<0x2xf32>\n%r = stablehlo.add %a, %a : "
               "tensor<0x2xf32>",
               {}},
        OpCase{"hex_bytes",
               "tensor<2xf32>",
               "%r = stablehlo.constant dense<\"0x0000803F00000040\"> : tensor<2xf32>",
               {1, 2}},
        OpCase{"splat_of_hex",
               "tensor<2xf32>",
               "%r = stablehlo.constant dense<\"0x0000803F\"> : tensor<2xf32>",
               {1, 1}},
        OpCase{
            "gather",
            "tensor<2x3xf32>",
            M
            "%i = stablehlo.constant dense<[1, 7]> : tensor<2xi32>\n%r = \"stablehlo.gather\"(%m, "
            "%i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
            "[0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>} : "
            "(tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>",
            {4, 5, 6, 4, 5, 6}},
        OpCase{"gather_nd",
               "tensor<2xf32>",
               M "%i = stablehlo.constant dense<[[1, 2], [0, 0]]> : tensor<2x2xi64>\n%r = "
                 "\"stablehlo.gather\"(%m, %i) <{dimension_numbers = "
                 "#stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
                 "index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = "
                 "false}> : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2xf32>",
               {6, 1}},
        OpCase{"gather_batched",
               "tensor<2x1xf32>",
               M "%i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>\n%r = "
                 "\"stablehlo.gather\"(%m, %i) <{dimension_numbers = #stablehlo.gather<offset_dims "
                 "= [1], operand_batching_dims = [0], start_indices_batching_dims = [0], "
                 "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
                 "(tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>",
               {3, 4}},
        OpCase{"scatter_add",
               "tensor<3xf32>",
               "%b = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n%i = "
               "stablehlo.constant dense<[[0], [2], [0], [5]]> : tensor<4x1xi32>\n%u = "
               "stablehlo.constant dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>\n%r = "
               "\"stablehlo.scatter\"(%b, %i, %u) ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n %s "
               "= stablehlo.add %x, %y : tensor<f32>\n stablehlo.return %s : tensor<f32>\n}) "
               "{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], "
               "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = "
               "false, unique_indices = false} : (tensor<3xf32>, tensor<4x1xi32>, tensor<4xf32>) "
               "-> tensor<3xf32>",
               {41, 2, 23}},
        OpCase{"scatter_rows",
               "tensor<3x2xf32>",
               "%b = stablehlo.constant dense<0.0> : tensor<3x2xf32>\n%i = stablehlo.constant "
               "dense<[2, 0]> : tensor<2xi32>\n%u = stablehlo.constant dense<[[1.0, 2.0], [3.0, "
               "4.0]]> : tensor<2x2xf32>\n%r = \"stablehlo.scatter\"(%b, %i, %u) ({\n^bb0(%x: "
               "tensor<f32>, %y: tensor<f32>):\n stablehlo.return %y : tensor<f32>\n}) "
               "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
               "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = "
               "1>} : (tensor<3x2xf32>, tensor<2xi32>, tensor<2x2xf32>) -> tensor<3x2xf32>",
               {3, 4, 0, 0, 1, 2}}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Reductions, OpCases,
    testing::Values(
        OpCase{"sum",
               "tensor<2xf32>",
               M ZERO "%r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions "
                      "= [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
               {6, 15}},
        OpCase{"max_all",
               "tensor<f32>",
               M "%i = stablehlo.constant dense<0xFF800000> : tensor<f32>\n%r = "
                 "stablehlo.reduce(%m init: %i) applies stablehlo.maximum across dimensions = [0, "
                 "1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>",
               {6}},
        OpCase{"init_counts",
               "tensor<3xf32>",
               M "%i = stablehlo.constant dense<10.0> : tensor<f32>\n%r = stablehlo.reduce(%m "
                 "init: %i) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, "
                 "tensor<f32>) -> tensor<3xf32>",
               {15, 17, 19}},
        OpCase{"generic_reduce",
               "tensor<2xf32>",
               M ZERO
               "%r = \"stablehlo.reduce\"(%m, %z) " SUM_REGION
               " {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
               {6, 15}},
        OpCase{
            "all",
            "tensor<i1>",
            "%a = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n%t = stablehlo.constant "
            "dense<true> : tensor<i1>\n%r = stablehlo.reduce(%a init: %t) applies stablehlo.and "
            "across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>",
            {0}},
        OpCase{
            "bf16_sum_rounds_once",
            "tensor<bf16>",
            "%o = stablehlo.constant dense<1.0> : tensor<1024xbf16>\n%z = stablehlo.constant "
            "dense<0.0> : tensor<bf16>\n%r = stablehlo.reduce(%o init: %z) applies stablehlo.add "
            "across dimensions = [0] : (tensor<1024xbf16>, tensor<bf16>) -> tensor<bf16>",
            {1024}},
        OpCase{"argmax",
               "tensor<2xi32>",
               "%m = stablehlo.constant dense<[[1.0, 7.0, 7.0], [4.0, 0.0, -1.0]]> : "
               "tensor<2x3xf32>\n%n = stablehlo.iota dim = 1 : tensor<2x3xi32>\n%lo = "
               "stablehlo.constant dense<0xFF800000> : tensor<f32>\n%c = stablehlo.constant "
               "dense<0> : tensor<i32>\n%v:2 = stablehlo.reduce(%m init: %lo), (%n init: %c) "
               "across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, "
               "tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)\n reducer(%a: tensor<f32>, %b: "
               "tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {\n %g = stablehlo.compare GT, %a, "
               "%b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n %e = stablehlo.compare EQ, "
               "%a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>\n %l = stablehlo.compare "
               "LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n %t = stablehlo.and "
               "%e, %l : tensor<i1>\n %p = stablehlo.or %g, %t : tensor<i1>\n %x = "
               "stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>\n %y = stablehlo.select %p, "
               "%i, %j : tensor<i1>, tensor<i32>\n stablehlo.return %x, %y : tensor<f32>, "
               "tensor<i32>\n }\n%r = stablehlo.reshape %v#1 : (tensor<2xi32>) -> tensor<2xi32>",
               {1, 0}},
        OpCase{
            "max_pool",
            "tensor<1x2x2x1xf32>",
            "%a = stablehlo.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], "
            "[8.0], [9.0]]]]> : tensor<1x3x3x1xf32>\n%i = stablehlo.constant dense<0xFF800000> : "
            "tensor<f32>\n%r = \"stablehlo.reduce_window\"(%a, %i) ({\n^bb0(%x: tensor<f32>, %y: "
            "tensor<f32>):\n %s = stablehlo.maximum %x, %y : tensor<f32>\n stablehlo.return %s : "
            "tensor<f32>\n}) {window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = "
            "array<i64: 1, 2, 2, 1>, padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : "
            "tensor<4x2xi64>} : (tensor<1x3x3x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>",
            {5, 6, 8, 9}},
        OpCase{"cumsum",
               "tensor<4xf32>",
               A ZERO "%r = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[3, 0]]> : "
                      "tensor<1x2xi64>, window_dimensions = array<i64: 4>}> " SUM_REGION
                      " : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
               {1, -1, -0.5, 3.5}},
        OpCase{"window_dilated",
               "tensor<3xf32>",
               A ZERO "%r = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: "
                      "2>, base_dilations = array<i64: 2>, window_dilations = array<i64: 2>, "
                      "window_strides = array<i64: 2>}> " SUM_REGION
                      " : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>",
               {-1, -1.5, 4.5}},
        OpCase{"select_and_scatter",
               "tensor<4xf32>",
               "%a = stablehlo.constant dense<[1.0, 5.0, 2.0, 3.0]> : tensor<4xf32>\n%g = "
               "stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>\n" ZERO
               "%r = \"stablehlo.select_and_scatter\"(%a, %g, %z) ({\n^bb0(%x: tensor<f32>, %y: "
               "tensor<f32>):\n %c = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, "
               "tensor<f32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1>\n}, {\n^bb0(%x: "
               "tensor<f32>, %y: tensor<f32>):\n %s = stablehlo.add %x, %y : tensor<f32>\n "
               "stablehlo.return %s : tensor<f32>\n}) {window_dimensions = array<i64: 2>, "
               "window_strides = array<i64: 1>, padding = dense<0> : tensor<1x2xi64>} : "
               "(tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>",
               {0, 30, 0, 30}},
        OpCase{"map",
               F4,
               A B "%r = \"stablehlo.map\"(%a, %b) ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n "
                   "%p = stablehlo.multiply %x, %y : tensor<f32>\n %q = stablehlo.negate %p : "
                   "tensor<f32>\n stablehlo.return %q : tensor<f32>\n}) {dimensions = array<i64: "
                   "0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
               {-2, 6, 2, -2}},
        OpCase{"sort",
               "tensor<2x3xf32>",
               "%a = stablehlo.constant dense<[[3.0, 1.0, 2.0], [0.0, -1.0, 5.0]]> : "
               "tensor<2x3xf32>\n%r = \"stablehlo.sort\"(%a) ({\n^bb0(%x: tensor<f32>, %y: "
               "tensor<f32>):\n %c = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, "
               "tensor<f32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1>\n}) {dimension = 1 : "
               "i64, is_stable = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>",
               {1, 2, 3, -1, 0, 5}},
        OpCase{"sort_is_stable",
               "tensor<5xi32>",
               "%k = stablehlo.constant dense<[1, 0, 1, 0, 1]> : tensor<5xi32>\n%n = "
               "stablehlo.iota dim = 0 : tensor<5xi32>\n%s:2 = \"stablehlo.sort\"(%k, %n) "
               "({\n^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):\n %c "
               "= stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> "
               "tensor<i1>\n stablehlo.return %c : tensor<i1>\n}) {dimension = 0 : i64, is_stable "
               "= true} : (tensor<5xi32>, tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)\n%r = "
               "stablehlo.add %s#1, %s#1 : tensor<5xi32>",
               {0, 4, 8, 2, 6}},
        OpCase{"top_k",
               "tensor<2xi32>",
               "%a = stablehlo.constant dense<[3.0, 9.0, 9.0, 1.0]> : tensor<4xf32>\n%v, %r = "
               "chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)",
               {1, 2}}),
    &NameOf);

}  // namespace
}  // namespace tenon::pjrt_test
