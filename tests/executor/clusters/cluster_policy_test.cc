// TF_XLA_FLAGS: TensorFlow's names and values, and what is not known.
#include "executor/clusters/cluster_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/parse_graph.h"

namespace tenon::cluster_policy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ClusterPolicy Parsed(std::string_view text) {
  std::vector<std::string> warnings;
  ClusterPolicy policy = ParseXlaFlags(text, &warnings);
  EXPECT_THAT(warnings, IsEmpty()) << text;
  return policy;
}

TEST(ClusterPolicy, HasTensorFlowsLevels) {
  EXPECT_EQ(Parsed("").mode, XlaMode::kDefault);
  EXPECT_EQ(Parsed("--tf_xla_auto_jit=-1").mode, XlaMode::kOff);
  EXPECT_EQ(Parsed("--tf_xla_auto_jit=1").mode, XlaMode::kOn);
  EXPECT_EQ(Parsed("--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit").mode, XlaMode::kAll);
  EXPECT_EQ(Parsed("--tf_xla_auto_jit=fusible").mode, XlaMode::kFusible);
  EXPECT_EQ(Parsed("--tf_xla_auto_jit=single-gpu(1)").mode, XlaMode::kOn);
}

TEST(ClusterPolicy, ReadsAsyncAndBuckets) {
  EXPECT_FALSE(Parsed("").async_compilation);
  EXPECT_TRUE(Parsed("--tf_xla_async_compilation").async_compilation);
  EXPECT_FALSE(Parsed("").buckets.on());
  EXPECT_EQ(Parsed("--tenon_xla_buckets=4,8").buckets.Of(5), 8);
  std::vector<std::string> warnings;
  EXPECT_FALSE(ParseXlaFlags("--tenon_xla_buckets=8,4", &warnings).buckets.on());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("'8,4' is no value of tenon_xla_buckets")));
}

TEST(ClusterPolicy, ReadsSizesListsAndFolders) {
  const ClusterPolicy policy = Parsed(
      "--tf_xla_min_cluster_size=2  --tf_xla_max_cluster_size=50 --tf_xla_clustering_fuel=7 "
      "--tf_xla_ops_to_cluster=PW,MatMul --tf_xla_cluster_exclude_ops=Exp "
      "--tf_xla_cpu_global_jit=true --tf_xla_persistent_cache_directory=/a/b "
      "--tf_xla_use_device_api=true");
  EXPECT_EQ(policy.min_cluster_size, 2);
  EXPECT_EQ(policy.max_cluster_size, 50);
  EXPECT_EQ(policy.clustering_fuel, 7);
  EXPECT_THAT(policy.ops_to_cluster, ElementsAre("MatMul", "PW"));
  EXPECT_THAT(policy.cluster_exclude_ops, ElementsAre("Exp"));
  EXPECT_TRUE(policy.cpu_global_jit);
  EXPECT_EQ(policy.persistent_cache_directory, "/a/b");
}

TEST(ClusterPolicy, WarnsOfWhatItDoesNotKnow) {
  std::vector<std::string> warnings;
  const ClusterPolicy policy = ParseXlaFlags(
      "--tf_xla_auto_git=2 --tf_xla_min_cluster_size=few --tf_xla_clustering_fuel=3", &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("--tf_xla_auto_git=2"), HasSubstr("'few'")));
  EXPECT_EQ(policy.clustering_fuel, 3);
  EXPECT_EQ(policy.min_cluster_size, 4);
}

TEST(ClusterPolicy, ReadsAFileOfFlags) {
  const std::string path = ::testing::TempDir() + "/xla_flags";
  std::ofstream(path) << "--tf_xla_auto_jit=2\n--tf_xla_max_cluster_size=9\n";
  EXPECT_EQ(Parsed(path).max_cluster_size, 9);
  std::vector<std::string> warnings;
  ParseXlaFlags("/no/such/file", &warnings);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("/no/such/file")));
  warnings.clear();
  ParseXlaFlags(::testing::TempDir(), &warnings);  // a folder
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("can be read")));
}

TEST(ClusterPolicy, AsksListsAndAttributes) {
  const std::string type = "attr { key: 'T' value { type: DT_FLOAT } }";
  const Graph graph = testing::Parse(
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
      "node { name: 'exp' op: 'Exp' input: 'x' " +
      type + " }\nnode { name: 'mul' op: 'MatMul' input: 'x' input: 'x' " + type +
      " }\nnode { name: 'must' op: 'Exp' input: 'x' " + type +
      " attr { key: '_XlaMustCompile' value { b: true } } }\n"
      "node { name: 'may' op: 'Exp' input: 'x' " +
      type + " attr { key: '_XlaCompile' value { b: true } } }\n" +
      "node { name: 'not' op: 'Exp' input: 'x' " + type +
      " attr { key: '_XlaCompile' value { b: false } } }\n");
  const auto wanted = [&](std::string_view flags) {
    const ClusterPolicy policy = Parsed(flags);
    std::string names;
    for (const char* name : {"exp", "mul", "must", "may", "not"}) {
      if (policy.Wants(graph, graph.FindNode(name))) names += std::string(name) + " ";
    }
    return names;
  };
  EXPECT_EQ(wanted(""), "must may ");
  EXPECT_EQ(wanted("--tf_xla_auto_jit=-1"), "must ");
  EXPECT_EQ(wanted("--tf_xla_auto_jit=2"), "exp mul must may ");
  EXPECT_EQ(wanted("--tf_xla_auto_jit=fusible"), "exp must may ");
  EXPECT_EQ(wanted("--tf_xla_auto_jit=2 --tf_xla_ops_to_cluster=PW"), "exp must may ");
  EXPECT_EQ(wanted("--tf_xla_auto_jit=2 --tf_xla_cluster_exclude_ops=Exp"), "mul must ");
}

}  // namespace
}  // namespace tenon::cluster_policy_test
