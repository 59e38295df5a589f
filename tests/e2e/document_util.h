// What graph_run writes with --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tenon::testing {

// What of a document is not as docs/graph_run.schema.json says, and keys at the top that it does not
// have.
std::vector<std::string> SchemaFaults(const nlohmann::json& doc);

// The document of graph_run with these arguments, which ends with this exit code. It must be as the
// schema says.
nlohmann::json Document(std::vector<std::string> args, int exit = 0);

// The first row of "passes" with this name; null if there is none.
nlohmann::json RowOf(const nlohmann::json& doc, const std::string& pass);

}  // namespace tenon::testing
