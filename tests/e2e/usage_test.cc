// The command line itself: help, versions, mistakes and what they answer.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "executor/cli/options/command_table.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kModel[] = "tests/golden/models/mlp/graph.pbtxt";

TEST(Usage, Version) {
  const Finished run = GraphRun({"--version"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_THAT(run.out, StartsWith("graph_run "));
  EXPECT_THAT(run.out, HasSubstr("StreamExecutor C API 0.0.1"));
  const auto doc = nlohmann::json::parse(GraphRun({"--version", "--json"}).out);
  EXPECT_EQ(doc["schema"], "graph_run/1");
  EXPECT_EQ(doc["stream_executor"], "0.0.1");
}

Finished HelpOf(const cli::Command& command) {
  std::istringstream name{std::string(command.name)};
  std::vector<std::string> args{std::istream_iterator<std::string>(name), {}};
  args.push_back("--help");
  return GraphRun(std::move(args));
}

TEST(Usage, HelpOfEachCommandEndsWithExamples) {
  const Finished all = GraphRun({"--help"});
  EXPECT_EQ(all.exit, 0);
  for (const cli::Command* command : cli::Commands()) {
    const std::string name(command->name);
    EXPECT_THAT(all.out, HasSubstr("\n  " + name + " "));
    const Finished help = HelpOf(*command);
    EXPECT_EQ(help.exit, 0) << name;
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  graph_run " + name)) << name;
  }
}

// A precision is the work of a pass.
TEST(Usage, PrecisionNeedsItsPass) {
  const auto run = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"bench", kModel, "--runs", "1"});
    return GraphRun(flags);
  };
  EXPECT_EQ(run({"--precision", "bf16"}).exit, 0);
  EXPECT_EQ(run({"--precision=f8"}).exit, 2);
  const Finished level = run({"--precision=w4", "--opt-level=0"});
  EXPECT_EQ(level.exit, 2);
  EXPECT_THAT(level.err, HasSubstr("--opt-level 0 runs none"));
  const Finished listed = run({"--precision=w8", "--passes", "remapping"});
  EXPECT_EQ(listed.exit, 2);
  EXPECT_THAT(listed.err, HasSubstr("weight_only_int8"));
  const Finished off = run({"--precision=w8", "--disable-pass=weight_only_int8"});
  EXPECT_EQ(off.exit, 0);
  EXPECT_THAT(off.err, HasSubstr("--precision=w8 changed no node"));
}

// Help is for command lines that are wrong.
TEST(Usage, HelpComesBeforeMistakes) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"bench", "--help", "--runs", "abc"},
                                             {"bench", "--seconds", "0", "-h"},
                                             {"bench", "--unknown", "--runs", "--help"}}) {
    const Finished help = GraphRun(args);
    EXPECT_EQ(help.exit, 0) << help.err;
    EXPECT_THAT(help.out, StartsWith("Warm up"));
  }
}

TEST(Usage, HelpOnACommand) {
  const std::vector<std::string> same[][2] = {{{"help", "run"}, {"run", "--help"}},
                                              {{"help", "plugin", "new"}, {"plugin", "new", "-h"}},
                                              {{"help", "plugin"}, {"plugin", "--help"}},
                                              {{"help"}, {"--help"}}};
  for (const auto& [asked, told] : same) {
    const Finished help = GraphRun(asked);
    EXPECT_EQ(help.exit, 0) << help.err;
    EXPECT_EQ(help.out, GraphRun(told).out);
  }
  EXPECT_THAT(GraphRun({"plugin", "--help"}).out,
              AllOf(HasSubstr("plugin check"), HasSubstr("plugin new"), Not(HasSubstr("bench"))));
  EXPECT_EQ(GraphRun({"help", "rnu"}).exit, 2);
  EXPECT_THAT(GraphRun({"help", "rnu"}).err, HasSubstr("'rnu' is neither a command"));
}

