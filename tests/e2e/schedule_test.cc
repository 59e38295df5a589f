// explain --schedule: a plan as lanes.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::schedule_test {
namespace {

using nlohmann::json;
using testing::Built;
using testing::Document;
using testing::Finished;
using testing::GraphRun;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReadFile;
using testing::TempFile;
using testing::TempPath;

constexpr const char* kModel = testing::kMlp;
constexpr char kInput[] = "x=4x20xf32=ones";

// Chains of products that do not need each other, whose results are added.
std::string Chains(const std::string& name, int chains, int length) {
  std::ostringstream text;
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } }";
  text << "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } "
          "attr { key: 'shape' value { shape { dim { size: 256 } dim { size: 256 } } } } }\n";
  std::string ends;
  for (int c = 0; c < chains; ++c) {
    std::string value = "x";
    for (int i = 0; i < length; ++i) {
      const std::string next = "c" + std::to_string(c) + "_" + std::to_string(i);
      text << "node { name: '" << next << "' op: 'MatMul' input: ['" << value << "', 'x'] " << type
           << " }\n";
      value = next;
    }
    ends += (c == 0 ? "'" : ", '") + value + "'";
  }
  text << "node { name: 'y' op: 'AddN' input: [" << ends << "] " << type
       << " attr { key: 'N' value { i: " << chains << " } } }\n";
  return TempFile(name, text.str());
}

TEST(Schedule, DrawsARowAndSaysThatItEstimates) {
  const Finished text =
      GraphRun({"explain", kModel, "--schedule", "--input", kInput, "--threads", "2"});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("all times are estimates, not measured"));
  EXPECT_THAT(text.out, HasSubstr("host 0"));
  EXPECT_THAT(text.out, HasSubstr("critical path"));
  EXPECT_THAT(text.out, HasSubstr("_FusedMatMul"));
}

TEST(Schedule, TasksGoToTwoLanes) {
  const std::string model = Chains("chains.pbtxt", 4, 5);
  const json doc = Document({"explain", model, "--schedule", "--input", "x=256x256xf32=0.01",
                             "--threads", "2", "--opt-level", "0"});
  const json& schedule = doc["schedule"];
  EXPECT_EQ(schedule["estimated"], true);
  EXPECT_EQ(schedule["threads"], 2);
  ASSERT_EQ(schedule["lanes"].size(), 2u);
  ASSERT_GE(schedule["tasks"].size(), 5u);
  const double work = schedule["work_us"], makespan = schedule["makespan_us"];
  EXPECT_LT(makespan, 0.6 * work);
  EXPECT_GE(makespan, 0.5 * work - 1e-6);
  EXPECT_GE(makespan + 1, schedule["critical_path_us"].get<double>());
  for (const json& lane : schedule["lanes"]) EXPECT_LT(lane["idle_share"].get<double>(), 0.2);
  // No lane does two things at once, and no task begins before those that it waits for.
  std::vector<double> stop(2, 0);
  for (const json& span : schedule["spans"]) {
    const int lane = span["lane"];
    EXPECT_GE(span["start_us"].get<double>(), stop[lane] - 1e-6) << span;
    stop[lane] = span["stop_us"];
  }
  for (const json& task : schedule["tasks"]) {
    for (const int then : task["then"])
      EXPECT_GE(schedule["tasks"][then]["start_us"].get<double>(),
                task["stop_us"].get<double>() - 1e-6);
  }
}

TEST(Schedule, FoldsLongListsForPeople) {
  const std::string model = Chains("long.pbtxt", 10, 100);
  const Finished text = GraphRun({"explain", model, "--schedule", "--input", "x=256x256xf32=0.01",
                                  "--threads", "2", "--opt-level", "0"});
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("--json has them"));
  EXPECT_LT(std::count(text.out.begin(), text.out.end(), '\n'), 120);
}

TEST(Schedule, DevicesHaveLanesOfTheirOwn) {
  const std::string apu = Built("lib/plugins/libapu.so");
  const json schedule = Document({"explain", kModel, "--schedule", "--input", kInput, "--plugin",
                                  apu, "--threads", "1"})["schedule"];
  std::vector<std::string> streams;
  for (const json& lane : schedule["lanes"]) {
    if (lane["kind"] == "stream") streams.push_back(lane["name"]);
  }
  EXPECT_THAT(streams, ::testing::IsSupersetOf({HasSubstr("compute"), HasSubstr("host to device"),
                                                HasSubstr("device to host")}));
}

TEST(Schedule, ThePageHasLanes) {
  const std::string page = TempPath("lanes.html");
  const Finished run =
      GraphRun({"explain", kModel, "--schedule", "--input", kInput, "--report", page});
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(ReadFile(page), HasSubstr("\"schedule\":{\"estimated\":true"));
  EXPECT_EQ(GraphRun({"explain", kModel, "--report", page}).exit, 0);
  EXPECT_THAT(ReadFile(page), HasSubstr("\"schedule\":null"));
}

TEST(Schedule, ValuesNeedIt) {
  const Finished run = GraphRun({"explain", kModel, "--input", kInput});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("need --schedule"));
  EXPECT_EQ(GraphRun({"explain", kModel, "--schedule"}).exit, 2);  // x is not fed
  EXPECT_THAT(GraphRun({"explain", kModel}).out, Not(HasSubstr("critical path")));
}

