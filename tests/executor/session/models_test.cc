// Every model of tests/golden/models that this version can run: its stored answers, with and
// without optimization.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "executor/session/session.h"
#include "graph/io/io.h"
#include "graph/tensor/npy.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/paths.h"

namespace tenon {
namespace {

struct Case {
  const char* model;
  int opt_level;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.model << " opt " << c.opt_level;
}

constexpr const char* kModels[] = {
    "mlp",         "cnn_bn",        "mobilenet_v2",   "resnet50",        "bert_tiny",
    "bert_base",   "gpt_tiny",      "dlrm",           "gpt2_small_64",   "conv1d_audio",
    "two_devices", "grappler_food", "wide_chain_10k", "v1_control_flow", "cnn_groups",
    "functions"};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const char* model : kModels) {
    for (int opt_level : {0, 1}) cases.push_back({model, opt_level});
  }
  return cases;
}

double At(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DataType::kFloat:
      return t.flat<float>()[i];
    case DataType::kDouble:
      return t.flat<double>()[i];
    case DataType::kInt32:
      return t.flat<int32_t>()[i];
    case DataType::kInt64:
      return static_cast<double>(t.flat<int64_t>()[i]);
    case DataType::kUint8:
      return t.flat<uint8_t>()[i];
    case DataType::kBool:
      return t.flat<bool>()[i];
    default:
      ADD_FAILURE() << "compare " << DataTypeName(t.dtype());
      return 0;
  }
}

void ExpectClose(const Tensor& got, const Tensor& want, double rtol, double atol,
                 const std::string& name) {
  ASSERT_EQ(got.dtype(), want.dtype()) << name;
  ASSERT_EQ(got.shape(), want.shape()) << name;
  const bool exact = !IsFloating(want.dtype());
  int64_t bad = 0;
  double worst = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double w = At(want, i), g = At(got, i);
    if (std::isnan(w) ? std::isnan(g) : g == w) continue;
    const double difference = std::abs(g - w);
    if (exact || !(difference <= atol + rtol * std::abs(w))) ++bad;
    worst = std::max(worst, difference);
  }
  EXPECT_EQ(bad, 0) << name << ": " << bad << " of " << want.num_elements()
                    << " differ, at most by " << worst;
}

std::string FileName(const std::string& tensor) {
  std::string name = tensor.substr(0, tensor.find(':'));
  return absl::StrReplaceAll(name, {{"/", "__"}});
}

class Model : public ::testing::TestWithParam<Case> {};

TEST_P(Model, AnswersAsTensorFlow) {
  const std::string folder = testing::Golden(absl::StrCat("models/", GetParam().model));
  const nlohmann::json about = nlohmann::json::parse(std::ifstream(folder + "/model.json"));
  absl::StatusOr<Graph> graph = LoadGraph(folder + "/graph.pb.xz");
  ASSERT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.opt_level = GetParam().opt_level;
  auto session = Session::Create(*std::move(graph), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();

  std::vector<std::pair<std::string, nlohmann::json>> runs = {{folder, about}};
  for (const auto& [name, run] : about["cases"].items())
    runs.emplace_back(folder + "/cases/" + name, run);
  for (const auto& [at, run] : runs) {
    std::vector<Session::NamedTensor> feeds;
    std::vector<std::string> fetches;
    for (const auto& [name, unused] : run["feeds"].items()) {
      absl::StatusOr<Tensor> value = ReadNpy(absl::StrCat(at, "/feeds/", FileName(name), ".npy"));
      ASSERT_TRUE(value.ok()) << value.status();
      feeds.emplace_back(name, *std::move(value));
    }
    for (const auto& [name, unused] : run["fetches"].items()) fetches.push_back(name);
    for (int round = 0; round < 2; ++round) {
      const auto values = (*session)->Run(feeds, fetches);
      ASSERT_TRUE(values.ok()) << values.status();
      for (size_t i = 0; i < fetches.size(); ++i) {
        absl::StatusOr<Tensor> want =
            ReadNpy(absl::StrCat(at, "/fetches/", FileName(fetches[i]), ".npy"));
        ASSERT_TRUE(want.ok()) << want.status();
        ExpectClose((*values)[i], *want, about["rtol"], about["atol"], at + " " + fetches[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Model, ::testing::ValuesIn(Cases()), [](const auto& info) {
  return absl::StrCat(info.param.model, "_opt", info.param.opt_level);
});

}  // namespace
}  // namespace tenon
