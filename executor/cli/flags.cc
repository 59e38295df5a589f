#include "executor/cli/flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "executor/cli/command_table.h"
#include "executor/cli/exit_code.h"
#include "graph/closest.h"
#include "graph/io.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

constexpr uint32_t Bit(Command c) { return uint32_t{1} << static_cast<int>(c); }
constexpr uint32_t kRuns = Bit(Command::kRun) | Bit(Command::kBench);
constexpr uint32_t kProves = Bit(Command::kBisect) | Bit(Command::kReduce);
constexpr uint32_t kOptimizesOnce = kRuns | Bit(Command::kOpt) | Bit(Command::kExplain);
constexpr uint32_t kOptimizes = kOptimizesOnce | kProves;
constexpr uint32_t kFeeds = kRuns | kProves;
constexpr uint32_t kCompares = Bit(Command::kRun) | kProves;
constexpr uint32_t kPlaces = kOptimizes | Bit(Command::kFreeze) | Bit(Command::kCheck);
constexpr uint32_t kReads =
    kPlaces | Bit(Command::kShow) | Bit(Command::kLint) | Bit(Command::kDiff);
constexpr uint32_t kOpensPlugins = kReads | Bit(Command::kDevices);
constexpr uint32_t kSigned = kOptimizes | Bit(Command::kShow) | Bit(Command::kFreeze);
// Beside the commands: flags in which the configurations that bench --ab compares may differ.
constexpr uint32_t kDiffers = uint32_t{1} << 31;
constexpr uint32_t kAll = ~uint32_t{0};

enum class Bound : uint8_t { kFromZero, kAboveZero };
constexpr double kMaxReal = 1e9;  // seconds that a clock can count; tolerances end far below
constexpr int64_t kMaxRuns = int64_t{1} << 24;  // the time of each is kept

std::string NotEmpty(const std::string& text) { return text.empty() ? "an empty value" : ""; }

std::string NoSeed(const std::string& text) {
  uint64_t seed;
  return absl::SimpleAtoi(text, &seed) ? "" : absl::StrCat("'", text, "' is no integer from 0 on");
}

std::string NamesNothing(const std::string& list) {
  const bool empty = list.find_first_not_of(", \t") == std::string::npos;
  return empty ? absl::StrCat("'", list, "' names nothing") : std::string();
}

std::string NoTarget(const std::string& name) {
  return std::string(Target::Parse(name).status().message());
}

// Why a graph cannot be written to a file of this name.
std::string NotWritable(const std::string& path) {
  return std::string(CheckExportName(path).message());
}

// Declares options on an App for those commands that have them.
class Declarer {
 public:
  // `bit`: of the command.
  Declarer(CLI::App& app, uint32_t bit) : app_(app), bit_(bit) {}

  void Group(std::string name) { group_ = std::move(name); }

