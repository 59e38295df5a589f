// RegexReplace, RegexFullMatch and their static forms, on RE2.
#include <re2/re2.h>

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

re2::StringPiece Piece(std::string_view s) { return {s.data(), s.size()}; }

absl::StatusOr<std::shared_ptr<const RE2>> Compile(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{8} << 20);  // for the program and its automata
  auto regex = std::make_shared<const RE2>(Piece(pattern), options);
  if (regex->ok()) return regex;
  return absl::InvalidArgumentError(
      absl::StrCat("Invalid pattern: ", pattern, ", error: ", regex->error()));
}

struct Regex {
  std::shared_ptr<const RE2> compiled;  // null: the pattern is an input that changes
  std::string rewrite;                  // of the static form
  bool rewrite_is_input, everywhere;
  int64_t n;

  absl::StatusOr<std::shared_ptr<const RE2>> ForRun(const StepArgs& args) const {
    if (compiled != nullptr) return compiled;
    return Compile(StringAt(args.in[1], 0));
  }
};

// A long rewrite for each of many matches, or one that names many groups, may take any amount of
// memory.
absl::Status CheckReplacements(const RE2& regex, std::string_view rewrite, std::string_view text,
                               bool everywhere) {
  // Groups of matches do not overlap, so each one that is named adds the text at most once.
  const size_t most_groups = rewrite.size() / 2;
  const double once = static_cast<double>(text.size()) * static_cast<double>(most_groups + 1);
  const auto size = static_cast<double>(rewrite.size());
  // Where even the greatest possible result is below 16 MB, matches need not be counted.
  constexpr double kHarmless = 1 << 24;
  if (once + size * static_cast<double>(text.size() + 1) < kHarmless) return absl::OkStatus();
  int matches = 1;
  if (everywhere) {
    std::string removed(text);
    matches = RE2::GlobalReplace(&removed, regex, "");
  }
  double groups = 0;
  for (size_t i = 0; i + 1 < rewrite.size(); ++i) {
    if (rewrite[i] == '\\' && absl::ascii_isdigit(rewrite[i + 1])) groups += 1;
  }
  return CheckStringBytes(static_cast<double>(text.size()) * (1 + groups) + size * matches);
}

absl::Status RunReplace(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Regex*>(state);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const RE2> regex, s.ForRun(args));
  const std::string_view rewrite = s.rewrite_is_input ? StringAt(args.in[2], 0) : s.rewrite;
  std::string text;
  for (int64_t i = 0; i < s.n; ++i) {
    text = StringAt(args.in[0], i);
    // A rewrite that does not fit the pattern leaves the text as it is.
    TENON_RETURN_IF_ERROR(CheckReplacements(*regex, rewrite, text, s.everywhere));
    if (s.everywhere) {
      RE2::GlobalReplace(&text, *regex, Piece(rewrite));
    } else {
      RE2::Replace(&text, *regex, Piece(rewrite));
    }
    PutString(args.out[0], i, text);
  }
  return absl::OkStatus();
}

absl::Status RunMatch(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Regex*>(state);
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const RE2> regex, s.ForRun(args));
  for (int64_t i = 0; i < s.n; ++i)
    static_cast<bool*>(args.out[0])[i] = RE2::FullMatch(Piece(StringAt(args.in[0], i)), *regex);
  return absl::OkStatus();
}

// The pattern, and the rewrite if there is one, are inputs or attributes.
absl::Status PrepareRegex(Prepare& p, RunFn run) {
  auto s = std::make_shared<Regex>();
  const bool is_static = p.num_inputs() == 1;
  for (int i = 1; i < p.num_inputs(); ++i) {
    if (p.input_shape(i).rank() != 0)
      return p.Invalid(absl::StrCat("'", p.op().inputs[i].name, "' must be a scalar"));
  }
  s->rewrite_is_input = p.num_inputs() > 2;
  if (is_static) {
    TENON_ASSIGN_OR_RETURN(const std::string_view pattern, p.AttrString("pattern"));
    TENON_ASSIGN_OR_RETURN(s->compiled, Compile(pattern));
  } else if (const Tensor* pattern = p.input_value(1)) {
    TENON_ASSIGN_OR_RETURN(s->compiled, Compile(pattern->StringAt(0)));
  }
  if (is_static && p.op().FindAttr("rewrite") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view rewrite, p.AttrString("rewrite"));
    s->rewrite = rewrite;
  }
  if (p.op().FindAttr("replace_global") != nullptr) {
    TENON_ASSIGN_OR_RETURN(s->everywhere, p.AttrBool("replace_global"));
  }
  s->n = p.input_shape(0).num_elements();
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareReplace(Prepare& p) { return PrepareRegex(p, &RunReplace); }
absl::Status PrepareMatch(Prepare& p) { return PrepareRegex(p, &RunMatch); }

}  // namespace

absl::Span<const CpuKernelSpec> RegexKernels() {
  static const CpuKernelSpec specs[] = {
      {"RegexReplace", {}, PrepareReplace},
      {"StaticRegexReplace", {}, PrepareReplace},
      {"RegexFullMatch", {}, PrepareMatch},
      {"StaticRegexFullMatch", {}, PrepareMatch},
  };
  return specs;
}

}  // namespace tenon::cpu
