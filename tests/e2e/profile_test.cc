// What profilers of plug-ins see, in the same trace as our own steps; what they get wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "proto/xspace.pb.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlane[] = "a plane with: any name / at all";

struct Profiled {
  Finished run;
  json doc, trace;
};

Profiled RunWith(const std::string& kind, std::vector<std::string> more = {}) {
  const std::string path = TempPath("trace_" + kind + ".json");
  std::vector<std::string> args = {"run",
                                   kMlp,
                                   "--input",
                                   "x=1x20xf32=1",
                                   "--opt-level",
                                   "0",
                                   "--trace",
                                   path,
                                   "--json",
                                   "--plugin",
                                   TestPlugin("profiles") + ";PROFILE=" + kind};
  args.insert(args.end(), more.begin(), more.end());
  Profiled profiled;
  profiled.run = GraphRun(args);
  profiled.doc = json::parse(profiled.run.out, nullptr, false);
  profiled.trace = json::parse(ReadFile(path), nullptr, false);
  return profiled;
}

std::vector<json> Events(const json& trace, const std::string& name) {
  std::vector<json> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == name && event["ph"] != "M") events.push_back(event);
  }
  return events;
}

// Our own spans of an op's steps.
std::vector<json> Steps(const json& trace, const std::string& op) {
  std::vector<json> steps;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["cat"] == op) steps.push_back(event);
  }
  return steps;
}

double BeginOf(const json& event) { return event["ts"]; }
double Length(const json& event) { return event["dur"]; }
double EndOf(const json& event) { return BeginOf(event) + Length(event); }

std::string NameOf(const json& trace, const std::string& what, int pid, int tid) {
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == what && event["pid"] == pid && event["tid"] == tid)
      return event["args"]["name"];
  }
  return "";
}

struct Clocks {
  std::string kind, clock;
};
class ProfileClocks : public ::testing::TestWithParam<Clocks> {};

// Whatever the plug-in's clock, what its profiler says of a kernel lies in our step that ran it.
TEST_P(ProfileClocks, BecomeOne) {
  const auto& [kind, clock] = GetParam();
  const Profiled p = RunWith(kind);
  ASSERT_EQ(p.run.exit, 0) << p.run.err;
  EXPECT_EQ(p.doc["profiles"][0]["planes"][0]["clock"], clock);
  EXPECT_EQ(p.doc["profiles"][0]["planes"][0]["name"], kPlane);
  const std::vector<json> kernels = Events(p.trace, "board_kernel");
  const std::vector<json> steps = Steps(p.trace, "Relu");
  ASSERT_EQ(kernels.size(), 2u);
  ASSERT_EQ(steps.size(), 2u);
  // A clock that nobody knows has no more than its lengths.
  const bool unknown = clock == "unknown";
  const double shift = unknown ? BeginOf(steps[0]) - BeginOf(kernels[0]) : 0;
  // How far a kernel may lie outside of its step: the first one began somewhere in its own. Clocks
  // that are read one after the other, before the run, are no further apart than that takes.
  const double slack_us = clock == "monotonic" ? 0
                          : unknown            ? Length(steps[0]) - Length(kernels[0])
                                               : BeginOf(Events(p.trace, "run 0").at(0));
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(kernels[i]["ph"], "X");
    EXPECT_GE(BeginOf(kernels[i]) + shift, BeginOf(steps[i]) - slack_us) << i;
    EXPECT_LE(EndOf(kernels[i]) + shift, EndOf(steps[i]) + slack_us) << i;
  }
  const int pid = kernels[0]["pid"], tid = kernels[0]["tid"];
  EXPECT_NE(pid, steps[0]["pid"].get<int>());
  EXPECT_EQ(NameOf(p.trace, "process_name", pid, 0), std::string(kPlane) + " (libprofiles.so)");
  EXPECT_EQ(NameOf(p.trace, "thread_name", pid, tid), "stream 3");
}

INSTANTIATE_TEST_SUITE_P(All, ProfileClocks,
                         ::testing::Values(Clocks{"good", "unix"}, Clocks{"monotonic", "monotonic"},
                                           Clocks{"relative", "relative"},
                                           Clocks{"odd_clock", "unknown"}),
                         [](const auto& info) { return info.param.kind; });

