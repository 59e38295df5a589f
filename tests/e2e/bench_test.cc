// bench: statistics of runs, and two configurations in turns.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The document of a bench that succeeds.
json BenchDocument(std::vector<std::string> args) {
  args.insert(args.begin(), "bench");
  args.push_back("--json");
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
  return json::parse(run.out, nullptr, false);
}

// 16 times the same product, which elimination of common subexpressions computes once.
std::string RepeatedProducts() {
  std::string nodes = R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 96 } dim { size: 96 } } } } }
      node { name: 'sum' op: 'AddN' attr { key: 'N' value { i: 16 } }
             attr { key: 'T' value { type: DT_FLOAT } }
             input: ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11',
                     'm12', 'm13', 'm14', 'm15'] })";
  for (int i = 0; i < 16; ++i) {
    nodes += "node { name: 'm" + std::to_string(i) +
             "' op: 'MatMul' input: ['x', 'x'] attr { key: 'T' value { type: DT_FLOAT } } }\n";
  }
  return TempFile("products.pbtxt", nodes);
}

TEST(Bench, InputsThatNobodyGaveAreMadeUp) {
  const json doc = BenchDocument({kMlp, "--runs", "5"});
  EXPECT_EQ(doc["made_up_inputs"], json({"x=1x20xf32=random(seed=1)"}));
  EXPECT_FALSE(BenchDocument({kMlp, "--runs", "5", "--input", "x=4x20xf32=ones"})
                   .contains("made_up_inputs"));
  EXPECT_THAT(GraphRun({"bench", kMlp, "--runs", "5"}).out,
              HasSubstr("none were given; made up: --input 'x=1x20xf32=random(seed=1)'"));
  // Some given and others forgotten is a mistake.
  const std::string two = TempFile("two.pbtxt", R"(
      node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }
      node { name: 'b' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } }
      node { name: 'c' op: 'AddV2' input: ['a', 'b'] attr { key: 'T' value { type: DT_INT32 } } })");
  const Finished half = GraphRun({"bench", two, "--input", "a=i32=1"});
  EXPECT_EQ(half.exit, 2);
  EXPECT_THAT(half.err, HasSubstr("nothing is fed to Placeholder 'b'"));
  EXPECT_EQ(BenchDocument({two, "--runs", "5"})["made_up_inputs"].size(), 2u);
  // Nobody can make up a handle.
  const std::string handle = TempFile("handle.pbtxt", R"(
      node { name: 'v' op: 'Placeholder' attr { key: 'dtype' value { type: DT_RESOURCE } } }
      node { name: 'r' op: 'ReadVariableOp' input: 'v' attr { key: 'dtype' value { type: DT_FLOAT } } })");
  EXPECT_EQ(GraphRun({"bench", handle}).exit, 2);
}

TEST(Bench, Statistics) {
  const json doc =
      BenchDocument({kMlp, "--input", "x=4x20xf32=ones", "--runs", "50", "--threads", "1"});
  EXPECT_EQ(doc["count"], 50);
  for (const char* key :
       {"init_ms", "first_ms", "min_us", "p50_us", "p90_us", "p99_us", "max_us", "mean_us",
        "std_us", "peak_rss_mb", "arena_bytes", "arena_lower_bound_bytes", "weights_bytes"}) {
    EXPECT_TRUE(doc[key].is_number()) << key;
  }
  EXPECT_LE(doc["ci95_us"][0], doc["mean_us"]);
  EXPECT_TRUE(doc.contains("allocations_per_run"));
  EXPECT_EQ(BenchDocument({kMlp, "--input", "x=4x20xf32=ones", "--runs", "40", "--concurrency",
                           "4"})["count"],
            40);
  const json few =
      BenchDocument({kMlp, "--input", "x=4x20xf32=ones", "--runs", "10", "--concurrency", "3"});
  EXPECT_EQ(few["count"], 10);
  EXPECT_GE(few["ci95_us"][0], few["min_us"]);
  EXPECT_LE(few["ci95_us"][1], few["max_us"]);
}

TEST(Bench, SaysUnderWhichConditions) {
  const json doc = BenchDocument({kMlp, "--input", "x=4x20xf32=ones", "--runs", "12", "--threads",
                                  "1", "--ab", "--threads 3"});
  EXPECT_EQ(doc["model"], kMlp);
  EXPECT_FALSE(doc["isa"].get<std::string>().empty());
  EXPECT_FALSE(doc["version"].get<std::string>().empty());
  EXPECT_EQ(doc["a"]["threads"], 1);
  EXPECT_EQ(doc["b"]["threads"], 3);
  EXPECT_GT(doc["b"]["devices"]["/device:CPU:0"], 0);
}

TEST(Bench, TheHeadlineIsTheMedian) {
  const json doc = BenchDocument({kMlp, "--input", "x=4x20xf32=ones", "--runs", "500"});
  EXPECT_LE(doc["p50_ci95_us"][0], doc["p50_us"]);
  EXPECT_GE(doc["p50_ci95_us"][1], doc["p50_us"]);
  const Finished text = GraphRun({"bench", kMlp, "--input", "x=4x20xf32=ones", "--runs", "500"});
  EXPECT_THAT(text.out, HasSubstr(" us a run (median), 95 % interval "));
  EXPECT_THAT(text.out, HasSubstr(std::string("\nwhere   ") + kMlp + ", "));
}

