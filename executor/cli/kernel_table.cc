#include "executor/cli/kernel_table.h"

#include <map>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "graph/dtype.h"
#include "plugin/kernel_registry.h"

namespace tenon::cli {
namespace {

// What the kernels of one row allow and say, gathered.
struct Gathered {
  std::map<std::string, std::set<DataType>> types;
  std::set<std::string> notes;
};

void Gather(const KernelDef& kernel, Gathered& row) {
  for (const KernelDef::Constraint& constraint : kernel.constraints) {
    row.types[constraint.attr].insert(constraint.allowed.begin(), constraint.allowed.end());
  }
  for (const std::string& arg : kernel.host_memory_args)
    row.notes.insert(absl::StrCat("'", arg, "' in host memory"));
  if (!kernel.label.empty()) row.notes.insert(absl::StrCat("label ", kernel.label));
  if (kernel.priority != 0) row.notes.insert(absl::StrCat("priority ", kernel.priority));
}

std::string TypesText(const std::string& attr, const std::set<DataType>& types) {
  std::string text = absl::StrCat(attr, ":");
  for (const DataType type : types) absl::StrAppend(&text, " ", DataTypeShortName(type));
  return text;
}

}  // namespace

std::vector<KernelRow> KernelRows() {
  std::map<std::tuple<std::string, std::string, std::string>, Gathered> gathered;
  for (const auto& kernel : KernelRegistry::Global().List()) {
    Gather(*kernel, gathered[{kernel->op, kernel->device_type, kernel->plugin}]);
  }
  std::vector<KernelRow> rows;
  for (const auto& [key, value] : gathered) {
    KernelRow row{std::get<0>(key),
                  std::get<1>(key),
                  std::get<2>(key),
                  {},
                  {value.notes.begin(), value.notes.end()}};
    for (const auto& [attr, types] : value.types) row.types.push_back(TypesText(attr, types));
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

}  // namespace tenon::cli
