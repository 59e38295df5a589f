// NonMaxSuppression to NonMaxSuppressionV5: boxes in order of their scores, without those that
// overlap a better one too much.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/elementwise/element_op.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

struct NmsState {
  int64_t boxes = 0;
  DataType type;
  int version = 1;
  float iou_threshold = 0.5f;  // version 1 only; the others have it as an input
  bool pad = false;
};

struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

// Corners may come in any order.
Box BoxAt(const float* boxes, int64_t i) {
  const float* b = boxes + 4 * i;
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

float OverlapOf(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  const float shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

struct Limits {
  int64_t count = 0;
  float overlap = 0.5f, score = -std::numeric_limits<float>::infinity(), sigma = 0;
};

struct Candidate {
  int64_t box;
  float score;
  int64_t checked;  // selected boxes that its score takes account of
};

// A higher score first, then a lower number.
bool Later(const Candidate& a, const Candidate& b) {
  return a.score == b.score ? a.box > b.box : a.score < b.score;
}

// With sigma > 0 a box that overlaps loses score instead of being dropped (Bodla et al.,
// "Soft-NMS", ICCV 2017).
void Select(const float* boxes, const float* scores, int64_t n, const Limits& limits,
            std::vector<int32_t>* chosen, std::vector<float>* chosen_scores) {
  std::vector<Candidate> heap;
  for (int64_t i = 0; i < n; ++i) {
    if (scores[i] > limits.score) heap.push_back({i, scores[i], 0});
  }
  std::make_heap(heap.begin(), heap.end(), Later);
  const float scale = limits.sigma > 0 ? -0.5f / limits.sigma : 0.0f;
  while (static_cast<int64_t>(chosen->size()) < limits.count && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), Later);
    Candidate next = heap.back();
    heap.pop_back();
    const float before = next.score;
    bool dropped = false;
    for (int64_t k = static_cast<int64_t>(chosen->size()) - 1; k >= next.checked; --k) {
      const float overlap = OverlapOf(BoxAt(boxes, next.box), BoxAt(boxes, (*chosen)[k]));
      if (overlap > limits.overlap && limits.sigma <= 0) dropped = true;
      if (limits.sigma > 0)
        next.score *= overlap <= limits.overlap ? std::exp(scale * overlap * overlap) : 0.0f;
      if (dropped || next.score <= limits.score) break;
    }
    next.checked = static_cast<int64_t>(chosen->size());
    if (dropped) continue;
    if (next.score == before) {
      chosen->push_back(static_cast<int32_t>(next.box));
      chosen_scores->push_back(next.score);
    } else if (next.score > limits.score) {
      heap.push_back(next);
      std::push_heap(heap.begin(), heap.end(), Later);
    }
  }
}

// Input k's floats; half precision is widened into `buffer`.
const float* Floats(const NmsState& s, const StepArgs& args, int k, int64_t n,
                    std::vector<float>* buffer) {
  if (s.type == DataType::kFloat) return static_cast<const float*>(args.in[k]);
  buffer->resize(n);
  const void* in[] = {args.in[k]};
  FindCastLoop(s.type, DataType::kFloat)(in, buffer->data(), n, 0);
  return buffer->data();
}

absl::StatusOr<Limits> ReadLimits(const NmsState& s, const StepArgs& args) {
  Limits limits;
  std::vector<float> wide;
  limits.count = *static_cast<const int32_t*>(args.in[2]);
  limits.overlap = s.version == 1 ? s.iou_threshold : *Floats(s, args, 3, 1, &wide);
  if (s.version >= 3) limits.score = *Floats(s, args, 4, 1, &wide);
  if (s.version >= 5) limits.sigma = *Floats(s, args, 5, 1, &wide);
  if (limits.count < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("max_output_size must not be negative: ", limits.count));
  if (!(limits.overlap >= 0 && limits.overlap <= 1))
    return absl::InvalidArgumentError("iou_threshold must be in [0, 1]");
  if (!(limits.sigma >= 0))
    return absl::InvalidArgumentError("soft_nms_sigma must not be negative");
  return limits;
}

