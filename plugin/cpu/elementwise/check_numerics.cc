// CheckNumerics and CheckNumericsV2: a copy that fails if an element is infinite or NaN.
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CheckState {
  int64_t n = 0;
  DataType type;
  std::string message;
  bool signs = false;  // tell +Inf from -Inf
};

// `exponent`: the bits of an element that are all set in infinities and NaNs only.
template <typename Bits>
bool AllFinite(const void* data, int64_t begin, int64_t end, Bits exponent) {
  const Bits* x = static_cast<const Bits*>(data);
  // No early exit: without a branch the compiler can use vectors, and an error is rare.
  bool finite = true;
  for (int64_t i = begin; i < end; ++i) finite &= (x[i] & exponent) != exponent;
  return finite;
}

bool AllFinite(DataType type, const void* data, int64_t begin, int64_t end) {
  switch (type) {
    case DataType::kFloat:
      return AllFinite<uint32_t>(data, begin, end, 0x7f800000);
    case DataType::kDouble:
      return AllFinite<uint64_t>(data, begin, end, 0x7ff0000000000000);
    case DataType::kHalf:
      return AllFinite<uint16_t>(data, begin, end, 0x7c00);
    default:
      return AllFinite<uint16_t>(data, begin, end, 0x7f80);
  }
}

// "-Inf and NaN", say: what the tensor has of these.
std::string WhatIsWrong(const CheckState& s, const void* data) {
  bool nan = false, positive = false, negative = false;
  VisitFloat(s.type, [&](auto element) {
    for (int64_t i = 0; i < s.n; ++i) {
      const double x = element.template As<double>(data, i);
      nan |= std::isnan(x);
      positive |= std::isinf(x) && x > 0;
      negative |= std::isinf(x) && x < 0;
    }
  });
  std::vector<std::string_view> found;
  if (s.signs && negative) found.push_back("-Inf");
  if (s.signs && positive) found.push_back("+Inf");
  if (!s.signs && (negative || positive)) found.push_back("Inf");
  if (nan) found.push_back("NaN");
  return absl::StrJoin(found, " and ");
}

absl::Status RunCheck(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CheckState*>(state);
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(s.type));
  const char* in = static_cast<const char*>(args.in[0]);
  char* out = static_cast<char*>(args.out[0]);
  std::atomic<bool> finite = true;
  args.workers->ParallelFor(s.n, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    if (!AllFinite(s.type, in, begin, end)) finite = false;
    // The copy and the check share one pass over memory.
    if (out != in) std::memcpy(out + begin * bytes, in + begin * bytes, (end - begin) * bytes);
  });
  if (finite) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(s.message, " : Tensor had ", WhatIsWrong(s, in), " values"));
}

absl::Status PrepareCheck(Prepare& p) {
  auto s = std::make_shared<CheckState>();
  TENON_ASSIGN_OR_RETURN(const std::string_view message, p.AttrString("message"));
  s->message = std::string(message);
  s->n = p.input_shape(0).num_elements();
  s->type = p.input_type(0);
  s->signs = p.op().name == "CheckNumericsV2";
  p.set_output_shape(0, p.input_shape(0));
  p.AllowInPlace(0, 0);
  p.set_run(&RunCheck, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CheckNumericsKernels() {
  static const CpuKernelSpec specs[] = {
      {"CheckNumerics", {{"T", kFloatTypes}}, PrepareCheck},
      {"CheckNumericsV2", {{"T", kFloatTypes}}, PrepareCheck},
  };
  return specs;
}

}  // namespace tenon::cpu
