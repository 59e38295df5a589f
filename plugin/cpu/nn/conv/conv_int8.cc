// _FusedConv2D of int8 and qint8: products are summed in 32 bits, scaled, and rounded to 8 bits
// again.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/products/byte_constant.h"
#include "plugin/cpu/linalg/products/byte_conv.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Inputs: 0 images, 1 filter, 2 bias, 3 side input, 4 and 5 the scales of the sums and of the side
// input.
struct Int8Conv {
  ConvProblem q;
  bool relu = false;
  bool has_side = false;
  std::optional<ByteConv> blocks = std::nullopt;  // where channels are last, in one group
  ByteConstant filter = {};                       // for `blocks`
};

constexpr int64_t kChannelsTogether = 64;  // output channels that are summed together

// The sums of output channels [begin, begin + n), which lie in one group.
std::array<uint32_t, kChannelsTogether> Sums(const ConvProblem& q, const int8_t* images,
                                             const int8_t* filter, int64_t image, int64_t out,
                                             int64_t begin, int64_t n) {
  // Unsigned, so that sums wrap.
  std::array<uint32_t, kChannelsTogether> sums = {};
  const int64_t first_in = begin / q.out_per_group() * q.in_per_group();
  q.ForEachInWindow(out, [&](int64_t in, int64_t place) {
    for (int64_t c = 0; c < q.in_per_group(); ++c) {
      const int32_t x = images[q.InputAt(image, in, first_in + c)];
      const int8_t* row = filter + (place * q.in_per_group() + c) * q.out_channels + begin;
      for (int64_t k = 0; k < n; ++k) sums[k] += static_cast<uint32_t>(x * row[k]);
    }
  });
  return sums;
}

// To the nearest, ties to even; what is no number becomes the lowest.
int8_t Narrow(float x, float low) {
  if (!(x > low)) return static_cast<int8_t>(low);
  return static_cast<int8_t>(std::min(std::nearbyint(x), 127.0f));
}

absl::Status RunInt8Conv(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Int8Conv*>(state);
  const ConvProblem& q = s.q;
  const auto* const images = static_cast<const int8_t*>(args.in[0]);
  const auto* const filter = static_cast<const int8_t*>(args.in[1]);
  const auto* const bias = static_cast<const float*>(args.in[2]);
  const auto* const side = static_cast<const int8_t*>(args.in[3]);
  const float scale = *static_cast<const float*>(args.in[4]);
  const float side_scale = *static_cast<const float*>(args.in[5]);
  if (!s.has_side && side_scale != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("side_input_scale is ", side_scale, ", but the side input is empty"));
  auto* const to = static_cast<int8_t*>(args.out[0]);
  // Relu is a clamp at 0, which Narrow's lower bound makes.
  const float low = s.relu ? 0 : -128;
  // Of channels [c, c + n) of one place.
  const auto store = [&](int64_t image, int64_t out, int64_t c, int64_t n, const auto* sums) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = q.OutputAt(image, out, c + k);
      float value = static_cast<float>(static_cast<int32_t>(sums[k])) * scale;
      if (s.has_side) value += static_cast<float>(side[at]) * side_scale;
      to[at] = Narrow(value + bias[c + k], low);
    }
  };
  if (s.blocks) {
    const auto store_places = [&](int64_t image, int64_t first, int64_t count,
                                  const int32_t* sums) {
      for (int64_t i = 0; i < count; ++i)
        store(image, first + i, 0, q.out_channels, sums + i * q.out_channels);
    };
    const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)> finish = store_places;
    constexpr int32_t kZero = 0;
    return s.blocks->Run(args, args.scratch, images, s.filter.Or(filter),
                         {{&kZero, 1}, {&kZero, 1}}, nullptr, &finish);
  }
  const int64_t work = q.window_places() * q.place_elements();
  args.workers->ParallelFor(
      q.batch * q.out_places(), GrainFor(work), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t image = i / q.out_places(), out = i % q.out_places();
          for (int64_t c = 0, n = 0; c < q.out_channels; c += n) {
            // A block ends with its group, because all of its channels read the same inputs.
            n = std::min(kChannelsTogether, q.out_per_group() - c % q.out_per_group());
            store(image, out, c, n, Sums(q, images, filter, image, out, c, n).data());
          }
        }
      });
  return absl::OkStatus();
}

absl::Status ReadFusion(const Prepare& p, Int8Conv& s) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, p.AttrStringList("fused_ops"));
  s.relu = names.size() == 2 && names[1] == "Relu";
  if (names.empty() || names[0] != "BiasAdd" || names.size() != (s.relu ? 2 : 1)) {
    return p.Unimplemented(
        absl::StrCat("fused_ops [", absl::StrJoin(names, ", "), "] is not built for 8 bits"));
  }
  if (p.num_inputs() != 6 || p.input_type(2) != DataType::kFloat ||
      p.input_type(3) != p.input_type(0)) {
    return p.Invalid(
        "a fused bias wants four arguments: bias, side_input, conv_input_scale, side_input_scale");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareInt8Conv(Prepare& p) {
  auto s = std::make_shared<Int8Conv>();
  TENON_RETURN_IF_ERROR(ReadFusion(p, *s));
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
  TENON_ASSIGN_OR_RETURN(s->q, ReadConv(p, attrs, p.input_shape(0), p.input_shape(1), false));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, s->q.OutputDims()));
  if (!(p.input_shape(2) == Shape({s->q.out_channels})))
    return p.Invalid(absl::StrCat("the bias must have ", s->q.out_channels, " values"));
  s->has_side = p.input_shape(3).num_elements() > 0;
  if (s->has_side && !(p.input_shape(3) == output))
    return p.Invalid("the side input must have the shape of the output " + output.ToString());
  for (int i = 4; i < 6; ++i) {
    if (p.input_shape(i).num_elements() != 1) return p.Invalid("the scales must be scalars");
  }
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  if (s->q.groups == 1 && !s->q.channels_first) {
    s->blocks.emplace(s->q, true, true);
    TENON_ASSIGN_OR_RETURN(s->filter,
                           ByteConstant::Pack(p, 1, s->blocks->filter(), s->q.window_places()));
    p.set_scratch_bytes(s->blocks->ScratchBytes(p.workers(), true, s->filter.is_packed()));
  }
  p.set_run(&RunInt8Conv, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
