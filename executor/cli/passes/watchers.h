// The observers of the optimizer that the command line asks for.
#pragma once

#include <memory>
#include <vector>

#include "executor/cli/options/compile_flags.h"
#include "executor/cli/passes/html_report.h"
#include "executor/proof/numeric_verifier.h"
#include "grappler_lite/pipeline/observer.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// --print-before, --print-after, --print-changed: graphs on stderr.
std::unique_ptr<PipelineObserver> MakePassPrinter(const WatchFlags& flags);
// --dump-dir: NNN_pass_before.pbtxt, NNN_pass_after.pbtxt, and .dot of both, of every pass that
// changes something; without large constants. What cannot be written is told to `status`, which
// outlives it.
std::unique_ptr<PipelineObserver> MakePassDump(const WatchFlags& flags, absl::Status& status);
// The name of a pass as a part of a file's name.
std::string FileWord(std::string_view pass);
// --bisect-limit: a line on stderr for each rewrite, as LLVM prints them.
std::unique_ptr<PipelineObserver> MakeBisectLines();
// Of a pass that fails, the graph that it was given and the command line that runs it again, where
// --dump-dir says or temporary files are. A warning names them. Of a plug-in's pass that ends the
// process too: then its last words name them.
std::unique_ptr<PipelineObserver> MakeReproducer(const CompileFlags& flags);

// All of them. They must outlive the sessions that use them.
class Watchers {
 public:
  explicit Watchers(const CompileFlags& flags);
  std::vector<PipelineObserver*> observers() const;
  // What was optimized so far is not what reports will be about.
  void ForgetGraph();
  // Of --dump-dir: the first file that could not be written.
  const absl::Status& status() const { return status_; }

  // The one that hears of passes that fail.
  PipelineObserver* reproducer() const { return reproducer_; }

  // --verify-each=numeric, for so many seconds. The runner's devices outlive the watchers.
  void VerifyNumbers(GraphRunner runner, double seconds);
  // Null where nobody asked for it.
  NumericVerifier* verifier() const { return verifier_.get(); }
  const Provenance* provenance() const { return provenance_.get(); }
  PassHistory* history() const { return history_.get(); }

 private:
  absl::Status status_;
  std::unique_ptr<Provenance> provenance_;  // --explain-node, --provenance, --report
  std::unique_ptr<PassHistory> history_;    // --report
  std::unique_ptr<NumericVerifier> verifier_;
  std::vector<std::unique_ptr<PipelineObserver>> all_;
  PipelineObserver* reproducer_;  // one of them
};

}  // namespace tenon::cli
