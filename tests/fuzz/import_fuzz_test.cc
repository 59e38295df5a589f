// Import never fails but by saying where and what: thousands of damaged files.
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "graph/base/file_bytes.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/fuzz/mutate_util.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::Mutator;
using ::testing::StartsWith;

constexpr char kName[] = "fuzz.pb";

struct Seed {
  std::string model;
  pb::GraphDef graph;
};

const std::vector<Seed>& Seeds() {
  static const auto* seeds = [] {
    auto* all = new std::vector<Seed>;
    for (const char* model :
         {"mlp", "cnn_bn", "functions", "v1_control_flow", "two_devices", "grappler_food",
          "lstm_keras", "cnn_groups", "preprocess", "v1_tensor_array"}) {
      const absl::StatusOr<Graph> graph =
          LoadGraph(testing::Golden(absl::StrCat("models/", model, "/graph.pb.xz")));
      EXPECT_TRUE(graph.ok()) << graph.status();
      if (!graph.ok()) continue;
      all->emplace_back().model = model;
      all->back().graph.ParseFromString(ExportBinary(*graph));
    }
    return all;
  }();
  return *seeds;
}

// "name:12: …", "name:12:3: …" or "name: byte 12: …".
bool IsLocated(std::string_view message) {
  if (!absl::ConsumePrefix(&message, absl::StrCat(kName, ":"))) return false;
  absl::ConsumePrefix(&message, " byte ");
  const size_t digits = std::min(message.find_first_not_of("0123456789"), message.size());
  return digits > 0 && digits < message.size() && message[digits] == ':';
}

// Whether import said nothing, or something that a user can act on.
void CheckOutcome(std::string bytes, const std::string& what) {
  const absl::StatusOr<Imported> imported = ImportBytes(std::move(bytes), kName);
  if (!imported.ok()) {
    EXPECT_EQ(imported.status().code(), absl::StatusCode::kInvalidArgument)
        << what << ": " << imported.status();
    EXPECT_TRUE(IsLocated(imported.status().message())) << what << ": " << imported.status();
    return;
  }
  for (const Defect& d : imported->defects) {
    EXPECT_TRUE(IsLocated(d.ToString())) << what << ": " << d.ToString();
    EXPECT_FALSE(d.message.empty()) << what;
    for (const char c : d.message)
      ASSERT_FALSE(absl::ascii_iscntrl(static_cast<unsigned char>(c)))
          << what << ": " << d.ToString();
  }
  if (!imported->defects.empty()) return;
  // A graph that is valid stays so on its way out and in.
  const absl::StatusOr<Imported> again = ImportBytes(ExportBinary(imported->graph), kName);
  ASSERT_TRUE(again.ok()) << what << ": " << again.status();
  for (const Defect& d : again->defects) ADD_FAILURE() << what << ": " << d.ToString();
}

std::string Label(const Seed& seed, int i) { return absl::StrCat(seed.model, " #", i); }

TEST(ImportFuzz, DamagedGraphs) {
  const google::protobuf::LogSilencer silence;  // names of broken bytes are meant
  for (const Seed& seed : Seeds()) {
    for (int i = 0; i < testing::FuzzIterations(150); ++i) {
      Mutator mutator(i);
      pb::GraphDef graph = seed.graph;
      mutator.Damage(&graph);
      CheckOutcome(graph.SerializeAsString(), Label(seed, i));
    }
  }
}

TEST(ImportFuzz, DamagedBinaryFiles) {
  for (const Seed& seed : Seeds()) {
    const std::string bytes = seed.graph.SerializeAsString();
    for (int i = 0; i < testing::FuzzIterations(150); ++i) {
      std::string damaged = bytes;
      Mutator(i).Damage(&damaged);
      CheckOutcome(std::move(damaged), Label(seed, i));
    }
  }
}

