// A process whose locale writes a comma where programs have a point: a library that graph_run loads
// sets it, as programs with a user interface do.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/e2e/opencl_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::locale_test {
namespace {

using ::testing::HasSubstr;

// graph_run with plug-ins, in a locale of decimal commas.
Finished InCommas(std::vector<std::string> args, const std::vector<std::string>& plugins,
                  std::map<std::string, std::string> environment = {}) {
  const std::string folder = TempPath("locales");
  std::filesystem::create_directories(folder);
  const std::string source = TempFile("comma.src",
                                      "LC_NUMERIC\ndecimal_point \"<U002C>\"\nthousands_sep \"\"\n"
                                      "grouping -1\nEND LC_NUMERIC\n");
  // The C library's own tool. It warns of the categories that the source leaves out, and then ends
  // with 1. Without the locale the plug-in ends the process.
  const std::string command =
      absl::StrCat("localedef -c -i ", source, " ", folder, "/comma >/dev/null 2>&1");
  EXPECT_NE(std::system(command.c_str()), -1) << command;
  environment.insert({{"LOCPATH", folder}, {"LC_ALL", "comma"}, {"LANG", "comma"}});
  args.insert(args.end(), {"--plugin", TestPlugin("rogue") + ";ROGUE=load_locale"});
  for (const std::string& plugin : plugins) args.insert(args.end(), {"--plugin", plugin});
  return GraphRun(Start{.args = std::move(args), .environment = std::move(environment)});
}

constexpr char kGraph[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }\n"
    "  attr { key: 'shape' value { shape { dim { size: 2 } } } } }\n"
    "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }\n"
    "  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0.5 } } } "
    "}\n"
    "node { name: 'l' op: 'LeakyRelu' input: 'x' attr { key: 'T' value { type: DT_FLOAT } }\n"
    "  attr { key: 'alpha' value { f: 0.25 } } }\n"
    "node { name: 'y' op: 'Mul' input: 'l' input: 'c' attr { key: 'T' value { type: DT_FLOAT } } "
    "}\n";

std::vector<std::string> PointRun(std::vector<std::string> more) {
  std::vector<std::string> args = {"run",      TempFile("point.pbtxt", kGraph),
                                   "--input",  "x=2xf32=-2.5,1.5",
                                   "--expect", "y=2xf32=-0.3125,0.75"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(Locale, TheHostReadsNumbersWithAPoint) {
  const Finished run = InCommas(PointRun({}), {});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(Locale, CompiledProgramsHaveAPoint) {
  const Finished run =
      InCommas(PointRun({"--device", "REFERENCE:0", "--no-fallback", "--xla-errors", "fail"}),
               {Built("lib/plugins/libpjrt_reference.so")});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(Locale, OptionsOfTheExampleHaveAPoint) {
  const Finished devices = InCommas({"devices"}, {Built("lib/plugins/libapu.so") + ";devices=2.5"});
  EXPECT_EQ(devices.exit, 0) << devices.err;
  EXPECT_THAT(devices.out, HasSubstr("APU:1"));
}

class LocaleOpenCl : public opencl_test::OpenCl {};

// With the graph pass, which writes a program, and without.
TEST_F(LocaleOpenCl, KernelsHaveAPoint) {
  for (const bool fused : {false, true}) {
    std::vector<std::string> args = PointRun({"--device", "OPENCL:0", "--no-fallback"});
    if (!fused) args.push_back("--disable-pass=plugin:OPENCL");
    const Finished run =
        InCommas(args, {opencl_test::Plugin()}, {{"TENON_OPENCL_CACHE", TempPath("opencl_cache")}});
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
  }
}

}  // namespace
}  // namespace tenon::testing::locale_test