struct Failure {
  std::string kind, callback, says;
};
class ProfileFailures : public ::testing::TestWithParam<Failure> {};

TEST_P(ProfileFailures, AreAttributedAndKeepTheResult) {
  const Failure& failure = GetParam();
  const Profiled p = RunWith(failure.kind);
  EXPECT_EQ(p.run.exit, 0) << p.run.err;
  EXPECT_EQ(p.doc["status"]["code"], "OK");
  EXPECT_FALSE(p.doc["fetches"].empty());
  EXPECT_THAT(p.run.err, HasSubstr(failure.callback + " of plug-in "));
  EXPECT_THAT(p.run.err, HasSubstr("libprofiles.so"));
  EXPECT_THAT(p.run.err, HasSubstr(failure.says));
  EXPECT_THAT(p.run.err, Not(HasSubstr("protobuf"))) << "the host says it, in its own words";
  EXPECT_NE(p.doc["profiles"][0]["status"]["code"], "OK");
  EXPECT_EQ(Steps(p.trace, "Relu").size(), 2u) << "our own steps are there all the same";
  EXPECT_TRUE(Events(p.trace, "board_kernel").empty());
  const Profiled strict = RunWith(failure.kind, {"--plugin-errors=fail"});
  EXPECT_EQ(strict.run.exit, 5);
  EXPECT_FALSE(strict.doc["fetches"].empty());
  EXPECT_THAT(strict.run.err, HasSubstr(failure.says));
}

constexpr char kCollect[] = "collect_data_xspace";
INSTANTIATE_TEST_SUITE_P(
    All, ProfileFailures,
    ::testing::Values(Failure{"garbage", kCollect, "100 bytes are not an XSpace"},
                      Failure{"truncated", kCollect, "are not an XSpace"},
                      Failure{"too_much", kCollect, "18446744073709551615 bytes"},
                      Failure{"grows", kCollect, "and then had"},
                      Failure{"overruns", kCollect, "wrote more"},
                      Failure{"too_small", kCollect, "the buffer is too small"},
                      Failure{"many", kCollect, "holds 5000000 messages"},
                      Failure{"bad_name", kCollect, "a name in it is not UTF-8"},
                      Failure{"collect_fails", kCollect, "the counters are wet"},
                      Failure{"collect_throws", kCollect, "from collect"},
                      Failure{"start_fails", "start", "no counters"},
                      Failure{"start_throws", "start", "from start"},
                      Failure{"stop_fails", "stop", "the counters do not stop"}),
    [](const auto& info) { return info.param.kind; });

TEST(Profiles, WhoWritesFarBeyondTheBufferIsStopped) {
  const Profiled p = RunWith("overruns_far");
  EXPECT_EQ(p.run.exit, 5);
  EXPECT_THAT(p.run.err, HasSubstr("libprofiles.so"));
  EXPECT_THAT(p.run.err, HasSubstr("in collect_data_xspace"));
}

TEST(Profiles, NoDataIsFine) {
  const Profiled p = RunWith("no_data");
  EXPECT_EQ(p.run.exit, 0) << p.run.err;
  EXPECT_EQ(p.doc["profiles"][0]["events"], 0);
}

TEST(Profiles, PlanesOfAnyNameAndLessDataThanAnnouncedAreFine) {
  for (const char* kind : {"no_name", "control_name", "shrinks"}) {
    const Profiled p = RunWith(kind);
    EXPECT_EQ(p.run.exit, 0) << kind << p.run.err;
    ASSERT_FALSE(p.trace.is_discarded()) << kind;
    EXPECT_EQ(Events(p.trace, "board_kernel").size(), 2u) << kind;
  }
}

TEST(Profiles, ExtremeTimesStayInOneTrace) {
  const Profiled p = RunWith("extreme");
  EXPECT_EQ(p.run.exit, 0) << p.run.err;
  ASSERT_FALSE(p.trace.is_discarded());
  EXPECT_EQ(Events(p.trace, "event 99").size(), 1u);
}

