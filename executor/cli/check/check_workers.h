// Runs the cases of many files in child processes, so that one that dies takes only its own case
// with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/check/check_run.h"
#include "executor/cli/options/compile_flags.h"

namespace tenon::cli {

struct CaseRecord {
  size_t file = 0;   // index into the files
  size_t index = 0;  // of the case in its file
  std::string name;  // empty: the file as a whole, which could not be read
  CaseResult result;
};

struct CheckedCases {
  std::vector<CaseRecord> records;  // in order of file and case
  struct Plugin {
    std::string path;
    int kernels = 0;
  };
  std::vector<Plugin> plugins;  // that were loaded
};

// Forks workers, which open the host by themselves; the caller must have no thread yet. With
// plug-ins, and unless `flags` say which passes run: constants of cases are fed, and the passes
// of plug-ins run, and no others. `done` is told after each file how many are finished. An error of
// a worker's start (a plug-in that does not load) is the error of all.
absl::StatusOr<CheckedCases> RunInWorkers(const std::vector<std::string>& files,
                                          const CompileFlags& flags,
                                          const std::function<void(size_t finished)>& done);

}  // namespace tenon::cli
