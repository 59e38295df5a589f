#include "tests/e2e/process_util.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

// Runs in the child: only the program from here on.
[[noreturn]] void Become(const Start& start, int in, int out, int err) {
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const std::string program = Built("bin/graph_run");
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& arg : start.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  if (start.largest_file != SIZE_MAX) {
    const rlimit limit{start.largest_file, start.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  signal(SIGINT, SIG_DFL);  // which a shell may have ignored for what runs in its background
  if (start.ignore_children) signal(SIGCHLD, SIG_IGN);
  execv(program.c_str(), argv.data());
  _exit(127);
}

// Reads both ends until they close.
void Drain(int out, int err, Finished& finished) {
  pollfd fds[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* texts[] = {&finished.out, &finished.err};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    poll(fds, 2, -1);
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[65536];
      const ssize_t n = read(fds[i].fd, buffer, sizeof(buffer));
      if (n > 0) {
        texts[i]->append(buffer, static_cast<size_t>(n));
      } else {
        close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
}

// Made anew, since numbers of processes come back, and gone with the process that made it.
struct ProcessFolder {
  ProcessFolder() : path(::testing::TempDir() + "graph_run_XXXXXX") {
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
  }
  ~ProcessFolder() {
    std::error_code ignored;
    if (getpid() == owner) std::filesystem::remove_all(path, ignored);
  }

  std::string path;
  const pid_t owner = getpid();
};

}  // namespace

Finished GraphRun(const Start& start) {
  const std::string input = TempFile("stdin", start.input);
  const int in = open(input.c_str(), O_RDONLY | O_CLOEXEC);
  int out[2], err[2];
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) Become(start, in, out[1], err[1]);
  close(in);
  close(out[1]);
  close(err[1]);
  Finished finished;
  std::thread beside;
  if (start.meanwhile) beside = std::thread(start.meanwhile, pid);
  Drain(out[0], err[0], finished);
  if (beside.joinable()) beside.join();
  int status = 0;
  waitpid(pid, &status, 0);
  finished.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Finished GraphRun(std::vector<std::string> args) {
  return GraphRun(Start{std::move(args), {}, {}});
}

std::string TempPath(const std::string& name) {
  static const ProcessFolder folder;
  return folder.path + "/" + name;
}

std::string TempFile(const std::string& name, const std::string& content) {
  const std::string path = TempPath(name);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string GoldenGraph(const std::string& model) {
  const std::string text = Golden("models/" + model + "/graph.pbtxt");
  return std::filesystem::exists(text) ? text : Golden("models/" + model + "/graph.pb.xz");
}

std::vector<std::string> GoldenRun(const std::string& model, const std::vector<std::string>& feeds,
                                   const std::vector<std::string>& fetches) {
  const std::string folder = Golden("models/" + model);
  std::vector<std::string> args{"run", GoldenGraph(model)};
  for (const std::string& feed : feeds)
    args.insert(args.end(), {"--input", feed + "=@" + folder + "/feeds/" + feed + ".npy"});
  for (const std::string& fetch : fetches)
    args.insert(args.end(), {"--output", fetch, "--expect",
                             fetch + "=@" + folder + "/fetches/" + fetch + ".npy"});
  return args;
}

}  // namespace tenon::testing
