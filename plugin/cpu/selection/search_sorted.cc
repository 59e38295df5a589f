// Places of values in sorted rows: LowerBound and UpperBound.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct SearchState {
  int64_t rows = 0, sorted = 0, values = 0;
  DataType type;
  bool upper = false;  // behind equal elements, else before them
  bool index64 = false;
};

// The number of elements of a row (from element `begin` on) that stand before `value`. Without
// jumps that depend on the values: half of them would be guessed wrong.
template <bool kUpper, typename Element, typename T>
int64_t CountBefore(Element element, const void* row, int64_t begin, int64_t count, T value) {
  int64_t first = begin;
  const auto before = [&](int64_t i) {
    const T x = element.template As<T>(row, i);
    return kUpper ? !(value < x) : x < value;
  };
  for (; count > 1; count -= count / 2) first += before(first + count / 2 - 1) ? count / 2 : 0;
  return first - begin + (count == 1 && before(first) ? 1 : 0);
}

absl::Status RunSearch(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SearchState*>(state);
  VisitElement(s.type, [&](auto element) {
    using T = typename decltype(element)::Ordered;
    if constexpr (!kIsComplex<T>) {
      const auto part = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const T value = element.template As<T>(args.in[1], i);
          const int64_t row = i / s.values * s.sorted;
          StoreIndex(args.out[0], s.index64, i,
                     s.upper ? CountBefore<true>(element, args.in[0], row, s.sorted, value)
                             : CountBefore<false>(element, args.in[0], row, s.sorted, value));
        }
      };
      args.workers->ParallelFor(s.rows * s.values, GrainFor(128), part);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareSearch(Prepare& p, bool upper) {
  const Shape& sorted = p.input_shape(0);
  const Shape& values = p.input_shape(1);
  if (sorted.rank() != 2 || values.rank() != 2 || sorted.dim(0) != values.dim(0))
    return p.Invalid("both inputs must be matrices with the same number of rows");
  auto s = std::make_shared<SearchState>();
  s->rows = sorted.dim(0);
  s->sorted = sorted.dim(1);
  s->values = values.dim(1);
  s->type = p.input_type(0);
  s->upper = upper;
  s->index64 = p.output_type(0) == DataType::kInt64;
  if (!s->index64 && s->sorted > INT32_MAX)
    return p.Invalid(absl::StrCat("places among ", s->sorted, " elements do not fit int32"));
  p.set_output_shape(0, values);
  p.set_run(&RunSearch, std::move(s));
  return absl::OkStatus();
}
absl::Status PrepareLowerBound(Prepare& p) { return PrepareSearch(p, false); }
absl::Status PrepareUpperBound(Prepare& p) { return PrepareSearch(p, true); }

}  // namespace

absl::Span<const CpuKernelSpec> SearchSortedKernels() {
  static const CpuKernelSpec specs[] = {
      {"LowerBound", {{"T", kRealTypes}}, PrepareLowerBound},
      {"UpperBound", {{"T", kRealTypes}}, PrepareUpperBound},
  };
  return specs;
}

}  // namespace tenon::cpu