  template <typename T>
  CLI::Option* Value(uint32_t commands, const char* name, T& target, const char* value,
                     const char* what) {
    if ((commands & bit_) == 0) return nullptr;
    return app_.add_option(name, target, what)->group(group_)->option_text(value);
  }
  // Values for which `wrong` is not empty are refused; it says what is right.
  template <typename T>
  void Checked(uint32_t commands, const char* name, T& target, const char* value, const char* what,
               std::function<std::string(const std::string&)> wrong) {
    CLI::Option* option = Value(commands, name, target, value, what);
    if (option != nullptr) option->check(std::move(wrong));
  }
  template <typename T>
  void Integer(uint32_t commands, const char* name, T& target, const char* value, const char* what,
               int64_t low, int64_t high = INT64_MAX) {
    Checked(commands, name, target, value, what, [low, high](const std::string& text) {
      int64_t number;
      if (absl::SimpleAtoi(text, &number) && number >= low && number <= high) return std::string();
      return absl::StrCat("'", text, "' is no integer from ", low,
                          high == INT64_MAX ? " on" : absl::StrCat(" to ", high));
    });
  }
  // Finite, and at least `low` or above it.
  template <typename T>
  void Real(uint32_t commands, const char* name, T& target, const char* value, const char* what,
            Bound bound) {
    Checked(commands, name, target, value, what, [bound](const std::string& text) {
      double number;
      const bool fits = absl::SimpleAtod(text, &number) && number <= kMaxReal &&
                        (bound == Bound::kFromZero ? number >= 0 : number > 0);
      if (fits) return std::string();
      return absl::StrCat("'", text, "' is no number ",
                          bound == Bound::kFromZero ? "from 0" : "above 0", " to ", kMaxReal);
    });
  }
  // May be given more than once; takes one value each time, which goes behind those of `target`.
  void Repeat(uint32_t commands, const char* name, std::vector<std::string>& target,
              const char* value, const char* what,
              std::function<std::string(const std::string&)> wrong = nullptr) {
    CLI::Option* option = Values(commands, name, value, what,
                                 [&target](const std::string& v) { target.push_back(v); });
    if (option != nullptr && wrong) option->check(std::move(wrong));
  }
  void Flag(uint32_t commands, const char* name, bool& target, const char* what) {
    if ((commands & bit_) != 0) app_.add_flag(name, target, what)->group(group_);
  }
  // "--flag{x}": the flag alone means x.
  void FlagWithValue(uint32_t commands, const char* name, std::string& target,
                     const std::vector<std::string>& choices, const char* what) {
    if ((commands & bit_) == 0) return;
    app_.add_flag(name, target, what)
        ->group(group_)
        ->option_text(" ")
        ->check(CLI::IsMember(choices));
  }
  // A list in one value: "A,B".
  void List(uint32_t commands, const char* name, std::vector<std::string>& target,
            const char* value, const char* what) {
    CLI::Option* option = Values(commands, name, value, what, [&target](const std::string& v) {
      for (std::string_view item : absl::StrSplit(v, ',', absl::SkipWhitespace()))
        target.emplace_back(item);
    });
    if (option != nullptr) option->check(NamesNothing);
  }
  // One of a few words.
  void Choice(uint32_t commands, const char* name, std::vector<std::string> words,
              const char* value, const char* what, std::function<void(const std::string&)> set) {
    if ((commands & bit_) == 0) return;
    app_.add_option_function<std::string>(name, std::move(set), what)
        ->group(group_)
        ->option_text(value)
        ->check(CLI::IsMember(std::move(words)));
  }
  bool Has(uint32_t commands) const { return (commands & bit_) != 0; }

 private:
  // A flag that may be given more than once, with one value each time.
  CLI::Option* Values(uint32_t commands, const char* name, const char* value, const char* what,
                      std::function<void(const std::string&)> add) {
    if ((commands & bit_) == 0) return nullptr;
    const auto add_all = [add = std::move(add)](const std::vector<std::string>& values) {
      for (const std::string& v : values) add(v);
    };
    return app_.add_option_function<std::vector<std::string>>(name, add_all, what)
        ->group(group_)
        ->option_text(value)
        ->expected(1, -1)
        ->allow_extra_args(false)
        ->take_all();
  }

  CLI::App& app_;
  uint32_t bit_;
  std::string group_;
};

void DeclareData(Declarer& d, Options& o) {
  d.Group("Data");
  d.Repeat(kFeeds, "--input", o.inputs, "NAME=SPEC",
           "feed a tensor: x=2x2xf32=1,2,3,4  x=@x.npy  x=4x20xf32=random(seed=1)");
  d.Repeat(kFeeds, "--inputs", o.input_files, "FILE.npz",
           "feed every array of an archive by its name");
  d.Repeat(Bit(Command::kRun), "--output", o.outputs, "NAME[=SINK]",
           "fetch; SINK is -, @y.npy, @all.npz or @y.bin (default: the graph's outputs)");
  d.Repeat(kOptimizes & ~Bit(Command::kRun), "--output", o.outputs, "NAME",
           "fetch (default: the graph's outputs)");
  d.Repeat(Bit(Command::kRun), "--expect", o.expects, "NAME=SPEC",
           "compare; exit 3 where it differs; NAME=(ignored) compares nothing");
  d.Real(kCompares, "--rtol", o.rtol, "X",
         "right is |got - want| <= atol + rtol * |want| (default 1e-5)", Bound::kFromZero);
  d.Real(kCompares, "--atol", o.atol, "X", "(default 1e-6)", Bound::kFromZero);
  d.Integer(kCompares, "--max-ulp", o.max_ulp, "N", "right is at most N floating-point steps away",
            0);
  d.Flag(kCompares, "--equal-nan", o.equal_nan, "NaN equals NaN");
}

