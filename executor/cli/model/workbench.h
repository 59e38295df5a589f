// Goes from a command line to an executable: opens devices, loads the model, makes the session.
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

// The objects that a command works with. Members are declared in the order in which they are made,
// and are destroyed in reverse, as later members borrow from earlier ones.
struct Workbench {
  std::unique_ptr<Watchers> watchers;
  std::unique_ptr<Host> host;
  double load_ms = 0;
  std::optional<SavedModel> saved;       // if the model is a folder that is not frozen
  std::unique_ptr<const Frozen> frozen;  // instead of `saved`, where the command freezes a folder
  const Signature* signature = nullptr;  // of `saved` or `frozen`; may be null
  // Nodes of the graph that fill its state, in the order in which they run.
  std::vector<std::string> inits;
  SessionOptions session_options;
  std::unique_ptr<Session> session;

  const Graph& graph() const { return session->graph(); }
  Names names() const { return Names(graph(), signature); }
};

// Opens devices, loads the model and makes the session; the model is frozen first if
// flags.defaults.freezes is set and it is a SavedModel. Runs nothing of the model. `flags` must
// outlive the result. Errors are those of Host::Open, LoadModel, FreezeModel and Session::Create,
// and kUsage for wrong flags.
absl::StatusOr<Workbench> OpenWorkbench(const CompileFlags& flags);

// Makes another session of the same model on the same devices, configured as `flags` say. The
// watchers do not observe its optimizer. The devices are those of `bench`, which must outlive it.
absl::StatusOr<std::unique_ptr<Session>> OpenOtherSession(const Workbench& bench,
                                                          const CompileFlags& flags);

// Gives variables the values that the SavedModel has for them; nothing for other models. For
// `before_run` see RestoreState. Errors are those of FaultOfFiles.
absl::Status RestoreVariables(Session& session, const Workbench& bench,
                              const BeforeRun& before_run = {});

// Brings the session to the state in which runs begin: RestoreVariables, then the nodes of --init,
// which get the paths of the assets of a SavedModel. Variables of a SavedModel become constants if
// neither its signatures nor `fetches`, further outputs that will be asked for, may change them.
// Call once for each session, before its runs.
absl::Status InitializeState(Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);
// The same for another session of the model. The watchers keep the passes that they have seen.
absl::Status InitializeState(Session& session, const Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);

// `status` of a run, with a hint if variables may have no values and a node of the graph fills
// them.
absl::Status HintAtInit(const Workbench& bench, const absl::Status& status);

// The status of a restoration with its exit code: kInvalidInput, as the files are at fault, unless
// something is not implemented, broken or too slow here.
absl::Status FaultOfFiles(const absl::Status& status);

// Warns of passes that were rolled back. With --plugin-errors=fail that of a plug-in is
// kPluginFault.
absl::Status ReportFailedPasses(const Executable& executable, const CompileFlags& flags);

// Calls Session::Prepare and ReportFailedPasses, then writes the files of --save-optimized and
// --report. The session owns the executable. HintAtInit is left to the caller.
absl::StatusOr<Executable*> PrepareExecutable(Workbench& bench, const CompileFlags& flags,
                                              const std::vector<std::string>& feeds,
                                              const std::vector<std::string>& fetches);

// The number of nodes on each device in the optimized graph, by short name of the device.
std::vector<std::pair<std::string, int64_t>> NodesPerDevice(const Executable& executable);

}  // namespace tenon::cli
