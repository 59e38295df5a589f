// docs/graph_run.schema.json and docs/json.md: what --json prints.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"

namespace tenon::json_page_test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::Document;
using testing::GraphRun;
using ::testing::HasSubstr;
using testing::kMlp;
using testing::ReadFile;
using testing::SchemaFaults;

json Schema() { return json::parse(ReadFile("docs/graph_run.schema.json")); }

constexpr std::string_view kFirstSection = "## Every document", kLastSection = "## Keys of rows";

// "array of number or null".
std::string TypeText(const ordered_json& value) {
  std::vector<std::string> types;
  const ordered_json type = value.value("type", ordered_json("any"));
  for (const std::string name : type.is_array() ? type : ordered_json::array({type})) {
    const bool has_item =
        name == "array" && value.contains("items") && value["items"].contains("type");
    types.push_back(has_item ? absl::StrCat("array of ", TypeText(value["items"])) : name);
  }
  return absl::StrJoin(types, " or ");
}

// A section of the page: a row for each key.
std::string Section(const std::string& title, const ordered_json& properties) {
  std::string section =
      absl::StrCat("## ", title, "\n\n| key | type | what it is |\n|---|---|---|\n");
  for (const auto& [key, value] : properties.items()) {
    const std::string description = value.value("description", "");
    EXPECT_FALSE(description.empty()) << title << ": " << key;
    absl::StrAppend(&section, "| `", key, "` | ", TypeText(value), " | ", description);
    const ordered_json& row = value.contains("items") ? value["items"] : value;
    if (row.contains("properties")) {
      std::vector<std::string> keys;
      for (const auto& [name, what] : row["properties"].items())
        keys.push_back(absl::StrCat("`", name, "`"));
      absl::StrAppend(&section, " Keys: ", absl::StrJoin(keys, ", "), ".");
    }
    absl::StrAppend(&section, " |\n");
  }
  return section + "\n";
}

// With TENON_WRITE_GOLDEN=1 the page is written.
TEST(JsonPage, IsMadeFromTheSchema) {
  const ordered_json schema = ordered_json::parse(ReadFile("docs/graph_run.schema.json"));
  const std::string page = ReadFile("docs/json.md");
  const size_t first = page.find(kFirstSection), last = page.find(kLastSection);
  ASSERT_NE(first, page.npos);
  ASSERT_NE(last, page.npos);
  std::string want = page.substr(0, first) + Section("Every document", schema["properties"]);
  for (const auto& [name, command] : schema["$defs"].items())
    want += Section(command["title"], command["properties"]);
  want += page.substr(last);
  if (std::getenv("TENON_WRITE_GOLDEN") != nullptr) {
    std::ofstream("docs/json.md") << want;
    return;
  }
  EXPECT_TRUE(page == want)
      << "docs/json.md is not what docs/graph_run.schema.json says: TENON_WRITE_GOLDEN=1 writes it";
}

TEST(JsonPage, EachCommandHasASchema) {
  const json schema = Schema();
  std::set<std::string> titles;
  for (const auto& [name, command] : schema["$defs"].items()) titles.insert(command["title"]);
  const std::string help = GraphRun({"--help"}).out;
  const size_t begin = help.find("Commands:\n"), end = help.find("\n\n", begin);
  ASSERT_NE(begin, help.npos);
  int commands = 0;
  for (const std::string_view line :
       absl::StrSplit(std::string_view(help).substr(begin, end - begin), '\n')) {
    if (!line.starts_with("  ") || line.starts_with("   ")) continue;
    // "  plugin check SO   what it does": the name is in small letters.
    const std::vector<std::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const bool has_two = words[0] == "plugin";
    std::string name(words[0]);
    if (has_two) absl::StrAppend(&name, " ", words[1]);
    EXPECT_TRUE(titles.contains(name)) << name;
    ++commands;
  }
  EXPECT_GE(commands, 15);
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
