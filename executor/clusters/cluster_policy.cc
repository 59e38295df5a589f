#include "executor/clusters/cluster_policy.h"

#include <cstdlib>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "executor/stablehlo/lowerability.h"
#include "graph/base/file_bytes.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

using stablehlo::OpGroup;

constexpr std::string_view kPrefix = "tf_xla_";

struct NamedMode {
  std::string_view name;
  XlaMode mode;
};
constexpr NamedMode kModes[] = {{"default", XlaMode::kDefault},
                                {"off", XlaMode::kOff},
                                {"fusible", XlaMode::kFusible},
                                {"on", XlaMode::kOn},
                                {"all", XlaMode::kAll}};

// The groups that --tf_xla_ops_to_cluster names. A reduction with elementwise ops around it is one
// of the two here.
bool IsInGroup(std::string_view name, OpGroup group) {
  if (name == "FUSIBLE") return group != OpGroup::kNone;
  if (name == "PW") return group == OpGroup::kPointwise;
  if (name == "RED" || name == "PWRED") return group == OpGroup::kReduction;
  if (name == "MISC") return group == OpGroup::kMisc;
  if (name == "REDUCEWINDOW" || name == "REDUCEWINDOWPW") return group == OpGroup::kReduceWindow;
  return name == "BN" && group == OpGroup::kNormalization;
}

bool ReadTruth(std::string_view value, bool& truth) {
  bool read = true;
  if (!value.empty() && !absl::SimpleAtob(value, &read)) return false;
  truth = read;
  return true;
}

bool ReadAutoJit(std::string_view value, ClusterPolicy& policy) {
  // "single-gpu(N)": N for graphs on one GPU, nothing said of others.
  if (absl::ConsumePrefix(&value, "single-gpu(")) absl::ConsumeSuffix(&value, ")");
  if (value == "fusible") {
    policy.mode = XlaMode::kFusible;
    return true;
  }
  int level = 0;
  if (!absl::SimpleAtoi(value, &level)) return false;
  policy.mode = level < 0    ? XlaMode::kOff
                : level == 0 ? XlaMode::kDefault
                : level == 1 ? XlaMode::kOn
                             : XlaMode::kAll;
  return true;
}

bool ReadNames(std::string_view value, std::set<std::string, std::less<>>& names) {
  for (const std::string_view name : absl::StrSplit(value, ',', absl::SkipWhitespace()))
    names.emplace(name);
  return true;
}

bool ReadBuckets(std::string_view value, Buckets& buckets) {
  const absl::StatusOr<Buckets> read = Buckets::Parse(value);
  if (read.ok()) buckets = *read;
  return read.ok();
}

bool ReadCount(std::string_view value, int64_t& count) {
  int64_t read = 0;  // absl writes to it also if it fails
  if (!absl::SimpleAtoi(value, &read)) return false;
  count = read;
  return true;
}

// Known to TensorFlow, without an effect here: programs are compiled when they are first run,
// cluster names are the same in each run, and numerics are compared by --verify-each.
constexpr std::string_view kIgnored[] = {"clustering_debug",
                                         "deterministic_cluster_names",
                                         "enable_lazy_compilation",
                                         "always_defer_compilation",
                                         "persistent_cache_prefix",
                                         "persistent_cache_read_only",
                                         "disable_strict_signature_checks",
                                         "use_device_api",
                                         "use_device_api_for_xla_launch",
                                         "use_device_api_for_compile_on_demand",
                                         "use_device_api_for_auto_jit",
                                         "disable_constant_folding",
                                         "disable_full_embedding_pipelining",
                                         "enable_xla_devices",
                                         "max_parallelism",
                                         "check_cluster_input_numerics",
                                         "check_cluster_output_numerics",
                                         "print_cluster_outputs"};

enum class FlagResult : uint8_t { kRead, kUnknown, kBadValue };

FlagResult ReadXlaFlag(std::string_view name, std::string_view value, ClusterPolicy& policy) {
  const auto read = [](bool ok) { return ok ? FlagResult::kRead : FlagResult::kBadValue; };
  if (name == "tenon_xla_buckets") return read(ReadBuckets(value, policy.buckets));
  if (!absl::ConsumePrefix(&name, kPrefix)) return FlagResult::kUnknown;
  if (name == "auto_jit") return read(ReadAutoJit(value, policy));
  if (name == "cpu_global_jit") return read(ReadTruth(value, policy.cpu_global_jit));
  if (name == "async_compilation") return read(ReadTruth(value, policy.async_compilation));
  if (name == "min_cluster_size") return read(ReadCount(value, policy.min_cluster_size));
  if (name == "max_cluster_size") return read(ReadCount(value, policy.max_cluster_size));
  if (name == "clustering_fuel") return read(ReadCount(value, policy.clustering_fuel));
  if (name == "ops_to_cluster") return read(ReadNames(value, policy.ops_to_cluster));
  if (name == "cluster_exclude_ops") return read(ReadNames(value, policy.cluster_exclude_ops));
  if (name == "persistent_cache_directory") {
    policy.persistent_cache_directory = std::string(value);
    return FlagResult::kRead;
  }
  for (const std::string_view ignored : kIgnored) {
    if (name == ignored) return FlagResult::kRead;
  }
  return FlagResult::kUnknown;
}

