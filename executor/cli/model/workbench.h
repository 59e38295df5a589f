// Goes from a command line to an executable: opens devices, loads the model, makes the session.
#pragma once

#include <functional>
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
// and are destroyed in reverse, as later members borrow from earlier ones. Moving a Workbench keeps
// all pointers valid.
struct Workbench {
  std::unique_ptr<Watchers> watchers;
  std::unique_ptr<Host> host;
  double load_ms = 0;                    // reading and verifying the model, without freezing
  std::optional<SavedModel> saved;       // if the model is a folder that is not frozen
  std::unique_ptr<const Frozen> frozen;  // instead of `saved`, where the command freezes a folder
  const Signature* signature = nullptr;  // of `saved` or `frozen`; may be null
  // Nodes of the session's graph that fill its state, in the order in which they run: those of
  // --init. A frozen graph has one such node, or none if it has no state.
  std::vector<std::string> inits;
  SessionOptions session_options;
  std::unique_ptr<Session> session;  // never null once OpenWorkbench has returned

  const Graph& graph() const { return session->graph(); }
  Names names() const { return Names(graph(), signature); }
};

// Opens devices, loads the model and makes the session. A SavedModel needs a signature, unless
// --output or --cases is given or flags.defaults.whole is set. A SavedModel is frozen first if
// flags.defaults.freezes is set; that runs --init and the initializers of the folder. Otherwise
// nothing of the model runs, and variables have no values yet. Warns of a device that --device or
// --place names and that does not exist, where soft placement ignores it, and of passes of plug-ins
// that no plug-in has. `flags` must outlive the result. At most one Workbench may exist at a time,
// as MakeReproducer (watchers.h) demands. Errors are those of SessionOptionsFrom, Host::Open,
// LoadModel, FreezeModel, KeepCallsOfCaptured (with flags.defaults.whole), AllowedFiles and
// Session::Create, that of a --dump-dir that cannot be made, and kUsage: --init names no node, or
// --save-optimized is given for a SavedModel that is neither frozen nor written whole.
absl::StatusOr<Workbench> OpenWorkbench(const CompileFlags& flags);

// Makes another session of a copy of the same graph, on the devices of `bench`, which must outlive
// the session. `flags` configure the session and must outlive this call only. The watchers do not
// observe its optimizer. Its variables have no values yet: see InitializeState. Errors are those of
// SessionOptionsFrom and Session::Create.
absl::StatusOr<std::unique_ptr<Session>> OpenOtherSession(const Workbench& bench,
                                                          const CompileFlags& flags);

// Gives the variables of `session` the values that the SavedModel has for them, with RestoreState,
// which also says what `before_run` does. Does nothing if bench.saved is empty. Errors are those of
// RestoreState, after FaultOfFiles.
absl::Status RestoreVariables(Session& session, const Workbench& bench,
                              const BeforeRun& before_run = {});

// Brings bench.session to the state in which runs begin. Calls RestoreVariables. Then runs
// bench.inits, which are fed the paths of the assets of a SavedModel. Last, variables of a
// SavedModel become constants, as Session::FixVariables does it, if no run may change them.
// `fetches` are what runs will ask for besides the results of the signatures, by their names in the
// graph: "node", "node:1" or "^node". Unknown names are skipped. Call once for each session, before
// its runs. At the end calls Watchers::ForgetGraph, so that --report and --explain-node are about
// the runs; not after an error. Errors are those of RestoreVariables, ReportFailedPasses,
// AssetPaths, CheckInitIsFed and the session.
absl::Status InitializeState(Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);
// Does the same for another session of the same graph, but the watchers forget nothing.
absl::Status InitializeState(Session& session, const Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches);

// kUsage if node `init`, which --init names, needs a Placeholder that is none of `fed`, names of
// outputs: only assets are fed to initializers.
absl::Status CheckInitIsFed(const Graph& graph, const std::string& init,
                            absl::Span<const std::string> fed);

// Returns `status`, which is that of a run. If it is FAILED_PRECONDITION, variables or tables may
// have no values; the message then names the nodes that Initializers finds. There is no such hint
// for a SavedModel, if there are bench.inits, or if no node is found.
absl::Status HintAtInit(const Workbench& bench, const absl::Status& status);

// Returns the status of a restoration with the exit code kInvalidInput, as the files are at fault.
// OK, UNIMPLEMENTED, INTERNAL and DEADLINE_EXCEEDED are returned as they are: the fault is ours.
absl::Status FaultOfFiles(const absl::Status& status);
// The same for the status of Freeze. FAILED_PRECONDITION is returned as it is: a variable that is
// written, or a table that nothing fills, is no fault of the files.
absl::Status FaultOfFreezing(const absl::Status& status);

// The files that kernels may touch: all with --allow-file-io, else those that FilesOf allows, and
// none if there is no SavedModel. The error is that of FilesOf, after FaultOfFiles.
absl::StatusOr<FileAccess> AllowedFiles(const CompileFlags& flags,
                                        const std::optional<SavedModel>& saved);

// Warns of each pass that was rolled back, of equal messages once; --quiet silences that. With
// --plugin-errors=fail, the first rolled-back pass of a plug-in is an error instead: kPluginFault.
// Then nothing after it gets a warning. Warns last if --precision has changed no node.
absl::Status ReportFailedPasses(const Executable& executable, const CompileFlags& flags);

// Calls Session::Prepare of bench.session and ReportFailedPasses, then writes --save-optimized: for
// a SavedModel a folder, if flags.defaults.whole is set, else a file. `feeds` and `fetches` are
// those of Session::Prepare. The session owns the executable. With --save-optimized or --report at
// most one call for a Workbench: the watchers observe one optimization. Errors are those of these
// calls, of the files, and of --dump-dir. The caller passes the error of a later run to HintAtInit,
// and writes the page of --report (reports/page.h).
absl::StatusOr<Executable*> PrepareExecutable(Workbench& bench, const CompileFlags& flags,
                                              const std::vector<std::string>& feeds,
                                              const std::vector<std::string>& fetches);

// The number of nodes on each device in the optimized graph, without bodies of functions. Sorted by
// ShortName of the device; devices without nodes are left out.
std::vector<std::pair<std::string, int64_t>> NodesPerDevice(const Executable& executable);

}  // namespace tenon::cli
