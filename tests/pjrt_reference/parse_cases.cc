// Text that is refused, by line and op, and text that only just is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "host.h"

namespace tenon::pjrt_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  const Client client(SharedApi());
  abi::LoadedExecutable* executable = nullptr;
  std::string error = client.Compile(text, &executable);
  if (executable) client.Destroy(executable);
  return error;
}

struct Refused {
  const char* name;
  std::string text;
  const char* starts;
  const char* has;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class ParseCases : public testing::TestWithParam<Refused> {};

TEST_P(ParseCases, IsRefusedWhereItIsWrong) {
  EXPECT_THAT(ErrorOf(GetParam().text),
              AllOf(StartsWith(GetParam().starts), HasSubstr(GetParam().has)))
      << GetParam().text;
}

// The body's first line is line 3.
std::string Body(const std::string& body) {
  return Main("tensor<2xf32>", body, "%a: tensor<2xf32>");
}
std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}
const char* const kEnd = "\n    return %r : tensor<2xf32>";

INSTANTIATE_TEST_SUITE_P(
    Text, ParseCases,
    testing::Values(
        Refused{"empty", "", "2: -:1:1: error: ", "`main`"},
        Refused{"garbage", "hello", "2: -:1:1: error: ", "hello"},
        Refused{"no_main", "func.func @other() { return }", "2: -:1:1: error: ", "`main`"},
        Refused{"cut_off", "module {\n func.func @main() {\n", "2: -:3:1: error: ", "expected '}'"},
        Refused{"undeclared",
                Body(std::string("    %r = stablehlo.add %a, %b : tensor<2xf32>") + kEnd),
                "2: -:3:28: error: ", "'%b'"},
        Refused{"declared_twice",
                Body(std::string("%a = stablehlo.negate %a : tensor<2xf32>\n %r = stablehlo.negate "
                                 "%a : tensor<2xf32>") +
                     kEnd),
                "2: -:3:1: error: ", "redefinition of SSA value '%a'"},
        Refused{"type_differs",
                Body(std::string("    %r = stablehlo.negate %a : tensor<3xf32>") + kEnd),
                "2: -:3:27: error: ", "'tensor<3xf32>' vs 'tensor<2xf32>'"},
        Refused{
            "sizes_differ",
            Body(
                std::string(
                    "%c = stablehlo.constant dense<0.0> : tensor<3xf32>\n%r = "
                    "\"stablehlo.add\"(%a, %c) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>") +
                kEnd),
            "2: -:4:6: error: 'stablehlo.add' op ", "the same type"},
        Refused{"result_differs",
                Body(std::string("%r = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) "
                                 "-> tensor<2xf32>") +
                     kEnd),
                "2: -:3:6: error: 'stablehlo.broadcast_in_dim' op ", "[0, 1)"},
        Refused{"unknown_dialect", Body(std::string("%r = mhlo.negate %a : tensor<2xf32>") + kEnd),
                "2: -:3:6: error: ", "Dialect `mhlo'"},
        Refused{"complex_without_end",
                Body("%r = stablehlo.constant dense<0> : tensor<" + Repeated("complex<", 100'000)),
                "2: -:3:", "expected '>'"},
        Refused{"unknown_op",
                Body(std::string("%r = stablehlo.frobnicate %a : tensor<2xf32>") + kEnd),
                "12: -:3:6: error: 'stablehlo.frobnicate' op ", "tensor<2xf32>"},
        Refused{"integer_for_float",
                Body(std::string("%r = stablehlo.constant dense<1> : tensor<2xf32>") + kEnd),
                "2: -:3:31: error: ", "floating-point"},
        Refused{"float_without_point",
                Body(std::string("%r = stablehlo.constant dense<1e-12> : tensor<2xf32>") + kEnd),
                "2: -:3:32: error: ", "expected '>'"},
        Refused{"float_for_integer",
                Body(std::string("%r = stablehlo.constant dense<1.5> : tensor<2xi32>") + kEnd),
                "2: -:3:31: error: ", "integer elements"},
        Refused{"integer_too_large",
                Body(std::string("%r = stablehlo.constant dense<300> : tensor<2xi8>") + kEnd),
                "2: -:3:31: error: ", "out of range"},
        Refused{"ragged",
                Body(std::string(
                         "%r = stablehlo.constant dense<[[1.0], [2.0, 3.0]]> : tensor<2x1xf32>") +
                     kEnd),
                "2: -:3:", "not consistent"},
        Refused{"literal_of_other_shape",
                Body(std::string("%r = stablehlo.constant dense<[1.0]> : tensor<2xf32>") + kEnd),
                "2: -:3:31: error: ", "[1]"},
        Refused{
            "hex_of_other_size",
            Body(std::string("%r = stablehlo.constant dense<\"0x0000\"> : tensor<2xf32>") + kEnd),
            "2: -:3:31: error: ", "tensor<2xf32>"},
        Refused{"hex_is_none",
                Body(std::string("%r = stablehlo.constant dense<\"0x000000zz\"> : tensor<2xf32>") +
                     kEnd),
                "2: -:3:31: error: ", "hex digits"},
        Refused{"dynamic", Main("tensor<?xf32>", "return %a : tensor<?xf32>", "%a: tensor<?xf32>"),
                "3: -:2:", "Unbounded dynamism"},
        Refused{"too_large", Main("", "return", "%a: tensor<4294967296x4294967296xf32>"),
                "2: -:2:", "too many elements"},
        Refused{"dimension_too_large", Main("", "return", "%a: tensor<99999999999999999999xf32>"),
                "2: -:2:", "too large"},
        Refused{"unknown_type", Main("", "return", "%a: tensor<2xf8E4M3FN>"),
                "12: -:2:", "f8E4M3FN"},
        Refused{
            "slice_beyond",
            Body(std::string("%r = stablehlo.slice %a [0:3] : (tensor<2xf32>) -> tensor<2xf32>") +
                 kEnd),
            "2: -:3:6: error: 'stablehlo.slice' op ", "limit index 3"},
        Refused{"gather_beyond",
                Body(std::string("%i = stablehlo.constant dense<0> : tensor<1xi32>\n%r = "
                                 "\"stablehlo.gather\"(%a, %i) {dimension_numbers = "
                                 "#stablehlo.gather<offset_dims = [0], start_index_map = [3], "
                                 "index_vector_dim = 0>, slice_sizes = array<i64: 2>} : "
                                 "(tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>") +
                     kEnd),
                "2: -:4:6: error: 'stablehlo.gather' op ", "index map"},
        Refused{"dot_sizes",
                Body(std::string("%c = stablehlo.constant dense<0.0> : tensor<3xf32>\n%r = "
                                 "stablehlo.dot_general %a, %c, contracting_dims = [0] x [0] : "
                                 "(tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>") +
                     kEnd),
                "2: -:4:6: error: 'stablehlo.dot_general' op ", "must match"},
        Refused{"no_return", Body("%r = stablehlo.negate %a : tensor<2xf32>"),
                "2: -:3:6: error: ", "return"},
        Refused{"returns_other_type",
                Body("%r = stablehlo.is_finite %a : (tensor<2xf32>) -> tensor<2xi1>\n return %r : "
                     "tensor<2xi1>"),
                "2: -:4:2: error: ", "main"},
        Refused{"too_few_names",
                Body(std::string("%r, %q = stablehlo.negate %a : tensor<2xf32>") + kEnd),
                "2: -:3:1: error: ", "defines 1 results but was provided 2"},
        Refused{
            "no_such_function",
            Body(std::string("%r = func.call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>") + kEnd),
            "2: -:3:6: error: 'func.call' op ", "'f'"},
        Refused{
            "calls_itself",
            Body(std::string("%r = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>") + kEnd),
            "2: -:2:", "calls itself"},
        Refused{
            "custom_call",
            Body(std::string(
                     "%r = stablehlo.custom_call @magic(%a) : (tensor<2xf32>) -> tensor<2xf32>") +
                 kEnd),
            "12: -:3:6: error: ", "'magic'"},
        Refused{
            "region_takes_other_types",
            Body(std::string(
                     "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%s = stablehlo.reduce(%a "
                     "init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> "
                     "tensor<f32>\n reducer(%x: tensor<i32>, %y: tensor<i32>) {\n stablehlo.return "
                     "%x : tensor<i32>\n }\n%r = stablehlo.negate %a : tensor<2xf32>") +
                 kEnd),
            "2: -:4:6: error: 'stablehlo.reduce' op ", "region #0"},
        Refused{"window_of_nothing",
                Body(std::string(
                         "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%r = "
                         "\"stablehlo.reduce_window\"(%a, %z) ({\n^bb0(%x: tensor<f32>, %y: "
                         "tensor<f32>):\n stablehlo.return %x : tensor<f32>\n}) {window_dimensions "
                         "= array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>") +
                     kEnd),
                "2: -:4:6: error: ", "size is 0"},
        Refused{"alias_of_nothing",
                Main("tensor<2xf32>", "return %a : tensor<2xf32>",
                     "%a: tensor<2xf32> {tf.aliasing_output = 3 : i32}"),
                "3: -:2:", "does not exist"},
        Refused{"string_without_end", "module @\"a {", "2: -:1:", "string literal"},
        Refused{"deep_attributes",
                Body("%r = stablehlo.negate %a {x = " + std::string(100000, '[') + kEnd),
                "2: -:3:", "nested too deeply"},
        Refused{"deep_literal",
                Body("%r = stablehlo.constant dense<" + std::string(100000, '[') + kEnd),
                "2: -:3:", "nested too deeply"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ParseText, RegionsNestOnlySoDeep) {
  std::string open, close;
  for (int i = 0; i < 5000; ++i) {
    open += "%r" + std::to_string(i) + " = \"stablehlo.if\"(%p) ({\n";
    close +=
        "}, { stablehlo.return %a : tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>\n "
        "stablehlo.return %a : tensor<2xf32>\n";
  }
  EXPECT_THAT(ErrorOf(Main("tensor<2xf32>", open + close, "%p: tensor<i1>, %a: tensor<2xf32>")),
              HasSubstr("nested too deeply"));
}

// Every prefix of a program that has all kinds of forms is refused, and ends nothing.
TEST(ParseText, PrefixesAreRefused) {
  const std::string text = Main(
      "tensor<f32>, tensor<i32>",
      "%c = stablehlo.constant {x = \"y\"} dense<[[1.0, -2.5E+1], [0x7F800000, 3.0]]> : "
      "tensor<2x2xf32>\n"
      "%z = stablehlo.constant dense<\"0x00000000\"> : tensor<f32>\n"
      "%s = \"stablehlo.reduce\"(%c, %z) <{dimensions = array<i64: 0, 1>}> ({\n^bb0(%x: "
      "tensor<f32>, %y: tensor<f32>):\n"
      " %t = stablehlo.add %x, %y : tensor<f32> loc(\"a\"(\"b\"))\n stablehlo.return %t : "
      "tensor<f32>\n"
      "}) : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>\n"
      "%i = stablehlo.constant dense<3> : tensor<i32>\n"
      "%w:2 = stablehlo.while(%j = %i, %u = %s) : tensor<i32>, tensor<f32>\n cond {\n"
      "  %q = stablehlo.compare LT, %j, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "  stablehlo.return %q : tensor<i1>\n } do {\n  stablehlo.return %j, %u : tensor<i32>, "
      "tensor<f32>\n }\n"
      "return %w#1, %w#0 : tensor<f32>, tensor<i32>");
  EXPECT_EQ(ErrorOf(text), "");
  for (size_t size = 0; size + 3 < text.size(); ++size) {
    EXPECT_NE(ErrorOf(text.substr(0, size)), "") << text.substr(0, size);
  }
}

// A byte that is another one is refused or taken, whatever it is.
TEST(ParseText, ChangedBytesEndNothing) {
  const std::string text =
      Main("tensor<2xf32>",
           "%f = stablehlo.constant dense<1.0> : tensor<1x1x1xf32>\n"
           "%x = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<1x2x1xf32>\n"
           "%y = stablehlo.convolution(%x, %f) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
           "window = {stride = [1], pad = [[0, 0]]} "
           "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, "
           "tensor<1x1x1xf32>) -> tensor<1x2x1xf32>\n"
           "%s = stablehlo.slice %y [0:1, 0:2:1, 0:1] : (tensor<1x2x1xf32>) -> tensor<1x2x1xf32>\n"
           "%r = stablehlo.reshape %s : (tensor<1x2x1xf32>) -> tensor<2xf32>\n return %r : "
           "tensor<2xf32>",
           "%a: tensor<2xf32>");
  EXPECT_EQ(ErrorOf(text), "");
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'0', '9', '%', '>', '\0', '-', 'x'}) {
      std::string changed = text;
      changed[at] = c;
      ErrorOf(changed);
    }
  }
}

TEST(ParseText, NamesMayBeAnything) {
  const Client client(SharedApi());
  const std::string text =
      "#loc1 = loc(\"x.cc\":1:2)\n!t = tensor<1xf32>\n"
      "module @\"a \\22module\\22\" attributes {mhlo.num_partitions = 1 : i32} {\n"
      "  // A comment with a brace: }\n"
      "  func.func private @\"f/g \\5C\"(%arg0: !t loc(\"n/a(me\"(#loc1))) -> (!t {jax.result_info "
      "= \"\"}) {\n"
      "    %0 = stablehlo.add %arg0, %arg0 : !t loc(#loc1)\n    return %0 : !t loc(fused[\"a\", "
      "\"b)\"])\n  } loc(#loc1)\n"
      "  func.func public @main(%a.b-c$1: tensor<1xf32> {mhlo.sharding = \"{replicated}\"}) -> "
      "tensor<1xf32> {\n"
      "    %_x = call @\"f/g \\5C\"(%a.b-c$1) : (tensor<1xf32>) -> tensor<1xf32>\n"
      "    return %_x : tensor<1xf32>\n  }\n} loc(#loc)\n#loc = loc(unknown)\n";
  EXPECT_EQ(Numbers(client.Run(text, {Floats({1}, {21})}).at(0)), std::vector<double>{42});
}

TEST(ParseText, RegionsMayUseNamesOfTheirSiblings) {
  const Client client(SharedApi());
  const std::string text = Main("tensor<f32>",
                                "%r = \"stablehlo.if\"(%p) ({\n %x = stablehlo.negate %a : "
                                "tensor<f32>\n stablehlo.return %x : tensor<f32>\n}, {\n"
                                " %x = stablehlo.add %a, %a : tensor<f32>\n stablehlo.return %x : "
                                "tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n"
                                "return %r : tensor<f32>",
                                "%p: tensor<i1>, %a: tensor<f32>");
  EXPECT_EQ(
      Numbers(client.Run(text, {{abi::kPred, {}, std::string(1, '\1')}, Floats({}, {3})}).at(0)),
      std::vector<double>{-3});
}

}  // namespace
}  // namespace tenon::pjrt_test
