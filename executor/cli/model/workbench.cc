#include "executor/cli/model/workbench.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/explain_node.h"
#include "executor/cli/graphs/initializer.h"
#include "executor/cli/model/model.h"
#include "executor/cli/model/whole_model.h"
#include "executor/freeze/freeze.h"
#include "executor/proof/difference.h"
#include "executor/proof/graph_runner.h"
#include "executor/session/saved_model.h"
#include "graph/base/annotate.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"
#include "graph/saved_model/write_saved_model.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/pass_spec.h"
#include "grappler_lite/target/target_graph.h"
#include "optimizer_api/plugin_optimizer.h"
#include "plugin/cpu/base/thread_places.h"
#include "plugin/cpu/base/usable_cores.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {
namespace {

// Soft placement ignores a device that does not exist. A user that typed its name should hear so.
void WarnOfMissingDevice(std::string_view text, const Host& host, const CompileFlags& flags) {
  const absl::StatusOr<DeviceRequest> request = ParseDeviceFlag(text);
  if (!request.ok() || request->type.empty()) return;
  std::string known;
  for (const Device* device : host.devices()) {
    const bool ordinal_fits = request->ordinal < 0 || request->ordinal == device->ordinal();
    if (device->type() == request->type && ordinal_fits) return;
    absl::StrAppend(&known, known.empty() ? "" : ", ", device->short_name());
  }
  std::string message = absl::StrCat("there is no device '", text, "'; there are ", known);
  for (const PluginInfo& plugin : Plugins()) {
    if (!plugin.pjrt || plugin.pjrt->no_devices.empty()) continue;
    absl::StrAppend(&message, "; ", plugin.path, " has none: ", OneLine(plugin.pjrt->no_devices));
  }
  Warn(flags, message);
}

// Warns of passes of plug-ins that a flag names and no plug-in has.
void WarnOfMissingPasses(const CompileFlags& flags) {
  std::vector<std::string> named = flags.disabled_passes;
  named.insert(named.end(), flags.print_before.begin(), flags.print_before.end());
  named.insert(named.end(), flags.print_after.begin(), flags.print_after.end());
  if (const auto specs = ParsePassSpecs(flags.passes); specs.ok()) {
    for (const PassSpec& spec : *specs) named.push_back(spec.name);
  }
  for (std::string_view name : named) {
    if (!absl::ConsumePrefix(&name, "plugin:") || name == "*") continue;
    const std::string_view type = name.substr(0, name.find(':'));
    if (PluginOptimizersFor(absl::flat_hash_set<std::string_view>{type}).empty())
      Warn(flags, absl::StrCat("no plug-in has a pass 'plugin:", name, "'"));
  }
}

// Freezes the model, so that what is written holds its variables and tables. The session of the
// restoration runs no passes: the command's own passes are for the frozen graph.
absl::Status FreezeFor(Workbench& bench, Model& model, const CompileFlags& flags,
                       SessionOptions session_options) {
  session_options.opt_level = 0;
  session_options.pipeline = {};
  absl::StatusOr<Frozen> frozen =
      FreezeModel(model, flags, *bench.host, std::move(session_options));
  if (!frozen.ok()) {
    // A wrong flag is no fault of the freezing.
    if (ExitOf(frozen.status()) == Exit::kUsage) return frozen.status();
    return Annotate(frozen.status(),
                    absl::StrCat(flags.paths.front(), ": opt freezes a SavedModel first: "));
  }
  bench.frozen = std::make_unique<Frozen>(*std::move(frozen));
  model.graph = bench.frozen->model.graph;
  model.saved.reset();
  model.signature = bench.frozen->signature.name.empty() ? nullptr : &bench.frozen->signature;
  if (!bench.frozen->model.init.empty()) bench.inits = {bench.frozen->model.init};
  return absl::OkStatus();
}

absl::Status CheckCanBeWritten(const Model& model, const CompileFlags& flags) {
  if (!model.saved.has_value() || flags.save_optimized.empty()) return absl::OkStatus();
  return UsageError(absl::StrCat(
      "--save-optimized: the graph of a SavedModel lacks what its variables and tables hold; "
      "graph_run opt ",
      ShellWord(flags.paths.front()), " -o ", ShellWord(flags.save_optimized),
      " writes one that holds it"));
}

// Resolves the nodes of --init. Without any, those count that `freeze` has written.
absl::Status ReadInits(Workbench& bench, const Model& model, const CompileFlags& flags) {
  if (flags.inits.empty() && !model.saved.has_value())
    bench.inits = MarkedInitializers(model.graph);
  const Names names(model.graph, model.signature);
  for (const std::string& init : flags.inits) {
    TENON_ASSIGN_OR_RETURN(bench.inits.emplace_back(), names.Node("--init", init));
  }
  return absl::OkStatus();
}

// All results that may be asked for in a session of the model.
std::vector<std::string> EntriesOf(const SavedModel& model, absl::Span<const std::string> fetches) {
  std::vector<std::string> entries(fetches.begin(), fetches.end());
  for (const Signature& signature : model.meta().signatures) {
    for (const SignatureTensor& result : signature.outputs) entries.push_back(result.tensor);
  }
  return entries;
}

// The optimized graph as --save-optimized writes it.
absl::StatusOr<Graph> WrittenGraph(const Executable& executable, const Workbench& bench,
                                   const CompileFlags& flags) {
  const Target& target = bench.session_options.pipeline.target;
  Graph graph = GraphToWrite(executable, bench.graph());
  DropNewDefaults(graph, target);
  if (flags.provenance) WriteProvenance(*bench.watchers->provenance(), graph);
  TENON_RETURN_IF_ERROR(SeparateRepeated(graph, target));
  return graph;
}

// With --verbose, on stderr: which cores the threads of the session may use.
void TellOfPlaces(const CompileFlags& flags, int threads) {
  if (!flags.verbose || flags.quiet) return;
  const ThreadPlaces places = PlacesOfThreads(threads, flags.pin, flags.numa, CoresOfThread());
  if (flags.numa == Numa::kAuto && places.nodes == 1)
    PrintErrorLine("--numa=auto: the cores belong to one node of memory: nothing to do");
  std::vector<std::string> texts;
  for (size_t t = 0; t < places.cores.size(); ++t) {
    const std::vector<int>& cores = places.cores[t];
    if (!cores.empty())
      texts.push_back(absl::StrCat("thread ", t, ": core ", absl::StrJoin(cores, ",")));
  }
  if (!texts.empty()) PrintErrorLine(absl::StrJoin(texts, "; "));
}

// Compares graphs on devices that run nodes. Where groups of nodes are compiled, a rewrite may
// change what is computed together, and with it the last bits.
GraphRunner RunnerOfNodes(std::vector<Device*> devices, SessionOptions options,
                          std::vector<std::string> inits) {
  TakeCompilingOut(devices, options.placer);
  return GraphRunner(std::move(devices), std::move(options), std::move(inits));
}

}  // namespace

