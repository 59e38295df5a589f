// Convolutions of images [n, height, width, channels] as matrix products, and depthwise ones.

#include <algorithm>
#include <climits>

#include "../base/gemm.h"
#include "../base/launch.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "../base/window.h"
#include "depthwise.h"
#include "families.h"

namespace opencl {
namespace {

struct ConvRow {
  OpRow row;
  bool fused = false;
};

// What follows a convolution in one op.
class Following {
 public:
  Following(const Construction& node, bool fused) {
    if (!fused) return;
    steps_ = node.Strings("fused_ops");
    epsilon_ = node.Float("epsilon");
    alpha_ = node.Float("leakyrelu_alpha");
  }
  Epilogue Make(Call& call, int first, int64_t channels, int64_t results) const {
    if (steps_.empty()) return {};
    std::vector<Tensor> operands;
    for (int i = first; i < call.inputs(); ++i) {
      operands.push_back(call.In(i));
      if (operands.back().count != channels && operands.back().count != results)
        Refuse("a fused operand has shape " + ShapeText(operands.back().dims) + ", not [" +
               std::to_string(channels) + "]");
    }
    return MakeEpilogue(steps_, operands, epsilon_, alpha_);
  }

 private:
  std::vector<std::string> steps_;
  float epsilon_ = 0, alpha_ = 0;
};

void CheckImages(const char* op, const Tensor& in, const Dims& filter) {
  if (in.rank() != 4)
    Refuse(std::string(op) + ": input must be 4-dimensional: " + ShapeText(in.dims));
  if (filter.size() != 4)
    Refuse(std::string(op) + ": filter must be 4-dimensional: " + ShapeText(filter));
  if (*std::max_element(in.dims.begin(), in.dims.end()) > INT_MAX / 2 || in.count > int64_t{1}
                                                                                        << 40)
    NotImplemented(std::string(op) + " of " + ShapeText(in.dims) + " on OPENCL");
}

// Image and window as the product's kernels take them.
WindowNumbers NumbersOf(const WindowSide& y, const WindowSide& x, int64_t step, int64_t channels) {
  const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
  return {n(y.in),     n(x.in),     n(step),       n(channels),   n(x.window),
          n(y.stride), n(x.stride), n(y.dilation), n(x.dilation), n(y.before),
          n(x.before), n(y.out),    n(x.out)};
}

bool IsPlainProduct(const WindowSide& side) {
  return side.window == 1 && side.stride == 1 && side.before == 0 && side.out == side.in;
}

// The part of `whole` that begins at this element and has `count` elements.
Tensor PartOf(const Tensor& whole, int64_t begin, int64_t count) {
  Tensor part = whole;
  part.data =
      static_cast<char*>(whole.data) + begin * static_cast<int64_t>(TypeOf(whole.type).bytes);
  part.count = count;
  return part;
}

class Conv2D {
 public:
  Conv2D(const Construction& node, const ConvRow& row)
      : op_(row.row.op), window_(node, row.row.op), following_(node, row.fused) {
    if (node.Has("filter_format") && node.String("filter_format") != "HWIO")
      NotImplemented(std::string(op_) + " with filter_format " + node.String("filter_format"));
  }

  void Compute(Call& call) const {
    const Tensor in = call.In(0), filter = call.In(1);
    CheckImages(op_, in, filter.dims);
    const int64_t depth = filter.dims[2], channels = in.dims[3], out_channels = filter.dims[3];
    if (depth == 0 || channels % depth != 0) {
      Refuse(std::string(op_) + ": input depth must be evenly divisible by filter depth: " +
             std::to_string(channels) + " vs " + std::to_string(depth));
    }
    const int64_t groups = std::max<int64_t>(1, channels / depth);
    const WindowSide y = window_.Side(1, in.dims[1], filter.dims[0]);
    const WindowSide x = window_.Side(2, in.dims[2], filter.dims[1]);
    Gemm gemm;
    gemm.a = in;
    gemm.b = filter;
    gemm.c = call.Out(0, {in.dims[0], y.out, x.out, out_channels});
    if (gemm.c.count == 0) return;
    // What follows is no fault as long as there is nothing to compute.
    if (filter.count == 0) Refuse(std::string(op_) + ": the filter must not be empty");
    if (out_channels % groups != 0) {
      Refuse(std::string(op_) +
             ": output depth must be evenly divisible by the number of groups: " +
             std::to_string(out_channels) + " vs " + std::to_string(groups));
    }
    gemm.epilogue = following_.Make(call, 2, out_channels, gemm.c.count);
    gemm.p.m = ProductSize(gemm.c.count / out_channels);
    gemm.p.n = ProductSize(out_channels);
    gemm.p.k = ProductSize(filter.count / out_channels);
    gemm.p.a_step = static_cast<cl_int>(channels);
    gemm.p.b_step = gemm.p.c_step = gemm.p.n;
    gemm.p.batches_inner = 1;
    if (in.count == 0) gemm.p.k = 0;  // nothing is summed; what follows still is computed
    if (groups == 1 && IsPlainProduct(y) && IsPlainProduct(x)) return RunGemm(call, gemm);
    gemm.window = WindowKind::kForward;
    gemm.w = NumbersOf(y, x, channels, depth);
    if (groups == 1) return RunGemm(call, gemm);
    RunGroups(call, gemm, groups);
  }

