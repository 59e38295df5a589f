// How a model becomes something that runs: where its nodes go, what the optimizer does, who
// watches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/model_flags.h"
#include "executor/session/session.h"

namespace tenon::cli {

struct PlacementFlags {
  std::string device;
  std::vector<std::string> place;  // REGEX=DEVICE
  bool no_fallback = false;
  bool soft_placement = true;
  int threads = 0;

  void DeclarePlacement(Declarer& d);
};

struct OptimizerFlags {
  int opt_level = -1;  // -1: the command's default
  std::string passes;  // specs; empty: all in their order
  std::string config;  // RewriterConfig: a file, or the text itself
  std::vector<std::string> disabled_passes, disabled_rewrites;
  bool fast_math = false;
  std::string target;  // as Target::Parse takes it; empty: the command's default

  void DeclareLevel(Declarer& d);
  void DeclarePasses(Declarer& d);
  void DeclareRewriting(Declarer& d);
};

// Who watches the optimizer, and what is written of its graph.
struct WatchFlags {
  bool time_passes = false;
  std::string verify_each;                             // "structure", "numeric"; empty: at the end
  double verify_s = 60;                                // for "numeric"
  std::vector<std::string> print_before, print_after;  // passes; "*": each
  std::string print_changed;                           // "graph", "diff", or empty
  std::string dump_dir;
  std::optional<int64_t> bisect_limit;  // -1: all rewrites, with a line for each
  std::string save_optimized;
  std::string explain_node;  // of the optimized graph, or of the model
  std::string report;        // an HTML page
  bool provenance = false;   // written with the optimized graph

  void DeclareWatching(Declarer& d);
  void DeclareBisectLimit(Declarer& d);
  void DeclareSaveOptimized(Declarer& d, const char* name = "--save-optimized");
  void DeclareReport(Declarer& d);
};

// What the command says, not its flags.
struct CompileDefaults {
  int opt_level = 1;
  Target target;                    // who runs the result
  bool freezes = false;             // a SavedModel becomes one graph that holds its variables
  std::string_view writes_nothing;  // the name of a command whose --output has no SINKs
};

struct CompileFlags : ModelFlags, PlacementFlags, OptimizerFlags, WatchFlags {
  CompileDefaults defaults;

  std::vector<std::string> outputs;  // NAME[=SINK]
  std::string cases;                 // a file that says what is fed and fetched; empty: none
  std::vector<std::string> inits;    // nodes to run before all else
  bool keep_state = false;           // what is frozen keeps variables that are written
  bool allow_file_io = false;
  uint64_t seed = 0;

  // Plug-ins, placement, the optimizer and who watches it.
  void DeclareCompiling(Declarer& d);
  void DeclareOutputs(Declarer& d);
  // `what`: what becomes of the node.
  void DeclareInit(Declarer& d, const char* what = "run this node once, before all else");
  void DeclareKeepState(Declarer& d);
  void DeclareFileIo(Declarer& d);
  void DeclareSeed(Declarer& d);
};

// Why a graph cannot be written to a file of this name; empty if it can.
std::string RefuseExportName(const std::string& path);

// Who runs the result.
Target TargetOf(const CompileFlags& flags);

// What the session gets to know of them. INVALID_ARGUMENT (kUsage) for a malformed --place.
absl::StatusOr<SessionOptions> SessionOptionsFrom(const CompileFlags& flags);

}  // namespace tenon::cli