absl::StatusOr<Workbench> OpenWorkbench(const CompileFlags& flags) {
  TENON_ASSIGN_OR_RETURN(SessionOptions session_options, SessionOptionsFrom(flags));
  Workbench bench;
  bench.watchers = std::make_unique<Watchers>(flags);
  TENON_RETURN_IF_ERROR(bench.watchers->status());
  // Before the model: a plug-in may bring ops of the graph.
  TENON_ASSIGN_OR_RETURN(bench.host, Host::Open(flags));
  WarnOfMissingPasses(flags);
  // Otherwise a missing device is an error of the placement.
  if (session_options.placer.soft_placement && session_options.placer.fallback) {
    if (const std::string& device = session_options.placer.default_device; !device.empty())
      WarnOfMissingDevice(device, *bench.host, flags);
    for (const auto& [pattern, device] : session_options.placer.rules)
      WarnOfMissingDevice(device, *bench.host, flags);
  }
  TENON_ASSIGN_OR_RETURN(
      Model model,
      LoadModel(flags, flags.outputs.empty() && flags.cases.empty() && !flags.defaults.whole));
  bench.load_ms = model.load_ms;
  if (model.saved.has_value() && flags.defaults.freezes) {
    TENON_RETURN_IF_ERROR(FreezeFor(bench, model, flags, session_options));
  } else {
    TENON_RETURN_IF_ERROR(flags.defaults.whole && model.saved.has_value()
                              ? FaultOfFiles(KeepCallsOfCaptured(*model.saved, model.graph))
                              : CheckCanBeWritten(model, flags));
    TENON_RETURN_IF_ERROR(ReadInits(bench, model, flags));
  }
  bench.saved = std::move(model.saved);
  bench.signature = model.signature;
  TENON_ASSIGN_OR_RETURN(session_options.files, AllowedFiles(flags, bench.saved));
  if (flags.verify_each == "numeric") {
    // opt runs no initializer, so each graph that is compared begins with its own.
    const bool initializes = flags.defaults.freezes;
    bench.watchers->VerifyNumbers(
        RunnerOfNodes(bench.host->devices(), session_options,
                      initializes ? bench.inits : std::vector<std::string>()),
        flags.verify_s);
    session_options.clusters.judge = [](const Tensor& right, const Tensor& is) {
      return FindDifference(right, is, Sameness::kBound);
    };
  }
  session_options.pipeline.observers = bench.watchers->observers();
  bench.session_options = session_options;
  TENON_ASSIGN_OR_RETURN(
      bench.session,
      Session::Create(std::move(model.graph), bench.host->devices(), std::move(session_options)));
  TellOfPlaces(flags, bench.session->threads());
  // Proofs run on the values that the variables of the session have.
  if (NumericVerifier* verifier = bench.watchers->verifier())
    verifier->TakeStateOf(bench.session.get());
  return bench;
}

