#include "executor/place/name_pattern.h"

#include <regex.h>

#include "absl/strings/str_cat.h"

namespace tenon {

struct NamePattern::Compiled {
  regex_t regex;
  int error;
  explicit Compiled(const std::string& pattern)
      : error(regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  ~Compiled() {
    if (error == 0) regfree(&regex);
  }
};

absl::StatusOr<NamePattern> NamePattern::Compile(const std::string& pattern) {
  auto compiled = std::make_shared<const Compiled>(pattern);
  if (compiled->error != 0) {
    char reason[256];
    regerror(compiled->error, &compiled->regex, reason, sizeof(reason));
    return absl::InvalidArgumentError(
        absl::StrCat("'", pattern, "' is no regular expression: ", reason));
  }
  return NamePattern(std::move(compiled));
}

bool NamePattern::Matches(std::string_view name) const {
  // REG_STARTEND: a string_view has no terminating zero.
  regmatch_t range[1];
  range[0].rm_so = 0;
  range[0].rm_eo = static_cast<regoff_t>(name.size());
  return regexec(&compiled_->regex, name.data(), 1, range, REG_STARTEND) == 0;
}

}  // namespace tenon
