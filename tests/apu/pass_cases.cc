// The APU's graph pass on tests/golden/apu_pass/NAME.in.pbtxt. The result is NAME.out.pbtxt;
// without such a file the pass must say that there is nothing to do. A first line "# keep: a b"
// names the nodes to preserve.

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "proto/graph_def.pb.h"
#include "tests/apu/fake_host.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

pb::GraphDef ReadGraph(const fs::path& path) {
  pb::GraphDef graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadFile(path), &graph)) << path;
  return graph;
}

TF_GrapplerItem ReadItem(const fs::path& path) {
  TF_GrapplerItem item;
  std::istringstream words(ReadFile(path));
  std::string word, line;
  words >> word >> line;
  if (word != "#" || line != "keep:") return item;
  std::getline(words, line);
  for (std::istringstream names(line); names >> word;) item.preserve.push_back(word);
  return item;
}

// What a run of the pass answers.
struct Outcome {
  TF_Status status;
  std::string bytes;
};

Outcome RunPass(const std::string& bytes, const TF_GrapplerItem& item) {
  ApuLibrary library;
  Outcome outcome;
  TP_OptimizerConfigs configs = {};
  TP_Optimizer optimizer = {};
  TP_OptimizerRegistrationParams params = {};
  params.optimizer_configs = &configs;
  params.optimizer = &optimizer;
  reinterpret_cast<decltype(&TF_InitGraph)>(library.Find("TF_InitGraph"))(&params, &outcome.status);
  EXPECT_STREQ(params.device_type, "APU");
  EXPECT_EQ(configs.remapping, TF_TriState_Off);
  const TF_Buffer in = {bytes.data(), bytes.size(), nullptr};
  TF_Buffer out = {};
  optimizer.optimize_func(nullptr, &in, &item, &out, &outcome.status);
  if (out.data != nullptr) {
    outcome.bytes.assign(static_cast<const char*>(out.data), out.length);
    out.data_deallocator(const_cast<void*>(out.data), out.length);
  }
  return outcome;
}

class ApuPassTest : public ::testing::TestWithParam<fs::path> {};

TEST_P(ApuPassTest, Golden) {
  const fs::path in = GetParam();
  const std::string name = in.filename().string();
  const fs::path out = in.parent_path() / (name.substr(0, name.find('.')) + ".out.pbtxt");
  const TF_GrapplerItem item = ReadItem(in);
  const Outcome outcome = RunPass(ReadGraph(in).SerializeAsString(), item);
  if (!fs::exists(out)) {
    EXPECT_EQ(outcome.status.code, TF_ABORTED) << outcome.status.message;
    return;
  }
  ASSERT_EQ(outcome.status.code, TF_OK) << outcome.status.message;
  pb::GraphDef got;
  ASSERT_TRUE(got.ParseFromString(outcome.bytes));
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(ReadGraph(out), got)) << difference << got.DebugString();

  EXPECT_EQ(RunPass(outcome.bytes, item).status.code, TF_ABORTED);
}

std::vector<fs::path> Cases() {
  std::vector<fs::path> cases;
  std::error_code none;  // then there are no cases, which GoogleTest reports
  for (const auto& entry : fs::directory_iterator(Golden("apu_pass"), none)) {
    if (entry.path().string().ends_with(".in.pbtxt")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, ApuPassTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  const std::string name = info.param.filename().string();
  return name.substr(0, name.find('.'));
});

TEST(ApuPassBytesTest, BrokenBytesAreAnError) {
  const std::string good =
      ReadGraph(fs::path(Golden("apu_pass")) / "control_inputs.in.pbtxt").SerializeAsString();
  for (size_t length = 1; length < good.size(); ++length) {
    const TF_Code code = RunPass(good.substr(0, length), {}).status.code;
    EXPECT_TRUE(code == TF_INVALID_ARGUMENT || code == TF_ABORTED || code == TF_OK) << length;
  }
  EXPECT_EQ(RunPass("\xff\xff", {}).status.code, TF_INVALID_ARGUMENT);
  EXPECT_EQ(RunPass("\x0a\x7f", {}).status.code, TF_INVALID_ARGUMENT);
  EXPECT_EQ(RunPass("", {}).status.code, TF_ABORTED);
}

}  // namespace
}  // namespace tenon::testing
