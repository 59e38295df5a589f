// Convolutions of images [n, height, width, channels] as matrix products, and depthwise ones.

#include <algorithm>
#include <climits>

#include "../base/gemm.h"
#include "../base/launch.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "../base/window.h"
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
    gemm.p.m = static_cast<cl_int>(gemm.c.count / out_channels);
    gemm.p.n = static_cast<cl_int>(out_channels);
    gemm.p.k = static_cast<cl_int>(filter.count / out_channels);
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
    const size_t bytes = TypeOf(whole.a.type).bytes;
    const int64_t columns = whole.p.n / groups, k = whole.p.k, m = whole.p.m;
    Tensor filter = call.Temp(whole.a.type, {groups, k, columns});
    CopyStrided(call, whole.b, 0, filter, 0,
                {{groups, k, columns}, {{columns, whole.p.n, 1}, RowMajorStrides(filter.dims)}});
    Tensor parts = call.Temp(whole.a.type, {groups, m, columns});
    for (int64_t g = 0; g < groups; ++g) {
      Gemm gemm = whole;
      const auto shift = [bytes](Tensor* tensor, int64_t elements, int64_t count) {
        tensor->data = static_cast<char*>(tensor->data) + elements * static_cast<int64_t>(bytes);
        tensor->count = count;
      };
      shift(&gemm.a, g * whole.w.channels, whole.a.count - g * whole.w.channels);
      gemm.b = filter;
      shift(&gemm.b, g * k * columns, k * columns);
      gemm.c = parts;
      shift(&gemm.c, g * m * columns, m * columns);
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
    if (dims[3] != filter.dims[2]) NotImplemented(std::string(op_) + " of groups on OPENCL");
    const WindowSide y = window_.Side(1, dims[1], filter.dims[0]);
    const WindowSide x = window_.Side(2, dims[2], filter.dims[1]);
    if (gradient.dims != Dims{dims[0], y.out, x.out, filter.dims[3]}) {
      Refuse(std::string(op_) + ": out_backprop has shape " + ShapeText(gradient.dims) +
             ", expected [" + std::to_string(dims[0]) + "," + std::to_string(y.out) + "," +
             std::to_string(x.out) + "," + std::to_string(filter.dims[3]) + "]");
    }
    Gemm gemm;
    gemm.c = call.Out(0, dims);
    if (gemm.c.count == 0) return;
    if (gradient.count == 0 || filter.count == 0) return Clear(call, gemm.c);
    // [ky, kx, in, out] becomes [ky, kx, out, in].
    gemm.b =
        call.Temp(filter.type, {filter.dims[0], filter.dims[1], filter.dims[3], filter.dims[2]});
    Permute(call, filter, {0, 1, 3, 2}, gemm.b);
    gemm.a = gradient;
    gemm.p.m = static_cast<cl_int>(gemm.c.count / dims[3]);
    gemm.p.n = static_cast<cl_int>(dims[3]);
    gemm.p.k = static_cast<cl_int>(filter.count / dims[3]);
    gemm.p.b_step = gemm.p.c_step = gemm.p.n;
    gemm.p.batches_inner = 1;
    gemm.window = WindowKind::kGradient;
    gemm.w = NumbersOf(y, x, filter.dims[3], filter.dims[3]);
    // The gradient is what is read, the image what is written.
    std::swap(gemm.w.height, gemm.w.out_height);
    std::swap(gemm.w.width, gemm.w.out_width);
    RunGemm(call, gemm);
  }

 private:
  const char* const op_;
  const WindowAttrs window_;
};

struct DepthwiseNumbers {
  cl_int height, width, channels, multiplier;
  cl_int window_y, window_x, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  cl_int out_height, out_width;
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
    Launch launch(call, {"depthwise.cl", Prologue(in, epilogue), "depthwise"});
    const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
    const DepthwiseNumbers numbers = {
        n(y.in),     n(x.in),     n(in.dims[3]), n(filter.dims[3]), n(y.window),
        n(x.window), n(y.stride), n(x.stride),   n(y.dilation),     n(x.dilation),
        n(y.before), n(x.before), n(y.out),      n(x.out)};
    launch.Memory(in)
        .Memory(filter)
        .Memory(out)
        .Value(static_cast<cl_ulong>(out.count))
        .Value(numbers);
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
constexpr ConvRow kDepthwise[] = {{{"DepthwiseConv2dNative", kFloats}},
                                  {{"_FusedDepthwiseConv2dNative", kFloats}, true}};

}  // namespace

void RegisterConvolution() {
  RegisterTable<Conv2D, kConv>();
  RegisterTable<Conv2DBackpropInput, kInput>();
  RegisterTable<Depthwise, kDepthwise>();
}

}  // namespace opencl
