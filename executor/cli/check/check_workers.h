// Runs the cases of many files in child processes, so that a case that ends its process ends no
// other case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/check/check_run.h"
#include "executor/cli/options/compile_flags.h"

namespace tenon::cli {

// The result of one case, or of a file that could not be read.
struct CaseRecord {
  size_t file = 0;   // index into the files
  size_t index = 0;  // of the case in its file
  std::string name;  // empty: the record is of the file as a whole
  CaseResult result;
};

// The results of all cases.
struct CheckedCases {
  std::vector<CaseRecord> records;  // in the order of files and cases
  struct Plugin {
    std::string path;
    int kernels = 0;
  };
  std::vector<Plugin> plugins;  // that were loaded
};

// Forks up to 16 workers, which open the host themselves, and waits for them. The caller must have
// no other thread yet, since a fork copies only the calling thread. With plug-ins, and unless
// `flags` say which passes run, constants of cases are fed, and the passes of plug-ins run and no
// others. A case that takes longer than --timeout (60 s by default) is stopped and counts as
// crashed. `done` is called after each file, on the calling thread, with the number of files that
// are finished. If a worker cannot start, as a plug-in does not load, its error is returned and the
// others are stopped.
absl::StatusOr<CheckedCases> RunInWorkers(const std::vector<std::string>& files,
                                          const CompileFlags& flags,
                                          const std::function<void(size_t finished)>& done);

}  // namespace tenon::cli
