// Flags that say how a model is compiled: where its nodes go, what the optimizer does, and which
// reports are written of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/cli/options/model_flags.h"
#include "executor/session/session.h"

namespace tenon::cli {

struct PlacementFlags {
  PlacerOptions placer;
  ClusterOptions clusters;  // but for what the next two flags say
  std::string xla_buckets;  // right for Buckets::Parse; empty: not given
  bool xla_async = false;
  // The flags that were given of those that say where nodes go and what is compiled.
  std::vector<GivenFlag> given_placement;
  int threads = 0;  // 0: DefaultThreads(); for `check`, one for each case
  InterOp inter_op = InterOp::kOn;
  Pin pin = Pin::kOff;
  Numa numa = Numa::kOff;
  int device_streams = 1;           // SessionOptions::device_streams
  std::string node_order = "auto";  // --schedule; right for NodeOrderOf
  int64_t max_plan_bytes = INT64_MAX;

  void DeclarePlacement(Declarer& d);
  void DeclareDeviceStreams(Declarer& d);
  // --schedule, --max-plan-bytes, --pin, --numa and --device-streams: of commands that run.
  void DeclareSchedule(Declarer& d);
};

// What a value of --schedule says: the order, and the seed of `seed:N`, else 0. nullopt for any
// other text.
std::optional<std::pair<NodeOrder, uint64_t>> NodeOrderOf(std::string_view text);

struct OptimizerFlags {
  int opt_level = -1;  // -1: the command's default
  std::string passes;  // PassSpecs; empty: all passes in their order
  std::string config;  // a RewriterConfig: a file, or the text itself
  std::vector<std::string> disabled_passes, disabled_rewrites;
  bool fast_math = false;
  std::string target;  // as Target::Parse takes it; empty: the command's default
  std::string precision = std::string(kFullPrecision);

  void DeclareLevel(Declarer& d);
  void DeclarePasses(Declarer& d);
  void DeclareRewriting(Declarer& d);
};

// Reports on the optimizer, and files of its graph.
struct WatchFlags {
  bool time_passes = false;
  // "structure", "numeric"; empty: only the result is verified.
  std::string verify_each;
  // "numeric" begins no comparison after so many seconds of comparing.
  double verify_s = 60;
  // Passes; "*" means each.
  std::vector<std::string> print_before, print_after;
  // "graph", "diff", or empty.
  std::string print_changed;
  std::string dump_dir;
  // Only the first so many rewrites happen; -1: all. If given, a line is printed for each.
  std::optional<int64_t> bisect_limit;
  std::string save_optimized;
  std::string explain_node;  // a node of the optimized graph or of the model
  std::string report;        // the file of an HTML page
  bool provenance = false;   // --save-optimized writes where each node comes from

  void DeclareWatching(Declarer& d);
  void DeclareBisectLimit(Declarer& d);
  void DeclareSaveOptimized(Declarer& d, const char* name = "--save-optimized");
  void DeclareReport(Declarer& d);
};

// Set by the command itself and by no flag.
struct CompileDefaults {
  int opt_level = 1;
  Target target;         // what runs the optimized graph
  bool freezes = false;  // a SavedModel becomes one graph that holds its variables
  // All signatures of a SavedModel count, and --save-optimized writes a SavedModel's folder.
  bool whole = false;
  // The name of a command with an --output that takes no SINKs; empty for other commands.
  std::string_view writes_nothing;
};

struct CompileFlags : ModelFlags, PlacementFlags, OptimizerFlags, WatchFlags {
  CompileDefaults defaults;
  bool keep_costs = false;  // SessionOptions::keep_costs; set by no flag

  std::vector<std::string> outputs;  // NAME[=SINK]
  std::string cases;                 // a file that says what is fed and fetched; empty: none
  std::vector<std::string> inits;    // nodes to run before all others, in this order
  bool keep_state = false;           // variables that a signature writes stay variables
  bool allow_file_io = false;
  uint64_t seed = 0;  // of random ops that have none; 0: from the system

  // The flags of plug-ins, placement, the optimizer and its reports, but not --explain-node and
  // --provenance.
  void DeclareCompiling(Declarer& d);
  void DeclareOutputs(Declarer& d);
  // `what`: the help text, which says what is done with the node.
  void DeclareInit(Declarer& d, const char* what = "run this node once, before all else");
  void DeclareKeepState(Declarer& d);
  void DeclareFileIo(Declarer& d);
  void DeclareSeed(Declarer& d);
};

// Why no graph can be written to a file of this name; empty if one can.
std::string RefuseExportName(const std::string& path);

// The target that --target names, or else that of the command.
Target TargetOf(const CompileFlags& flags);

// The options of a session that these flags describe. The observers and the files that ops may use
// are left to the caller. Each call prints warnings for parts of --config that have no effect.
// kUsage: a device, rule, pass, rewrite, precision or configuration is wrong, --precision comes
// with a level of 0, or the file of --config cannot be read. Whether there is such a device, or
// such a pass of a plug-in, is not looked at.
absl::StatusOr<SessionOptions> SessionOptionsFrom(const CompileFlags& flags);

}  // namespace tenon::cli