TEST(ImportFuzz, DamagedTextFiles) {
  for (const Seed& seed : Seeds()) {
    std::string text;
    google::protobuf::TextFormat::PrintToString(seed.graph, &text);
    for (int i = 0; i < testing::FuzzIterations(40); ++i) {
      std::string damaged = text;
      Mutator(i).Damage(&damaged);
      CheckOutcome(std::move(damaged), Label(seed, i));
    }
  }
}

TEST(ImportFuzz, DamagedPackedFiles) {
  const std::string bytes = Seeds()[0].graph.SerializeAsString();
  for (const std::string& packed : {*PackXz(bytes), *PackGzip(bytes)}) {
    for (int i = 0; i < testing::FuzzIterations(500); ++i) {
      std::string damaged = packed;
      Mutator(i).Damage(&damaged);
      CheckOutcome(std::move(damaged), absl::StrCat("packed #", i));
    }
  }
}

TEST(ImportFuzz, EveryLengthOfASmallFile) {
  const std::string bytes = Seeds()[4].graph.SerializeAsString();
  for (size_t n = 0; n < bytes.size(); ++n)
    CheckOutcome(bytes.substr(0, n), absl::StrCat(n, " bytes"));
}

TEST(ImportFuzz, DeepNesting) {
  constexpr int kDeep = 100'000;
  for (const std::string& bytes : {testing::DeepBinary(kDeep), testing::DeepText(kDeep),
                                   testing::DeepVariant(kDeep), testing::DeepGroup(kDeep)}) {
    const absl::Status status = ImportBytes(bytes, kName).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(IsLocated(status.message())) << status;
  }
  for (const std::string& bytes :
       {testing::DeepBinary(10), testing::DeepText(10), testing::DeepVariant(10)}) {
    const absl::StatusOr<Imported> imported = ImportBytes(bytes, kName);
    ASSERT_TRUE(imported.ok()) << imported.status();
  }
}

TEST(ImportFuzz, SmallFilesThatUnpackToMuch) {
  const std::string zeros(size_t{8} << 20, '\0');
  for (const std::string& packed : {*PackXz(zeros), *PackGzip(zeros)}) {
    ASSERT_LT(packed.size(), zeros.size() / 100);
    const absl::Status status = ImportBytes(packed, kName, {.max_file_bytes = 1 << 20}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("more than 1048576 bytes"));
  }
}

// Long chains are legal: nothing may recurse over the graph.
TEST(ImportFuzz, ChainsAndCyclesOf100000Nodes) {
  constexpr int kNodes = 100'000;
  pb::GraphDef graph;
  pb::NodeDef* x = graph.add_node();
  x->set_name("n0");
  x->set_op("Placeholder");
  (*x->mutable_attr())["dtype"].set_type(pb::DT_FLOAT);
  for (int i = 1; i < kNodes; ++i) {
    pb::NodeDef* node = graph.add_node();
    node->set_name(absl::StrCat("n", i));
    node->set_op("Neg");
    node->add_input(absl::StrCat("n", i - 1));
    (*node->mutable_attr())["T"].set_type(pb::DT_FLOAT);
  }
  absl::StatusOr<Imported> imported = ImportBytes(graph.SerializeAsString(), kName);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->defects.size(), 0u);
  // Consumers first: the order must be found by search.
  std::reverse(graph.mutable_node()->begin(), graph.mutable_node()->end());
  imported = ImportBytes(graph.SerializeAsString(), kName);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->defects.size(), 0u);
  EXPECT_EQ(TopologicalOrder(imported->graph)->front(), kNodes - 1);
  graph.mutable_node(kNodes - 2)->set_input(0, "n99999");
  imported = ImportBytes(graph.SerializeAsString(), kName);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->defects.size(), 1u);
  EXPECT_EQ(imported->defects[0].code, DefectCode::kCycle);
  EXPECT_THAT(imported->defects[0].message, HasSubstr("(99999 nodes)"));
}

}  // namespace
}  // namespace tenon
