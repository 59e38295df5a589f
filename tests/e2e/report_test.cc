// The page of --report: what it holds for each command.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::report_test {
namespace {

using nlohmann::json;
using testing::Built;
using testing::Finished;
using testing::GraphRun;
using ::testing::HasSubstr;
using testing::ReadFile;
using testing::TempFile;
using testing::TempPath;

constexpr char kInput[] = "x=4x20xf32=ones";

// What the page of this command holds.
json PageOf(std::vector<std::string> args, int exit = 0) {
  const std::string path = TempPath("page.html");
  args.insert(args.end(), {"--report", path});
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, exit) << run.err;
  const std::string page = ReadFile(path), open = "<script id=\"data\" type=\"application/json\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

const json& NodeOf(const json& graph, const std::string& op) {
  for (const json& node : graph["nodes"]) {
    if (node["op"] == op) return node;
  }
  ADD_FAILURE() << "no " << op;
  return graph["nodes"][0];
}

TEST(Report, ARunHasItsTimesMemoryAndAnswer) {
  const json page = PageOf({"run", testing::kMlp, "--input", kInput, "--expect", "out=(ignored)"});
  EXPECT_EQ(page["answer"]["fetches"][0]["type"], "f32[4,10]");
  EXPECT_EQ(page["answer"]["expect"][0]["ignored"], true);
  EXPECT_EQ(page["times"]["runs"], 1);
  EXPECT_GT(page["times"]["op_table"].size(), 1u);
  EXPECT_GT(page["timeline"]["spans"].size(), 1u);
  EXPECT_EQ(page["timeline"]["rows"][0]["name"], "thread 0");
  EXPECT_GT(page["memory"]["weights_bytes"], 0);
  EXPECT_GE(page["memory"]["arena_bytes"], page["memory"]["arena_lower_bound_bytes"]);
  EXPECT_GT(page["times_ms"]["load"], 0.0);
  EXPECT_THAT(page["about"]["command"].get<std::string>(), HasSubstr("--input x=4x20xf32=ones"));
  EXPECT_FALSE(page["about"]["machine"]["version"].get<std::string>().empty());
  EXPECT_FALSE(page["about"].contains("status"));
}

// Shapes follow from those of the feeds.
TEST(Report, EdgesHaveTheShapesOfTheRun) {
  const json run = PageOf({"run", testing::kMlp, "--input", kInput});
  EXPECT_EQ(NodeOf(run["after"], "Softmax")["types"], json({"f32[4,10]"}));
  EXPECT_EQ(NodeOf(run["after"], "Softmax")["bytes"], json({160}));
  const json opt = PageOf({"opt", testing::kMlp});
  EXPECT_EQ(NodeOf(opt["after"], "Softmax")["types"], json({"f32[?,10]"}));
  EXPECT_EQ(NodeOf(opt["after"], "Softmax")["bytes"], json({-1}));
}

TEST(Report, ABenchHasMediansOfManyRuns) {
  const json page = PageOf({"bench", testing::kMlp, "--runs", "20"});
  EXPECT_EQ(page["bench"]["count"], 20);
  EXPECT_EQ(page["bench"]["run_us"].size(), 20u);
  EXPECT_GT(page["times"]["runs"], 20);
  EXPECT_GT(page["timeline"]["runs"], 1);
}

TEST(Report, PlacementHasItsReasonsAndStreamsTheirRows) {
  const json page = PageOf({"run", testing::kMlp, "--input", kInput, "--plugin",
                            Built("lib/plugins/libapu.so"), "--threads", "1"});
  const json& relu = NodeOf(page["after"], "ApuBiasRelu");
  EXPECT_EQ(relu["on"], "/device:APU:0");
  EXPECT_THAT(relu["rejected"][0].get<std::string>(), HasSubstr("NO_KERNEL"));
  EXPECT_FALSE(relu["copies"].empty());
  std::string rows;
  for (const json& row : page["timeline"]["rows"]) rows += row["name"].get<std::string>() + ";";
  EXPECT_THAT(rows, HasSubstr("/device:APU:0 compute"));
}

TEST(Report, ARunThatFailsHasAPage) {
  const json differs = PageOf({"run", testing::kMlp, "--input", kInput, "--expect", "out=7"}, 3);
  EXPECT_EQ(differs["about"]["status"]["code"], "FAILED_PRECONDITION");
  EXPECT_EQ(differs["answer"]["expect"][0]["ok"], false);
  const std::string type = "attr { key: 'T' value { type: DT_INT32 } }";
  const std::string model =
      TempFile("divide.pbtxt",
               "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }"
               "node { name: 'y' op: 'FloorDiv' input: ['x', 'x'] " +
                   type + " }");
  const json failed = PageOf({"run", model, "--input", "x=i32=0"}, 1);
  EXPECT_THAT(failed["about"]["status"]["message"].get<std::string>(), HasSubstr("y"));
  EXPECT_FALSE(failed.contains("answer"));
}

// No text of a model ends the script, and marks of the page within the data stay as they are.
TEST(Report, TextsOfTheModelAreOnlyTexts) {
  const std::string evil = "</script><script>alert(1)</script><!-- __DATA__ __report.css__";
  const std::string model =
      TempFile("evil.pbtxt",
               "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
               "attr { key: '_text' value { s: '" +
                   evil +
                   "' } } "
                   "attr { key: '" +
                   evil +
                   "' value { i: 1 } } "
                   "attr { key: '_list' value { list { s: '" +
                   std::string(100'000, 'a') + "' } } } }");
  const json page = PageOf({"run", model, "--input", "x=1", "--output", "x"});
  EXPECT_EQ(page["after"]["nodes"][0]["attrs"][evil], "1");
  EXPECT_LT(page["after"]["nodes"][0]["attrs"]["_list"].get<std::string>().size(), 2100u);
  const std::string whole = ReadFile(TempPath("page.html"));
  const auto count = [&whole](const std::string& text) {
    size_t found = 0;
    for (size_t at = whole.find(text); at != whole.npos; at = whole.find(text, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("</script>"), 2u);  // the page's own: the data, and what draws it
  EXPECT_EQ(count("<!--"), 0u);
}

// The notice of the library that lays the graph out goes with each copy of it.
TEST(Report, ThePageHasTheLicenceOfWhatItHolds) {
  PageOf({"opt", testing::kMlp});
  EXPECT_THAT(ReadFile(TempPath("page.html")), HasSubstr("Permission is hereby granted"));
}

}  // namespace
}  // namespace tenon::report_test
