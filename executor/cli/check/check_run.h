// Runs one case of a self-checking graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "executor/cli/plugins/host.h"
#include "executor/session/session.h"

namespace tenon::cli {

// The outcome of a case. The letters are those of the protocol.
//   kPassed         its results or its error are as expected.
//   kFailed         they are not.
//   kUnimplemented  an op or kernel is missing.
//   kCrashed        its process ended or was stopped; RunCase never returns it.
enum class CaseStatus : char { kPassed = 'p', kFailed = 'f', kUnimplemented = 'u', kCrashed = 'c' };
// "passed", "failed", "unimplemented" or "crashed".
std::string_view CaseStatusName(CaseStatus status);

// The result of one case.
struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  // The fault, for people; empty if the case passed.
  std::string detail;
  // The kernels of plug-ins that ran in the case: plug-in and op, each pair once, sorted.
  std::vector<std::pair<std::string, std::string>> plugin_kernels;
  // The passes of plug-ins that changed the case's graph, each once, sorted; and the first one that
  // was rolled back, "plugin:APU: why", or an empty text.
  std::vector<std::string> changing_passes;
  std::string failed_pass;
};

struct CaseOptions {
  SessionOptions session;
  bool feed_constants = false;  // as FeedConstants does, so that passes and kernels have work to do
};

// Runs the case in a session of its own on the devices of `host`. Never fails itself: each error is
// a result. If constants are fed and no kernel takes the case, it is run again with its constants.
CaseResult RunCase(const CheckFile& file, const CheckCase& c, const Host& host,
                   const CaseOptions& options);

}  // namespace tenon::cli