void DeclareState(Declarer& d, Options& o) {
  d.Group("SavedModels, state and files");
  d.Checked(kSigned, "--signature", o.signature, "NAME",
            "of a SavedModel: its arguments and results are NAMEs then (default serving_default)",
            NotEmpty);
  d.Repeat(kFeeds | Bit(Command::kFreeze), "--init", o.inits, "NODE",
           "run this node once, before all else");
  d.Repeat(Bit(Command::kOpt), "--init", o.inits, "NODE",
           "a node that is run first: it stays in what is written; of a SavedModel it is run");
  d.Integer(Bit(Command::kRun), "--session-runs", o.session_runs, "N",
            "the same feeds and fetches so many times in one session; --json has all of them", 1,
            kMaxRuns);
  d.Checked(Bit(Command::kRun), "--cases", o.cases, "FILE",
            "run the cases of a JSON file in one session and compare; exit 3 where one differs",
            NotEmpty);
  d.Checked(Bit(Command::kFreeze), "-o", o.frozen, "OUT",
            "where to write the graph: .pb or .pbtxt, .xz or .gz after it", NotWritable);
  d.Flag(Bit(Command::kFreeze) | Bit(Command::kOpt), "--keep-state", o.keep_state,
         "variables that the signature of a SavedModel writes stay variables, which a node fills");
  d.Flag(kOptimizes | Bit(Command::kFreeze), "--allow-file-io", o.allow_file_io,
         "ops may read and write any file, not only read those of the SavedModel");
}

void DeclareDevices(Declarer& d, Options& o) {
  d.Group("Devices");
  d.Repeat(kOpensPlugins, "--plugin", o.plugins, "PATH[;K=V...]",
           "load a plug-in, or those of a folder; K=V: priority=N, as=TYPE, else set in the "
           "environment first (also: TENON_PLUGIN_PATH)");
  d.Choice(kOpensPlugins, "--plugin-errors", {"report", "fail"}, "report|fail",
           "a plug-in's pass that fails is rolled back; fail: exit 5",
           [&o](const std::string& v) { o.fail_on_plugin_errors = v == "fail"; });
  d.Choice(kOpensPlugins, "--abi-check", {"off", "strict"}, "off|strict",
           "strict: watch how plug-ins use the interface; exit 5 where one breaks a rule",
           [&o](const std::string& v) { o.strict_abi = v == "strict"; });
  d.Checked(kPlaces | kDiffers, "--device", o.device, "NAME",
            "where nodes go that ask for nothing, such as APU or CPU:0", NotEmpty);
  d.Repeat(kPlaces | kDiffers, "--place", o.place, "REGEX=DEVICE",
           "where nodes with such names go");
  d.Flag(kPlaces | kDiffers, "--no-fallback", o.no_fallback,
         "a node that cannot go where --device or --place says is an error");
  d.Choice(kPlaces | kDiffers, "--soft-placement", {"on", "off"}, "on|off",
           "off: a node that cannot go where the graph, --device or --place says is an error",
           [&o](const std::string& v) { o.soft_placement = v == "on"; });
  d.Integer(kPlaces | kDiffers, "--threads", o.threads, "N",
            "CPU threads in all (default: the machine's)", 0, 4096);
  d.FlagWithValue(Bit(Command::kDevices), "--kernels{table}", o.kernels, {"table", "markdown"},
                  "the op table: types and devices of every kernel; markdown: nothing else");
}

