// A regular expression over node names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// A POSIX extended regular expression. It matches a name if any part of the name fits it; ^ and $
// stand for the ends of the name. Matching uses a bounded stack, however long the name is. Copies
// share one compiled expression. Thread-safe.
class NamePattern {
 public:
  // INVALID_ARGUMENT for a malformed pattern; quotes the pattern.
  static absl::StatusOr<NamePattern> Compile(const std::string& pattern);
  bool Matches(std::string_view name) const;

 private:
  struct Compiled;
  explicit NamePattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tenon
