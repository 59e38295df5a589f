// The observers of the optimizer that the command line asks for. Each observes the passes of one
// session at a time.
#pragma once

#include <memory>
#include <vector>

#include "executor/cli/options/compile_flags.h"
#include "executor/cli/passes/html_report.h"
#include "executor/proof/numeric_verifier.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// --print-before, --print-after, --print-changed: prints graphs to stderr.
std::unique_ptr<PipelineObserver> MakePassPrinter(const WatchFlags& flags);
// --dump-dir: writes NNN_pass_before.pbtxt, NNN_pass_after.pbtxt, and .dot of both, for every run
// of a pass that changes something. NNN counts all runs of passes from 001, also those that change
// nothing. The .pbtxt has checksums in place of large constants. The call makes the folder. The
// first error is put into `status`, which must outlive the observer; no file is written after it.
std::unique_ptr<PipelineObserver> MakePassDump(const WatchFlags& flags, absl::Status& status);
// The name of a pass as a part of a file name: ':' and '/' become '_'.
std::string FileWord(std::string_view pass);
// --bisect-limit: prints a line to stderr for each rewrite, in LLVM's form, also for those that the
// limit refuses.
std::unique_ptr<PipelineObserver> MakeBisectLines();
// The first time that a pass fails on the graph, and the first time that it fails on each function,
// writes the graph that it was given and a script that runs it again, to the folder of --dump-dir
// or that of temporary files. Warns with the name of the script, or that they cannot be written. If
// a plug-in's pass ends the process or does not return, they are written too, and the last message
// names the script. `flags` must outlive the observer. At most one such observer may exist in the
// process at a time.
std::unique_ptr<PipelineObserver> MakeReproducer(const CompileFlags& flags);

// All observers that the flags ask for, and that of MakeReproducer. They must outlive the sessions
// that use them, and `flags` must outlive them.
class Watchers {
 public:
  // A folder that cannot be made is in status().
  explicit Watchers(const CompileFlags& flags);
  Watchers(const Watchers&) = delete;  // observers point to status_
  Watchers& operator=(const Watchers&) = delete;
  // The observers, in the order in which they are called. Watchers owns them.
  std::vector<PipelineObserver*> observers() const;
  // Empties provenance() and history(), so that they tell only of what is optimized from now on,
  // and not of the initializers. The other observers forget nothing.
  void ForgetGraph();
  // The first error of --dump-dir: a folder that could not be made, or a file that could not be
  // written.
  const absl::Status& status() const { return status_; }

  // The observer that MakeReproducer made; never null.
  PipelineObserver* reproducer() const { return reproducer_; }

  // Adds the observer of --verify-each=numeric. After so many seconds of comparing it begins no
  // comparison; the one in progress still runs each of its graphs on the first set of inputs. The
  // devices of `runner` must outlive the watchers. To be called once, before observers().
  void VerifyNumbers(GraphRunner runner, double seconds);
  // verifier() is null before VerifyNumbers. provenance() is null unless --explain-node,
  // --provenance or --report is given, history() unless --report is.
  NumericVerifier* verifier() const { return verifier_.get(); }
  const Provenance* provenance() const { return provenance_.get(); }
  PassHistory* history() const { return history_.get(); }

 private:
  absl::Status status_;
  std::unique_ptr<Provenance> provenance_;  // --explain-node, --provenance, --report
  std::unique_ptr<PassHistory> history_;    // --report
  std::unique_ptr<NumericVerifier> verifier_;
  std::vector<std::unique_ptr<PipelineObserver>> all_;
  PipelineObserver* reproducer_;  // one of `all_`
};

}  // namespace tenon::cli