void DeclareOptimizer(Declarer& d, Options& o) {
  d.Group("Optimizer");
  d.Integer(kPlaces | kDiffers, "--opt-level", o.opt_level, "0|1|2",
            "0: no pass runs; 1: what TensorFlow runs by default; 2: costlier searches too", 0, 2);
  d.Checked(kOptimizes | kDiffers, "--passes", o.passes, "SPEC",
            "these passes in this order, such as 'constant_folding(max_bytes=10MB),plugin:*'",
            NamesNothing);
  d.Checked(kOptimizes | kDiffers, "--config", o.config, "FILE|TEXT",
            "a RewriterConfig as text, with TensorFlow's names: 'remapping: OFF'", NotEmpty);
  d.List(kOptimizes | kDiffers, "--disable-pass", o.disabled_passes, "A,B", "not these passes");
  d.List(kOptimizes | kDiffers, "--disable-rewrite", o.disabled_rewrites, "A,B",
         "not these rewrites, such as constant_folding.fold");
  d.Flag(Bit(Command::kOpt), "--list-passes", o.list_passes,
         "the passes in their order, with their rewrites");
  d.Flag(kOptimizesOnce, "--time-passes", o.time_passes,
         "a table of what each pass did and how long it took");
  d.FlagWithValue(kOptimizesOnce, "--verify-each{structure}", o.verify_each,
                  {"structure", "numeric"},
                  "verify the graph after each pass; =numeric: and that it answers the same");
  d.List(kOptimizesOnce, "--print-before", o.print_before, "PASS",
         "the graph before this pass, on stderr; '*': before each");
  d.List(kOptimizesOnce, "--print-after", o.print_after, "PASS",
         "the graph after this pass, on stderr; '*': after each");
  d.FlagWithValue(kOptimizesOnce, "--print-changed{graph}", o.print_changed, {"graph", "diff"},
                  "the graph after each pass that changed it, on stderr; =diff: what changed");
  d.Checked(kOptimizesOnce, "--dump-dir", o.dump_dir, "DIR",
            "write NNN_pass_before and _after, .pbtxt and .dot, of every pass that changes "
            "something; large constants as checksums",
            NotEmpty);
  d.Flag(kOptimizes | kDiffers, "--fast-math", o.fast_math, "allow rewrites that change rounding");
  d.Checked(
      kOptimizes | kDiffers, "--target", o.target, "T",
      "who can run the result: tensorflow (every 2.x), tensorflow@2.N (2.N and later), either "
      "with +onednn, or tenon (default: tensorflow for opt, else tenon)",
      NoTarget);
  d.Integer(kOptimizesOnce, "--bisect-limit", o.bisect_limit, "N",
            "only the first N rewrites, and a BISECT line for each on stderr; -1: all", -1);
  d.Checked(kOptimizesOnce, d.Has(Bit(Command::kOpt)) ? "-o,--save-optimized" : "--save-optimized",
            o.save_optimized, "OUT",
            "write the optimized graph: .pb or .pbtxt, .xz or .gz after it", NotWritable);
  d.Checked(Bit(Command::kOpt), "--explain-node", o.explain_node, "NAME",
            "which nodes and rewrites a node of the optimized graph comes from, or where one went; "
            "FUNCTION:NODE is one of a function's body",
            NotEmpty);
  d.Checked(kOptimizesOnce, "--report", o.report, "OUT.html",
            "write a page on what each pass did, with the graph before and after", NotEmpty);
  d.Flag(Bit(Command::kOpt), "--provenance", o.provenance,
         "write where nodes come from with them, as _tenon_origins and _tenon_rewrites");
  d.Checked(Bit(Command::kReduce), "-o", o.reduced, "OUT",
            "where to write the small graph, and its inputs as .npz beside it", NotWritable);
}

