// A graph that somebody else has edited: what did not change is shared, functions stay.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/support/parse_graph.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Parse;

constexpr size_t kElements = 1000;

Graph Before() {
  return Parse(absl::StrCat(
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node { name: 'big' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: ",
      kElements, " } } tensor_content: '", std::string(4 * kElements, 'q'),
      "' } } } } "
      "node { name: 'sum' op: 'AddV2' input: ['x', 'big'] "
      "attr { key: 'T' value { type: DT_FLOAT } } } "
      "node { name: 'y' op: 'f' input: 'sum' } "
      "library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } "
      "output_arg { name: 'r' type: DT_FLOAT } } node_def { name: 'n' op: 'Neg' input: 'a' "
      "attr { key: 'T' value { type: DT_FLOAT } } } ret { key: 'r' value: 'n:y:0' } } } "
      "versions { producer: 1000 }"));
}

// What `wire` says; it is gone afterwards.
Imported Edited(const Graph& before, std::string wire) {
  absl::StatusOr<Imported> edited = ImportEdited(wire, "<edited>", before);
  std::fill(wire.begin(), wire.end(), 'Z');
  EXPECT_TRUE(edited.ok()) << edited.status();
  return edited.ok() ? *std::move(edited) : Imported();
}

std::string_view ValueOf(const Graph& graph, std::string_view node) {
  return graph.attrs(graph.FindNode(node)).Find("value")->wire();
}

TEST(ImportEdited, SharesWhatDidNotChange) {
  const Graph before = Before();
  const Imported edited = Edited(before, ExportBinary(before));
  EXPECT_THAT(edited.defects, IsEmpty());
  ASSERT_EQ(edited.graph.num_nodes(), before.num_nodes());
  for (NodeId n = 0; n < before.num_node_ids(); ++n) {
    EXPECT_EQ(&edited.graph.kind(n), &before.kind(n));
    EXPECT_EQ(edited.graph.name(n).data(), before.name(n).data());
  }
  EXPECT_EQ(ExportBinary(edited.graph), ExportBinary(before));
}

TEST(ImportEdited, ConstantsAreFoundUnderOtherNames) {
  const Graph before = Before();
  Graph renamed = before;
  const NodeId big = renamed.FindNode("big");
  std::vector<Graph::NewAttr> attrs;
  for (const Attr& a : renamed.attrs(big).all())
    attrs.push_back({a.name, std::string(a.value.wire())});
  const NodeId again = *renamed.AddNode("renamed", "Const", {}, attrs, "/device:CPU:1");
  const Imported edited = Edited(before, ExportBinary(renamed));
  EXPECT_THAT(edited.defects, IsEmpty());
  EXPECT_EQ(ValueOf(edited.graph, "renamed").data(), ValueOf(before, "big").data());
  EXPECT_EQ(edited.graph.device(again), "/device:CPU:1");
}

// Whatever the order in which they are written.
TEST(ImportEdited, NodesKeepTheirIds) {
  const Graph before = Before();
  Graph more = before;
  const NodeId last =
      *more.AddNode("z", "Neg", std::vector<Output>{{before.FindNode("x"), 0}},
                    {{"T", std::string(before.attrs(before.FindNode("sum")).Find("T")->wire())}});
  const std::string wire = ExportBinary(more);
  const size_t begin = wire.find("\x0a\x01z") - 2;
  const std::string z = wire.substr(begin, 2 + static_cast<uint8_t>(wire[begin + 1]));
  const Imported edited = Edited(before, absl::StrCat(z, ExportBinary(before)));
  EXPECT_THAT(edited.defects, IsEmpty());
  EXPECT_EQ(edited.graph.FindNode("z"), last);
  for (NodeId n = 0; n < before.num_node_ids(); ++n)
    EXPECT_EQ(edited.graph.FindNode(before.name(n)), n);
  EXPECT_EQ(ExportBinary(edited.graph), wire);
}

TEST(ImportEdited, NodesThatAreGoneLeaveTheirIds) {
  const Graph before = Before();
  Graph less = before;
  less.RemoveNode(before.FindNode("y"));
  less.RemoveNode(before.FindNode("sum"));
  less.RemoveNode(before.FindNode("x"));
  const Imported edited = Edited(before, ExportBinary(less));
  EXPECT_THAT(edited.defects, IsEmpty());
  EXPECT_EQ(edited.graph.num_nodes(), 1);
  EXPECT_EQ(edited.graph.FindNode("big"), before.FindNode("big"));
  EXPECT_FALSE(edited.graph.alive(before.FindNode("x")));
  EXPECT_EQ(edited.graph.FindNode("x"), kNoNode);
}

TEST(ImportEdited, WhatIsNewIsCopied) {
  const Graph before = Before();
  std::string wire = ExportBinary(before);
  wire.replace(wire.find(std::string(100, 'q')), 3, "new");
  const Imported edited = Edited(before, wire);
  EXPECT_THAT(edited.defects, IsEmpty());
  EXPECT_THAT(std::string(ValueOf(edited.graph, "big")), HasSubstr("newqqq"));
  EXPECT_EQ(ExportBinary(edited.graph), wire);
}

TEST(ImportEdited, FunctionsAndVersionsStay) {
  const Graph before = Before();
  const std::string whole = ExportBinary(before), stubs = ExportWithoutBodies(before);
  EXPECT_THAT(whole, HasSubstr("Neg"));
  EXPECT_EQ(stubs.find("Neg"), stubs.npos);
  const std::string none = ExportBinary(
      Parse("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
            "node { name: 'y' op: 'Neg' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }"));
  for (const std::string& wire : {whole, stubs, none}) {
    const Imported edited = Edited(before, wire);
    EXPECT_THAT(edited.defects, IsEmpty());
    EXPECT_EQ(edited.graph.producer(), 1000);
    ASSERT_EQ(edited.graph.functions().size(), 1u);
    EXPECT_EQ(edited.graph.functions()[0].wire, before.functions()[0].wire);
    EXPECT_EQ(edited.graph.Locate(NodeId{0}), before.Locate(NodeId{0}));
  }
}

TEST(ImportEdited, WhatIsWrongIsFound) {
  const Graph before = Before();
  const std::string wire = ExportBinary(before);
  const auto defect = [&](std::string_view from, std::string_view to) {
    std::string messages;
    for (const Defect& d : Edited(before, absl::StrReplaceAll(wire, {{from, to}})).defects)
      absl::StrAppend(&messages, d.message, "; ");
    return messages;
  };
  EXPECT_THAT(defect("AddV2", "AddV9"), HasSubstr("'AddV9'"));
  EXPECT_THAT(defect("\x0a\x03"
                     "big",
                     "\x0a\x03"
                     "bog"),
              HasSubstr("input 'big' names no node"));
  EXPECT_THAT(defect("\x0a\x03"
                     "sum",
                     "\x0a\x03"
                     "big"),
              HasSubstr("names must be unique"));
  EXPECT_THAT(defect("sum", "s m"), HasSubstr("is no node name"));
  EXPECT_EQ(defect("sum", "_um"), "");  // as passes may name theirs
  const absl::StatusOr<Imported> cut =
      ImportEdited(std::string_view(wire).substr(0, 100), "<edited>", before);
  EXPECT_THAT(cut.status().message(), HasSubstr("<edited>:"));
}

}  // namespace
}  // namespace tenon
