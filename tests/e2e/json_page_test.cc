// docs/graph_run.schema.json and docs/json.md: what --json prints.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"

namespace tenon::json_page_test {
namespace {

using nlohmann::json;
using testing::Document;
using testing::GraphRun;
using ::testing::HasSubstr;
using testing::kMlp;
using testing::ReadFile;
using testing::SchemaFaults;

json Schema() { return json::parse(ReadFile("docs/graph_run.schema.json")); }

// The part of the page about a command.
std::string SectionOf(const std::string& page, const std::string& title) {
  const size_t begin = page.find("\n## " + title + "\n");
  EXPECT_NE(begin, page.npos) << title;
  return begin == page.npos ? "" : page.substr(begin, page.find("\n## ", begin + 4) - begin);
}

TEST(JsonPage, HasEachKeyOfTheSchema) {
  const json schema = Schema();
  const std::string page = ReadFile("docs/json.md");
  for (const auto& [key, value] : schema["properties"].items())
    EXPECT_THAT(SectionOf(page, "Every document"), HasSubstr("| `" + key + "` |"));
  for (const auto& [name, command] : schema["$defs"].items()) {
    const std::string section = SectionOf(page, command["title"]);
    for (const auto& [key, value] : command["properties"].items()) {
      EXPECT_THAT(section, HasSubstr("| `" + key + "` |")) << name;
      EXPECT_FALSE(value.value("description", "").empty()) << name << "." << key;
    }
  }
}

TEST(JsonPage, EachCommandHasASchema) {
  const json schema = Schema();
  const std::string help = GraphRun({"--help"}).out;
  size_t found = 0;
  for (const auto& [name, command] : schema["$defs"].items())
    found += help.find("\n  " + command["title"].get<std::string>() + " ") != help.npos ? 1 : 0;
  EXPECT_GE(found, 15u);
  for (const json& row : schema["allOf"]) {
    const std::string reference = row["then"]["$ref"];
    EXPECT_TRUE(schema["$defs"].contains(reference.substr(reference.rfind('/') + 1)));
  }
}

// The check itself finds what is wrong.
TEST(JsonPage, FaultsAreFound) {
  json doc = Document({"bench", kMlp, "--runs", "8", "--op-table", "--memory"});
  EXPECT_THAT(SchemaFaults(doc), ::testing::IsEmpty());
  doc["p50_us"] = "fast";
  doc["op_table"][0].erase("op");
  doc["plan_cache"]["plans_built"] = 1.5;
  doc["unheard_of"] = 1;
  doc["schema"] = "graph_run/2";
  EXPECT_THAT(SchemaFaults(doc),
              ::testing::UnorderedElementsAre(HasSubstr("p50_us"), HasSubstr("has no op"),
                                              HasSubstr("plans_built"), HasSubstr("unheard_of"),
                                              HasSubstr("graph_run/2")));
}

}  // namespace
}  // namespace tenon::json_page_test
