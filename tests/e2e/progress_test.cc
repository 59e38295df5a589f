// What commands show on a terminal while they work.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::progress_test {
namespace {

using testing::Built;
using ::testing::HasSubstr;
using testing::kMlp;
using ::testing::Not;

// What the command writes to a terminal, its results included.
std::string OnTerminal(std::vector<std::string> args) {
  args.insert(args.begin(), Built("bin/graph_run"));
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(terminal, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, got);
  close(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << text;
  return text;
}

TEST(Progress, RunAndBenchShowABar) {
  const std::string bench =
      OnTerminal({"bench", kMlp, "--input", "x=2048x20xf32=ones", "--seconds", "2"});
  EXPECT_THAT(bench, HasSubstr("timing [###"));
  EXPECT_THAT(bench, HasSubstr("\r\x1b[K"));  // it goes in the end
  EXPECT_LT(bench.rfind("timing ["), bench.find("a run"));
  const std::string run =
      OnTerminal({"run", kMlp, "--input", "x=2048x20xf32=ones", "--seconds", "2"});
  EXPECT_THAT(run, HasSubstr("running [###"));
}

TEST(Progress, ShortWorkAndQuietShowNone) {
  EXPECT_THAT(OnTerminal({"run", kMlp, "--input", "x=4x20xf32=ones"}), Not(HasSubstr("running [")));
  EXPECT_THAT(
      OnTerminal({"bench", kMlp, "--input", "x=2048x20xf32=ones", "--seconds", "1.5", "--quiet"}),
      Not(HasSubstr("timing [")));
}

}  // namespace
}  // namespace tenon::progress_test
