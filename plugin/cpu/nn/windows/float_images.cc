// Images as floats with channels last, whatever the tensor holds: read as a whole into scratch,
// unless they are so already, and written place by place.
#include "plugin/cpu/nn/windows/float_images.h"

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {

FloatImages::FloatImages(const Windows& windows, Side side, DataType type)
    : type_(type),
      channels_first_(windows.channels_first),
      plain_(type == DataType::kFloat && !channels_first_),
      batch_(windows.batch),
      places_(side == Side::kInput ? windows.in_places() : windows.out_places()),
      channels_(side == Side::kInput ? windows.in_channels : windows.out_channels),
      step_(channels_first_ ? places_ : 1) {}

size_t FloatImages::ReadBytes() const {
  return plain_ ? 0 : AlignedBytes(batch_ * image() * sizeof(float));
}

const float* FloatImages::Read(const StepArgs& args, int input, char* memory) const {
  if (plain_) return static_cast<const float*>(args.in[input]);
  auto* const copy = reinterpret_cast<float*>(memory);
  const int64_t grain = GrainFor(channels_ * static_cast<int64_t>(sizeof(float)));
  args.workers->ParallelFor(batch_ * places_, grain, [&](int64_t begin, int64_t end) {
    VisitFloat(type_, [&](auto element) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = At(i / places_, i % places_);
        for (int64_t c = 0; c < channels_; ++c) {
          copy[i * channels_ + c] = element.template As<float>(args.in[input], from + c * step_);
        }
      }
    });
  });
  return copy;
}

void FloatImages::Write(const StepArgs& args, int64_t n, int64_t place, const float* values) const {
  VisitFloat(type_, [&](auto element) {
    for (int64_t c = 0; c < channels_; ++c)
      element.Put(args.out[0], At(n, place) + c * step_, values[c]);
  });
}

void FloatImages::Add(const StepArgs& args, int input, DataType type, int64_t n, int64_t place,
                      float* values) const {
  VisitFloat(type, [&](auto element) {
    for (int64_t c = 0; c < channels_; ++c)
      values[c] += element.template As<float>(args.in[input], At(n, place) + c * step_);
  });
}

}  // namespace tenon::cpu
