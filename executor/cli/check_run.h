// Running one case of a self-checking graph.
#pragma once

#include <string>

#include "executor/cli/check_case.h"
#include "executor/cli/host.h"
#include "executor/session.h"

namespace tenon::cli {

enum class CaseStatus : char { kPassed = 'p', kFailed = 'f', kUnimplemented = 'u', kCrashed = 'c' };
std::string_view CaseStatusName(CaseStatus status);

struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  std::string detail;
};

// In a session of its own. Never fails as a function: what goes wrong is the result.
CaseResult RunCase(const CheckFile& file, const CheckCase& c, const Host& host,
                   const SessionOptions& options);

}  // namespace tenon::cli
