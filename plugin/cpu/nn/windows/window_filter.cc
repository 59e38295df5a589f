#include "plugin/cpu/nn/windows/window_filter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"

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
  if (direction == Direction::kForward) return;
  std::swap(depth_, columns_);
  std::swap(depth_step_, column_step_);
}

int64_t WindowFilter::group_floats() const {
  return places_ * depth_ * ((columns_ + loops_.width - 1) / loops_.width * loops_.width);
}

size_t WindowFilter::bytes() const {
  return AlignedBytes(groups_ * group_floats() * sizeof(float));
}

template <typename Element>
void WindowFilter::PackPlace(Element element, const void* filter, int64_t group, int64_t place,
                             float* packed) const {
  for (int64_t j = 0; j < columns_; j += loops_.columns) {
    const int64_t some = std::min(loops_.columns, columns_ - j);
    const int64_t width = (some + loops_.width - 1) / loops_.width * loops_.width;
    float* to = packed + BlockAt(group, j) + place * depth_ * width;
    int64_t from = place * place_step_ + group * group_step_ + j * column_step_;
    for (int64_t c = 0; c < depth_; ++c, to += width, from += depth_step_) {
      for (int64_t k = 0; k < some; ++k)
        to[k] = element.template As<float>(filter, from + k * column_step_);
      std::fill(to + some, to + width, 0.0F);
    }
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
      absl::StrCat("windows:", places_, "x", groups_, "x", depth_, "x", columns_, "/", depth_step_);
  const auto packed = p.session().GetPacked(filter, key, [&] {
    auto bytes = std::make_shared<PackedBytes>(this->bytes());
    if (bytes->data != nullptr)
      Pack(p.workers(), p.input_type(1), filter, static_cast<float*>(bytes->data));
    return bytes;
  });
  auto result = std::static_pointer_cast<const PackedBytes>(packed);
  if (result->data == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for packed weights of ", bytes(), " bytes"));
  p.DropInput(1);
  return result;
}

}  // namespace tenon::cpu
