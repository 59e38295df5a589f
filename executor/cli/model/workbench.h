// From a command line to an executable: host, model, session, in the order in which they are made
// and the reverse of which they go.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/frozen.h"
#include "executor/cli/model/names.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/passes/watchers.h"
#include "executor/cli/plugins/host.h"
#include "executor/session/saved_model.h"
#include "executor/session/session.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

struct Workbench {
  std::unique_ptr<Watchers> watchers;
  std::unique_ptr<Host> host;
  double load_ms = 0;
  std::optional<SavedModel> saved;       // of a folder
  std::unique_ptr<const Frozen> frozen;  // of a folder that opt works on, instead of `saved`
  const Signature* signature = nullptr;  // of either
  std::vector<std::string> inits;        // nodes of the graph that fill what it holds, in order
  SessionOptions session_options;
  std::unique_ptr<Session> session;

  const Graph& graph() const { return session->graph(); }
  Names names() const { return Names(graph(), signature); }
};

// Opens devices, loads the model, makes the session: for opt of a SavedModel one of the frozen
// graph.
absl::StatusOr<Workbench> OpenWorkbench(const CompileFlags& flags);

// Another session of the same model on the same devices, configured as `flags` say. Nobody
// watches its optimizer.
absl::StatusOr<std::unique_ptr<Session>> OpenOtherSession(const Workbench& bench,
                                                          const CompileFlags& flags);

// Gives variables the values that a SavedModel has for them. `before_run` as of RestoreState.
absl::Status RestoreVariables(Session& session, const Workbench& bench,
                              const BeforeRun& before_run = {});

// Brings the session to where runs begin: RestoreVariables, then what --init names, which in a
// SavedModel gets the paths of the assets. Variables of a SavedModel that neither its signatures
// nor `fetches`, outputs of the graph that will be asked for, may change are constants from then
// on.
absl::Status InitializeState(Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);
// The same for another session of its model.
absl::Status InitializeState(Session& session, const Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);

// The status of runs. Where variables may have no values yet and a node of the graph fills them, it
// says so.
absl::Status HintAtInit(const Workbench& bench, const absl::Status& status);

// What fails while a SavedModel is restored is a fault of its files (kInvalidInput), unless
// something is not implemented or breaks.
absl::Status FaultOfFiles(const absl::Status& status);

// Reports passes that were rolled back; kPluginFault for a plug-in's with --plugin-errors=fail.
absl::Status ReportFailedPasses(const Executable& executable, const CompileFlags& flags);

// Session::Prepare and ReportFailedPasses; then writes --save-optimized and --report.
absl::StatusOr<Executable*> PrepareExecutable(Workbench& bench, const CompileFlags& flags,
                                              const std::vector<std::string>& feeds,
                                              const std::vector<std::string>& fetches);

// Live nodes per device of the optimized graph, by short name.
std::vector<std::pair<std::string, int64_t>> NodesPerDevice(const Executable& executable);

}  // namespace tenon::cli
