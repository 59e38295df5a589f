#include "tests/e2e/document_util.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/e2e/process_util.h"

namespace tenon::testing {

using nlohmann::json;

json Document(std::vector<std::string> args, int exit) {
  args.emplace_back("--json");
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, exit) << run.err;
  json doc = json::parse(run.out, nullptr, false);
  EXPECT_EQ(doc["schema"], "graph_run/1");
  EXPECT_EQ(doc["command"], args[0]);
  EXPECT_EQ(doc["status"]["code"] == "OK", exit == 0) << run.out;
  return doc;
}

json RowOf(const json& doc, const std::string& pass) {
  for (const json& row : doc["passes"]) {
    if (row["name"] == pass) return row;
  }
  return {};
}

}  // namespace tenon::testing
