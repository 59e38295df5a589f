// No kernel uses reference code of oneDNN, which is up to a hundred times slower than loops of
// ours: sweeps over the shapes of all that goes through oneDNN. tests/scripts/lower_isa.sh repeats
// them for lesser machines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/onednn/onednn.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

// What oneDNN was asked for whose implementation is reference code.
std::vector<std::string> ReferencePrimitives() {
  std::vector<std::string> names;
  for (const auto& [name, count] : cpu::OneDnnPrimitives()) {
    if (cpu::IsReference(name.substr(name.find(' ') + 1).c_str())) names.push_back(name);
  }
  return names;
}

struct Window {
  int64_t size, stride = 1, dilation = 1;
};

// A convolution and both of its gradients, over `spatial_dims` equal dimensions, 2 or 3.
struct Sweep {
  int spatial_dims;
  int64_t side;
  Window window;
  int64_t in, out, groups = 1, batch = 1;
  std::string padding = "SAME";

  std::string Name() const {
    return absl::StrCat(spatial_dims, "-D of ", side, ", window ", window.size, " stride ",
                        window.stride, " dilation ", window.dilation, ", ", in, " to ", out, " in ",
                        groups, " groups, batch ", batch);
  }
  Attrs attrs() const {
    const auto list = [&](int64_t value) {
      std::vector<int64_t> values(spatial_dims + 2, value);
      values.front() = values.back() = 1;
      return attr::IntList(values);
    };
    return {{"strides", list(window.stride)},
            {"dilations", list(window.dilation)},
            {"padding", attr::String(padding)}};
  }
  Shape ImagesOf(int64_t channels) const {
    std::vector<int64_t> dims(spatial_dims + 2, side);
    dims.front() = batch, dims.back() = channels;
    return Shape(dims);
  }
  Shape Filter() const {
    std::vector<int64_t> dims(spatial_dims + 2, window.size);
    dims[spatial_dims] = in / groups, dims[spatial_dims + 1] = out;
    return Shape(dims);
  }
};

void RunBoth(const std::string& op, Attrs attrs, const std::vector<Tensor>& inputs,
             std::vector<Tensor>* outputs = nullptr) {
  attrs["T"] = attr::Type(DataType::kFloat);
  // Constant weights or not: they have layouts of their own.
  for (const bool constant : {false, true}) {
    const absl::StatusOr<std::vector<Tensor>> got = RunCpuKernel(op, attrs, inputs, 2, constant);
    ASSERT_TRUE(got.ok()) << got.status();
    if (outputs != nullptr) *outputs = *got;
  }
}

void RunAll(const Sweep& s) {
  SCOPED_TRACE(s.Name());
  const std::string op = absl::StrCat("Conv", s.spatial_dims, "D");
  const std::string version = s.spatial_dims == 3 ? "V2" : "";
  const Tensor x = Noise(s.ImagesOf(s.in), 1), w = Noise(s.Filter(), 2);
  std::vector<Tensor> y;
  RunBoth(op, s.attrs(), {x, w}, &y);
  ASSERT_EQ(y.size(), 1);
  RunBoth(op + "BackpropInput" + version, s.attrs(), {SizesOf(x), w, y[0]});
  RunBoth(op + "BackpropFilter" + version, s.attrs(), {x, SizesOf(w), y[0]});
  ASSERT_THAT(ReferencePrimitives(), ::testing::IsEmpty());
}

struct Channels {
  int64_t in, out;
};
constexpr Channels kChannels[] = {{1, 3}, {3, 16}, {13, 1}, {16, 13}, {64, 4}};

TEST(OneDnnReferenceSweep, ConvolutionsOfImages) {
  for (int64_t size = 1; size <= 15; ++size) {
    for (const auto& [in, out] : kChannels) {
      RunAll({2, 24, {size}, in, out});
      RunAll({2, 17, {size, 1, 2}, in, out});
      RunAll({2, 19, {size, 3}, in, out, 1, 2});
      RunAll({2, 24, {size, 2, 2}, in, out});
    }
  }
  for (const int64_t size : {1, 4, 9, 13}) RunAll({2, 17, {size}, 64, 64});
  for (const int64_t size : {3, 10}) RunAll({2, 16, {size}, 256, 16});
}

