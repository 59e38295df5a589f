// A row stands for all kernels of one op, device type and plug-in, with the types that they take
// together.

#include "executor/cli/plugins/kernel_table.h"

#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_defs/op_registry.h"
#include "graph/tensor/dtype.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon::cli {
namespace {

// The types that kernels take for one attribute.
struct Constrained {
  std::set<DataType> types;
  int kernels = 0;  // that have a constraint on the attribute
};

// The types and notes of all kernels of one row.
struct Gathered {
  std::map<std::string, Constrained> constraints;
  int kernels = 0;
  std::set<std::string> notes;
};

void Gather(const KernelDef& kernel, Gathered& row) {
  ++row.kernels;
  for (const KernelDef::Constraint& constraint : kernel.constraints) {
    Constrained& attr = row.constraints[constraint.attr];
    attr.types.insert(constraint.allowed.begin(), constraint.allowed.end());
    ++attr.kernels;
  }
  for (const std::string& arg : kernel.host_memory_args)
    row.notes.insert(absl::StrCat("'", arg, "' in host memory"));
  if (!kernel.label.empty()) row.notes.insert(absl::StrCat("label ", kernel.label));
  if (kernel.priority != 0) row.notes.insert(absl::StrCat("priority ", kernel.priority));
}

// Whether these are all types that there are.
bool IsEveryType(const std::set<DataType>& types) {
  constexpr int32_t kNoMore = 64;  // types are bits of a word where kernels are registered
  for (int32_t t = 1; t < kNoMore; ++t) {
    if (IsKnownDataType(t) && !types.contains(static_cast<DataType>(t))) return false;
  }
  return true;
}

// The types that both the op and its kernels allow. An op that lists no types allows any.
std::string TypesText(const AttrDef& attr, const std::set<DataType>* constraint) {
  std::string text = absl::StrCat(attr.name, ":");
  const std::set<DataType> allowed(attr.allowed_types.begin(), attr.allowed_types.end());
  if (constraint == nullptr && allowed.empty()) return absl::StrCat(text, " any");
  for (const DataType type : constraint == nullptr ? allowed : *constraint) {
    if (allowed.empty() || allowed.contains(type))
      absl::StrAppend(&text, " ", DataTypeShortName(type));
  }
  return text;
}

std::vector<std::string> OpNotes(const OpDef& op) {
  std::vector<std::string> notes;
  if (op.is_stateful) notes.push_back("stateful");
  if (op.deprecated_since > 0)
    notes.push_back(absl::StrCat("up to GraphDef version ", op.deprecated_since - 1,
                                 op.deprecation.empty() ? "" : ": ", op.deprecation));
  return notes;
}

void Describe(const Gathered& gathered, KernelRow& row) {
  if (const OpDef* op = OpRegistry::Global().Find(row.op)) {
    row.notes = OpNotes(*op);
    for (const AttrDef& attr : op->attrs) {
      if (attr.kind != AttrKind::kType) continue;
      const auto found = gathered.constraints.find(attr.name);
      // One kernel without a constraint takes what the op takes.
      const bool fewer = found != gathered.constraints.end() &&
                         found->second.kernels >= gathered.kernels &&
                         !IsEveryType(found->second.types);
      row.types.push_back(TypesText(attr, fewer ? &found->second.types : nullptr));
    }
  }
  row.notes.insert(row.notes.end(), gathered.notes.begin(), gathered.notes.end());
}

}  // namespace

std::vector<KernelRow> KernelRows() {
  std::map<std::tuple<std::string, std::string, std::string>, Gathered> gathered;
  for (const auto& kernel : KernelRegistry::Global().List()) {
    Gather(*kernel, gathered[{kernel->op, kernel->device_type, kernel->plugin}]);
  }
  std::vector<KernelRow> rows;
  for (const auto& [key, value] : gathered) {
    KernelRow row{std::get<0>(key), std::get<1>(key), std::get<2>(key), {}, {}};
    Describe(value, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json KernelsJson(const std::vector<KernelRow>& rows) {
  Json array = Json::Array();
  for (const KernelRow& row : rows) {
    Json json = Json::Object();
    json.Set("op", row.op)
        .Set("device_type", row.device_type)
        .Set("plugin", row.plugin)
        .Set("types", Json::ArrayOf(row.types))
        .Set("notes", Json::ArrayOf(row.notes));
    array.Push(std::move(json));
  }
  return array;
}

std::string KernelsText(const std::vector<KernelRow>& rows, const Style& style) {
  Table table({"op", "device", "types", "notes"});
  for (const KernelRow& row : rows) {
    table.Row(
        {row.op, row.device_type, absl::StrJoin(row.types, "; "), absl::StrJoin(row.notes, ", ")});
  }
  return table.Text(style);
}

std::string KernelsMarkdown(const std::vector<KernelRow>& rows) {
  std::string text =
      "# Ops with a kernel\n\n"
      "`graph_run devices --kernels=markdown` writes this table from the registry. Types are those "
      "of the command\n"
      "line (`docs/graph_run.md`); `any` is every type. Besides these, the plan "
      "itself carries out what\n"
      "moves values without computing: Placeholder, Switch, Merge.\n\n"
      "| op | device | types | notes |\n|---|---|---|---|\n";
  for (const KernelRow& row : rows) {
    absl::StrAppend(&text, "| ", row.op, " | ", row.device_type, " | ",
                    absl::StrJoin(row.types, "; "), " | ", absl::StrJoin(row.notes, ", "), " |\n");
  }
  return text;
}

}  // namespace tenon::cli
