// Everything that a command line can say, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/session.h"
#include "graph/io.h"

namespace tenon::cli {

enum class Command : uint8_t {
  kRun,
  kBench,
  kShow,
  kLint,
  kOpt,
  kExplain,
  kDiff,
  kBisect,
  kReduce,
  kFreeze,
  kDevices,
  kCheck,
  kPluginCheck,
  kPluginNew
};

struct Options {
  Command command = Command::kRun;
  std::vector<std::string> paths;  // MODEL, the PATHs of check, SO, NAME and DIR

  // Data.
  std::vector<std::string> inputs;       // NAME=SPEC
  std::vector<std::string> input_files;  // .npz
  std::vector<std::string> outputs;      // NAME[=SINK]
  std::vector<std::string> expects;      // NAME=SPEC
  std::optional<double> rtol, atol;
  std::optional<int64_t> max_ulp;
  bool equal_nan = false;

  // SavedModels, state and files.
  std::string signature;           // empty: the default
  std::vector<std::string> inits;  // nodes to run before all else
  int64_t session_runs = 0;        // 0: one, that nobody asked for by this name
  std::string cases;               // a file; empty: none
  std::string frozen;              // where freeze writes
  bool keep_state = false;         // freeze keeps variables that are written
  bool allow_file_io = false;

  // Devices.
  std::vector<std::string> plugins;  // PATH[;key=value...]
  bool fail_on_plugin_errors = false;
  bool strict_abi = false;
  std::string device;
  std::vector<std::string> place;  // REGEX=DEVICE
  bool no_fallback = false;
  bool soft_placement = true;
  int threads = 0;
  std::string kernels;  // "table", "markdown", or empty

  // Optimizer.
  int opt_level = -1;  // -1: the command's default
  std::string passes;  // specs; empty: all in their order
  std::vector<std::string> disabled_passes, disabled_rewrites;
  std::string config;        // RewriterConfig: a file, or the text itself
  std::string explain_node;  // of the optimized graph, or of the model
  std::string report;        // an HTML page
  bool provenance = false;   // written with the optimized graph
  bool list_passes = false;
  bool time_passes = false;
  std::string verify_each;  // "structure", "numeric", or empty: at the end only
  bool fast_math = false;
  std::string target;                   // as Target::Parse takes it; empty: see TargetOf
  std::optional<int64_t> bisect_limit;  // -1: all rewrites, with a line for each
  std::vector<std::string> print_before, print_after;  // passes; "*": each
  std::string print_changed;                           // "graph", "diff", or empty
  std::string dump_dir;
  std::string save_optimized;
  std::string reduced;  // where reduce writes

  // Runs.
  int64_t warmup = -1, runs = -1;  // -1: the command's default
  std::vector<std::string> ab;     // flags of what bench compares: b's, or a's and b's
  double seconds = -1;
  int concurrency = 1;
  uint64_t seed = 0;
  std::optional<double> timeout_s;
  std::vector<std::string> traces;  // files; .xplane.pb or trace events
  std::string op_table;             // "text" or "csv"; empty: none
  bool memory = false;

  // check
  std::vector<std::string> only_ops, skipped_ops;

  ImportLimits limits;
  int64_t max_rank = kMaxRank;

  // Output.
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool story = false;
};

// Who runs the result: unless --target says, every TensorFlow that of opt, Tenon what it runs
// itself.
Target TargetOf(const Options& options);

// What the session gets to know of them. INVALID_ARGUMENT (kUsage) for a malformed --place.
absl::StatusOr<SessionOptions> SessionOptionsFrom(const Options& options);

inline constexpr double kDefaultCallbackTimeout = 60;  // seconds

}  // namespace tenon::cli
