// StringSplit, StringSplitV2: strings cut into parts, as a sparse matrix with a row for each.
#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

using Parts = std::vector<std::string_view>;

struct Split {
  int64_t rows;
  bool skip_empty = false;  // StringSplit
  int64_t most_cuts = -1;   // StringSplitV2; negative: any number
};

// At any of the delimiter's characters; without one, after every byte.
void SplitAtAny(std::string_view s, std::string_view delimiters, const Split& split, Parts* parts) {
  if (s.empty()) return;
  if (delimiters.empty()) {
    for (size_t i = 0; i < s.size(); ++i) parts->push_back(s.substr(i, 1));
    return;
  }
  for (size_t begin = 0; begin <= s.size();) {
    const size_t end = std::min(s.find_first_of(delimiters, begin), s.size());
    if (end > begin || !split.skip_empty) parts->push_back(s.substr(begin, end - begin));
    begin = end + 1;
  }
}

void SplitAtSpace(std::string_view s, int64_t most_cuts, Parts* parts) {
  s = absl::StripLeadingAsciiWhitespace(s);
  for (int64_t cuts = 0; !s.empty();) {
    const auto end = std::find_if(s.begin(), s.end(), absl::ascii_isspace);
    parts->push_back(s.substr(0, end - s.begin()));
    s = absl::StripLeadingAsciiWhitespace(s.substr(end - s.begin()));
    if (++cuts != most_cuts) continue;
    parts->push_back(s);
    return;
  }
}

void SplitAtText(std::string_view s, std::string_view separator, const Split& split, Parts* parts) {
  if (split.most_cuts == 0) return parts->push_back(s);
  if (separator.empty()) return SplitAtSpace(s, split.most_cuts, parts);
  for (int64_t cuts = 0; cuts != split.most_cuts; ++cuts) {
    const size_t end = s.find(separator);
    if (end == std::string_view::npos) break;
    parts->push_back(s.substr(0, end));
    s.remove_prefix(end + separator.size());
  }
  parts->push_back(s);
}

template <auto kSplit>
absl::Status RunSplit(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Split*>(state);
  const std::string_view separator = StringAt(args.in[1], 0);
  Parts parts;
  std::vector<size_t> ends;  // of the rows, in parts
  for (int64_t i = 0; i < s.rows; ++i) {
    kSplit(StringAt(args.in[0], i), separator, s, &parts);
    ends.push_back(parts.size());
  }
  const auto n = static_cast<int64_t>(parts.size());
  TENON_ASSIGN_OR_RETURN(void* const indices, args.run_state->AllocateOutput(0, Shape({n, 2})));
  TENON_ASSIGN_OR_RETURN(void* const values, args.run_state->AllocateOutput(1, Shape({n})));
  auto* index = static_cast<int64_t*>(indices);
  int64_t widest = 0;
  for (int64_t row = 0, begin = 0; row < s.rows; ++row) {
    const auto end = static_cast<int64_t>(ends[row]);
    for (int64_t k = begin; k < end; ++k, index += 2) {
      index[0] = row;
      index[1] = k - begin;
      PutString(values, k, parts[k]);
    }
    widest = std::max(widest, end - begin);
    begin = end;
  }
  auto* const shape = static_cast<int64_t*>(args.out[2]);
  shape[0] = s.rows;
  shape[1] = widest;
  return absl::OkStatus();
}

absl::StatusOr<Split> PrepareSplitOutputs(Prepare& p) {
  if (p.input_shape(0).rank() != 1) return p.Invalid("the strings must be a vector");
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, Shape({2}));
  return Split{p.input_shape(0).dim(0)};
}

absl::Status PrepareSplit(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Split s, PrepareSplitOutputs(p));
  if (p.input_shape(1).rank() > 1 || p.input_shape(1).num_elements() < 1)
    return p.Invalid("the delimiter must be a scalar, or a vector that is not empty");
  TENON_ASSIGN_OR_RETURN(s.skip_empty, p.AttrBool("skip_empty"));
  p.set_run(&RunSplit<&SplitAtAny>, std::make_shared<Split>(s));
  return absl::OkStatus();
}

absl::Status PrepareSplitV2(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Split s, PrepareSplitOutputs(p));
  if (p.input_shape(1).rank() != 0) return p.Invalid("the separator must be a scalar");
  TENON_ASSIGN_OR_RETURN(s.most_cuts, p.AttrInt("maxsplit"));
  p.set_run(&RunSplit<&SplitAtText>, std::make_shared<Split>(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StringSplitKernels() {
  static const CpuKernelSpec specs[] = {
      {"StringSplit", {}, PrepareSplit},
      {"StringSplitV2", {}, PrepareSplitV2},
  };
  return specs;
}

}  // namespace tenon::cpu
