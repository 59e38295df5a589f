// CTCGreedyDecoder and CTCBeamSearchDecoder: the labels of each sequence of a batch, as sparse
// matrices.
#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/ctc/ctc_beam_search.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Decoder {
  DataType type = DataType::kFloat;
  int64_t time = 0, batch = 0, classes = 0;
  bool merge_repeated = false;
  int64_t blank = 0;       // greedy
  int64_t beam_width = 1;  // beam search
  int paths = 1;           // sequences for each of the batch

  int64_t At(int64_t t, int64_t b) const { return (t * batch + b) * classes; }
};

using Labels = std::vector<int64_t>;

absl::Status CheckLengths(const Decoder& s, const int32_t* lengths) {
  for (int64_t b = 0; b < s.batch; ++b) {
    // A negative length has no steps.
    if (lengths[b] <= s.time) continue;
    return absl::FailedPreconditionError(absl::StrCat("sequence_length[", b, "] = ", lengths[b],
                                                      " is above the ", s.time,
                                                      " steps of the inputs"));
  }
  return absl::OkStatus();
}

// Outputs `path`, paths + path and 2 * paths + path: the places, values and shape of a sparse
// matrix whose row b is decoded[b].
absl::Status StoreSparse(const Decoder& s, const StepArgs& args, int path,
                         const std::vector<Labels>& decoded) {
  int64_t count = 0, longest = 0;
  for (const Labels& row : decoded) {
    count += static_cast<int64_t>(row.size());
    longest = std::max(longest, static_cast<int64_t>(row.size()));
  }
  TENON_ASSIGN_OR_RETURN(void* indices, args.run_state->AllocateOutput(path, Shape({count, 2})));
  TENON_ASSIGN_OR_RETURN(void* values,
                         args.run_state->AllocateOutput(s.paths + path, Shape({count})));
  auto* place = static_cast<int64_t*>(indices);
  auto* value = static_cast<int64_t*>(values);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (size_t i = 0; i < decoded[b].size(); ++i) {
      *place++ = b;
      *place++ = static_cast<int64_t>(i);
      *value++ = decoded[b][i];
    }
  }
  // The shape is a static output: it has two elements, whatever is decoded.
  auto* const shape = static_cast<int64_t*>(args.out[2 * s.paths + path]);
  shape[0] = s.batch;
  shape[1] = longest;
  return absl::OkStatus();
}

// The largest class at each time; minus the sum of their logits.
absl::Status RunGreedy(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Decoder*>(state);
  const auto* const lengths = static_cast<const int32_t*>(args.in[1]);
  TENON_RETURN_IF_ERROR(CheckLengths(s, lengths));
  std::vector<Labels> decoded(s.batch);
  VisitFloat(s.type, [&](auto element) {
    for (int64_t b = 0; b < s.batch; ++b) {
      double sum = 0;
      int64_t before = -1;
      for (int64_t t = 0; t < lengths[b]; ++t) {
        const auto at = [&](int64_t c) {
          return element.template As<double>(args.in[0], s.At(t, b) + c);
        };
        int64_t best = 0;
        for (int64_t c = 1; c < s.classes; ++c) {
          if (at(c) > at(best)) best = c;
        }
        sum -= at(best);
        // A blank between two equal labels keeps both: `before` is then the blank.
        if (best != s.blank && !(s.merge_repeated && best == before)) decoded[b].push_back(best);
        before = best;
      }
      element.Put(args.out[3], b, sum);
    }
  });
  return StoreSparse(s, args, 0, decoded);
}