 private:
  // Each group has its own channels of the image and columns of the filter and of the result. They
  // are computed apart and put together.
  void RunGroups(Call& call, const Gemm& whole, int64_t groups) const {
    if (!whole.epilogue.code.empty())
      NotImplemented(std::string(op_) + " of groups with what follows it on OPENCL");
    const int64_t columns = whole.p.n / groups, k = whole.p.k, m = whole.p.m;
    Tensor filter = call.Temp(whole.a.type, {groups, k, columns});
    CopyStrided(call, whole.b, 0, filter, 0,
                {{groups, k, columns}, {{columns, whole.p.n, 1}, RowMajorStrides(filter.dims)}});
    Tensor parts = call.Temp(whole.a.type, {groups, m, columns});
    for (int64_t g = 0; g < groups; ++g) {
      Gemm gemm = whole;
      const int64_t first = g * whole.w.channels;
      gemm.a = PartOf(whole.a, first, whole.a.count - first);
      gemm.b = PartOf(filter, g * k * columns, k * columns);
      gemm.c = PartOf(parts, g * m * columns, m * columns);
      gemm.p.n = gemm.p.b_step = gemm.p.c_step = static_cast<cl_int>(columns);
      RunGemm(call, gemm);
    }
    CopyStrided(call, parts, 0, whole.c, 0,
                {{groups, m, columns}, {RowMajorStrides(parts.dims), {columns, whole.p.n, 1}}});
  }

  const char* const op_;
  const WindowAttrs window_;
  const Following following_;
};

// How many groups a convolution has: each takes `depth` of the image's channels.
int64_t GroupsOf(const char* op, int64_t channels, int64_t depth, int64_t out_channels) {
  const int64_t groups = depth == 0 ? 0 : channels / depth;
  if (groups == 0 || channels % depth != 0 || out_channels % groups != 0) {
    Refuse(std::string(op) + ": a filter of depth " + std::to_string(depth) + " and " +
           std::to_string(out_channels) + " output channels does not fit " +
           std::to_string(channels) + " input channels");
  }
  return groups;
}

// The gradient for the image: each pixel gathers from the positions whose window holds it.
class Conv2DBackpropInput {
 public:
  Conv2DBackpropInput(const Construction& node, const ConvRow& row)
      : op_(row.row.op), window_(node, row.row.op) {}

