#include "executor/cli/options/compile_flags.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "executor/place/name_pattern.h"
#include "graph/io/io.h"
#include "plugin/device/compute_streams.h"

namespace tenon::cli {
namespace {

std::string RefuseTarget(const std::string& name) {
  return std::string(Target::Parse(name).status().message());
}

// Splits "REGEX=DEVICE" at the last '=': an expression may hold one, the name of a device cannot.
std::pair<std::string, std::string> SplitRule(const std::string& text) {
  const size_t equals = std::min(text.rfind('='), text.size());
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
}

std::string RefuseDevice(const std::string& text) {
  return std::string(ParseDeviceFlag(text).status().message());
}

std::string RefuseRule(const std::string& text) {
  const auto [pattern, device] = SplitRule(text);
  if (pattern.empty() || device.empty())
    return absl::StrCat("'", text, "' is no REGEX=DEVICE, such as 'layer1/.*=APU:0'");
  const absl::Status known = NamePattern::Compile(pattern).status();
  return known.ok() ? RefuseDevice(device) : std::string(known.message());
}

std::string RefuseBuckets(const std::string& text) {
  return std::string(Buckets::Parse(text).status().message());
}

std::string RefuseSchedule(const std::string& text) {
  if (NodeOrderOf(text).has_value()) return "";
  return absl::StrCat(text,
                      " is none of auto, speed, memory, file and seed:N (N from 0 to 2^64 - 1)");
}

}  // namespace

std::optional<std::pair<NodeOrder, uint64_t>> NodeOrderOf(std::string_view text) {
  if (text == "auto") return {{NodeOrder::kAuto, 0}};
  if (text == "speed") return {{NodeOrder::kSpeed, 0}};
  if (text == "memory") return {{NodeOrder::kMemory, 0}};
  if (text == "file") return {{NodeOrder::kFile, 0}};
  uint64_t seed = 0;
  if (!absl::ConsumePrefix(&text, "seed:") || text.empty() ||
      text.find_first_not_of("0123456789") != text.npos || !absl::SimpleAtoi(text, &seed))
    return std::nullopt;
  return {{NodeOrder::kSeed, seed}};
}

std::string RefuseExportName(const std::string& path) {
  return std::string(CheckExportName(path).message());
}

void PlacementFlags::DeclarePlacement(Declarer& d) {
  d.Group(FlagGroup::kDevices);
  d.Keep(&given_placement);
  d.Text("--device", placer.default_device, "NAME",
         "where nodes go that ask for nothing, such as APU or CPU:0", RefuseDevice);
  d.RepeatInto(
      "--place", "REGEX=DEVICE", "where nodes with such names go",
      [this](const std::string& v) { placer.rules.push_back(SplitRule(v)); }, RefuseRule);
  d.FlagOff("--no-fallback", placer.fallback,
            "a node that cannot go where --device or --place says is an error");
  d.Choice("--soft-placement", {"on", "off"}, "on|off",
           "off: a node that cannot go where the graph, --device or --place says is an error",
           [this](const std::string& v) { placer.soft_placement = v == "on"; });
  d.Flag("--spread", placer.spread,
         "branches that do not need each other go to different devices of a type, not all to its "
         "first");
  d.Choice(
      "--xla", {"off", "fusible", "on", "all"}, "off|fusible|on|all",
      "which nodes are compiled together where a device of --plugin compiles: none; what programs "
      "fuse; all that can be, in groups of four or more on devices with kernels (default: as "
      "TF_XLA_FLAGS says)",
      [this](const std::string& v) { clusters.mode = XlaModeOf(v); });
  d.Text("--xla-buckets", xla_buckets, "pow2|LIST|off",
         "dimensions that vary between runs are padded, where no result can see it, so that one "
         "program serves many sizes: to the next power of two, or to sizes such as 1,8,64",
         RefuseBuckets);
  d.Flag("--xla-async", xla_async,
         "ordinary kernels run while a program is being compiled, and the program afterwards");
  d.Choice("--xla-errors", {"report", "fail"}, "report|fail",
           "nodes that a device cannot compile or run together: report: ordinary kernels run, with "
           "a warning; fail: an error",
           [this](const std::string& v) {
             clusters.errors = v == "fail" ? XlaErrors::kFail : XlaErrors::kReport;
           });
  d.Flag("--allow-tf32", clusters.allow_tf32,
         "devices that compile may round the operands of products");
  d.Keep(nullptr);
  d.Text("--xla-cache", clusters.program_cache, "DIR",
         "where compiled programs are kept for later runs of the command");
  d.Integer("--threads", threads, "N",
            "CPU threads in all (default: the cores that this process may use)", 0, 4096);
  d.Choice("--inter-op", {"on", "off", "always"}, "on|off|always",
           "whether nodes run at the same time: on where it pays; always: also where it does not",
           [this](const std::string& v) {
             inter_op = v == "off" ? InterOp::kOff : v == "on" ? InterOp::kOn : InterOp::kAlways;
           });
}

void PlacementFlags::DeclareSchedule(Declarer& d) {
  d.Group(FlagGroup::kDevices);
  d.Choice("--pin", {"off", "cores"}, "off|cores",
           "cores: each thread, the caller's in a run too, has a core of its own",
           [this](const std::string& v) { pin = v == "cores" ? Pin::kCores : Pin::kOff; });
  d.Choice("--numa", {"off", "auto"}, "off|auto",
           "auto: where memory has several nodes, each thread stays in one",
           [this](const std::string& v) { numa = v == "auto" ? Numa::kAuto : Numa::kOff; });
  d.Text("--schedule", node_order, "auto|speed|memory|file|seed:N",
         "the order of nodes: auto: work for devices first, then what most waits for; speed: the "
         "same, whatever "
         "memory it takes; memory: what takes the least memory, one node after the other; file: as "
         "they stand in the "
         "graph; seed:N: any that is allowed, drawn by N",
         RefuseSchedule);
  d.Integer(
      "--max-plan-bytes", max_plan_bytes, "N",
      "the most bytes that cached plans may hold; the plan that was used longest ago goes first",
      0);
  DeclareDeviceStreams(d);
}

void PlacementFlags::DeclareDeviceStreams(Declarer& d) {
  d.Group(FlagGroup::kDevices);
  d.Integer("--device-streams", device_streams, "N",
            "compute streams of each device with streams, on which branches that do not need each "
            "other compute at the same time (default 1)",
            1, kMostComputeStreams);
}

void OptimizerFlags::DeclareLevel(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Integer("--opt-level", opt_level, "0|1|2",
            "0: no pass runs; 1: what TensorFlow runs by default; 2: the same, as no costlier "
            "search is built yet",
            0, 2);
}

void OptimizerFlags::DeclarePasses(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Text("--passes", passes, "SPEC",
         "these passes in this order, such as 'constant_folding(max_bytes=10MB),plugin:*'",
         Declarer::RefuseEmptyList);
  d.Text("--config", config, "FILE|TEXT",
         "a RewriterConfig as text, with TensorFlow's names: 'remapping: OFF'");
  d.List("--disable-pass", disabled_passes, "A,B", "not these passes");
  d.List("--disable-rewrite", disabled_rewrites, "A,B",
         "not these rewrites, such as constant_folding.fold");
}

void OptimizerFlags::DeclareRewriting(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Flag("--fast-math", fast_math, "allow rewrites that change rounding");
  d.Text("--target", target, "T",
         "who can run the result: tensorflow (every 2.x), tensorflow@2.N (2.N and later), either "
         "with +onednn, or tenon (default: tensorflow for opt, else tenon)",
         RefuseTarget);
  static const std::string kWords = absl::StrJoin(Precisions(), "|");
  const std::vector<std::string_view> words = Precisions();
  d.Choice("--precision", {words.begin(), words.end()}, kWords.c_str(),
           "compute the products of floats so: f32 as they stand; bf16, f16 with what lies between "
           "them in these types; int8-dynamic constant weights and rows in 8 bits; w8, w4 constant "
           "weights in 8 or 4 bits",
           [this](const std::string& v) { precision = v; });
}

void WatchFlags::DeclareWatching(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Flag("--time-passes", time_passes, "a table of what each pass did and how long it took");
  d.FlagWithValue("--verify-each{structure}", verify_each, {"structure", "numeric"},
                  "verify the graph after each pass; =numeric: and that it answers the same");
  d.Real("--verify-seconds", verify_s, "S",
         "when --verify-each=numeric begins no more comparisons; it says what it left out (default "
         "60)",
         Declarer::Bound::kAboveZero);
  d.List("--print-before", print_before, "PASS",
         "the graph before this pass, on stderr; '*': before each");
  d.List("--print-after", print_after, "PASS",
         "the graph after this pass, on stderr; '*': after each");
  d.FlagWithValue("--print-changed{graph}", print_changed, {"graph", "diff"},
                  "the graph after each pass that changed it, on stderr; =diff: what changed");
  d.Text("--dump-dir", dump_dir, "DIR",
         "write NNN_pass_before and _after, .pbtxt and .dot, of every pass that changes "
         "something; large constants as checksums");
}

void WatchFlags::DeclareBisectLimit(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Integer("--bisect-limit", bisect_limit, "N",
            "only the first N rewrites, and a BISECT line for each on stderr; -1: all", -1);
}

void WatchFlags::DeclareSaveOptimized(Declarer& d, const char* name) {
  d.Group(FlagGroup::kOptimizer);
  d.Text(name, save_optimized, "OUT",
         "write the optimized graph: .pb or .pbtxt, .xz or .gz after it", RefuseExportName);
}

void WatchFlags::DeclareReport(Declarer& d) {
  d.Group(FlagGroup::kOptimizer);
  d.Text("--report", report, "OUT.html",
         "write a page: the graph, what each pass did, placement and, of runs, times and memory");
}

void CompileFlags::DeclareCompiling(Declarer& d) {
  DeclarePlugins(d);
  DeclarePlacement(d);
  DeclareLevel(d);
  DeclarePasses(d);
  DeclareWatching(d);
  DeclareRewriting(d);
  DeclareBisectLimit(d);
  DeclareSaveOptimized(d);
  DeclareReport(d);
}

void CompileFlags::DeclareOutputs(Declarer& d) {
  d.Group(FlagGroup::kData);
  d.Repeat("--output", outputs, "NAME", "fetch (default: the graph's outputs)");
  // A command with SINKs declares --output itself.
  defaults.writes_nothing = d.command();
}

void CompileFlags::DeclareInit(Declarer& d, const char* what) {
  d.Group(FlagGroup::kState);
  d.Repeat("--init", inits, "NODE", what);
}

void CompileFlags::DeclareKeepState(Declarer& d) {
  d.Group(FlagGroup::kState);
  d.Flag("--keep-state", keep_state,
         "variables that the signature of a SavedModel writes stay variables, which a node fills");
}

void CompileFlags::DeclareFileIo(Declarer& d) {
  d.Group(FlagGroup::kState);
  d.Flag("--allow-file-io", allow_file_io,
         "ops may read and write any file, not only read those of the SavedModel");
}

void CompileFlags::DeclareSeed(Declarer& d) {
  d.Group(FlagGroup::kRuns);
  d.Seed("--seed", seed, "N", "of random ops that have none; 0: from the system");
}

}  // namespace tenon::cli
