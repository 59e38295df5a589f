// The choice of channel_sums_isa.inc's copy for this processor.
#include "plugin/cpu/nn/conv/channel_sums.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {
namespace {

const AllChannelSums& ChosenSums() {
  return *SelectIsa<const AllChannelSums*>(&sse2::kChannelSums, &avx2::kChannelSums,
                                           &avx512::kChannelSums);
}

}  // namespace

template <>
ChannelSums<float> ChooseChannelSums<float>() {
  return ChosenSums().f32;
}
template <>
ChannelSums<double> ChooseChannelSums<double>() {
  return ChosenSums().f64;
}
template <>
ChannelSums<uint32_t> ChooseChannelSums<uint32_t>() {
  return ChosenSums().u32;
}
template <>
ChannelSums<uint64_t> ChooseChannelSums<uint64_t>() {
  return ChosenSums().u64;
}

}  // namespace tenon::cpu
