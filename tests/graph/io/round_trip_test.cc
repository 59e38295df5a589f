// Every model goes through the graph and back without a change, as protobuf sees it.
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/base/file_bytes.h"
#include "graph/io/io.h"
#include "graph/wire/wire.h"
#include "gtest/gtest.h"
#include "proto/graph_def.pb.h"
#include "tests/support/folder_test.h"
#include "tests/support/paths.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using google::protobuf::TextFormat;
using google::protobuf::util::MessageDifferencer;
using ::testing::IsEmpty;

// Larger graphs are compared node by node, and not as text: that takes gigabytes and many seconds.
constexpr size_t kLarge = size_t{16} << 20;

std::vector<std::string> GraphFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(testing::Golden("models"))) {
    const std::string name = entry.path().filename();
    if (name.starts_with("graph.")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Unpacked(const std::string& path) {
  const absl::StatusOr<FileBytes> packed = ReadFile(path, SIZE_MAX);
  if (!packed.ok()) return {};
  const absl::StatusOr<FileBytes> bytes = Unpack(*packed, path, size_t{1} << 30);
  return bytes.ok() ? std::string(bytes->bytes) : std::string();
}

pb::GraphDef Parsed(const std::string& bytes, bool text) {
  pb::GraphDef graph;
  const bool ok = text ? TextFormat::ParseFromString(bytes, &graph) : graph.ParseFromString(bytes);
  EXPECT_TRUE(ok);
  return graph;
}

std::string Difference(const pb::GraphDef& a, const pb::GraphDef& b) {
  MessageDifferencer differencer;
  std::string report;
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(a, b);
  return report.substr(0, 500);
}

// The nodes one by one, then the rest. Both sides are binary.
std::string LargeDifference(const std::string& a, const std::string& b) {
  WireReader left(a), right(b);
  WireField l, r;
  std::string left_rest, right_rest;
  while (left.Next(&l)) {
    if (l.number != 1) {
      left_rest.append(l.raw);
      continue;
    }
    pb::NodeDef left_node, right_node;
    if (!right.Next(&r) || r.number != 1) return "a node is missing";
    if (!left_node.ParseFromArray(l.bytes.data(), static_cast<int>(l.bytes.size())) ||
        !right_node.ParseFromArray(r.bytes.data(), static_cast<int>(r.bytes.size())) ||
        !MessageDifferencer::Equals(left_node, right_node)) {
      return left_node.name();
    }
  }
  while (right.Next(&r)) right_rest.append(r.raw);
  return Difference(Parsed(left_rest, false), Parsed(right_rest, false));
}

std::vector<std::string> Texts(const std::vector<Defect>& defects) {
  std::vector<std::string> texts;
  for (const Defect& d : defects) texts.push_back(d.ToString());
  return texts;
}

class RoundTrip : public ::testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, KeepsEverything) {
  const std::string bytes = Unpacked(GetParam());
  const absl::StatusOr<Imported> imported = ImportFile(GetParam());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(Texts(imported->defects), IsEmpty());
  if (bytes.size() > kLarge) {
    EXPECT_EQ(LargeDifference(bytes, ExportBinary(imported->graph)), "");
    return;
  }
  const pb::GraphDef before = Parsed(bytes, GetParam().ends_with(".pbtxt"));
  EXPECT_EQ(Difference(before, Parsed(ExportBinary(imported->graph), false)), "");
  const absl::StatusOr<std::string> text = ExportText(imported->graph);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(Difference(before, Parsed(*text, true)), "");
}

TEST_P(RoundTrip, CopiesShareNothingThatEditsChange) {
  if (fs::file_size(GetParam()) > 500'000) return;  // the large ones: nothing new in them
  absl::StatusOr<Graph> graph = LoadGraph(GetParam());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const std::string before = ExportBinary(*graph);
  Graph copy = *graph;
  for (NodeId n = 0; n < copy.num_node_ids(); ++n) copy.SetAttr(n, "_seen", attr::Int(n));
  EXPECT_NE(ExportBinary(copy), before);
  EXPECT_EQ(ExportBinary(*graph), before);
}

INSTANTIATE_TEST_SUITE_P(Models, RoundTrip, ::testing::ValuesIn(GraphFiles()),
                         [](const auto& info) {
                           std::string name = info.param.substr(testing::Golden("models/").size());
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// A library, versions and signatures that come in pieces are copied once, and not for each piece.
TEST(RoundTripBytes, ManyPiecesTakeLittleMemory) {
  constexpr int kPieces = 16000;
  std::string wire, function;
  for (int i = 0; i < kPieces; ++i) {
    pb::FunctionDef piece;
    piece.mutable_signature()->add_input_arg()->set_name(absl::StrCat("x", i));
    piece.mutable_signature()->mutable_input_arg(0)->set_type(pb::DT_FLOAT);
    function += piece.SerializeAsString();
  }
  pb::FunctionDef name;
  name.mutable_signature()->set_name("f");
  function += name.SerializeAsString();
  std::string library;
  WireWriter(&library).Bytes(1, function);
  WireWriter(&wire).Bytes(2, library);
  for (int i = 0; i < kPieces; ++i) {
    pb::GraphDef piece;
    pb::GradientDef* gradient = piece.mutable_library()->add_gradient();
    gradient->set_function_name(absl::StrCat("f", i));
    gradient->set_gradient_func("g");
    piece.mutable_versions()->set_producer(1);
    wire += piece.SerializeAsString();
  }
  const int64_t before = testing::PeakResidentBytes();
  const absl::StatusOr<Imported> imported = ImportBytes(wire, "pieces.pb");
  EXPECT_LE(testing::PeakResidentBytes() - before, 100'000 << 10);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const FunctionEntry* const f = imported->graph.FindFunction("f");
  ASSERT_TRUE(f != nullptr && f->signature != nullptr);
  EXPECT_EQ(kPieces, std::ssize(f->signature->inputs));
  const pb::GraphDef back = Parsed(ExportBinary(imported->graph), /*text=*/false);
  EXPECT_EQ(kPieces, back.library().gradient_size());
  EXPECT_EQ(1, back.versions().producer());
}

// As protobuf refuses it.
TEST(RoundTripBytes, ReasonsOfDeprecationAreText) {
  const auto import = [](std::string_view reason) {
    std::string deprecation, signature, function, library, graph;
    WireWriter(&deprecation).Bytes(2, reason);
    WireWriter(&signature).Bytes(1, "f");
    WireWriter(&signature).Bytes(8, deprecation);
    WireWriter(&function).Bytes(1, signature);
    WireWriter(&library).Bytes(1, function);
    WireWriter(&graph).Bytes(2, library);
    return ImportBinary(graph, "reason.pb").status();
  };
  EXPECT_TRUE(import("caf\xc3\xa9").ok());
  EXPECT_THAT(import("caf\xe9").message(),
              ::testing::HasSubstr("text that is not UTF-8 in field 2 of OpDeprecation"));
}

// What no fixture has: fields that we do not know, debug information, gradients, both kinds of
// versions.
TEST(RoundTripBytes, KeepsWhatItDoesNotUnderstand) {
  pb::GraphDef graph;
  const std::string text = R"pb(
    node {
      name: "a"
      op: "NoOp"
      device: "/CPU:0"
      attr {
        key: "_unknown"
        value {
          list {
            func {
              name: "f"
              attr {
                key: "T"
                value { type: DT_HALF }
              }
            }
          }
        }
      }
      attr {
        key: "_placeholder"
        value { placeholder: "T" }
      }
      experimental_debug_info { original_node_names: "x" original_func_names: "f" }
      experimental_type {
        type_id: TFT_PRODUCT
        args { type_id: TFT_TENSOR }
      }
    }
    node { name: "b" op: "NoOp" input: "^a" }
    library {
      function {
        signature {
          name: "f"
          input_arg { name: "x" type: DT_INT32 }
          output_arg { name: "y" type: DT_INT32 }
        }
        ret { key: "y" value: "x" }
        attr {
          key: "_noinline"
          value { b: true }
        }
        arg_attr {
          key: 0
          value {
            attr {
              key: "_user_specified_name"
              value { s: "x" }
            }
          }
        }
      }
      gradient { function_name: "f" gradient_func: "g" }
      registered_gradients { gradient_func: "g" registered_op_type: "Op" }
    }
    versions { producer: 1700 min_consumer: 12 bad_consumers: 13 bad_consumers: 14 }
    version: 21
    debug_info {
      files: "model.py"
      traces {
        key: "a"
        value { file_line_cols { file_index: 0 line: 3 } }
      }
    })pb";
  ASSERT_TRUE(TextFormat::ParseFromString(text, &graph));
  std::string wire = graph.SerializeAsString();
  const std::string unknown("\xa2\x06\x03xyz", 6);  // field 100
  wire += unknown;
  const absl::StatusOr<Imported> imported = ImportBytes(wire, "x.pb");
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(Texts(imported->defects), IsEmpty());
  const std::string out = ExportBinary(imported->graph);
  EXPECT_EQ(Difference(Parsed(wire, false), Parsed(out, false)), "");
  EXPECT_NE(out.find(unknown), std::string::npos);
  EXPECT_EQ(imported->graph.producer(), 1700);
}

using ExportFileTest = testing::FolderTest;

TEST_F(ExportFileTest, FollowsTheExtension) {
  const absl::StatusOr<Graph> graph = LoadGraph(testing::Golden("models/mlp/graph.pb.xz"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const char* extension : {".pb", ".pbtxt", ".pb.xz", ".pb.gz", ".pbtxt.xz", ".pbtxt.gz"}) {
    const std::string path = Path(absl::StrCat("graph", extension));
    ASSERT_TRUE(ExportFile(*graph, path).ok()) << path;
    const absl::StatusOr<Graph> again = LoadGraph(path);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ExportBinary(*graph), ExportBinary(*again)) << path;
  }
  EXPECT_EQ(ExportFile(*graph, Path("x.onnx")).code(), absl::StatusCode::kInvalidArgument);
}

// More than the 4096 bytes that tell text from binary, all of them letters.
TEST(Format, ALongNameIsNoText) {
  for (const size_t length : {4090u, 5000u, 100000u}) {
    pb::GraphDef graph;
    graph.add_node()->set_name(std::string(length, 'n'));
    graph.mutable_node(0)->set_op("NoOp");
    const absl::StatusOr<Imported> imported = ImportBytes(graph.SerializeAsString(), "long");
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_THAT(imported->defects, IsEmpty());
    EXPECT_EQ(imported->graph.name(0).size(), length);
    const absl::StatusOr<std::string> text = ExportText(imported->graph);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_TRUE(ImportBytes("\n" + *text, "text").ok());
    EXPECT_FALSE(ImportBinary(*text, "text").ok());
  }
}

}  // namespace
}  // namespace tenon
