// CombinedNonMaxSuppression: the best boxes of each class, then the best of all classes.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/box.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CombinedNms {
  int64_t batch, boxes, classes;
  int64_t box_sets;  // a box for each class, or 1
  int64_t per_class, total;
  bool clip;
};

struct Detection {
  int64_t box, of_class;
  float score;
};

bool Worse(const Detection& a, const Detection& b) { return a.score < b.score; }
bool Better(const Detection& a, const Detection& b) { return a.score > b.score; }

// The boxes of one class by falling scores, without those that overlap a better one.
void SelectOfClass(const CombinedNms& s, const float* boxes, const float* scores, int64_t of_class,
                   float overlap, float least_score, std::vector<Detection>* result) {
  const auto box_of = [&](const Detection& d) {
    return BoxAt(boxes + (d.box * s.box_sets + (s.box_sets > 1 ? of_class : 0)) * 4);
  };
  std::vector<Detection> heap;
  for (int64_t i = 0; i < s.boxes; ++i) {
    const float score = scores[i * s.classes + of_class];
    if (!(score > least_score)) continue;
    heap.push_back({i, of_class, score});
    // One by one, as TensorFlow's priority queue does: the order of equal scores follows from it.
    std::push_heap(heap.begin(), heap.end(), Worse);
  }
  const size_t first = result->size();
  while (static_cast<int64_t>(result->size() - first) < s.per_class && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), Worse);
    const Detection next = heap.back();
    heap.pop_back();
    const Box box = box_of(next);
    const bool hidden =
        std::any_of(result->begin() + static_cast<int64_t>(first), result->end(),
                    [&](const Detection& d) { return OverlapOf(box, box_of(d)) > overlap; });
    if (!hidden) result->push_back(next);
  }
}

void StoreImage(const CombinedNms& s, const StepArgs& args, int64_t n, const float* boxes,
                const std::vector<Detection>& detections) {
  const int64_t valid = std::min<int64_t>(s.total, static_cast<int64_t>(detections.size()));
  float* const out_boxes = static_cast<float*>(args.out[0]) + n * s.total * 4;
  float* const out_scores = static_cast<float*>(args.out[1]) + n * s.total;
  float* const out_classes = static_cast<float*>(args.out[2]) + n * s.total;
  std::fill(out_boxes, out_boxes + s.total * 4, 0.0f);
  std::fill(out_scores, out_scores + s.total, 0.0f);
  std::fill(out_classes, out_classes + s.total, 0.0f);
  for (int64_t i = 0; i < valid; ++i) {
    const Detection& d = detections[i];
    const float* const box = boxes + (d.box * s.box_sets + (s.box_sets > 1 ? d.of_class : 0)) * 4;
    for (int k = 0; k < 4; ++k)
      out_boxes[4 * i + k] = s.clip ? std::max(std::min(box[k], 1.0f), 0.0f) : box[k];
    out_scores[i] = d.score;
    out_classes[i] = static_cast<float>(d.of_class);
  }
  static_cast<int32_t*>(args.out[3])[n] = static_cast<int32_t>(valid);
}

absl::Status RunCombinedNms(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CombinedNms*>(state);
  const float overlap = *static_cast<const float*>(args.in[4]);
  const float least_score = *static_cast<const float*>(args.in[5]);
  if (!(overlap >= 0 && overlap <= 1))
    return absl::InvalidArgumentError(absl::StrCat("iou_threshold must be in [0, 1]: ", overlap));
  args.workers->ParallelFor(s.batch, 1, [&](int64_t begin, int64_t end) {
    std::vector<Detection> detections;
    for (int64_t n = begin; n < end; ++n) {
      const float* const boxes =
          static_cast<const float*>(args.in[0]) + n * s.boxes * s.box_sets * 4;
      const float* const scores = static_cast<const float*>(args.in[1]) + n * s.boxes * s.classes;
      detections.clear();
      for (int64_t c = 0; c < s.classes; ++c)
        SelectOfClass(s, boxes, scores, c, overlap, least_score, &detections);
      // Stable: equal scores stay in the order of their classes.
      std::stable_sort(detections.begin(), detections.end(), Better);
      StoreImage(s, args, n, boxes, detections);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareCombinedNms(Prepare& p) {
  const Shape &boxes = p.input_shape(0), &scores = p.input_shape(1);
  if (boxes.rank() != 4 || boxes.dim(3) != 4) {
    return p.Invalid(
        absl::StrCat("the boxes must have shape [batch,n,classes or 1,4], not ", boxes.ToString()));
  }
  if (scores.rank() != 3 || scores.dim(0) != boxes.dim(0) || scores.dim(1) != boxes.dim(1)) {
    return p.Invalid(absl::StrCat("the scores must have shape [", boxes.dim(0), ",", boxes.dim(1),
                                  ",classes], not ", scores.ToString()));
  }
  if (boxes.dim(2) != 1 && boxes.dim(2) != scores.dim(2)) {
    return p.Invalid(absl::StrCat("there must be boxes for 1 or for all ", scores.dim(2),
                                  " classes, not for ", boxes.dim(2)));
  }
  TENON_RETURN_IF_ERROR(CheckScalars(p, 2, 6));
  auto s = std::make_shared<CombinedNms>();
  s->batch = boxes.dim(0);
  s->boxes = boxes.dim(1);
  s->box_sets = boxes.dim(2);
  s->classes = s->boxes == 0 ? 0 : scores.dim(2);
  TENON_ASSIGN_OR_RETURN(s->per_class, InputInt(p, 2));
  TENON_ASSIGN_OR_RETURN(s->total, InputInt(p, 3));
  if (s->per_class <= 0) {
    return p.Invalid(
        absl::StrCat("max_output_size_per_class must be positive, not ", s->per_class));
  }
  if (s->total <= 0)
    return p.Invalid(absl::StrCat("max_total_size must be positive, not ", s->total));
  TENON_ASSIGN_OR_RETURN(s->clip, p.AttrBool("clip_boxes"));
  TENON_ASSIGN_OR_RETURN(const bool pad_per_class, p.AttrBool("pad_per_class"));
  TENON_ASSIGN_OR_RETURN(const Shape all, CheckedShape(p, {s->per_class, scores.dim(2)}));
  if (pad_per_class) s->total = std::min(s->total, all.num_elements());
  TENON_ASSIGN_OR_RETURN(Shape output, CheckedShape(p, {s->batch, s->total, 4}));
  p.set_output_shape(0, std::move(output));
  p.set_output_shape(1, Shape({s->batch, s->total}));
  p.set_output_shape(2, Shape({s->batch, s->total}));
  p.set_output_shape(3, Shape({s->batch}));
  p.set_run(&RunCombinedNms, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kCombinedNmsKernels[] = {
    {"CombinedNonMaxSuppression", {}, &PrepareCombinedNms, 0b1100},
};

}  // namespace

absl::Span<const CpuKernelSpec> CombinedNmsKernels() { return kCombinedNmsKernels; }

}  // namespace tenon::cpu