absl::Status RunBeamSearch(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Decoder*>(state);
  const auto* const lengths = static_cast<const int32_t*>(args.in[1]);
  TENON_RETURN_IF_ERROR(CheckLengths(s, lengths));
  std::vector<std::vector<Labels>> decoded(s.paths, std::vector<Labels>(s.batch));
  std::vector<int64_t> found(s.batch);
  // One for each element, so that the error returned does not depend on timing.
  std::vector<absl::Status> statuses(s.batch);
  args.workers->ParallelFor(s.batch, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> logits(s.classes);
    VisitFloat(s.type, [&](auto element) {
      for (int64_t b = begin; b < end; ++b) {
        CtcBeamSearch search(s.classes, s.beam_width);
        for (int64_t t = 0; t < lengths[b]; ++t) {
          for (int64_t c = 0; c < s.classes; ++c)
            logits[c] = element.template As<double>(args.in[0], s.At(t, b) + c);
          statuses[b] = search.Step(logits.data());
          if (!statuses[b].ok()) return;
        }
        std::vector<CtcBeamSearch::Path> best = search.BestPaths(s.paths, s.merge_repeated);
        found[b] = static_cast<int64_t>(best.size());
        for (int64_t i = 0; i < found[b]; ++i) {
          decoded[i][b] = std::move(best[i].labels);
          element.Put(args.out[3 * s.paths], b * s.paths + i, best[i].log_probability);
        }
      }
    });
  });
  for (int64_t b = 0; b < s.batch; ++b) {
    TENON_RETURN_IF_ERROR(statuses[b]);
    if (found[b] >= s.paths) continue;
    return absl::InvalidArgumentError(absl::StrCat("batch element ", b, " has only ", found[b],
                                                   " paths, ", s.paths, " are asked for"));
  }
  for (int i = 0; i < s.paths; ++i) TENON_RETURN_IF_ERROR(StoreSparse(s, args, i, decoded[i]));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Decoder>> ReadDecoder(Prepare& p, int paths) {
  const Shape& inputs = p.input_shape(0);
  if (inputs.rank() != 3)
    return p.Invalid(absl::StrCat("the inputs must have rank 3, not ", inputs.ToString()));
  if (inputs.num_elements() == 0)
    return p.Invalid(absl::StrCat("the inputs must not be empty, as ", inputs.ToString()));
  auto s = std::make_shared<Decoder>();
  s->type = p.input_type(0);
  s->time = inputs.dim(0);
  s->batch = inputs.dim(1);
  s->classes = inputs.dim(2);
  s->paths = paths;
  if (!(p.input_shape(1) == Shape({s->batch}))) {
    return absl::FailedPreconditionError(absl::StrCat("sequence_length must have the shape [",
                                                      s->batch, "] of the batch, not ",
                                                      p.input_shape(1).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(s->merge_repeated, p.AttrBool("merge_repeated"));
  for (int i = 0; i < paths; ++i) {
    p.set_dynamic_output(i);
    p.set_dynamic_output(paths + i);
    p.set_output_shape(2 * paths + i, Shape({2}));
  }
  p.set_output_shape(3 * paths, Shape({s->batch, paths}));
  return s;
}

absl::Status PrepareGreedy(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Decoder> s, ReadDecoder(p, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t blank, p.AttrInt("blank_index"));
  s->blank = blank < 0 ? blank + s->classes : blank;
  if (s->blank < 0 || s->blank >= s->classes) {
    return p.Invalid(
        absl::StrCat("blank_index ", blank, " is not in [", -s->classes, ", ", s->classes, ")"));
  }
  p.set_run(&RunGreedy, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareBeamSearch(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t paths, p.AttrInt("top_paths"));
  TENON_ASSIGN_OR_RETURN(const int64_t beam_width, p.AttrInt("beam_width"));
  if (paths < 1 || p.num_outputs() != 3 * paths + 1)
    return p.Invalid(absl::StrCat("top_paths must be positive, not ", paths));
  if (beam_width < paths)
    return p.Invalid(absl::StrCat("top_paths ", paths, " is above the beam_width ", beam_width));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<Decoder> s, ReadDecoder(p, static_cast<int>(paths)));
  s->beam_width = beam_width;
  p.set_run(&RunBeamSearch, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kTypes = TypeBits(DataType::kFloat, DataType::kDouble);

const CpuKernelSpec kCtcDecoderKernels[] = {
    {"CTCGreedyDecoder", {{"T", kTypes}}, &PrepareGreedy},
    {"CTCBeamSearchDecoder", {{"T", kTypes}}, &PrepareBeamSearch},
};

}  // namespace

absl::Span<const CpuKernelSpec> CtcDecoderKernels() { return kCtcDecoderKernels; }

}  // namespace tenon::cpu
