// Filters packed for the loops over windows: whole vectors, in the order in which the loops read
// them.
#include "plugin/cpu/nn/windows/window_filter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

WindowLoops ChooseWindowLoops() {
  return SelectIsa(&sse2::GetWindowLoops, &avx2::GetWindowLoops, &avx512::GetWindowLoops)();
}

WindowFilter::WindowFilter(const ConvProblem& q, Direction direction)
    : places_(q.window_places()),
      groups_(q.groups),
      depth_(q.in_per_group()),
      columns_(q.out_per_group()),
      place_step_(q.place_elements()),
      group_step_(q.out_per_group()),
      depth_step_(q.out_channels),
      column_step_(1) {
  if (direction == Direction::kBackward) {
    // The input's gradient sums over outputs and makes inputs.
    std::swap(depth_, columns_);
    std::swap(depth_step_, column_step_);
  }
  // Few columns would leave most lanes of a vector of columns empty; lanes along the depth are
  // full.
  narrow_ = columns_ <= loops_.narrow && depth_ >= loops_.width;
}

size_t WindowFilter::bytes() const {
  return AlignedBytes(groups_ * group_floats() * sizeof(float));
}

template <typename Element>
void WindowFilter::PackPlace(Element element, const void* filter, int64_t group, int64_t place,
                             float* packed) const {
  const int64_t first = place * place_step_ + group * group_step_;
  // `count` rows of `size` values, in whole vectors.
  const auto pack = [&](int64_t from, int64_t count, int64_t row_step, int64_t size, int64_t step,
                        float* to) {
    const int64_t width = InVectors(size);
    for (int64_t i = 0; i < count; ++i, from += row_step, to += width) {
      for (int64_t k = 0; k < size; ++k)
        to[k] = element.template As<float>(filter, from + k * step);
      std::fill(to + size, to + width, 0.0F);
    }
  };
  if (narrow_) {
    float* const to = packed + BlockAt(group, 0) + place * columns_ * InVectors(depth_);
    return pack(first, columns_, column_step_, depth_, depth_step_, to);
  }
  for (int64_t j = 0; j < columns_; j += loops_.columns) {
    const int64_t size = std::min(loops_.columns, columns_ - j);
    float* const to = packed + BlockAt(group, j) + place * depth_ * InVectors(size);
    pack(first + j * column_step_, depth_, depth_step_, size, column_step_, to);
  }
}

void WindowFilter::Pack(Workers& workers, DataType type, const void* filter, float* packed) const {
  const int64_t grain = GrainFor(depth_ * columns_ * static_cast<int64_t>(sizeof(float)));
  workers.ParallelFor(groups_ * places_, grain, [&](int64_t begin, int64_t end) {
    VisitFloat(type, [&](auto element) {
      for (int64_t i = begin; i < end; ++i)
        PackPlace(element, filter, i / places_, i % places_, packed);
    });
  });
}

absl::StatusOr<std::shared_ptr<const PackedBytes>> WindowFilter::PackConstant(Prepare& p) const {
  const void* const filter = p.input_value(1)->data();
  const std::string key =
      // The key names what the packed bytes depend on. The instruction set does not change in a
      // process; the last number tells the directions apart.
      absl::StrCat("windows:", places_, "x", groups_, "x", depth_, "x", columns_, "/", depth_step_);
  const auto packed = p.session().GetPacked(filter, key, [&] {
    const auto bytes = PackedBytes::Make(this->bytes());
    if (bytes != nullptr)
      Pack(p.workers(), p.input_type(1), filter, static_cast<float*>(bytes->data));
    return bytes;
  });
  if (packed == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for packed weights of ", bytes(), " bytes"));
  p.DropInput(1);
  return std::static_pointer_cast<const PackedBytes>(packed);
}

}  // namespace tenon::cpu