// As TensorFlow's parser: a text that does not begin with a dash is the path of a file.
std::string TextOfXlaFlags(std::string_view text, std::vector<std::string>* warnings) {
  if (text.empty() || text.front() == '-') return std::string(text);
  const absl::StatusOr<FileBytes> file = ReadRegularFile(std::string(text), 1 << 20);
  if (!file.ok()) {
    warnings->push_back(absl::StrCat("TF_XLA_FLAGS: no file '", text, "' can be read"));
    return "";
  }
  return std::string(file->bytes);
}

bool IsTrue(const Graph& graph, NodeId n, std::string_view name) {
  const AttrValue* const value = graph.kind(n).attrs.Find(name);
  return value != nullptr && value->AsBool().value_or(false);
}

bool IsFalse(const Graph& graph, NodeId n, std::string_view name) {
  const AttrValue* const value = graph.kind(n).attrs.Find(name);
  return value != nullptr && !value->AsBool().value_or(true);
}

}  // namespace

std::optional<XlaMode> XlaModeOf(std::string_view name) {
  for (const NamedMode& mode : kModes) {
    if (mode.name == name) return mode.mode;
  }
  return std::nullopt;
}

std::string_view XlaModeName(XlaMode mode) {
  for (const NamedMode& named : kModes) {
    if (named.mode == mode) return named.name;
  }
  return "";
}

bool MustCompile(const Graph& graph, NodeId n) { return IsTrue(graph, n, "_XlaMustCompile"); }

bool ClusterPolicy::Allows(const Graph& graph, NodeId n) const {
  const std::string_view op = graph.op_name(n);
  if (cluster_exclude_ops.contains(op)) return false;
  if (ops_to_cluster.empty() || ops_to_cluster.contains(op)) return true;
  const OpGroup group = stablehlo::GroupOf(op);
  for (const std::string& name : ops_to_cluster) {
    if (IsInGroup(name, group)) return true;
  }
  return false;
}

bool ClusterPolicy::Wants(const Graph& graph, NodeId n) const {
  if (MustCompile(graph, n)) return true;
  if (mode == XlaMode::kOff || IsFalse(graph, n, "_XlaCompile") || !Allows(graph, n)) return false;
  if (mode == XlaMode::kDefault) return IsTrue(graph, n, "_XlaCompile");
  return mode != XlaMode::kFusible || stablehlo::GroupOf(graph.op_name(n)) != OpGroup::kNone;
}

ClusterPolicy ParseXlaFlags(std::string_view text, std::vector<std::string>* warnings) {
  ClusterPolicy policy;
  const std::string all = TextOfXlaFlags(text, warnings);
  for (const std::string_view flag :
       absl::StrSplit(all, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    std::string_view name = flag, value;
    if (const size_t equals = flag.find('='); equals != flag.npos) {
      name = flag.substr(0, equals);
      value = flag.substr(equals + 1);
    }
    const bool dashed = absl::ConsumePrefix(&name, "--") || absl::ConsumePrefix(&name, "-");
    switch (dashed ? ReadXlaFlag(name, value, policy) : FlagResult::kUnknown) {
      case FlagResult::kRead:
        break;
      case FlagResult::kUnknown:
        warnings->push_back(absl::StrCat("TF_XLA_FLAGS: unknown flag '", flag, "' is left out"));
        break;
      case FlagResult::kBadValue:
        warnings->push_back(absl::StrCat("TF_XLA_FLAGS: '", value, "' is no value of ", name,
                                         "; the flag is left out"));
    }
  }
  return policy;
}

const ClusterPolicy& PolicyOfEnvironment() {
  static const ClusterPolicy* const policy = [] {
    const char* const text = std::getenv("TF_XLA_FLAGS");
    std::vector<std::string> warnings;
    auto* parsed = new ClusterPolicy(ParseXlaFlags(text == nullptr ? "" : text, &warnings));
    for (const std::string& warning : warnings) WarnOf(absl::InvalidArgumentError(warning));
    return parsed;
  }();
  return *policy;
}

}  // namespace tenon