absl::StatusOr<std::unique_ptr<Session>> OpenOtherSession(const Workbench& bench,
                                                          const CompileFlags& flags) {
  TENON_ASSIGN_OR_RETURN(SessionOptions session_options, SessionOptionsFrom(flags));
  session_options.files = bench.session_options.files;
  return Session::Create(bench.graph(), bench.host->devices(), std::move(session_options));
}

absl::Status HintAtInit(const Workbench& bench, const absl::Status& status) {
  const bool may_lack_values = absl::IsFailedPrecondition(status) && bench.inits.empty();
  if (!may_lack_values || bench.saved.has_value()) return status;
  const std::vector<std::string> inits = Initializers(bench.graph());
  if (inits.empty()) return status;
  absl::Status hint(status.code(), absl::StrCat(status.message(), ";", InitArguments(inits),
                                                inits.size() == 1 ? " gives" : " give",
                                                " variables and tables their first values"));
  status.ForEachPayload(
      [&](std::string_view key, const absl::Cord& value) { hint.SetPayload(key, value); });
  return hint;
}

absl::Status FaultOfFiles(const absl::Status& status) {
  const bool of_ours =
      absl::IsUnimplemented(status) || absl::IsInternal(status) || absl::IsDeadlineExceeded(status);
  return of_ours ? status : WithExit(Exit::kInvalidInput, status);
}

absl::Status FaultOfFreezing(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) ? status : FaultOfFiles(status);
}

absl::StatusOr<FileAccess> AllowedFiles(const CompileFlags& flags,
                                        const std::optional<SavedModel>& saved) {
  if (flags.allow_file_io) return FileAccess::Anything();
  if (!saved.has_value()) return FileAccess();
  absl::StatusOr<FileAccess> files = FilesOf(*saved);
  if (!files.ok()) return FaultOfFiles(files.status());
  return files;
}

namespace {

// Whether the pass of this precision has done anything.
bool ChangesPrecision(const Executable& executable, std::string_view precision) {
  return std::ranges::any_of(OptimizerReport(executable).passes, [&](const PassReport& row) {
    return row.changed && std::ranges::any_of(PassOrder(), [&](const PassEntry& pass) {
             return pass.name == row.name && pass.precision == precision;
           });
  });
}

}  // namespace

absl::Status ReportFailedPasses(const Executable& executable, const CompileFlags& flags) {
  std::set<std::string> told;  // a pass may fail the same way in each iteration
  for (const PassReport& pass : OptimizerReport(executable).passes) {
    if (!pass.failed) continue;
    const std::string message = absl::StrCat(
        "pass ", pass.name,
        pass.function.empty() ? "" : absl::StrCat(" in function '", pass.function, "'"), ": ",
        pass.reason);
    if (flags.fail_on_plugin_errors && absl::StartsWith(pass.name, "plugin:")) {
      return WithExit(Exit::kPluginFault, absl::InternalError(message));
    }
    if (told.insert(message).second) Warn(flags, message);
  }
  if (flags.precision != kFullPrecision && !ChangesPrecision(executable, flags.precision)) {
    Warn(flags, absl::StrCat("--precision=", flags.precision,
                             " changed no node: explain with it "
                             "says why"));
  }
  return absl::OkStatus();
}

