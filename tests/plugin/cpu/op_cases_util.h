// Runs self-checking op graphs (tests/golden/ops) through the CPU kernels: no executor, one node
// after the other.
#pragma once

#include <string>
#include <vector>

namespace tenon::testing {

struct CaseResult {
  std::string name;        // "c000"
  std::string wrong = {};  // empty if the answer is right
};

// Every case of one file. A file that cannot be read is one failed case.
std::vector<CaseResult> RunOpCases(const std::string& path);

}  // namespace tenon::testing