void DeclareRuns(Declarer& d, Options& o) {
  d.Group("Runs");
  d.Integer(kRuns, "--warmup", o.warmup, "N", "runs before those that count", 0);
  d.Integer(kRuns, "--runs", o.runs, "N", "runs that count, of all threads together", 1, kMaxRuns);
  d.Real(kRuns, "--seconds", o.seconds, "S",
         d.Has(Bit(Command::kBench))
             ? "stop after so long, or 2^20 runs a thread (default 2, unless --runs is given)"
             : "run again and again for so long",
         Bound::kAboveZero);
  d.Integer(kRuns, "--concurrency", o.concurrency, "N", "runs at the same time", 1, 1024);
  d.Checked(kRuns | Bit(Command::kCheck), "--seed", o.seed, "N",
            "of random ops that have none; 0: from the system", NoSeed);
  d.Real(kOpensPlugins | Bit(Command::kPluginCheck), "--timeout", o.timeout_s, "S",
         d.Has(Bit(Command::kCheck))
             ? "a case that takes longer is stopped, and counts as crashed (default 60)"
             : "exit 6 when the work, or one callback of a plug-in (60 s), takes longer",
         Bound::kAboveZero);
  d.Repeat(kRuns, "--trace", o.traces, "OUT",
           "write when each step ran, and what plug-ins' profilers saw: OUT.json for Perfetto, "
           "OUT.xplane.pb for TensorBoard",
           NotEmpty);
  d.FlagWithValue(kRuns, "--op-table{text}", o.op_table, {"text", "csv"},
                  "time by op; =csv: comma-separated, and nothing else on stdout");
  d.Repeat(
      Bit(Command::kBench), "--ab", o.ab, "'FLAGS'",
      "compare, in turns: the command line as it stands (a) with the same and these flags (b); "
      "given twice, the first are a's; such as --ab '--opt-level 0'");
  d.Flag(kRuns, "--memory", o.memory, "what memory holds, the largest values first");
}

void DeclareLimits(Declarer& d, Options& o) {
  d.Group("Limits");
  d.Integer(kReads, "--max-nodes", o.limits.max_nodes, "N", "of a graph", 0);
  d.Integer(kReads, "--max-const-bytes", o.limits.max_const_bytes, "N", "of one constant", 0);
  d.Integer(kReads, "--max-depth", o.limits.max_depth, "N", "of nested messages", 1);
  d.Integer(kReads, "--max-rank", o.max_rank, "N", "of a constant or a declared shape", 0);
}

void DeclareOutput(Declarer& d, Options& o) {
  d.Group("Output");
  d.Flag(kAll, "--json", o.json, "one JSON document on stdout, nothing else");
  d.Flag(kAll, "--quiet", o.quiet, "no progress and no warnings");
  d.Flag(kAll, "--verbose", o.verbose, "more detail: placement, plan");
  d.Flag(Bit(Command::kRun), "--story", o.story,
         "tell what each stage did, from the file to the result");
}

void DeclareCheck(Declarer& d, Options& o) {
  d.Group("Ops");
  d.List(Bit(Command::kCheck), "--ops", o.only_ops, "A,B", "only these ops");
  d.List(Bit(Command::kCheck), "--skip-ops", o.skipped_ops, "A,B", "not these ops");
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const CommandInfo& info) : info_(info) {}
  // "--verify-each{structure}" is how the library writes a flag whose value may be left out.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, positional);
    const size_t brace = name.find('{');
    if (brace == std::string::npos) return name;
    return absl::StrCat(name.substr(0, brace),
                        "[=", name.substr(brace + 1, name.size() - brace - 2), "]");
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return absl::StrCat("usage: graph_run ", info_.name, info_.arguments.empty() ? "" : " ",
                        info_.arguments, " [FLAGS]\n");
  }

 private:
  const CommandInfo& info_;
};

// The error for arguments that nothing takes: flags that do not exist, or words too many.
absl::Status UnknownArguments(CLI::App& app, const std::vector<std::string>& extras,
                              const CommandInfo& info) {
  const std::string& first = extras.front();
  const std::string flag = first.substr(0, first.find('='));
  if (flag.size() < 2 || flag[0] != '-') {
    return UsageError(absl::StrCat("'", first, "' is one argument too many; usage: graph_run ",
                                   info.name, " ", info.arguments));
  }
  ClosestName closest(flag);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(absl::StrCat("--", name));
  }
  for (const std::string& name : names) closest.Offer(name);
  return UsageError(absl::StrCat("unknown flag '", flag, "' of graph_run ", info.name,
                                 closest.Hint(), "; graph_run ", info.name, " --help lists them"));
}

// "--x=" gives x an empty value; the library would take the next argument for it.
std::vector<std::string> SplitEmptyValues(const std::vector<std::string>& args) {
  std::vector<std::string> split;
  for (const std::string& arg : args) {
    const bool empty = arg.starts_with("--") && arg.find('=') + 1 == arg.size();
    split.push_back(empty ? arg.substr(0, arg.size() - 1) : arg);
    if (empty) split.emplace_back();
  }
  return split;
}

