// Runs self-checking op graphs (tests/golden/ops) through the CPU kernels: no executor, one node
// after the other.
#pragma once

#include <string>
#include <vector>

namespace tenon::testing {

struct CaseResult {
  enum class Verdict { kPassed, kFailed, kUnimplemented };
  std::string name;  // "c000"
  Verdict verdict = Verdict::kPassed;
  std::string why = {};
};

// Every case of one file. A file that cannot be read is one failed case.
std::vector<CaseResult> RunOpCases(const std::string& path);

}  // namespace tenon::testing