TEST(Profiles, WhatIsWrongAtInitIsSaidAtLoad) {
  const Failure failures[] = {
      {"no_type", "", "'device_type' field in TP_Profiler must be set."},
      {"no_collect", "", "'collect_data_xspace' field in TP_ProfilerFns must be set."},
      {"init_fails", "", "no counters on this board"},
      {"init_throws", "", "from init"}};
  for (const Failure& failure : failures) {
    const Profiled p = RunWith(failure.kind);
    EXPECT_EQ(p.run.exit, 5) << failure.kind;
    EXPECT_THAT(p.run.err, HasSubstr(failure.says));
    EXPECT_THAT(p.run.err, Not(HasSubstr("protobuf"))) << "the host says it, in its own words";
    EXPECT_THAT(p.run.err, HasSubstr("libprofiles.so"));
  }
}

TEST(Profiles, WithoutATraceNobodyIsAsked) {
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--json", "--plugin",
                                 TestPlugin("profiles") + ";PROFILE=start_throws"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_FALSE(json::parse(run.out).contains("profiles"));
}

TEST(Profiles, GoIntoAnXPlaneFileToo) {
  const std::string path = TempPath("host.xplane.pb"), second = TempPath("both.json");
  const Finished run =
      GraphRun({"bench", kMlp, "--input", "x=1x20xf32=1", "--runs", "2", "--opt-level", "0",
                "--trace", path, "--trace", second, "--plugin", TestPlugin("profiles")});
  EXPECT_EQ(run.exit, 0) << run.err;
  pb::XSpace space;
  ASSERT_TRUE(space.ParseFromString(ReadFile(path)));
  ASSERT_EQ(space.planes_size(), 2);
  EXPECT_EQ(space.planes(0).name(), "/host:CPU");
  EXPECT_EQ(space.planes(1).name(), kPlane);
  EXPECT_EQ(space.hostnames_size(), 1);
  const pb::XPlane& host = space.planes(0);
  ASSERT_EQ(host.lines_size(), 1);
  EXPECT_GT(host.lines(0).events_size(), 3);
  const pb::XEvent& first = host.lines(0).events(0);
  EXPECT_EQ(host.event_metadata().at(first.metadata_id()).name(), "run 0");
  EXPECT_EQ(Events(json::parse(ReadFile(second)), "board_kernel").size(), 2u);
}

TEST(Profiles, MayBeWrittenByAnotherProtobuf) {
  const std::string path = TempPath("protobuf.json");
  const Finished run = GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--json", "--trace", path,
                                 "--plugin", TestPlugin("protobuf_profile")});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(std::string(json::parse(run.out)["profiles"][0]["planes"][0]["name"]),
              HasSubstr("tenon.pb.XPlane of "));
  EXPECT_EQ(Events(json::parse(ReadFile(path)), "written").size(), 1u);
}

// What a stream did is seen by callbacks behind the work, on our clock.
TEST(Profiles, StreamsOfADeviceHaveRows) {
  const std::string path = TempPath("streams.json"), xplane = TempPath("streams.xplane.pb");
  const Finished run =
      GraphRun({"run", kMlp, "--input", "x=1x20xf32=1", "--opt-level", "0", "--runs", "3",
                "--trace", path, "--trace", xplane, "--plugin", Built("lib/plugins/libapu.so")});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json trace = json::parse(ReadFile(path));
  std::map<std::string, std::vector<json>> rows;
  int process = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name" && event["args"]["name"] == "/device:APU:0 streams")
      process = event["pid"];
    if (event["ph"] == "X" && event["pid"] == process)
      rows[NameOf(trace, "thread_name", process, event["tid"])].push_back(event);
  }
  ASSERT_NE(process, 0);
  EXPECT_EQ(rows["host to device"].size(), 3u * 2);
  EXPECT_EQ(rows["device to host"].size(), 3u * 2);
  EXPECT_EQ(rows["compute"].size(), 3u * 2);
  for (const auto& [name, spans] : rows) {
    for (size_t i = 1; i < spans.size(); ++i)
      EXPECT_GE(BeginOf(spans[i]), EndOf(spans[i - 1])) << name;
  }
  // A copy's work begins after it is queued.
  const std::vector<json> queued = Steps(trace, "copy /device:APU:0 -> host");
  for (size_t i = 0; i < rows["device to host"].size(); ++i) {
    const json& copy = rows["device to host"][i];
    EXPECT_EQ(copy["name"], queued[i]["name"]);
    EXPECT_GE(BeginOf(copy), BeginOf(queued[i]));
    EXPECT_GE(EndOf(copy), BeginOf(copy));
  }
  pb::XSpace space;
  ASSERT_TRUE(space.ParseFromString(ReadFile(xplane)));
  ASSERT_EQ(space.planes_size(), 2);
  // The name under which TensorBoard shows a plane; streams bear that of the device.
  EXPECT_EQ(space.planes(1).name(), "/device:GPU:0");
  ASSERT_EQ(space.planes(1).lines_size(), 3);
  EXPECT_EQ(space.planes(1).lines(0).name(), "Stream #1(/device:APU:0 compute)");
  std::vector<std::string> names;
  for (const auto& [id, meta] : space.planes(0).event_metadata()) names.push_back(meta.name());
  EXPECT_THAT(names, ::testing::Contains("sequential_1/dense_1/MatMul:MatMul"));
}