// One document, whatever else stands there.
TEST(Usage, HelpMayBeADocument) {
  const std::string flags = TempFile("json_flags", "--json\n");
  const std::vector<std::string> lines[] = {{"--help", "--json"},
                                            {"run", "--help", "--json"},
                                            {"opt", "--json", "-h"},
                                            {"show", "--help", "--flagfile", flags}};
  for (const std::vector<std::string>& args : lines) {
    const Finished run = GraphRun(args);
    EXPECT_EQ(run.exit, 0) << run.err;
    const auto doc = nlohmann::json::parse(run.out);
    EXPECT_EQ(doc["status"]["code"], "OK");
    EXPECT_THAT(doc["help"].get<std::string>(), HasSubstr("usage: graph_run "));
  }
  const Finished wrong = GraphRun({"run", kModel, "--flagfile", flags, "--no-such-flag"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_EQ(nlohmann::json::parse(wrong.out)["status"]["code"], "INVALID_ARGUMENT");
}

TEST(Usage, NoArgumentsIsAMistake) {
  const Finished run = GraphRun(std::vector<std::string>{});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Usage, AFileIsRun) {
  const Finished run = GraphRun({kModel, "--input", "x=1x20xf32=ones", "--quiet"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("out  f32[1,10]\n"));
}

struct Mistake {
  std::vector<std::string> args;
  std::string says;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

// Exit code 2, one line, and with --json a document that says the same.
TEST_P(Mistakes, AreExplained) {
  const Mistake& mistake = GetParam();
  const Finished text = GraphRun(mistake.args);
  EXPECT_EQ(text.exit, 2);
  EXPECT_THAT(text.err, HasSubstr(mistake.says));
  EXPECT_THAT(text.out, IsEmpty());
  std::vector<std::string> args = mistake.args;
  args.push_back("--json");
  const Finished json = GraphRun(args);
  EXPECT_EQ(json.exit, 2);
  const auto doc = nlohmann::json::parse(json.out);
  EXPECT_EQ(doc["status"]["code"], "INVALID_ARGUMENT");
  EXPECT_THAT(doc["status"]["message"].get<std::string>(), HasSubstr(mistake.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    ::testing::Values(
        Mistake{{"rnu", kModel}, "did you mean 'run'?"},
        Mistake{{"explore", kModel}, "neither a command"},
        Mistake{{"plugin", "chekc", "x.so"},
                "'plugin chekc' is neither a command of graph_run nor a "
                "file (did you mean 'plugin check'?)"},
        Mistake{{"plugin"}, "there are plugin check, plugin new"},
        Mistake{{"check", "tests/golden/ops", "--ops", "Relu,Relru"}, "(did you mean 'Relu'?)"},
        Mistake{{"run", kModel, "--inptu", "x=1"}, "did you mean '--input'?"},
        Mistake{{"run", kModel, "--no-such-flag=x.json"}, "unknown flag '--no-such-flag'"},
        Mistake{{"run", kModel, "--ab", ""}, "unknown flag '--ab'"},
        Mistake{{"bench", "--ab", kModel}, "needs MODEL"},
        Mistake{{"bench", kModel, "--ab", "--plugin x.so"},
                "'--plugin' is not what two configurations can differ in: --device, "},
        Mistake{{"bench", kModel, "--ab", "--opt-level 7"}, "'7' is no integer from 0 to 2"},
        Mistake{{"bench", kModel, "--ab", "--disable-pass remaping"}, "did you mean 'remapping'?"},
        Mistake{{"bench", kModel, "--ab", "--passes 'x"}, "a quote is not closed"},
        Mistake{{"bench", kModel, "--ab", "", "--ab", "", "--ab", ""}, "--ab is given 3 times"},
        Mistake{{"bench", kModel, "--ab", "", "--runs", "5"}, "--runs 5 is too few for --ab"},
        Mistake{{"run"}, "needs MODEL"}, Mistake{{"run", kModel, "other"}, "one argument too many"},
        Mistake{{"run", kModel, "--threads", "-3"}, "--threads"},
        Mistake{{"run", kModel, "--threads", "many"}, "--threads"},
        Mistake{{"run", kModel, "--soft-placement", "perhaps"}, "--soft-placement"},
        Mistake{{"run", kModel}, "add --input 'x=1x20xf32=random(seed=1)'"},
        Mistake{{"run", kModel, "--input", "x"}, "NAME=SPEC"},
        Mistake{{"run", kModel, "--input", "y=1"}, "y"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1,2"}, "takes 80 elements"},
        Mistake{{"run", kModel, "--input", "x=2x2xf33=1"}, "did you mean 'f32'?"},
        Mistake{{"run", kModel, "--input", "x=4x20xi32=1"},
                "i32[4,20] where the graph takes f32[?,20]"},
        Mistake{{"run", kModel, "--input", "x=4x20xstr=\"a@b\""},
                "str[4,20] where the graph takes"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=randm(seed=1)"}, "did you mean 'random'?"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=random(sead=1)"}, "did you mean 'seed'?"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--output", "out=y.npy"}, "SINK"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--output", "out=@y.npy", "--output",
                 "out:0=@y.npy"},
                "another --output has the same file"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--output", "uot"}, "out"},
        Mistake{{"opt", kModel, "--disable-pass", "remaping"}, "did you mean 'remapping'?"},
        Mistake{{"run", kModel, "--place", "x"}, "REGEX=DEVICE"},
        Mistake{{"run", kModel, "--place", "(=APU"}, "no regular expression"},
        Mistake{{"run", kModel, "--device", "/:"}, "--device"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--init", "out"},
                "--init 'out': tests/golden/models/mlp/graph.pbtxt:1:1: it needs Placeholder 'x'"},
        Mistake{{"run", kModel, "--cases", "cases.json", "--report", "page.html"},
                "--cases: each case may run another graph, and --report writes one"},
        Mistake{{"run", kModel, "--cases", "cases.json", "--save-optimized", "out.pb"},
                "and --save-optimized writes one"},
        Mistake{{"run", kModel, "--flagfile", "/nonexistent"}, "/nonexistent"},
        Mistake{{"run", kModel, "--flagfile", "/usr"}, "--flagfile /usr"}));

INSTANTIATE_TEST_SUITE_P(
    Values, Mistakes,
    ::testing::Values(
        Mistake{{"bench", kModel, "--seconds", "0"}, "--seconds"},
        Mistake{{"bench", kModel, "--seconds", "-1"}, "--seconds"},
        Mistake{{"bench", kModel, "--seconds", "nan"}, "--seconds"},
        Mistake{{"run", kModel, "--seconds=inf"}, "--seconds"},
        Mistake{{"bench", kModel, "--runs", "0"}, "--runs: '0' is no integer from 1 to"},
        Mistake{{"bench", kModel, "--runs", "99999999999"}, "--runs"},
        Mistake{{"bench", kModel, "--concurrency", "0"}, "--concurrency"},
        Mistake{{"run", kModel, "--warmup", "-1"}, "--warmup"},
        Mistake{{"run", kModel, "--timeout", "0"}, "--timeout: '0' is no number above 0"},
        Mistake{{"check", kModel, "--timeout", "0"}, "--timeout: '0' is no number above 0"},
        Mistake{{"run", kModel, "--timeout", "-3"}, "--timeout"},
        Mistake{{"run", kModel, "--timeout", "nan"}, "--timeout"},
        Mistake{{"run", kModel, "--atol", "-1"}, "--atol: '-1' is no number from 0"},
        Mistake{{"run", kModel, "--rtol", "nan"}, "--rtol"},
        Mistake{{"run", kModel, "--rtol", "inf"}, "--rtol"},
        Mistake{{"run", kModel, "--max-ulp", "-1"}, "--max-ulp"},
        Mistake{{"run", kModel, "--seed", "-1"}, "--seed"},
        Mistake{{"run", kModel, "--max-nodes", "-1"}, "--max-nodes"},
        Mistake{{"run", kModel, "--passes", ""}, "--passes: '' names nothing"},
        Mistake{{"run", kModel, "--disable-pass", ","}, "--disable-pass"},
        Mistake{{"run", kModel, "--disable-pass", "\n"}, "--disable-pass"},
        Mistake{{"check", kModel, "--ops="}, "--ops"},
        Mistake{{"run", kModel, "--device", ""}, "--device"},
        Mistake{{"run", kModel, "--device="}, "--device"},
        Mistake{{"run", kModel, "--opt-level", "3"}, "--opt-level"},
        Mistake{{"opt", kModel, "--bisect-limit", "-2"}, "--bisect-limit"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=normal(std=-2)"}, "std=-2 is below 0"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--output", "out:+0"}, "out:+0"},
        Mistake{{"run", kModel, "--input", "x=4x20xf32=1", "--output", "out:00"}, "out:00"},
        Mistake{{"bench", kModel, "--input", "x=4x20xf32=1", "--output", "out=@f.npy"},
                "graph_run bench writes no tensors"},
        Mistake{{"opt", kModel, "--output", "out=-"}, "graph_run opt writes no tensors"},
        Mistake{{"opt", kModel, "-o", "x.txt"}, "'x.txt': the name must end in .pb or .pbtxt"},
        Mistake{{"opt", kModel, "-o", "x.txt"}, "graph_run opt: -o: 'x.txt'"},
        Mistake{{"opt", kModel, "-ox.txt"}, "graph_run opt: -o: 'x.txt'"},
        Mistake{{"opt", kModel, "--save-optimized=x.txt"}, "opt: --save-optimized: 'x.txt'"},
        Mistake{{"opt", kModel, "-o", "/dev/stdout"}, "'/dev/stdout': the name must end in .pb"},
        Mistake{{"opt", kModel, "-o"}, "graph_run opt: -o needs a value: -o OUT"},
        Mistake{{"run", kModel, "--device"}, "--device needs a value: --device NAME"},
        Mistake{{"run", kModel, "--device", "--quiet"},
                "--device needs a value: --device NAME, and --quiet is a flag"},
        Mistake{{"opt", kModel, "-o", "--time-passes"}, "-o needs a value: -o OUT"},
        Mistake{{"opt", kModel, "-o", "-"}, "must end in .pb"},
        Mistake{{"opt", kModel, "-o", ""}, "must end in .pb"},
        Mistake{{"run", kModel, "--save-optimized", "s.foo"}, "--save-optimized"},
        Mistake{{"opt", kModel, "--disable-rewrite", "constant_folding.fald"},
                "did you mean 'constant_folding.fold'?"},
        Mistake{{"run", kModel, "--disable-rewrite", "fold"}, "there is no rewrite 'fold'"}));

TEST(Usage, ValuesFollowWithAndWithoutEquals) {
  const Finished a = GraphRun({"run", kModel, "--input=x=2x20xf32=1", "--quiet"});
  const Finished b = GraphRun({"run", kModel, "--input", "x=2x20xf32=1", "--quiet"});
  EXPECT_EQ(a.exit, 0) << a.err;
  EXPECT_EQ(a.out, b.out);
}

TEST(Usage, FlagFile) {
  const std::string flags =
      TempFile("flags", "# a comment\n--input x=2x20xf32=1 \n--threads\t1\n--quiet\n");
  const Finished run = GraphRun({"run", kModel, "--flagfile", flags});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("out  f32[2,10]"));
  const std::string loop = TempPath("loop");
  TempFile("loop", "--flagfile=" + loop + "\n");
  EXPECT_EQ(GraphRun({"run", kModel, "--flagfile", loop}).exit, 2);
}

// A line of a help as a shell starts it, but with files in this test's own folders.
Start StartOf(const std::string& line) {
  Start start;
  std::istringstream words(line);
  std::string word;
  words >> word;  // graph_run
  while (words >> word) {
    if (word == "<") {
      words >> word;
      start.input = ReadFile(word);
      continue;
    }
    std::erase(word, '\'');
    if (word.starts_with("/tmp/")) word = TempPath("examples/" + word.substr(5));
    if (word.starts_with("build/release/")) word = Built(word.substr(14));
    start.args.push_back(word);
  }
  return start;
}

TEST(Usage, ExamplesWork) {
  std::filesystem::create_directories(TempPath("examples"));
  size_t examples = 0;
  for (const cli::Command* command : cli::Commands()) {
    const std::string help = HelpOf(*command).out;
    std::istringstream lines(help.substr(std::min(help.find("\nExamples:\n"), help.size())));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("graph_run") == std::string::npos) continue;
      const Finished run = GraphRun(StartOf(line));
      EXPECT_EQ(run.exit, 0) << line << "\n" << run.err;
      ++examples;
    }
  }
  EXPECT_EQ(examples, 2 * cli::Commands().size());
}

TEST(Usage, RefusesAnInstructionSetThatThereIsNot) {
  const Finished run = GraphRun(
      Start{{"run", GoldenGraph("mlp"), "--input", "x=4x20xf32=1"}, "", {{"TENON_ISA", "sse9"}}});
  EXPECT_EQ(run.exit, 2) << run.out;
  EXPECT_THAT(run.err,
              ::testing::HasSubstr("TENON_ISA is 'sse9'; it may be baseline, avx2, avx512"));
}

}  // namespace
}  // namespace tenon::testing
