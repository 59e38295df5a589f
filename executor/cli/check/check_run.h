// Runs one case of a self-checking graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "executor/cli/plugins/host.h"
#include "executor/session/session.h"

namespace tenon::cli {

// The outcome of a case. A worker of RunInWorkers sends its letter to the parent process.
//   kPassed         its results or its error are as expected.
//   kFailed         its results or its error are not as expected, or the case is malformed.
//   kUnimplemented  a node has no OpDef, or preparing or running the case is UNIMPLEMENTED, even if
//                   the case expects this error; or an op of a case of gradients has no gradient. A
//                   malformed case is kFailed all the same.
//   kCrashed        its process ended or was stopped; RunCase never returns it.
enum class CaseStatus : char { kPassed = 'p', kFailed = 'f', kUnimplemented = 'u', kCrashed = 'c' };
// "passed", "failed", "unimplemented" or "crashed".
std::string_view CaseStatusName(CaseStatus status);

// The result of one case.
struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  // The fault, for people; empty if the case passed.
  std::string detail;
  // The kernels of plug-ins that ran when the fetches were computed, and not those of a loss before
  // that run: pairs of the plug-in's path and the op. Each pair stands once; the pairs are sorted.
  // This list and the two members below are empty if that run did not begin: the case is malformed
  // or has defects, its loss or its preparation failed, or it has no gradient to fetch.
  std::vector<std::pair<std::string, std::string>> plugin_kernels;
  // The passes of plug-ins that changed the case's graph, such as "plugin:APU". Each stands once;
  // they are sorted.
  std::vector<std::string> changing_passes;
  // The first pass of a plug-in that was rolled back: "plugin:APU: why". Empty if there is none.
  std::string failed_pass;
};

struct CaseOptions {
  SessionOptions session;
  // Turns constants into inputs with FeedConstants, so that passes and kernels have work to do.
  bool feed_constants = false;
};

// Runs case `c` of `file` in a session of its own on the devices of `host`; a case of gradients
// first runs its loss there. Never fails itself: each error is a result. A case that is malformed
// or has defects is judged without a run: a defect other than an unknown op is an INVALID_ARGUMENT
// error. If constants are fed, and preparing or running is UNIMPLEMENTED, the case is run again
// with its constants: some kernels need an input that is a constant. The result is that of the
// second run alone.
CaseResult RunCase(const CheckFile& file, const CheckCase& c, const Host& host,
                   const CaseOptions& options);

}  // namespace tenon::cli