absl::Status StoreFloats(const NmsState& s, const std::vector<float>& values, RunState* run_state) {
  const int64_t n = static_cast<int64_t>(values.size());
  TENON_ASSIGN_OR_RETURN(void* out, run_state->AllocateOutput(1, Shape({n})));
  const void* in[] = {values.data()};
  FindCastLoop(DataType::kFloat, s.type)(in, out, n, 0);
  return absl::OkStatus();
}

absl::Status RunNms(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NmsState*>(state);
  TENON_ASSIGN_OR_RETURN(const Limits limits, ReadLimits(s, args));
  std::vector<float> wide_boxes, wide_scores;
  const float* boxes = Floats(s, args, 0, 4 * s.boxes, &wide_boxes);
  const float* scores = Floats(s, args, 1, s.boxes, &wide_scores);
  std::vector<int32_t> chosen;
  std::vector<float> chosen_scores;
  Select(boxes, scores, s.boxes, limits, &chosen, &chosen_scores);
  const int32_t valid = static_cast<int32_t>(chosen.size());
  if (s.pad) {
    chosen.resize(limits.count, 0);
    chosen_scores.resize(limits.count, 0);
  }
  const int64_t n = static_cast<int64_t>(chosen.size());
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, Shape({n})));
  if (n > 0) std::memcpy(out, chosen.data(), n * sizeof(int32_t));
  if (s.version == 5) TENON_RETURN_IF_ERROR(StoreFloats(s, chosen_scores, args.run_state));
  if (s.version >= 4) *static_cast<int32_t*>(args.out[s.version == 5 ? 2 : 1]) = valid;
  return absl::OkStatus();
}

template <int kVersion>
absl::Status PrepareNms(Prepare& p) {
  const Shape& boxes = p.input_shape(0);
  const Shape& scores = p.input_shape(1);
  if (boxes.rank() != 2 || boxes.dim(1) != 4) return p.Invalid("the boxes must have shape [n,4]");
  if (scores.rank() != 1 || scores.dim(0) != boxes.dim(0))
    return p.Invalid("there must be one score per box");
  for (int i = 2; i < p.num_inputs(); ++i) {
    if (p.input_shape(i).rank() != 0)
      return p.Invalid(absl::StrCat("input ", i, " must be a scalar"));
  }
  auto s = std::make_shared<NmsState>();
  s->boxes = boxes.dim(0);
  s->type = p.input_type(0);
  s->version = kVersion;
  if (kVersion == 1) {
    TENON_ASSIGN_OR_RETURN(s->iou_threshold, p.AttrFloat("iou_threshold"));
  }
  if (kVersion >= 4) {
    TENON_ASSIGN_OR_RETURN(s->pad, p.AttrBool("pad_to_max_output_size"));
    p.set_output_shape(kVersion == 5 ? 2 : 1, Shape());
  }
  p.set_dynamic_output(0);
  if (kVersion == 5) p.set_dynamic_output(1);
  p.set_run(&RunNms, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> NonMaxSuppressionKernels() {
  constexpr uint64_t kTypes = TypeBits(DataType::kFloat, DataType::kHalf);
  static const CpuKernelSpec specs[] = {
      {"NonMaxSuppression", {}, PrepareNms<1>},
      {"NonMaxSuppressionV2", {{"T", kTypes}}, PrepareNms<2>},
      {"NonMaxSuppressionV3", {{"T", kTypes}}, PrepareNms<3>},
      {"NonMaxSuppressionV4", {{"T", kTypes}}, PrepareNms<4>},
      {"NonMaxSuppressionV5", {{"T", kTypes}}, PrepareNms<5>},
  };
  return specs;
}

}  // namespace tenon::cpu