// The arguments that nothing takes.
absl::StatusOr<std::vector<std::string>> Parse(CLI::App& app, const std::vector<std::string>& args,
                                               std::string_view who) {
  std::vector<std::string> reversed = SplitEmptyValues(args);
  std::reverse(reversed.begin(), reversed.end());  // the library wants them last first
  app.allow_extras();
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    return UsageError(absl::StrCat(who, ": ", e.what()));
  }
  return app.remaining();
}

// Parts text at blanks outside of quotes.
absl::StatusOr<std::vector<std::string>> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (quote == 0 && absl::ascii_isspace(c)) {
      in_word = false;
      continue;
    } else {
      if (!in_word) words.emplace_back();
      words.back() += c;
      in_word = true;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
  }
  if (quote != 0) return UsageError(absl::StrCat("--ab \"", text, "\": a quote is not closed"));
  return words;
}

absl::Status CheckPaths(const Options& o, const CommandInfo& info) {
  if (info.arguments.empty()) {
    if (o.paths.empty()) return absl::OkStatus();
    return UsageError(absl::StrCat("graph_run ", info.name, " takes no '", o.paths[0], "'"));
  }
  const bool takes_two = o.command == Command::kPluginNew || o.command == Command::kDiff;
  const bool too_few = o.paths.size() < (takes_two ? 2 : 1);
  if (too_few && !o.list_passes) {
    return UsageError(absl::StrCat("graph_run ", info.name, " needs ", info.arguments,
                                   "; graph_run ", info.name, " --help shows examples"));
  }
  if (o.paths.size() > info.num_arguments) {
    return UsageError(absl::StrCat("'", o.paths[info.num_arguments],
                                   "' is one argument too many; usage: graph_run ", info.name, " ",
                                   info.arguments));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParsedArgs> ParseArgs(Command command, std::vector<std::string> args) {
  TENON_ASSIGN_OR_RETURN(args, ExpandFlagFiles(args));
  const CommandInfo& info = *FindCommand(NameOf(command));
  ParsedArgs parsed;
  Options& o = parsed.options;
  o.command = command;
  CLI::App app(std::string(info.what), absl::StrCat("graph_run ", info.name));
  app.set_help_flag();
  bool help = false;
  std::string flagfile;  // never set: expanded above
  app.add_option("PATH", o.paths)->group("");
  Declarer declare(app, Bit(command));
  DeclareData(declare, o);
  DeclareState(declare, o);
  DeclareDevices(declare, o);
  DeclareOptimizer(declare, o);
  DeclareRuns(declare, o);
  DeclareCheck(declare, o);
  DeclareLimits(declare, o);
  DeclareOutput(declare, o);
  app.add_option("--flagfile", flagfile, "read flags from a file, one per line")
      ->option_text("FILE")
      ->group("Output");
  app.add_flag("-h,--help", help, "this text")->group("Output");
  app.formatter(std::make_shared<HelpFormatter>(info));
  app.footer(absl::StrCat("\nExamples:\n", info.examples));
  app.get_formatter()->column_width(34);
  const auto extras = Parse(app, args, absl::StrCat("graph_run ", info.name));
  if (help) {
    parsed.help = absl::StrReplaceAll(app.help(), {{"\n\n\n", "\n\n"}});
    return parsed;
  }
  TENON_RETURN_IF_ERROR(extras.status());
  if (!extras->empty()) return UnknownArguments(app, *extras, info);
  TENON_RETURN_IF_ERROR(CheckPaths(o, info));
  return parsed;
}

absl::StatusOr<Options> WithFlags(Options options, const std::string& flags) {
  CLI::App app;
  app.set_help_flag();
  Declarer declare(app, kDiffers);
  DeclareDevices(declare, options);
  DeclareOptimizer(declare, options);
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> words, WordsOf(flags));
  const std::string who = absl::StrCat("--ab \"", flags, "\"");
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> extras, Parse(app, words, who));
  if (extras.empty()) return options;
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return UsageError(
      absl::StrCat(who, ": '", extras.front(),
                   "' is not what two configurations can differ in: ", absl::StrJoin(names, ", ")));
}

}  // namespace tenon::cli