TEST(OneDnnReferenceSweep, ConvolutionsOfGroups) {
  for (const int64_t size : {1, 3, 8, 10, 15}) {
    for (const auto& [groups, per_group] :
         {Channels{2, 1}, Channels{2, 2}, Channels{3, 5}, Channels{4, 4}, Channels{32, 1}}) {
      const int64_t channels = groups * per_group;
      RunAll({2, 20, {size}, channels, channels, groups});
      RunAll({2, 21, {size, 2}, channels, 2 * channels, groups});
    }
  }
}

TEST(OneDnnReferenceSweep, ConvolutionsOfVolumes) {
  for (int64_t size = 1; size <= 7; ++size) {
    for (const auto& [in, out] : kChannels) {
      RunAll({3, 10, {size}, in, out});
      RunAll({3, 9, {size, 2}, in, out});
      RunAll({3, 12, {size, 1, 2}, in, out});
      RunAll({3, 11, {size, 2, 2}, in, out});
    }
  }
}

TEST(OneDnnReferenceSweep, Pools) {
  for (const std::string op : {"MaxPool", "AvgPool"}) {
    for (int64_t size = 1; size <= 15; ++size) {
      for (const int64_t stride : {1, 2, 3}) {
        for (const int64_t channels : {1, 3, 16, 50}) {
          for (const std::string padding : {"SAME", "VALID"}) {
            const Attrs attrs = {{"ksize", attr::IntList({1, size, size, 1})},
                                 {"strides", attr::IntList({1, stride, stride, 1})},
                                 {"padding", attr::String(padding)}};
            RunBoth(op, attrs, {Noise(Shape({2, 17, 19, channels}), 1)});
            if (size > 5) continue;
            const Attrs of_volumes = {{"ksize", attr::IntList({1, size, size, size, 1})},
                                      {"strides", attr::IntList({1, stride, stride, stride, 1})},
                                      {"padding", attr::String(padding)}};
            RunBoth(op + "3D", of_volumes, {Noise(Shape({1, 7, 9, 8, channels}), 1)});
            ASSERT_THAT(ReferencePrimitives(), ::testing::IsEmpty())
                << op << " of " << size << " " << stride << " " << channels << padding;
          }
        }
      }
    }
  }
}

TEST(OneDnnReferenceSweep, Products) {
  struct Sizes {
    int64_t m, k, n;
  };
  constexpr Sizes kSizes[] = {{1, 1, 1},     {7, 5, 3},      {64, 1, 64},  {33, 70, 1},
                              {1, 300, 200}, {130, 65, 257}, {16, 512, 16}};
  for (const auto& [m, k, n] : kSizes) {
    for (const int transposed : {0, 1, 2, 3}) {
      const bool ta = transposed % 2 == 1, tb = transposed / 2 == 1;
      const Tensor a = Noise(ta ? Shape({k, m}) : Shape({m, k}), 1);
      const Tensor b = Noise(tb ? Shape({n, k}) : Shape({k, n}), 2);
      RunBoth("MatMul", {{"transpose_a", attr::Bool(ta)}, {"transpose_b", attr::Bool(tb)}}, {a, b});
      const Tensor as = Noise(ta ? Shape({3, 1, k, m}) : Shape({3, 1, m, k}), 1);
      const Tensor bs = Noise(tb ? Shape({2, n, k}) : Shape({2, k, n}), 2);
      RunBoth("BatchMatMulV2", {{"adj_x", attr::Bool(ta)}, {"adj_y", attr::Bool(tb)}}, {as, bs});
      const Attrs fused = {{"transpose_a", attr::Bool(ta)},
                           {"transpose_b", attr::Bool(tb)},
                           {"num_args", attr::Int(2)},
                           {"fused_ops", attr::StringList({"BiasAdd", "Add", "GeluExact"})}};
      RunBoth("_FusedMatMul", fused, {a, b, Noise(Shape({n}), 3), Noise(Shape({m, n}), 4)});
      ASSERT_THAT(ReferencePrimitives(), ::testing::IsEmpty()) << m << "x" << k << "x" << n;
    }
  }
}

}  // namespace
}  // namespace tenon::testing