absl::Status InitializeState(Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches) {
  TENON_RETURN_IF_ERROR(InitializeState(*bench.session, bench, flags, fetches));
  bench.watchers->ForgetGraph();
  return absl::OkStatus();
}

absl::Status RestoreVariables(Session& session, const Workbench& bench,
                              const BeforeRun& before_run) {
  if (!bench.saved.has_value()) return absl::OkStatus();
  const absl::Status status = RestoreState(session, *bench.saved, {before_run});
  return status.ok() ? status : FaultOfFiles(status);
}

absl::Status InitializeState(Session& session, const Workbench& bench, const CompileFlags& flags,
                             absl::Span<const std::string> fetches) {
  TENON_RETURN_IF_ERROR(RestoreVariables(session, bench, [&](const Executable& executable) {
    return ReportFailedPasses(executable, flags);
  }));
  std::vector<std::string> feeds;
  std::vector<Tensor> values;
  if (bench.saved.has_value()) {
    TENON_ASSIGN_OR_RETURN(std::vector<Session::NamedTensor> paths, AssetPaths(*bench.saved));
    for (auto& [tensor, path] : paths) {
      feeds.push_back(tensor);
      values.push_back(std::move(path));
    }
  }
  for (const std::string& init : bench.inits) {
    TENON_RETURN_IF_ERROR(CheckInitIsFed(bench.graph(), init, feeds));
    TENON_ASSIGN_OR_RETURN(Executable * executable,
                           session.Prepare(feeds, {absl::StrCat("^", init)}));
    TENON_RETURN_IF_ERROR(ReportFailedPasses(*executable, flags));
    TENON_RETURN_IF_ERROR(session.Run(executable, values).status());
  }
  return bench.saved.has_value() ? session.FixVariables(EntriesOf(*bench.saved, fetches))
                                 : absl::OkStatus();
}

absl::Status CheckInitIsFed(const Graph& graph, const std::string& init,
                            absl::Span<const std::string> fed) {
  std::vector<Output> given;
  for (const std::string& name : fed) {
    const absl::StatusOr<Output> output = graph.ParseOutput(name);
    if (output.ok()) given.push_back(*output);
  }
  const std::vector<NodeId> unfed =
      UnfedPlaceholders(graph, {{graph.FindNode(init), kControlPort}}, given);
  if (unfed.empty()) return absl::OkStatus();
  const NodeId first = unfed.front();
  return UsageError(absl::StrCat("--init '", init, "': ", graph.Locate(first),
                                 ": it needs Placeholder '", graph.name(first),
                                 "', and nothing is fed to what --init names"));
}

absl::StatusOr<Executable*> PrepareExecutable(Workbench& bench, const CompileFlags& flags,
                                              const std::vector<std::string>& feeds,
                                              const std::vector<std::string>& fetches) {
  TENON_ASSIGN_OR_RETURN(Executable * executable, bench.session->Prepare(feeds, fetches));
  TENON_RETURN_IF_ERROR(bench.watchers->status());
  TENON_RETURN_IF_ERROR(ReportFailedPasses(*executable, flags));
  if (!flags.save_optimized.empty()) {
    TENON_ASSIGN_OR_RETURN(const Graph graph, WrittenGraph(*executable, bench, flags));
    TENON_RETURN_IF_ERROR(flags.defaults.whole && bench.saved.has_value()
                              ? WriteSavedModel(*bench.saved, graph, flags.save_optimized)
                              : ExportFile(graph, flags.save_optimized));
  }
  return executable;
}

std::vector<std::pair<std::string, int64_t>> NodesPerDevice(const Executable& executable) {
  const Graph& graph = OptimizedGraph(executable);
  const std::vector<NodePlacement>& placement = PlacementReport(executable);
  std::map<std::string, int64_t> counts;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) ++counts[ShortName(placement[n].device)];
  }
  return {counts.begin(), counts.end()};
}

}  // namespace tenon::cli