  void Compute(Call& call) const {
    const Dims sizes = call.HostInts(0);
    const Tensor filter = call.In(1), gradient = call.In(2);
    CheckImages(op_, gradient, filter.dims);
    Dims dims = sizes;
    if (dims.size() == 2) dims = {gradient.dims[0], sizes[0], sizes[1], filter.dims[2]};
    if (dims.size() != 4) Refuse(std::string(op_) + ": input_sizes must have 4 numbers");
    const int64_t outs = filter.dims[3], depth = filter.dims[2];
    const int64_t groups = GroupsOf(op_, dims[3], depth, outs);
    const WindowSide y = window_.Side(1, dims[1], filter.dims[0]);
    const WindowSide x = window_.Side(2, dims[2], filter.dims[1]);
    CheckShape(op_, "out_backprop", gradient.dims, {dims[0], y.out, x.out, outs});
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    if (gradient.count == 0 || filter.count == 0) return Clear(call, out);
    // [ky, kx, depth, groups, columns] becomes [groups, ky, kx, columns, depth].
    Tensor taps = filter;
    taps.dims = {filter.dims[0] * filter.dims[1], depth, groups, outs / groups};
    const Tensor turned = call.Temp(filter.type, {groups, taps.dims[0], taps.dims[3], depth});
    Permute(call, taps, {2, 0, 3, 1}, turned);
    Gemm gemm;
    gemm.p.m = ProductSize(out.count / dims[3]);
    gemm.p.n = ProductSize(depth);
    gemm.p.k = ProductSize(taps.dims[0] * taps.dims[3]);
    gemm.p.b_step = gemm.p.c_step = gemm.p.n;
    gemm.p.batches_inner = 1;
    gemm.window = WindowKind::kGradient;
    gemm.w = NumbersOf(y, x, outs, outs / groups);
    // The gradient is what is read, the image what is written.
    std::swap(gemm.w.height, gemm.w.out_height);
    std::swap(gemm.w.width, gemm.w.out_width);
    const int64_t m = gemm.p.m, k = gemm.p.k;
    const Tensor parts = groups == 1 ? out : call.Temp(out.type, {groups, m, depth});
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * gemm.w.channels;
      gemm.a = PartOf(gradient, first, gradient.count - first);
      gemm.b = PartOf(turned, g * k * depth, k * depth);
      gemm.c = PartOf(parts, g * m * depth, m * depth);
      RunGemm(call, gemm);
    }
    if (groups == 1) return;
    CopyStrided(call, parts, 0, out, 0,
                {{groups, m, depth}, {RowMajorStrides(parts.dims), {depth, dims[3], 1}}});
  }

 private:
  const char* const op_;
  const WindowAttrs window_;
};

// The gradient for the filter is a convolution, too: of the image with its channels as batch and
// its batch as channels, by the gradient as a filter, whose steps are the dilations and whose
// dilations are the steps. Its result is [channels, ky, kx, out channels].
class Conv2DBackpropFilter {
 public:
  Conv2DBackpropFilter(const Construction& node, const ConvRow& row)
      : op_(row.row.op), window_(node, row.row.op) {}

  void Compute(Call& call) const {
    const Tensor image = call.In(0), gradient = call.In(2);
    const Dims dims = call.HostInts(1);
    CheckImages(op_, image, dims);
    CheckImages(op_, gradient, dims);
    const int64_t batch = image.dims[0], channels = image.dims[3], outs = dims[3];
    const WindowSide y = window_.Side(1, image.dims[1], dims[0]);
    const WindowSide x = window_.Side(2, image.dims[2], dims[1]);
    CheckShape(op_, "out_backprop", gradient.dims, {batch, y.out, x.out, outs});
    if (channels == 0) Refuse(std::string(op_) + ": an image without channels has no filter");
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    const int64_t groups = GroupsOf(op_, channels, dims[2], outs), columns = outs / groups;
    if (image.count == 0 || gradient.count == 0) return Clear(call, out);
    const Tensor turned = call.Temp(image.type, {channels, image.dims[1], image.dims[2], batch});
    Permute(call, image, {3, 1, 2, 0}, turned);
    const Tensor filter = call.Temp(image.type, {y.out, x.out, batch, outs});
    Permute(call, gradient, {1, 2, 0, 3}, filter);
    Gemm gemm;
    gemm.p.m = ProductSize(dims[2] * dims[0] * dims[1]);
    gemm.p.n = ProductSize(columns);
    gemm.p.k = ProductSize(y.out * x.out * batch);
    gemm.p.b_step = static_cast<cl_int>(outs);
    gemm.p.c_step = gemm.p.n;
    gemm.p.batches_inner = 1;
    gemm.window = WindowKind::kForward;
    gemm.w = NumbersOf(y, x, batch, batch);
    std::swap(gemm.w.stride_y, gemm.w.dilation_y);
    std::swap(gemm.w.stride_x, gemm.w.dilation_x);
    gemm.w.kernel_width = static_cast<cl_int>(x.out);
    gemm.w.out_height = static_cast<cl_int>(dims[0]);
    gemm.w.out_width = static_cast<cl_int>(dims[1]);
    // [groups, depth, ky * kx, columns], which becomes [ky * kx, depth, groups, columns].
    const Tensor parts = call.Temp(image.type, {groups, dims[2], dims[0] * dims[1], columns});
    const int64_t slab = turned.count / groups, results = parts.count / groups;
    for (int64_t g = 0; g < groups; ++g) {
      gemm.a = PartOf(turned, g * slab, slab);
      gemm.b = PartOf(filter, g * columns, filter.count - g * columns);
      gemm.c = PartOf(parts, g * results, results);
      RunGemm(call, gemm);
    }
    Permute(call, parts, {2, 1, 0, 3}, out);
  }

