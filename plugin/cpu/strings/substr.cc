// Substr: parts of strings, by bytes or by characters of UTF-8.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Substr {
  BroadcastPlan plan;
  bool index64, characters;
};

// Whether there were n characters to go over, from `*at` towards the end or the beginning.
bool GoForward(std::string_view s, int64_t n, size_t* at) {
  for (; n > 0 && *at < s.size(); --n) {
    do ++*at;
    while (*at < s.size() && IsTrailByte(s[*at]));
  }
  return n == 0;
}
bool GoBack(std::string_view s, int64_t n, size_t* at) {
  for (; n > 0 && *at > 0; --n) {
    do --*at;
    while (*at > 0 && IsTrailByte(s[*at]));
  }
  return n == 0;
}

// nullopt if the string has no such place.
std::optional<std::string_view> PartOfBytes(std::string_view s, int64_t from, int64_t length) {
  const auto size = static_cast<int64_t>(s.size());
  if (from < 0) from += size;
  if (from < 0 || from > size) return std::nullopt;
  return s.substr(from, length < 0 ? std::string_view::npos : length);
}

std::optional<std::string_view> PartOfCharacters(std::string_view s, int64_t from, int64_t length) {
  size_t begin = 0, end = s.size();
  if (from >= 0) {
    if (!GoForward(s, from, &begin)) return std::nullopt;
    end = begin;
    GoForward(s, length, &end);  // as far as there are characters
  } else {
    const int64_t behind = std::max<int64_t>(-from - length, 0);
    if (!GoBack(s, behind, &end)) return std::nullopt;
    begin = end;
    if (!GoBack(s, -from - behind, &begin)) return std::nullopt;
  }
  return s.substr(begin, end - begin);
}

absl::Status RunSubstr(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Substr*>(state);
  constexpr int64_t kFar = int64_t{1} << 60;  // beyond any string; sums do not overflow
  const int64_t n = s.plan.shape.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, string = 0, place = 0;
    for (int d = static_cast<int>(s.plan.size.size()) - 1; d >= 0; --d) {
      string += rest % s.plan.size[d] * s.plan.stride[0][d];
      place += rest % s.plan.size[d] * s.plan.stride[1][d];
      rest /= s.plan.size[d];
    }
    const std::string_view text = StringAt(args.in[0], string);
    const int64_t from = LoadIndex(args.in[1], s.index64, place);
    const int64_t length = LoadIndex(args.in[2], s.index64, place);
    const std::optional<std::string_view> part = (s.characters ? PartOfCharacters : PartOfBytes)(
        text, std::clamp(from, -kFar, kFar), std::clamp(length, -kFar, kFar));
    if (!part.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("position ", from, " is not in string ",
                                                     string, ", of ", text.size(), " bytes"));
    }
    PutString(args.out[0], i, *part);
  }
  return absl::OkStatus();
}

absl::Status PrepareSubstr(Prepare& p) {
  if (!(p.input_shape(1) == p.input_shape(2)))
    return p.Invalid("'pos' and 'len' must have one shape");
  TENON_ASSIGN_OR_RETURN(const std::string_view unit, p.AttrString("unit"));
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1)};
  std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan.has_value()) return p.Invalid("the shapes do not broadcast together");
  p.set_output_shape(0, plan->shape);
  p.set_run(&RunSubstr,
            std::make_shared<Substr>(Substr{*std::move(plan), p.input_type(1) == DataType::kInt64,
                                            unit == "UTF8_CHAR"}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SubstrKernels() {
  static const CpuKernelSpec specs[] = {{"Substr", {{"T", kEveryType}}, PrepareSubstr}};
  return specs;
}

}  // namespace tenon::cpu
