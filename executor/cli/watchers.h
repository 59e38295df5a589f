// The observers of the optimizer that the command line asks for.
#pragma once

#include <memory>
#include <vector>

#include "executor/cli/html_report.h"
#include "executor/cli/options.h"
#include "executor/proof/numeric_verifier.h"
#include "grappler_lite/observer.h"
#include "grappler_lite/provenance.h"

namespace tenon::cli {

// --print-before, --print-after, --print-changed: graphs on stderr.
std::unique_ptr<PipelineObserver> MakePassPrinter(const Options& options);
// --dump-dir: NNN_pass_before.pbtxt, NNN_pass_after.pbtxt, and .dot of both, of every pass that
// runs.
std::unique_ptr<PipelineObserver> MakePassDump(const Options& options);
// --bisect-limit: a line on stderr for each rewrite, as LLVM prints them.
std::unique_ptr<PipelineObserver> MakeBisectLines();
// Of a pass that fails, the graph that it was given and the command line that runs it again, where
// --dump-dir says or temporary files are. A warning names them.
std::unique_ptr<PipelineObserver> MakeReproducer(const Options& options);

// All of them. They must outlive the sessions that use them.
class Watchers {
 public:
  explicit Watchers(const Options& options);
  std::vector<PipelineObserver*> observers() const;

  // --verify-each=numeric. The runner's devices outlive the watchers.
  void VerifyNumbers(GraphRunner runner);
  // Null where nobody asked for it.
  const NumericVerifier* verifier() const { return verifier_.get(); }
  const Provenance* provenance() const { return provenance_.get(); }
  PassHistory* history() const { return history_.get(); }

 private:
  std::unique_ptr<Provenance> provenance_;  // --explain-node, --provenance, --report
  std::unique_ptr<PassHistory> history_;    // --report
  std::unique_ptr<NumericVerifier> verifier_;
  std::vector<std::unique_ptr<PipelineObserver>> all_;
};

}  // namespace tenon::cli