 private:
  const char* const op_;
  const WindowAttrs window_;
};

class Depthwise {
 public:
  Depthwise(const Construction& node, const ConvRow& row)
      : op_(row.row.op), window_(node, row.row.op), following_(node, row.fused) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0), filter = call.In(1);
    CheckImages(op_, in, filter.dims);
    if (in.dims[3] != filter.dims[2]) {
      Refuse(std::string(op_) + ": input and filter must have the same depth: " +
             std::to_string(in.dims[3]) + " vs " + std::to_string(filter.dims[2]));
    }
    if (!window_.equal_strides()) {
      Refuse(std::string(op_) +
             ": Current implementation only supports equal length strides in the row and column "
             "dimensions.");
    }
    const WindowSide y = window_.Side(1, in.dims[1], filter.dims[0]);
    const WindowSide x = window_.Side(2, in.dims[2], filter.dims[1]);
    const int64_t channels = filter.dims[2] * filter.dims[3];
    const Tensor out = call.Out(0, {in.dims[0], y.out, x.out, channels});
    if (out.count == 0) return;
    const Epilogue epilogue = following_.Make(call, 2, channels, out.count);
    const KernelKey key = KernelKey("depthwise")
                              .Number(in.type)
                              .Number(static_cast<int64_t>(epilogue.tensors.size()))
                              .Text(epilogue.code);
    Launch launch(call, key, [&] {
      return Source{"depthwise.cl", Prologue(in, epilogue), "depthwise"};
    });
    launch.Memory(in)
        .Memory(filter)
        .Memory(out)
        .Value(static_cast<cl_ulong>(out.count))
        .Value(DepthwiseNumbersOf(in.dims, filter.dims, y, x));
    for (const Tensor& tensor : epilogue.tensors) launch.Memory(tensor);
    if (call.device().is_gpu()) return launch.Run(out.count);
    launch.Run({static_cast<size_t>(channels), static_cast<size_t>(out.count / channels), 1},
               {static_cast<size_t>(std::clamp<int64_t>(channels, 1, 64)), 1, 1});
  }

 private:
  static std::string Prologue(const Tensor& in, const Epilogue& epilogue) {
    std::string arguments, opens;
    for (size_t i = 0; i < epilogue.tensors.size(); ++i) {
      arguments += ", TENSOR(const X_S, e" + std::to_string(i) + ")";
      opens += "OPEN(e" + std::to_string(i) + "); ";
    }
    return DefineType("X", TypeOf(in.type)) + "#define EPILOGUE_ARGUMENTS " + arguments +
           "\n#define EPILOGUE_OPEN " + opens + "\n#define EPILOGUE " + epilogue.code + "\n";
  }

  const char* const op_;
  const WindowAttrs window_;
  const Following following_;
};

constexpr ConvRow kConv[] = {{{"Conv2D", kFloats}}, {{"_FusedConv2D", kFloats & ~kBF16}, true}};
constexpr ConvRow kInput[] = {{{"Conv2DBackpropInput", kFloats, "T", "input_sizes"}}};
constexpr ConvRow kFilter[] = {{{"Conv2DBackpropFilter", kFloats, "T", "filter_sizes"}}};
constexpr ConvRow kDepthwise[] = {{{"DepthwiseConv2dNative", kFloats}},
                                  {{"_FusedDepthwiseConv2dNative", kFloats}, true}};

}  // namespace

void RegisterConvolution() {
  RegisterTable<Conv2D, kConv>();
  RegisterTable<Conv2DBackpropInput, kInput>();
  RegisterTable<Conv2DBackpropFilter, kFilter>();
  RegisterTable<Depthwise, kDepthwise>();
}

}  // namespace opencl