// From many runs, for one says little.
TEST(Bench, OpsAndNodesFromManyRuns) {
  const json doc = BenchDocument(
      {kMlp, "--input", "x=4x20xf32=ones", "--runs", "10", "--threads", "1", "--op-table"});
  ASSERT_FALSE(doc["op_table"].empty());
  for (const json& row : doc["op_table"]) {
    EXPECT_GE(row["count"], 100) << row;
    EXPECT_LE(row["p50_us"], row["total_us"]) << row;
  }
  double share = 0;
  for (const json& node : doc["nodes"]) share += node["thread_share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_TRUE(doc["nodes"][0]["name"].is_string());
}

// However the threads are woken up: all runs take as long as the longest of them at least.
TEST(Bench, TheRateOfConcurrentRunsCountsFromTheFirst) {
  for (int i = 0; i < 10; ++i) {
    const json doc = BenchDocument({RepeatedProducts(), "--input", "x=96x96xf32=ones", "--runs",
                                    "8", "--concurrency", "8", "--threads", "1"});
    EXPECT_LE(doc["runs_per_s"].get<double>() * doc["max_us"].get<double>(), 8e6 * 1.0001) << doc;
  }
}

// What the results themselves need: their list, and a buffer of two parts.
TEST(Bench, ARunAllocatesItsResultsOnly) {
  const std::string chain = TempFile("chain.pbtxt", R"(
      node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
             attr { key: 'shape' value { shape { dim { size: 4 } } } } }
      node { name: 'a' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'b' op: 'AddV2' input: ['a', 'x'] attr { key: 'T' value { type: DT_FLOAT } } }
      node { name: 'c' op: 'Tanh' input: 'b' attr { key: 'T' value { type: DT_FLOAT } } })");
  const json doc =
      BenchDocument({chain, "--input", "x=4xf32=ones", "--runs", "100", "--threads", "1"});
  if (!doc["allocations_per_run"].is_null()) EXPECT_LE(doc["allocations_per_run"], 3);
}

TEST(Bench, ComparesConfigurationsInTurns) {
  const json doc = BenchDocument({RepeatedProducts(), "--input", "x=96x96xf32=ones", "--runs", "48",
                                  "--threads", "1", "--ab", "--opt-level 0"});
  EXPECT_EQ(doc["verdict"], "a") << doc;
  EXPECT_GT(doc["ratio_ci95"][0], 1);
  EXPECT_LE(doc["ratio_ci95"][0], doc["ratio"]);
  EXPECT_GE(doc["ratio_ci95"][1], doc["ratio"]);
  EXPECT_EQ(doc["a"]["flags"], "");
  EXPECT_EQ(doc["b"]["flags"], "--opt-level 0");
  EXPECT_EQ(doc["a"]["count"], 48);
  EXPECT_EQ(doc["b"]["count"], 48);
  EXPECT_EQ(doc["count"], 48);  // what bench tells alone is told of a
  EXPECT_EQ(doc["mean_us"], doc["a"]["mean_us"]);
  EXPECT_LT(doc["a"]["p50_us"], doc["b"]["p50_us"]);
}

TEST(Bench, ShowsTheErrorOfAPrecision) {
  const std::vector<std::string> args = {kMlp, "--input", "x=4x20xf32=random(seed=1)", "--runs",
                                         "48"};
  const auto with = [&](std::string flags) {
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--ab", std::move(flags)});
    return BenchDocument(all)["differences"];
  };
  const json same = with("--threads 1"), bf16 = with("--precision=bf16"),
             f16 = with("--precision f16");
  ASSERT_EQ(same.size(), bf16.size());
  ASSERT_GT(same.size(), 0u);
  EXPECT_EQ(same[0]["differing"], 0);
  EXPECT_EQ(same[0]["max_abs"], 0);
  EXPECT_GT(bf16[0]["differing"], 0);
  EXPECT_GT(bf16[0]["of_rms"], 1e-4);
  EXPECT_LT(bf16[0]["of_rms"], 0.05);
  EXPECT_GT(f16[0]["of_rms"], 1e-5);
  EXPECT_LT(f16[0]["of_rms"], bf16[0]["of_rms"]);
}

TEST(Bench, ConfigurationsMayBothHaveFlags) {
  const json doc =
      BenchDocument({RepeatedProducts(), "--input", "x=96x96xf32=ones", "--runs", "48", "--ab",
                     "--disable-pass='common_subgraph_elimination' --threads 1", "--ab",
                     "--passes \"common_subgraph_elimination(max_rewrites=1k)\" --threads 1"});
  EXPECT_EQ(doc["verdict"], "b") << doc;
  EXPECT_LT(doc["ratio_ci95"][1], 1);
  EXPECT_EQ(doc["a"]["flags"], "--disable-pass='common_subgraph_elimination' --threads 1");
}

// As many rounds as runs allow; few runs on many threads.
TEST(Bench, RoundsOfFewRuns) {
  const std::vector<std::string> args = {kMlp, "--input", "x=1x20xf32=ones", "--ab", "", "--runs"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), args.begin(), args.end());
    return BenchDocument(more);
  };
  EXPECT_EQ(with({"6"})["rounds"], 6);
  const json threads = with({"14", "--concurrency", "2"});
  EXPECT_EQ(threads["rounds"], 7);
  EXPECT_EQ(threads["a"]["count"], 14);
}

// Devices of one plug-in, which both configurations see, and state that each has for itself.
TEST(Bench, ConfigurationsShareTheProcessOnly) {
  const json doc = BenchDocument({kMlp, "--input", "x=1x20xf32=ones", "--runs", "12", "--plugin",
                                  Built("lib/plugins/libapu.so"), "--ab", "--place '.*=CPU'"});
  EXPECT_EQ(doc["rounds"], 12);
  const Finished text =
      GraphRun({"bench", "tests/golden/saved_models/affine_state/model", "--signature", "count",
                "--input", "x=2x4xf32=ones", "--runs", "12", "--ab", "--opt-level 0"});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("b takes "));
  EXPECT_THAT(text.out, HasSubstr("with --opt-level 0"));
}

}  // namespace
}  // namespace tenon::testing
