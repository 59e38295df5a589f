// StringNGrams: neighbouring tokens of each row, joined.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct NGrams {
  std::string separator, left_pad, right_pad;
  std::vector<int64_t> widths;
  int64_t pad_width;  // -1: as many as a width can take
  bool keep_short;
  bool splits64;
  int64_t tokens, splits;

  int64_t PadOf(int64_t width) const {
    return pad_width < 0 ? width - 1 : std::min(pad_width, width - 1);
  }
  int64_t CountOf(int64_t length, int64_t width) const {
    return std::max<int64_t>(length + 2 * PadOf(width) - width + 1, 0);
  }
  int64_t RowCount(int64_t length) const {
    int64_t count = 0;
    for (const int64_t width : widths) count += CountOf(length, width);
    return keep_short && length > 0 ? std::max<int64_t>(count, 1) : count;
  }
};

// Number `index` of `count` of this width over the tokens from `first` on, with so much padding at
// both ends of the row.
void JoinTokens(const NGrams& s, const void* tokens, int64_t first, int64_t width, int64_t pad,
                int64_t index, int64_t count, std::string* out) {
  const int64_t left = std::max<int64_t>(pad - index, 0);
  const int64_t right = std::max<int64_t>(pad - (count - index - 1), 0);
  const int64_t inner = width - left - right;
  first += left > 0 ? 0 : index - pad;
  out->clear();
  for (int64_t i = 0; i < width; ++i) {
    if (i > 0) *out += s.separator;
    if (i < left) {
      *out += s.left_pad;
    } else if (i - left < inner) {
      *out += StringAt(tokens, first + i - left);
    } else {
      *out += s.right_pad;
    }
  }
}

// OK if the splits lead from 0 to the number of tokens.
absl::Status CheckSplits(const NGrams& s, const void* splits) {
  int64_t last = 0;
  for (int64_t i = 0; i < s.splits; ++i) {
    const int64_t split = LoadIndex(splits, s.splits64, i);
    if (split < last || split > s.tokens || (i == 0 && split != 0) ||
        (i == s.splits - 1 && split != s.tokens)) {
      return absl::InvalidArgumentError(
          absl::StrCat("row splits must ascend from 0 to the number of tokens, ", s.tokens,
                       ", but split ", i, " is ", split));
    }
    last = split;
  }
  return absl::OkStatus();
}

// How many n-grams there will be; RESOURCE_EXHAUSTED if they would take too much memory.
absl::StatusOr<int64_t> CountNGrams(const NGrams& s, const void* tokens, const void* splits) {
  int64_t total = 0;
  double bytes = 0;
  const auto extra =
      static_cast<double>(s.separator.size() + s.left_pad.size() + s.right_pad.size() + 1);
  for (int64_t row = 0; row + 1 < s.splits; ++row) {
    const int64_t begin = LoadIndex(splits, s.splits64, row),
                  end = LoadIndex(splits, s.splits64, row + 1), length = end - begin;
    double text = 0;
    for (int64_t i = begin; i < end; ++i) text += static_cast<double>(StringAt(tokens, i).size());
    total += s.RowCount(length);
    for (const int64_t width : s.widths) {
      const int64_t count = s.CountOf(length, width);
      bytes += static_cast<double>(count) * static_cast<double>(width) * extra;
      // Each token is in one n-gram for each of its places there.
      bytes += text * static_cast<double>(std::min(width, count));
      TENON_RETURN_IF_ERROR(CheckStringBytes(bytes + 24.0 * static_cast<double>(total)));
    }
    if (s.keep_short) {
      const auto padded = static_cast<double>(length) + 2.0 * static_cast<double>(s.pad_width);
      TENON_RETURN_IF_ERROR(CheckStringBytes(padded * extra));
    }
  }
  if (!s.splits64 && total > INT32_MAX)
    return absl::InvalidArgumentError("the row splits of the n-grams do not fit int32");
  return total;
}

// Without any token there is no n-gram, not even one of padding.
absl::Status SetNothing(const NGrams& s, const StepArgs& args) {
  std::memset(args.out[1], 0, static_cast<size_t>(s.splits) * (s.splits64 ? 8 : 4));
  return args.run_state->AllocateOutput(0, Shape({0})).status();
}

absl::Status RunNGrams(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NGrams*>(state);
  TENON_RETURN_IF_ERROR(CheckSplits(s, args.in[1]));
  if (s.tokens == 0) return SetNothing(s, args);
  TENON_ASSIGN_OR_RETURN(const int64_t total, CountNGrams(s, args.in[0], args.in[1]));
  const auto split = [&](int64_t i) { return LoadIndex(args.in[1], s.splits64, i); };
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(0, Shape({total})));
  int64_t at = 0;
  std::string text;
  const auto put_split = [&](int64_t i) {
    if (s.splits64) {
      static_cast<int64_t*>(args.out[1])[i] = at;
    } else {
      static_cast<int32_t*>(args.out[1])[i] = static_cast<int32_t>(at);
    }
  };
  if (s.splits > 0) put_split(0);
  for (int64_t row = 0; row + 1 < s.splits; ++row) {
    const int64_t first = split(row), length = split(row + 1) - first, before = at;
    for (const int64_t width : s.widths) {
      const int64_t count = s.CountOf(length, width);
      for (int64_t i = 0; i < count; ++i) {
        JoinTokens(s, args.in[0], first, width, s.PadOf(width), i, count, &text);
        PutString(out, at++, text);
      }
    }
    if (s.keep_short && at == before && length > 0) {
      const int64_t pad = std::max<int64_t>(s.pad_width, 0);
      JoinTokens(s, args.in[0], first, length + 2 * pad, pad, 0, 1, &text);
      PutString(out, at++, text);
    }
    put_split(row + 1);
  }
  return absl::OkStatus();
}

absl::Status PrepareNGrams(Prepare& p) {
  auto s = std::make_shared<NGrams>();
  TENON_ASSIGN_OR_RETURN(s->separator, p.AttrString("separator"));
  TENON_ASSIGN_OR_RETURN(s->left_pad, p.AttrString("left_pad"));
  TENON_ASSIGN_OR_RETURN(s->right_pad, p.AttrString("right_pad"));
  TENON_ASSIGN_OR_RETURN(s->widths, p.AttrIntList("ngram_widths"));
  TENON_ASSIGN_OR_RETURN(s->pad_width, p.AttrInt("pad_width"));
  TENON_ASSIGN_OR_RETURN(s->keep_short, p.AttrBool("preserve_short_sequences"));
  for (const int64_t width : s->widths) {
    if (width < 1 || width > INT32_MAX)
      return p.Invalid(absl::StrCat("ngram_widths must be positive int32, not ", width));
  }
  if (s->pad_width > INT32_MAX || s->pad_width < INT32_MIN)
    return p.Invalid(absl::StrCat("pad_width must fit int32: ", s->pad_width));
  if (p.input_shape(0).rank() != 1 || p.input_shape(1).rank() != 1)
    return p.Invalid("tokens and row splits must be vectors");
  s->splits64 = p.input_type(1) == DataType::kInt64;
  s->tokens = p.input_shape(0).dim(0);
  s->splits = p.input_shape(1).dim(0);
  p.set_dynamic_output(0);
  p.set_output_shape(1, p.input_shape(1));
  p.set_run(&RunNGrams, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> StringNGramsKernels() {
  static const CpuKernelSpec specs[] = {{"StringNGrams", {}, PrepareNGrams}};
  return specs;
}

}  // namespace tenon::cpu
