// Running one case of a self-checking graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "executor/cli/plugins/host.h"
#include "executor/session/session.h"

namespace tenon::cli {

enum class CaseStatus : char { kPassed = 'p', kFailed = 'f', kUnimplemented = 'u', kCrashed = 'c' };
std::string_view CaseStatusName(CaseStatus status);

struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  std::string detail;
  // Of plug-ins' kernels that ran in the case: plug-in and op, each pair once, sorted.
  std::vector<std::pair<std::string, std::string>> plugin_kernels;
  // Passes of plug-ins: those that changed the case's graph, each once, sorted; and the first one
  // that was rolled back, "plugin:APU: why", empty for none.
  std::vector<std::string> changing_passes;
  std::string failed_pass;
};

struct CaseOptions {
  SessionOptions session;
  bool feed_constants = false;  // as CaseInputs says, so that passes and kernels have work to do
};

// In a session of its own. Never fails as a function: what goes wrong is the result.
CaseResult RunCase(const CheckFile& file, const CheckCase& c, const Host& host,
                   const CaseOptions& options);

}  // namespace tenon::cli
