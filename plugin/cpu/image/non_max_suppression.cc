// NonMaxSuppression to NonMaxSuppressionV5 and NonMaxSuppressionWithOverlaps: boxes in order of
// their scores, without those that overlap a better one too much.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/box.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct NmsState {
  int64_t boxes = 0;
  DataType type;
  DataType threshold_type = DataType::kFloat;
  int version = 1;
  float iou_threshold = 0.5f;  // version 1 only; the others have it as an input
  bool pad = false;
};

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
void Select(absl::FunctionRef<float(int64_t, int64_t)> overlap_of, const float* scores, int64_t n,
            const Limits& limits, std::vector<int32_t>* chosen, std::vector<float>* chosen_scores) {
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
    // Only boxes that were chosen since the candidate was last looked at: its score counts the
    // others already.
    for (int64_t k = static_cast<int64_t>(chosen->size()) - 1; k >= next.checked; --k) {
      const float overlap = overlap_of(next.box, (*chosen)[k]);
      if (overlap > limits.overlap && limits.sigma <= 0) dropped = true;
      if (limits.sigma > 0) {
        next.score *= std::exp(scale * overlap * overlap);
      } else if (std::isnan(overlap)) {
        next.score *= 0;  // neither too much nor not: it comes last, as in TensorFlow
      }
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
const float* Floats(DataType type, const StepArgs& args, int k, int64_t n,
                    std::vector<float>* buffer) {
  if (type == DataType::kFloat) return static_cast<const float*>(args.in[k]);
  buffer->resize(n);
  VisitFloat(type, [&](auto element) {
    for (int64_t i = 0; i < n; ++i) (*buffer)[i] = element.template As<float>(args.in[k], i);
  });
  return buffer->data();
}

absl::Status CheckCount(const Limits& limits) {
  if (limits.count >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("max_output_size must not be negative: ", limits.count));
}

absl::StatusOr<Limits> ReadLimits(const NmsState& s, const StepArgs& args) {
  Limits limits;
  std::vector<float> wide;
  limits.count = *static_cast<const int32_t*>(args.in[2]);
  limits.overlap = s.version == 1 ? s.iou_threshold : *Floats(s.threshold_type, args, 3, 1, &wide);
  if (s.version >= 3) limits.score = *Floats(s.threshold_type, args, 4, 1, &wide);
  if (s.version >= 5) limits.sigma = *Floats(s.type, args, 5, 1, &wide);
  TENON_RETURN_IF_ERROR(CheckCount(limits));
  if (!(limits.overlap >= 0 && limits.overlap <= 1))
    return absl::InvalidArgumentError("iou_threshold must be in [0, 1]");
  if (!(limits.sigma >= 0))
    return absl::InvalidArgumentError("soft_nms_sigma must not be negative");
  return limits;
}

// Output 0: the chosen boxes, then zeros for `padding` more.
absl::Status StoreChosen(const std::vector<int32_t>& chosen, int64_t padding, RunState* run_state) {
  const int64_t n = static_cast<int64_t>(chosen.size());
  TENON_ASSIGN_OR_RETURN(void* out, run_state->AllocateOutput(0, Shape({n + padding})));
  int32_t* const boxes = static_cast<int32_t*>(out);
  std::fill_n(std::copy(chosen.begin(), chosen.end(), boxes), padding, 0);
  return absl::OkStatus();
}

// Output 1: their scores.
absl::Status StoreScores(const NmsState& s, const std::vector<float>& scores, int64_t padding,
                         RunState* run_state) {
  const int64_t n = static_cast<int64_t>(scores.size());
  TENON_ASSIGN_OR_RETURN(void* out, run_state->AllocateOutput(1, Shape({n + padding})));
  VisitFloat(s.type, [&](auto element) {
    for (int64_t i = 0; i < n; ++i) element.Put(out, i, scores[i]);
    for (int64_t i = n; i < n + padding; ++i) element.Put(out, i, 0.0f);
  });
  return absl::OkStatus();
}

absl::Status RunNms(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NmsState*>(state);
  TENON_ASSIGN_OR_RETURN(const Limits limits, ReadLimits(s, args));
  std::vector<float> wide_boxes, wide_scores;
  const float* boxes = Floats(s.type, args, 0, 4 * s.boxes, &wide_boxes);
  const float* scores = Floats(s.type, args, 1, s.boxes, &wide_scores);
  std::vector<int32_t> chosen;
  std::vector<float> chosen_scores;
  const auto overlap = [&](int64_t a, int64_t b) {
    return OverlapOf(BoxAt(boxes + 4 * a), BoxAt(boxes + 4 * b));
  };
  Select(overlap, scores, s.boxes, limits, &chosen, &chosen_scores);
  const int32_t valid = static_cast<int32_t>(chosen.size());
  const int64_t padding = s.pad ? limits.count - valid : 0;
  TENON_RETURN_IF_ERROR(StoreChosen(chosen, padding, args.run_state));
  if (s.version == 5) TENON_RETURN_IF_ERROR(StoreScores(s, chosen_scores, padding, args.run_state));
  if (s.version >= 4) *static_cast<int32_t*>(args.out[s.version == 5 ? 2 : 1]) = valid;
  return absl::OkStatus();
}

// The overlaps are input 0.
absl::Status RunGivenOverlaps(const void* state, const StepArgs& args) {
  const int64_t boxes = *static_cast<const int64_t*>(state);
  Limits limits;
  limits.count = *static_cast<const int32_t*>(args.in[2]);
  limits.overlap = *static_cast<const float*>(args.in[3]);
  limits.score = *static_cast<const float*>(args.in[4]);
  TENON_RETURN_IF_ERROR(CheckCount(limits));
  const auto overlap = [&](int64_t a, int64_t b) {
    return static_cast<const float*>(args.in[0])[a * boxes + b];
  };
  std::vector<int32_t> chosen;
  std::vector<float> chosen_scores;
  Select(overlap, static_cast<const float*>(args.in[1]), boxes, limits, &chosen, &chosen_scores);
  return StoreChosen(chosen, 0, args.run_state);
}

absl::Status PrepareGivenOverlaps(Prepare& p) {
  const Shape &overlaps = p.input_shape(0), &scores = p.input_shape(1);
  if (overlaps.rank() != 2 || overlaps.dim(0) != overlaps.dim(1))
    return p.Invalid("the overlaps must be a square matrix");
  if (scores.rank() != 1 || scores.dim(0) != overlaps.dim(0))
    return p.Invalid("there must be one score per box");
  TENON_RETURN_IF_ERROR(CheckScalars(p, 2, p.num_inputs()));
  p.set_dynamic_output(0);
  p.set_run(&RunGivenOverlaps, std::make_shared<int64_t>(overlaps.dim(0)));
  return absl::OkStatus();
}

template <int kVersion>
absl::Status PrepareNms(Prepare& p) {
  const Shape& boxes = p.input_shape(0);
  const Shape& scores = p.input_shape(1);
  if (boxes.rank() != 2 || boxes.dim(1) != 4) return p.Invalid("the boxes must have shape [n,4]");
  if (scores.rank() != 1 || scores.dim(0) != boxes.dim(0))
    return p.Invalid("there must be one score per box");
  TENON_RETURN_IF_ERROR(CheckScalars(p, 2, p.num_inputs()));
  auto s = std::make_shared<NmsState>();
  s->boxes = boxes.dim(0);
  s->type = p.input_type(0);
  if (kVersion > 1) s->threshold_type = p.input_type(3);
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
      {"NonMaxSuppressionWithOverlaps", {}, PrepareGivenOverlaps},
  };
  return specs;
}

}  // namespace tenon::cpu