// Arrows lead from node to copy to node, and end within a span of the row that they name.
TEST(Profiles, ArrowsCountersTypesAndStages) {
  const std::string path = TempPath("arrows.json");
  const Finished run =
      GraphRun({"run", kMlp, "--input", "x=2x20xf32=1", "--opt-level", "0", "--runs", "2",
                "--threads", "1", "--trace", path, "--plugin", Built("lib/plugins/libapu.so")});
  EXPECT_EQ(run.exit, 0) << run.err;
  const json trace = json::parse(ReadFile(path));
  const auto span_at = [&trace](const json& end) {
    for (const json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event.contains("args") && event["pid"] == end["pid"] &&
          event["tid"] == end["tid"] && event["args"].contains("step") &&
          BeginOf(event) <= end["ts"] && EndOf(event) >= end["ts"])
        return event["args"]["op"].get<std::string>();
    }
    return std::string("nothing");
  };
  std::map<int, std::string> begins;
  std::vector<std::string> arrows;
  double memory = 0, stages = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") begins[event["id"]] = span_at(event);
    if (event["ph"] == "f") arrows.push_back(begins[event["id"]] + " -> " + span_at(event));
    if (event["ph"] == "C") memory = std::max(memory, event["args"]["bytes"].get<double>());
    if (event.value("cat", "") == "stage") stages += event["dur"].get<double>();
  }
  EXPECT_THAT(arrows,
              ::testing::IsSupersetOf(
                  {"BiasAdd -> copy host -> /device:APU:0", "copy host -> /device:APU:0 -> Relu",
                   "Relu -> copy /device:APU:0 -> host", "copy /device:APU:0 -> host -> MatMul"}));
  EXPECT_GT(memory, 0);
  EXPECT_GT(stages, 0);
  EXPECT_EQ(Steps(trace, "Softmax").at(0)["args"]["types"], "f32[2,10]");
}

// Runs at once have rows of their own.
TEST(Profiles, ConcurrentRunsHaveRows) {
  const std::string path = TempPath("concurrent.json");
  const Finished run = GraphRun(
      {"bench", kMlp, "--runs", "8", "--concurrency", "2", "--threads", "2", "--trace", path});
  EXPECT_EQ(run.exit, 0) << run.err;
  std::set<int> rows;
  const json trace = json::parse(ReadFile(path));
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["name"].get<std::string>().starts_with("run "))
      rows.insert(event["tid"].get<int>());
  }
  EXPECT_EQ(rows.size(), 2u);
}

TEST(Profiles, StreamsThatTakeNoCallbacksShowTheirQueueing) {
  const std::string path = TempPath("no_callbacks.json");
  const Finished run =
      GraphRun({"run", "plugin/template/test/graph.pbtxt", "--input", "x=4xf32=1,2,3,4",
                "--opt-level", "0", "--device", "SAMPLE", "--trace", path, "--plugin",
                TestPlugin("unruly") + ";UNRULY=no_callbacks"});
  EXPECT_EQ(run.exit, 0) << run.err;
  const std::vector<json> copies =
      Steps(json::parse(ReadFile(path)), "copy host -> /device:SAMPLE:0");
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_NE(copies[0]["pid"], copies[1]["pid"]);
  EXPECT_EQ(copies[0]["ts"], copies[1]["ts"]);
  EXPECT_EQ(copies[0]["dur"], copies[1]["dur"]);
}

}  // namespace
}  // namespace tenon::testing