TEST(Schedule, TheOrderOfTheFileGivesTheSameBits) {
  const std::string model = Chains("order.pbtxt", 3, 4);
  const auto values = [&](const std::string& order) {
    const std::string out = TempPath("order_" + order + ".bin");
    const Finished run = GraphRun({"run", model, "--input", "x=256x256xf32=random(seed=3)",
                                   "--threads", "3", "--schedule", order, "--output", "y=@" + out});
    EXPECT_EQ(run.exit, 0) << run.err;
    return ReadFile(out);
  };
  const std::string by_file = values("file");
  EXPECT_EQ(by_file.size(), 256u * 256 * 4);
  EXPECT_TRUE(by_file == values("auto"));
  const Finished wrong = GraphRun({"run", model, "--schedule", "fast"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.err, HasSubstr("auto"));
  EXPECT_EQ(GraphRun({"explain", kModel, "--schedule=fast", "--input", kInput}).exit, 2);
  EXPECT_EQ(GraphRun({"explain", kModel, "--schedule=file", "--input", kInput}).exit, 0);
  EXPECT_EQ(
      GraphRun({"bench", kModel, "--input", kInput, "--runs", "48", "--ab", "--schedule file"})
          .exit,
      0);
}

TEST(Threads, PlacesChangeNoBits) {
  const std::string model = Chains("places.pbtxt", 3, 2);
  const auto values = [&](std::vector<std::string> more) {
    const std::string out = TempPath("places.bin");
    std::vector<std::string> args = {"run",       model, "--input",  "x=256x256xf32=random(seed=3)",
                                     "--threads", "3",   "--output", "y=@" + out};
    args.insert(args.end(), more.begin(), more.end());
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << run.err;
    return ReadFile(out);
  };
  const std::string free = values({});
  EXPECT_EQ(free.size(), 256u * 256 * 4);
  EXPECT_TRUE(free == values({"--pin=cores"}));
  EXPECT_TRUE(free == values({"--numa=auto"}));
  EXPECT_TRUE(free == values({"--pin=cores", "--numa=auto", "--concurrency", "2", "--runs", "4"}));
}

TEST(Threads, VerboseSaysWhereTheyAre) {
  const Finished run = GraphRun({"run", kModel, "--input", kInput, "--verbose", "--numa=auto",
                                 "--pin=cores", "--threads", "1"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_THAT(run.err, HasSubstr("thread 0: core "));
  const Finished quiet = GraphRun({"run", kModel, "--input", kInput, "--numa=auto"});
  EXPECT_EQ(quiet.err, "");
  for (const char* flag : {"--pin=sockets", "--numa=on"}) {
    const Finished wrong = GraphRun({"run", kModel, "--input", kInput, flag});
    EXPECT_EQ(wrong.exit, 2);
    EXPECT_THAT(wrong.err, HasSubstr("off"));
  }
}

// What is measured stands beside what explain --schedule estimates.
TEST(OpTable, TellsOfThreadsAndTheCriticalPath) {
  const std::string model = Chains("measured.pbtxt", 4, 5);
  const std::vector<std::string> args = {"run",         model, "--input", "x=256x256xf32=0.01",
                                         "--threads",   "2",   "--runs",  "3",
                                         "--opt-level", "0"};
  const auto with = [&](const std::string& form) {
    std::vector<std::string> all = args;
    all.push_back(form);
    return all;
  };
  const json doc = Document(with("--op-table"));
  double estimate = 0;
  for (const json& row : doc["op_table"]) {
    EXPECT_GT(row["estimate_us"], 0) << row;
    estimate += row["estimate_us"].get<double>();
  }
  const std::vector<std::string> explain = {
      "explain",   model, "--schedule",  "--input", "x=256x256xf32=0.01",
      "--threads", "2",   "--opt-level", "0"};
  EXPECT_NEAR(estimate, Document(explain)["schedule"]["work_us"].get<double>(), 0.01);
  ASSERT_FALSE(doc["lanes"].empty());
  EXPECT_LE(doc["lanes"].size(), 2u);
  double critical = 0;
  int64_t steps = 0;
  for (const json& lane : doc["lanes"]) {
    EXPECT_GE(lane["idle_share"], 0);
    EXPECT_LE(lane["idle_share"], 1);
    critical += lane["critical_us"].get<double>();
    steps += lane["steps"].get<int64_t>();
  }
  EXPECT_EQ(steps % 3, 0);
  const json& path = doc["critical_path"];
  EXPECT_EQ(path["of"], "tasks");
  EXPECT_NEAR(path["us"].get<double>(), critical, 1e-6);
  EXPECT_LE(path["us"].get<double>(), path["run_us"].get<double>() * 1.001);
  ASSERT_GE(path["links"].size(), 2u);
  const Finished text = GraphRun(with("--op-table"));
  EXPECT_THAT(text.out, HasSubstr("estimate us"));
  EXPECT_THAT(text.out, HasSubstr("tasks that wait for each other"));
  const std::string csv = GraphRun(with("--op-table=lanes-csv")).out;
  EXPECT_THAT(csv, ::testing::StartsWith("thread,steps,work_us,wait_us,idle_share,critical_us\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'),
            1 + static_cast<int64_t>(doc["lanes"].size()));
}

}  // namespace
}  // namespace tenon::schedule_test
