#include "tests/e2e/document_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/e2e/process_util.h"

namespace tenon::testing {
namespace {

using nlohmann::json;

bool HasType(const json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool FitsType(const json& value, const json& type) {
  if (!type.is_array()) return HasType(value, type);
  return std::any_of(type.begin(), type.end(),
                     [&](const json& one) { return HasType(value, one); });
}

// The keywords that docs/graph_run.schema.json uses within a command.
void FindFaults(const json& schema, const json& value, const std::string& path,
                std::vector<std::string>& faults) {
  if (schema.contains("const") && value != schema["const"])
    faults.push_back(path + " is " + value.dump() + ", not " + schema["const"].dump());
  if (schema.contains("type") && !FitsType(value, schema["type"]))
    faults.push_back(path + " is " + value.dump().substr(0, 200) + ", no " + schema["type"].dump());
  if (value.is_array() && schema.contains("items")) {
    for (const json& item : value) FindFaults(schema["items"], item, path + "[]", faults);
  }
  if (!value.is_object()) return;
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key)) faults.push_back(path + " has no " + key.get<std::string>());
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [key, member] : value.items()) {
    if (properties.contains(key)) {
      FindFaults(properties[key], member, path + "." + key, faults);
    } else if (schema.contains("additionalProperties")) {
      FindFaults(schema["additionalProperties"], member, path + "." + key, faults);
    }
  }
}

}  // namespace

std::vector<std::string> SchemaFaults(const json& doc) {
  static const json schema = json::parse(ReadFile("docs/graph_run.schema.json"));
  std::vector<std::string> faults;
  FindFaults(schema, doc, "", faults);
  std::string command = doc.value("command", "");
  std::replace(command.begin(), command.end(), ' ', '_');
  const json of_command = schema["$defs"].value(command, json::object());
  FindFaults(of_command, doc, command, faults);
  for (const auto& [key, value] : doc.items()) {
    const bool is_known = schema["properties"].contains(key) ||
                          of_command.value("properties", json::object()).contains(key);
    if (!is_known) faults.push_back("docs/graph_run.schema.json lacks " + command + "." + key);
  }
  return faults;
}

json Document(std::vector<std::string> args, int exit) {
  args.emplace_back("--json");
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, exit) << run.err;
  json doc = json::parse(run.out, nullptr, false);
  EXPECT_EQ(doc["schema"], "graph_run/1");
  EXPECT_EQ(doc["command"], args[0]);
  EXPECT_EQ(doc["status"]["code"] == "OK", exit == 0) << run.out;
  for (const std::string& fault : SchemaFaults(doc)) ADD_FAILURE() << fault;
  return doc;
}

json RowOf(const json& doc, const std::string& pass) {
  for (const json& row : doc["passes"]) {
    if (row["name"] == pass) return row;
  }
  return {};
}

}  // namespace tenon::testing
