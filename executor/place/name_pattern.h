// A regular expression over node names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tenon {

// POSIX extended syntax; found anywhere in a name, unless anchored with ^ and $. Needs no stack in
// proportion to the name. Copies share what was compiled; Matches may be called from any thread.
class NamePattern {
 public:
  // INVALID_ARGUMENT quotes the pattern.
  static absl::StatusOr<NamePattern> Compile(const std::string& pattern);
  bool Matches(std::string_view name) const;

 private:
  struct Compiled;
  explicit NamePattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tenon
