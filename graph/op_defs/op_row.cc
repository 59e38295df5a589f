// Rows of tables become OpDefs.
#include "graph/op_defs/op_row.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// Splits at ';' outside of quotes: the default of a string may hold one.
std::vector<std::string_view> SplitSpecs(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  char quote = '\0';
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;
    } else if (i < text.size() && quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (i < text.size() && (text[i] == '\'' || text[i] == '"')) {
      quote = text[i];
    } else if (i >= text.size() || text[i] == ';') {
      const std::string_view part = absl::StripAsciiWhitespace(text.substr(begin, i - begin));
      if (!part.empty()) parts.push_back(part);
      begin = i + 1;
    }
  }
  return parts;
}

absl::Status AddSpecs(std::string_view inputs, std::string_view outputs, std::string_view attrs,
                      OpDefBuilder& builder) {
  for (std::string_view s : SplitSpecs(attrs)) TENON_RETURN_IF_ERROR(builder.AddAttr(s));
  for (std::string_view s : SplitSpecs(inputs)) TENON_RETURN_IF_ERROR(builder.AddInput(s));
  for (std::string_view s : SplitSpecs(outputs)) TENON_RETURN_IF_ERROR(builder.AddOutput(s));
  return absl::OkStatus();
}

// Words, and at last "deprecated VERSION EXPLANATION".
absl::Status SetFlags(std::string_view flags, OpDef* def) {
  while (!flags.empty()) {
    const std::pair<std::string_view, std::string_view> parts =
        absl::StrSplit(flags, absl::MaxSplits(' ', 1));
    const std::string_view word = parts.first;
    flags = parts.second;
    if (word == "deprecated") {
      const std::pair<std::string_view, std::string_view> why =
          absl::StrSplit(flags, absl::MaxSplits(' ', 1));
      if (!absl::SimpleAtoi(why.first, &def->deprecated_since))
        return absl::InvalidArgumentError(absl::StrCat("'", flags, "' begins with no version"));
      def->deprecation = std::string(why.second);
      return absl::OkStatus();
    }
    bool* const flag = word == "stateful"        ? &def->is_stateful
                       : word == "commutative"   ? &def->is_commutative
                       : word == "aggregate"     ? &def->is_aggregate
                       : word == "uninitialized" ? &def->allows_uninitialized_input
                                                 : nullptr;
    if (flag == nullptr) return absl::InvalidArgumentError(absl::StrCat("no flag '", word, "'"));
    *flag = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpDef> ParseOpSpec(const OpSpec& spec) {
  OpDefBuilder builder(spec.name);
  TENON_RETURN_IF_ERROR(AddSpecs(spec.inputs, spec.outputs, spec.attrs, builder));
  OpDef& def = builder.def();
  def.is_stateful = (spec.flags & kStateful) != 0;
  def.is_commutative = (spec.flags & kCommutative) != 0;
  def.is_aggregate = (spec.flags & kAggregate) != 0;
  def.allows_uninitialized_input = (spec.flags & kUninitializedInput) != 0;
  def.deprecated_since = spec.deprecated_since;
  def.deprecation = spec.deprecation;
  if (spec.shape_fn != nullptr) def.shape_fn = spec.shape_fn;
  def.facts = &spec.facts;
  return std::move(builder).Finish();
}

absl::StatusOr<OpDef> ParseSignature(std::string_view row) {
  const std::vector<std::string_view> fields = absl::StrSplit(row, '|');
  if (fields.size() != 6)
    return absl::InvalidArgumentError(absl::StrCat("'", row, "' has not six fields"));
  OpDefBuilder builder(fields[0]);
  TENON_RETURN_IF_ERROR(AddSpecs(fields[1], fields[2], fields[3], builder));
  TENON_RETURN_IF_ERROR(SetFlags(fields[4], &builder.def()));
  if (!fields[5].empty()) builder.def().shape_fn = ShapesFromText(fields[5]);
  return std::move(builder).Finish();
}

}  // namespace tenon
