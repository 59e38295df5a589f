// Parses --passes: names of passes separated by commas, each with options in parentheses if there
// are any, such as "constant_folding(max_bytes=10MB),remapping".

#include "grappler_lite/pipeline/pass_spec.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

std::optional<int64_t> ParseNumber(std::string_view text) {
  static constexpr struct {
    std::string_view suffix;
    int64_t factor;
  } kUnits[] = {{"KiB", int64_t{1} << 10},
                {"MiB", int64_t{1} << 20},
                {"GiB", int64_t{1} << 30},
                {"kB", 1000},
                {"MB", 1000000},
                {"GB", 1000000000},
                {"k", 1000},
                {"M", 1000000},
                {"G", 1000000000}};
  int64_t factor = 1;
  for (const auto& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    factor = unit.factor;
    text.remove_suffix(unit.suffix.size());
    break;
  }
  int64_t number;
  if (!absl::SimpleAtoi(text, &number) || number < 0 || number > INT64_MAX / factor)
    return std::nullopt;
  return number * factor;
}

std::vector<PassOption> OptionsOf(std::string_view pass) {
  std::vector<PassOption> options;
  for (const PassEntry& entry : PassOrder()) {
    if (entry.name == pass) {
      options = entry.make()->options();
      break;
    }
  }
  // The whole work of a plug-in's pass is one rewrite, and it counts no looks.
  if (!pass.starts_with("plugin:")) {
    options.push_back(kMaxRewrites);
    options.push_back(kMaxVisits);
  }
  return options;
}

absl::Status ParseArgument(std::string_view text, PassSpec& spec) {
  const size_t equals = text.find('=');
  const std::string_view name = absl::StripAsciiWhitespace(text.substr(0, equals));
  const std::vector<PassOption> options = OptionsOf(spec.name);
  ClosestName closest(name);
  std::vector<std::string_view> names;
  for (const PassOption& option : options) {
    closest.Offer(option.name);
    names.push_back(option.name);
  }
  if (!closest.found()) {
    return absl::InvalidArgumentError(
        absl::StrCat("pass ", spec.name, " takes no option '", name, "'", closest.Hint(),
                     names.empty() ? "" : "; it takes ", absl::StrJoin(names, ", ")));
  }
  const std::optional<int64_t> value =
      equals == text.npos ? std::nullopt
                          : ParseNumber(absl::StripAsciiWhitespace(text.substr(equals + 1)));
  if (!value) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' of pass ", spec.name,
                                                   " is no NAME=NUMBER, such as ", name,
                                                   "=1000 or ", name, "=10MB"));
  }
  if (!spec.arguments.emplace(name, *value).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("option '", name, "' of pass ", spec.name, " is given twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PassSpec> ParseSpec(std::string_view text) {
  PassSpec spec;
  const size_t open = text.find('(');
  spec.name = std::string(absl::StripAsciiWhitespace(text.substr(0, open)));
  TENON_RETURN_IF_ERROR(CheckPassName(spec.name));
  if (open == text.npos) return spec;
  std::string_view arguments = absl::StripAsciiWhitespace(text.substr(open + 1));
  if (!arguments.ends_with(')')) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' has no ')' at its end, as in constant_folding(max_bytes=10MB)"));
  }
  arguments.remove_suffix(1);
  while (!arguments.empty()) {
    const size_t comma = arguments.find(',');
    TENON_RETURN_IF_ERROR(ParseArgument(arguments.substr(0, comma), spec));
    arguments.remove_prefix(comma == arguments.npos ? arguments.size() : comma + 1);
  }
  return spec;
}

}  // namespace

absl::StatusOr<std::vector<PassSpec>> ParsePassSpecs(std::string_view text) {
  std::vector<PassSpec> specs;
  for (size_t begin = 0; begin <= text.size();) {
    // Commas within parentheses part options, not passes.
    int depth = 0;
    size_t end = begin;
    for (; end < text.size() && (depth > 0 || text[end] != ','); ++end)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    const std::string_view item = absl::StripAsciiWhitespace(text.substr(begin, end - begin));
    begin = end + 1;
    if (item.empty()) continue;
    TENON_ASSIGN_OR_RETURN(PassSpec spec, ParseSpec(item));
    specs.push_back(std::move(spec));
  }
  return specs;
}

bool MeansPass(std::string_view given, std::string_view pass) {
  if (given == pass) return true;
  if (!given.starts_with("plugin:") || !pass.starts_with("plugin:")) return false;
  // Several plug-ins for one device type are told apart by a suffix, "plugin:APU:libx.so":
  // "plugin:APU" means each of them.
  return given == "plugin:*" || (pass.starts_with(given) && pass[given.size()] == ':');
}

}  // namespace tenon
