// Nodes that make what a session keeps.
#include "executor/state/state_makers.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using testing::Op;
using testing::Type;

// A session keeps resources by type, container and name.
TEST(IdentityOf, ATableIsNoQueueOfItsName) {
  const std::string shared = "attr { key: 'shared_name' value { s: 'both' } } ";
  const std::string table =
      absl::StrCat(shared, Type("key_dtype", "DT_INT64"), Type("value_dtype", "DT_INT64"));
  const Graph graph =
      testing::Parse(Op("table", "HashTableV2", {}, table) + Op("again", "HashTableV2", {}, table) +
                     Op("queue", "FIFOQueueV2", {},
                        absl::StrCat(shared, testing::Types("component_types", {"DT_FLOAT"}))));
  const auto identity = [&](std::string_view node) {
    return IdentityOf(ReachedInGraph(graph, graph.FindNode(node)));
  };
  EXPECT_EQ(identity("table"), identity("again"));
  EXPECT_NE(identity("table"), identity("queue"));
}

// Either name may be any text.
TEST(IdentityOf, TheContainerEndsWhereItEnds) {
  const auto variable = [](std::string_view node, std::string_view container,
                           std::string_view name) {
    return Op(node, "VarHandleOp", {},
              absl::StrCat("attr { key: 'container' value { s: '", container,
                           "' } } attr { key: 'shared_name' value { s: '", name, "' } } ",
                           Type("dtype", "DT_FLOAT"), "attr { key: 'shape' value { shape {} } } "));
  };
  const Graph graph = testing::Parse(variable("a", "a|b", "c") + variable("b", "a", "b|c") +
                                     variable("again", "a", "b|c"));
  const auto identity = [&](std::string_view node) {
    return IdentityOf(ReachedInGraph(graph, graph.FindNode(node)));
  };
  EXPECT_NE(identity("a"), identity("b"));
  EXPECT_EQ(identity("b"), identity("again"));
}

}  // namespace
}  // namespace tenon
