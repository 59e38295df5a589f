// Files that the command writes are there whole, or are what they were.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kSaved[] = "tests/golden/saved_models/affine_state/model";
constexpr char kReason[] = ": cannot be written: File too large";

class WrittenFiles : public ::testing::Test {
 protected:
  WrittenFiles() : folder_(TempPath("written")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  const std::string folder_;
};

TEST_F(WrittenFiles, AFullDiskLeavesWhatWasThere) {
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", kMlp, "--input", "x=4x20xf32=ones"});
    return more;
  };
  const std::pair<std::string, std::vector<std::string>> cases[] = {
      {"o.pb", {"opt", kMlp, "-o", Path("o.pb")}},
      {"o.pbtxt.xz", {"opt", kMlp, "-o", Path("o.pbtxt.xz")}},
      {"o.html", {"opt", kMlp, "--report", Path("o.html")}},
      {"f.pb", {"freeze", kSaved, "-o", Path("f.pb")}},
      {"s.pb", run({"--save-optimized", Path("s.pb")})},
      {"y.npy", run({"--output", "out=@" + Path("y.npy")})},
      {"y.npz", run({"--output", "out=@" + Path("y.npz")})},
      {"y.bin", run({"--output", "out=@" + Path("y.bin")})},
      {"t.json", run({"--trace", Path("t.json")})},
      {"t.xplane.pb", run({"--trace", Path("t.xplane.pb")})},
  };
  for (const auto& [name, args] : cases) {
    SCOPED_TRACE(name);
    const std::string path = TempFile("written/" + name, "old");
    const Finished full = GraphRun({.args = args, .largest_file = 100});
    EXPECT_EQ(full.exit, 1) << full.out;
    EXPECT_THAT(full.err, HasSubstr(path + kReason));
    EXPECT_EQ(ReadFile(path), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
    EXPECT_EQ(GraphRun(args).exit, 0);
    EXPECT_GT(fs::file_size(path), 100u);
    fs::remove(path);
  }
}

TEST_F(WrittenFiles, NewFoldersToo) {
  const Finished dump =
      GraphRun({.args = {"opt", kMlp, "--dump-dir", Path("dump")}, .largest_file = 100});
  EXPECT_EQ(dump.exit, 1);
  EXPECT_THAT(dump.err, HasSubstr("--dump-dir: " + Path("dump/001_model_pruning_before.pbtxt")));
  EXPECT_THAT(dump.err, HasSubstr(kReason));
  // The same code as of any other file.
  const auto code = [&](std::vector<std::string> args) {
    args.push_back("--json");
    const Finished run = GraphRun({.args = args, .largest_file = 100});
    return nlohmann::json::parse(run.out)["status"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({"opt", kMlp, "--dump-dir", Path("dump")}),
            code({"opt", kMlp, "-o", Path("o.pb")}));
  const Finished plugin =
      GraphRun({.args = {"plugin", "new", "board", Path("board")}, .largest_file = 100});
  EXPECT_EQ(plugin.exit, 1);
  EXPECT_THAT(plugin.err, HasSubstr(kReason));
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_))
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  // The folders that it made are gone, one that was there stays.
  EXPECT_FALSE(fs::exists(Path("board")));
  fs::create_directory(Path("there"));
  EXPECT_EQ(
      GraphRun({.args = {"plugin", "new", "board", Path("there/a/b")}, .largest_file = 100}).exit,
      1);
  EXPECT_TRUE(fs::is_empty(Path("there")));
}

// A graph is written onto the file that it is read from, through a link.
TEST_F(WrittenFiles, AModelIsReplacedInPlace) {
  const std::string model = TempFile("written/model.pbtxt", ReadFile(kMlp));
  ASSERT_EQ(chmod(model.c_str(), 0640), 0);
  fs::create_symlink("model.pbtxt", Path("link.pbtxt"));
  const std::vector<std::string> args = {"run",
                                         Path("link.pbtxt"),
                                         "--input",
                                         "x=4x20xf32=ones",
                                         "--save-optimized",
                                         Path("link.pbtxt"),
                                         "--runs",
                                         "3"};
  const Finished run = GraphRun(args);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(fs::is_symlink(Path("link.pbtxt")));
  EXPECT_THAT(ReadFile(model), HasSubstr("_FusedMatMul"));
  EXPECT_EQ(fs::status(model).permissions(), fs::perms(0640));
  EXPECT_EQ(GraphRun(args).exit, 0);
}

TEST_F(WrittenFiles, WhatIsNoFileIsWrittenDirectly) {
  fs::create_symlink("/dev/full", Path("full.pb"));
  const Finished full = GraphRun({"opt", kMlp, "-o", Path("full.pb")});
  EXPECT_EQ(full.exit, 1);
  EXPECT_THAT(full.err, HasSubstr(": cannot be written: No space left on device"));
  EXPECT_THAT(GraphRun({"opt", kMlp, "--report", "/dev/stdout"}).out, HasSubstr("</html>"));
  const Finished nowhere = GraphRun({"opt", kMlp, "-o", Path("none/o.pb")});
  EXPECT_EQ(nowhere.exit, 1);
  EXPECT_THAT(nowhere.err,
              HasSubstr(Path("none/o.pb") + ": cannot be written: No such file or directory"));
}

}  // namespace
}  // namespace tenon::testing
