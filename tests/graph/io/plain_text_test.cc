// The quick way through text gives what protobuf gives, or leaves the text to it.
#include "graph/io/plain_text.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

constexpr int64_t kDepth = 64;

TEST(PrintGraphText, RefusesWhatProtobufWouldNotRead) {
  const std::string wire = ParseGraphText("node { name: 'a' op: 'NoOp' }", "test", kDepth)->wire;
  const std::string text = *PrintGraphText(wire);
  EXPECT_EQ(*PrintGraphText(wire, text.size()), text);
  for (const size_t limit : {text.size() - 1, wire.size() - 1}) {
    const absl::Status status = PrintGraphText(wire, limit).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), absl::StrCat("the graph's text has more than ", limit,
                                             " bytes; use the binary form"));
  }
}

bool operator==(const SourcePos& a, const SourcePos& b) {
  return a.line == b.line && a.column == b.column && a.offset == b.offset;
}

void ExpectSamePlaces(const std::vector<SourcePos>& a, const std::vector<SourcePos>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i] == b[i]) << i << ": " << a[i].line << ":" << a[i].column << " and "
                              << b[i].line << ":" << b[i].column;
}

// Whether the text was read; if so, as protobuf reads it.
bool ReadsAlike(std::string_view text) {
  const std::optional<TextGraph> plain = ParsePlainGraphText(text, kDepth);
  if (!plain) return false;
  const absl::StatusOr<TextGraph> slow = ParseGraphTextWithProtobuf(text, "x", kDepth);
  EXPECT_TRUE(slow.ok()) << slow.status() << "\n" << text.substr(0, 2000);
  if (!slow.ok()) return true;
  EXPECT_EQ(plain->wire, slow->wire) << text.substr(0, 2000);
  ExpectSamePlaces(plain->positions.nodes, slow->positions.nodes);
  ExpectSamePlaces(plain->positions.functions, slow->positions.functions);
  EXPECT_TRUE(plain->positions.versions == slow->positions.versions);
  return true;
}

std::vector<std::string> GoldenTexts() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden")) {
    if (entry.path().extension() != ".pbtxt") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

TEST(PlainText, ReadsWhatToolsWrite) {
  const std::vector<std::string> texts = GoldenTexts();
  ASSERT_GT(texts.size(), 100u);
  size_t read = 0;
  for (const std::string& text : texts) read += ReadsAlike(text);
  EXPECT_GT(read, texts.size() * 9 / 10);
}

TEST(PlainText, ReadsOtherSpellings) {
  for (const std::string_view text : std::initializer_list<std::string_view>{
           "",
           "# only a comment",
           "node { name: 'x' op: \"Const\" }",
           "node: < name: 'x', op: 'y'; >",
           "\tnode{name:'a'\n'b' \"c\" op:'y'} node\n{name:'d'}\t\tnode{}",
           "versions { producer: 2474 } node { op: 'y' name: 'x' input: 'b' input: 'a' }",
           "node { attr { key: 'b' value { i: -5 } } attr { key: 'a' value { b: false } } "
           "attr { key: 'b' value { f: -0 } } }",
           "node { attr { value { type: DT_FLOAT } key: 'T' } }",
           "node { attr { key: 'l' value { list { i: [1, 2, -3] i: 4 f: [] s: ['a', 'b'] i: 5 } } "
           "} }",
           "node { attr { key: 'v' value { tensor { float_val: 1 dtype: DT_FLOAT float_val: .5 "
           "float_val: 1e-3 float_val: inf float_val: -inf float_val: nan float_val: -0.0 "
           "tensor_shape { dim { size: 7 } } version_number: 0 } } } }",
           "node { attr { key: 'v' value { tensor { dtype: DT_INT32 tensor_content: "
           "\"\\001\\000\\377\\\"\\n\\\\\\'?\" int_val: 2147483647 int_val: -2147483648 } } } }",
           "node { attr { key: 'v' value { s: '' } } attr { key: 'w' value { list { } } } }",
           "library { function { signature { name: 'f' } } function { signature { name: 'g' } } }",
           "library { function { resource_arg_unique_id { key: 2 value: 5 } "
           "resource_arg_unique_id { key: 10 value: 6 } arg_attr { key: 300 value { } } "
           "arg_attr { key: 7 value { } } arg_attr { key: 0 value { } } } }",
       }) {
    EXPECT_TRUE(ReadsAlike(text)) << text;
  }
}

TEST(PlainText, LeavesErrorsAndRareSyntaxToProtobuf) {
  for (const std::string_view text : std::initializer_list<std::string_view>{
           "node",
           "node {",
           "node { name: 'x' name: 'y' }",
           "node { nome: 'x' }",
           "node { name 'x' }",
           "node { name: 'x\ny' }",
           "node { name: '\\x41' }",
           "node { name: '\\101\\7' }",
           "node { attr { key: 'a' value { i: 1 f: 2 } } }",
           "node { attr { key: 'a' value { i: 0x10 } } }",
           "node { attr { key: 'a' value { i: 010 } } }",
           "node { attr { key: 'a' value { i: 9223372036854775808 } } }",
           "node { attr { key: 'a' value { i: 1.5 } } }",
           "node { attr { key: 'a' value { f: 1.5f } } }",
           "node { attr { key: 'a' value { f: 1e400 } } }",
           "node { attr { key: 'a' value { f: 1e39 } } }",
           "node { attr { key: 'a' value { b: t } } }",
           "node { attr { key: 'a' value { type: 1 } } }",
           "node { attr { key: 'a' value { type: DT_NONE } } }",
           "node { attr { key: 'a' } }",
           "node [ { name: 'x' }, { name: 'y' } ]",
           "versions { producer: 1 } versions { producer: 2 }",
           "[type.googleapis.com/x] { }",
           "node { name: 'x' } }",
           std::string_view("node { name: 'x' }\0", 19),
           std::string_view("# \0\nnode { name: 'x' }", 22),
       }) {
    EXPECT_FALSE(ParsePlainGraphText(text, kDepth).has_value()) << text;
  }
  EXPECT_FALSE(ParsePlainGraphText("node { attr { key: 'a' value { list { } } } }", 4).has_value());
}

TEST(PlainText, DamagedTextIsReadAlikeOrNotAtAll) {
  std::mt19937 random(1);
  const std::vector<std::string> texts = GoldenTexts();
  constexpr std::string_view kPieces = "{}<>[]:;,'\"\\-.0123456789aenx# \n\t";
  for (int round = 0; round < 3000; ++round) {
    std::string text = texts[random() % texts.size()];
    if (text.size() > 20000) continue;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 8);
          break;
        case 1:
          text.insert(at, 1, kPieces[random() % kPieces.size()]);
          break;
        default:
          text[at] = kPieces[random() % kPieces.size()];
      }
    }
    ReadsAlike(text);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenon
