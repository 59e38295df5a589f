// StringJoin, ReduceJoin, UnsortedSegmentJoin.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Join {
  std::string separator;
  std::vector<bool> repeats;  // of each input: one string for all results
  int64_t n;
};

absl::Status RunJoin(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Join*>(state);
  const size_t inputs = s.repeats.size();
  double bytes = static_cast<double>(s.n) * static_cast<double>(inputs * s.separator.size());
  for (size_t k = 0; k < inputs; ++k) {
    if (s.repeats[k])
      bytes += static_cast<double>(s.n) * static_cast<double>(StringAt(args.in[k], 0).size());
  }
  TENON_RETURN_IF_ERROR(CheckStringBytes(bytes));
  std::string text;
  for (int64_t i = 0; i < s.n; ++i) {
    text.clear();
    for (size_t k = 0; k < inputs; ++k) {
      if (k > 0) text += s.separator;
      text += StringAt(args.in[k], s.repeats[k] ? 0 : i);
    }
    PutString(args.out[0], i, text);
  }
  return absl::OkStatus();
}

absl::Status PrepareJoin(Prepare& p) {
  Join s;
  TENON_ASSIGN_OR_RETURN(const std::string_view separator, p.AttrString("separator"));
  s.separator = separator;
  Shape shape;
  for (int k = 0; k < p.num_inputs(); ++k) {
    const Shape& in = p.input_shape(k);
    s.repeats.push_back(in.rank() == 0);
    if (in.rank() == 0) continue;
    if (shape.rank() != 0 && !(shape == in))
      return p.Invalid("inputs that are not scalars must have one shape");
    shape = in;
  }
  s.n = shape.num_elements();
  p.set_output_shape(0, std::move(shape));
  p.set_run(&RunJoin, std::make_shared<Join>(std::move(s)));
  return absl::OkStatus();
}

// Offsets of what is joined into one string, relative to its first element, and of those first
// elements.
struct Reduction {
  std::string separator;
  std::vector<int64_t> parts, firsts;
};

absl::Status RunReduction(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Reduction*>(state);
  TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(s.separator.size()) *
                                         static_cast<double>(s.parts.size()) *
                                         static_cast<double>(s.firsts.size())));
  std::string text;
  for (size_t i = 0; i < s.firsts.size(); ++i) {
    text.clear();
    for (size_t k = 0; k < s.parts.size(); ++k) {
      if (k > 0) text += s.separator;
      text += StringAt(args.in[0], s.firsts[i] + s.parts[k]);
    }
    PutString(args.out[0], static_cast<int64_t>(i), text);
  }
  return absl::OkStatus();
}

// Offsets of all places along `axes`, the last one fastest.
std::vector<int64_t> OffsetsAlong(const Shape& shape, absl::Span<const int> axes) {
  std::vector<int64_t> offsets = {0};
  for (const int axis : axes) {
    const int64_t stride = DimProduct(shape, axis + 1, shape.rank());
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * shape.dim(axis));
    for (const int64_t from : offsets) {
      for (int64_t i = 0; i < shape.dim(axis); ++i) longer.push_back(from + i * stride);
    }
    offsets = std::move(longer);
  }
  return offsets;
}

absl::Status PrepareReduction(Prepare& p) {
  Reduction s;
  TENON_ASSIGN_OR_RETURN(const std::string_view separator, p.AttrString("separator"));
  s.separator = separator;
  TENON_ASSIGN_OR_RETURN(const bool keep, p.AttrBool("keep_dims"));
  TENON_ASSIGN_OR_RETURN(const Dims wanted, InputIntsOfAnyRank(p, 1));
  const Shape& in = p.input_shape(0);
  if (wanted.empty()) {
    p.set_output_shape(0, in);
    p.Alias(0, 0);
    return absl::OkStatus();
  }
  std::vector<int> axes, others;
  std::vector<bool> joined(in.rank(), false);
  for (const int64_t axis : wanted) {
    const absl::StatusOr<int> a = NormalizeAxis(p, axis, in.rank());
    if (!a.ok()) {
      return absl::OutOfRangeError(absl::StrCat("Invalid reduction dimension ", axis,
                                                " for input with ", in.rank(), " dimension(s)"));
    }
    if (joined[*a]) return p.Invalid(absl::StrCat("axis ", axis, " is there twice"));
    joined[*a] = true;
    axes.push_back(*a);
  }
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (!joined[d]) others.push_back(d);
    if (!joined[d] || keep) out.push_back(joined[d] ? 1 : in.dim(d));
  }
  TENON_ASSIGN_OR_RETURN(out, CheckedShape(p, out.dims()));  // joins of nothing need memory
  std::reverse(axes.begin(), axes.end());  // the first one that is named is the fastest
  s.parts = OffsetsAlong(in, axes);
  s.firsts = OffsetsAlong(in, others);
  p.set_output_shape(0, std::move(out));
  p.set_run(&RunReduction, std::make_shared<Reduction>(std::move(s)));
  return absl::OkStatus();
}

struct Segments {
  std::string separator;
  DataType id_type;
  int64_t ids, count, row;  // a row of strings for each id
};

absl::Status RunSegments(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Segments*>(state);
  std::vector<std::vector<int64_t>> rows(s.count);
  for (int64_t i = 0; i < s.ids; ++i) {
    const int64_t id = LoadIndex(args.in[1], s.id_type, i);
    if (id < 0 || id >= s.count) {
      return absl::InvalidArgumentError(
          absl::StrCat("segment id ", id, " at ", i, " is not in [0, ", s.count, ")"));
    }
    rows[id].push_back(i);
  }
  TENON_RETURN_IF_ERROR(CheckStringBytes(static_cast<double>(s.ids) * static_cast<double>(s.row) *
                                         static_cast<double>(s.separator.size())));
  std::string text;
  for (int64_t segment = 0; segment < s.count; ++segment) {
    for (int64_t k = 0; k < s.row; ++k) {
      text.clear();
      for (size_t i = 0; i < rows[segment].size(); ++i) {
        if (!text.empty()) text += s.separator;
        text += StringAt(args.in[0], rows[segment][i] * s.row + k);
      }
      PutString(args.out[0], segment * s.row + k, text);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareSegments(Prepare& p) {
  Segments s;
  TENON_ASSIGN_OR_RETURN(const std::string_view separator, p.AttrString("separator"));
  s.separator = separator;
  TENON_ASSIGN_OR_RETURN(s.count, InputInt(p, 2));
  if (s.count < 0) return p.Invalid(absl::StrCat("num_segments is negative: ", s.count));
  const Shape &in = p.input_shape(0), &ids = p.input_shape(1);
  if (ids.rank() > in.rank()) return p.Invalid("the ids have more dimensions than the strings");
  Dims dims = {s.count};
  for (int d = 0; d < in.rank(); ++d) {
    if (d >= ids.rank()) {
      dims.push_back(in.dim(d));
    } else if (ids.dim(d) != in.dim(d)) {
      return p.Invalid("the ids' dimensions must be the first ones of the strings");
    }
  }
  TENON_ASSIGN_OR_RETURN(Shape out, CheckedShape(p, dims));
  s.id_type = p.input_type(1);
  s.ids = ids.num_elements();
  s.row = DimProduct(in, ids.rank(), in.rank());
  p.set_output_shape(0, std::move(out));
  p.set_run(&RunSegments, std::make_shared<Segments>(std::move(s)));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StringJoinKernels() {
  static const CpuKernelSpec specs[] = {
      {"StringJoin", {}, PrepareJoin},
      {"ReduceJoin", {}, PrepareReduction, 1 << 1},
      {"UnsortedSegmentJoin", {{"Tindices", kEveryType}}, PrepareSegments, 1 << 2},
  };
  return specs;
}

}  // namespace tenon::cpu
