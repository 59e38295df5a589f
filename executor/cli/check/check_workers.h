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

// The result of one case, or of a file as a whole.
struct CaseRecord {
  size_t file = 0;   // index into the files of RunInWorkers
  size_t index = 0;  // of the case in its file; means nothing in a record of the file as a whole
  // Empty: the record is of the file as a whole. The file cannot be read (kFailed), or the
  // worker's process ended while no case ran, or its results did not come through (kCrashed); then
  // the cases of the file that have no record were not run, or nothing is known of them.
  std::string name;
  CaseResult result;
};

// The results of all cases.
struct CheckedCases {
  std::vector<CaseRecord> records;  // in the order of files and cases
  struct Plugin {
    std::string path;
    int kernels = 0;  // that it registered
  };
  std::vector<Plugin> plugins;  // that were loaded
};

// Forks up to 16 workers at a time, which open the host themselves, and waits for them. The caller
// must have no other thread yet, since a fork copies only the calling thread. Without --threads
// each case runs on one thread. If a plug-in is loaded, constants of cases are fed. If a plug-in is
// loaded and `flags` have neither opt_level nor passes (--config may name passes too), the passes
// of plug-ins run and no others. With --abi-check=strict, the violations that workers find are
// reported to the AbiWatch of this process.
//
// A case that takes longer than --timeout (60 s by default) is stopped, and so is one in which a
// plug-in writes into the pipe to which the worker's results go. A case that is stopped, or that
// ends its process, counts as crashed; a new worker then goes on with the next case of the file.
// The same limit holds for opening the host, reading a file, and shutting down. `done` is called
// after each file, on the calling thread, with the number of files that are finished. It must not
// be null.
//
// An error stops all workers, and no results are returned:
//   the error of Host::Open or SessionOptionsFrom: a worker cannot start, for example because a
//   plug-in does not load;
//   INTERNAL: a worker ends with a fault outside of files, for example because a plug-in crashes
//   while it is loaded or unloaded. Has the exit code kTimeout or kPluginFault where that is the
//   reason;
//   RESOURCE_EXHAUSTED: the system has no more processes, pipes or memory.
absl::StatusOr<CheckedCases> RunInWorkers(const std::vector<std::string>& files, CheckKind kind,
                                          const CompileFlags& flags,
                                          const std::function<void(size_t finished)>& done);

}  // namespace tenon::cli
