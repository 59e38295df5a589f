// Kernels that read and write files: checkpoints, vocabularies, whole files.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/folder_test.h"

namespace tenon::files_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Op;

const std::string kGolden = "tests/golden/checkpoints/";

std::string Text(std::string_view name, std::string_view value) {
  return testing::Const(name, "DT_STRING",
                        absl::StrCat("tensor_shape {} string_val: '", absl::CEscape(value), "'"));
}
std::string Texts(std::string_view name, const std::vector<std::string>& values) {
  std::string proto = absl::StrCat("tensor_shape { dim { size: ", values.size(), " } } ");
  for (const std::string& v : values) absl::StrAppend(&proto, "string_val: '", v, "' ");
  return testing::Const(name, "DT_STRING", proto);
}
std::string Int(std::string_view name, int value) {
  return testing::Const(name, "DT_INT32", absl::StrCat("tensor_shape {} int_val: ", value));
}

// "key: 'name' value { … }" for each.
std::string Attr(std::string_view name, std::string_view value) {
  return absl::StrCat("attr { key: '", name, "' value { ", value, " } } ");
}
std::string Types(std::string_view name, const std::vector<std::string>& types) {
  std::string list;
  for (const std::string& t : types) absl::StrAppend(&list, "type: ", t, " ");
  return Attr(name, absl::StrCat("list { ", list, "}"));
}

std::string Restore(const std::string& prefix, const std::vector<std::string>& names,
                    const std::vector<std::string>& parts, const std::vector<std::string>& types) {
  return Text("prefix", prefix) + Texts("names", names) + Texts("parts", parts) +
         Op("restore", "RestoreV2", {"prefix", "names", "parts"}, Types("dtypes", types));
}

absl::StatusOr<std::vector<Tensor>> RunGraph(std::string graph,
                                             const std::vector<std::string>& fetches,
                                             FileAccess files = FileAccess::Anything()) {
  SessionOptions options;
  options.threads = 1;
  options.files = std::move(files);
  auto session = Session::Create(testing::Parse(std::move(graph)), {}, options);
  if (!session.ok()) return session.status();
  return (*session)->Run({}, fetches);
}

std::vector<std::string> StringsOf(const Tensor& t) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < t.num_elements(); ++i) texts.emplace_back(t.StringAt(i));
  return texts;
}

class Files : public testing::FolderTest {
 protected:
  std::string Contents(std::string_view name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Files, RestoreReadsTensorsAndParts) {
  const auto out = RunGraph(Restore(kGolden + "parts", {"sc", "text", "m"}, {"", "", "5 7 1,2:2,3"},
                                    {"DT_FLOAT", "DT_STRING", "DT_INT32"}),
                            {"restore", "restore:1", "restore:2"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(testing::Values((*out)[0]), ElementsAre(1.5F));
  EXPECT_EQ((*out)[1].shape(), Shape({4, 3}));
  EXPECT_EQ((*out)[1].StringAt(11), "r3c2");
  EXPECT_THAT(absl::MakeSpan((*out)[2].flat<int32_t>(), 6), ElementsAre(9, 10, 11, 16, 17, 18));
}

TEST_F(Files, RestoreSaysWhatIsWrong) {
  struct Case {
    std::string prefix, name, part, type;
    absl::StatusCode code;
    std::string message;
  };
  const Case cases[] = {
      {kGolden + "parts", "no", "", "DT_FLOAT", absl::StatusCode::kNotFound, "'no'"},
      {kGolden + "none", "sc", "", "DT_FLOAT", absl::StatusCode::kNotFound, "none.index"},
      {kGolden + "parts", "sc", "", "DT_INT32", absl::StatusCode::kInvalidArgument,
       "is DT_FLOAT where DT_INT32 is wanted"},
      {kGolden + "parts", "m", "5 8 -:-", "DT_INT32", absl::StatusCode::kInvalidArgument,
       "has shape [5,7] where a part of [5,8] is wanted"},
      {kGolden + "parts", "m", "5 7 -:5,3", "DT_INT32", absl::StatusCode::kInvalidArgument,
       "does not lie within"},
      {kGolden + "parts", "m", "5 7 -:x", "DT_INT32", absl::StatusCode::kInvalidArgument,
       "'x' is no start,length"},
  };
  for (const Case& c : cases) {
    const absl::Status status =
        RunGraph(Restore(c.prefix, {c.name}, {c.part}, {c.type}), {"restore"}).status();
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(c.message), HasSubstr("restore")));
  }
  const absl::Status names =
      RunGraph(Restore(kGolden + "parts", {"m", "sc"}, {"", ""}, {"DT_INT32"}), {"restore"})
          .status();
  EXPECT_THAT(names.message(), HasSubstr("tensor_names have shape [2]"));
}

TEST_F(Files, NothingIsTouchedUnlessTheSessionAllowsIt) {
  const std::string secret = Write("secret", "word");
  const std::string graphs[] = {
      Restore(kGolden + "parts", {"sc"}, {""}, {"DT_FLOAT"}) +
          Op("node", "Identity", {"restore"}, Attr("T", "type: DT_FLOAT")),
      Text("name", secret) + Op("node", "ReadFile", {"name"}),
      Text("name", secret) + Op("node", "WriteFile", {"name", "name"}),
      Text("name", Path("*")) + Op("node", "MatchingFiles", {"name"}),
      Text("name", Path("new")) + Texts("names", {"x"}) + Texts("parts", {""}) +
          Op("node", "SaveV2", {"name", "names", "parts", "name"}, Types("dtypes", {"DT_STRING"})),
      Texts("from", {kGolden + "parts"}) + Text("name", Path("new")) +
          Op("node", "MergeV2Checkpoints", {"from", "name"}),
  };
  for (const std::string& graph : graphs) {
    const absl::Status status = RunGraph(graph, {"node"}, FileAccess()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(status.message(), HasSubstr("--allow-file-io"));
  }
  EXPECT_EQ(Contents("secret"), "word");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

// What tf.train.Saver puts into graphs: each shard is saved on its own, then all are merged.
TEST_F(Files, SavedCheckpointsAreRestored) {
  std::string graph = Text("base", Path("temp/part")) + Int("two", 2) + Text("x", "a value") +
                      Texts("y", {"b", "c"}) + Text("final", Path("ckpt")) +
                      Texts("no_part", {""}) + Op("spec", "ShardedFilespec", {"base", "two"});
  std::vector<std::string> shards;
  for (int i = 0; i < 2; ++i) {
    const std::string n = absl::StrCat(i);
    graph += Int("i" + n, i) + Op("shard" + n, "ShardedFilename", {"base", "i" + n, "two"}) +
             Texts("name" + n, {"tensor" + n}) +
             Op("save" + n, "SaveV2", {"shard" + n, "name" + n, "no_part", i == 0 ? "x" : "y"},
                Types("dtypes", {"DT_STRING"}));
  }
  graph +=
      Op("shards", "Pack", {"shard0", "shard1"}, Attr("T", "type: DT_STRING") + Attr("N", "i: 2")) +
      Op("merge", "MergeV2Checkpoints", {"shards", "final", "^save0", "^save1"}) +
      Op("names", "Identity", {"shards", "^merge"}, Attr("T", "type: DT_STRING"));
  const auto saved = RunGraph(graph, {"names", "spec"});
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_THAT(StringsOf((*saved)[0]),
              ElementsAre(Path("temp/part-00000-of-00002"), Path("temp/part-00001-of-00002")));
  EXPECT_THAT(StringsOf((*saved)[1]), ElementsAre(Path("temp/part-\?\?\?\?\?-of-00002")));
  EXPECT_FALSE(fs::exists(folder_ / "temp"));
  const auto out = RunGraph(
      Restore(Path("ckpt"), {"tensor1", "tensor0"}, {"", "1 2 -"}, {"DT_STRING", "DT_STRING"}),
      {"restore"});
  ASSERT_FALSE(out.ok());  // tensor0 is a scalar
  const auto good =
      RunGraph(Restore(Path("ckpt"), {"tensor1", "tensor0"}, {"", ""}, {"DT_STRING", "DT_STRING"}),
               {"restore", "restore:1"});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_THAT(StringsOf((*good)[0]), ElementsAre("b", "c"));
  EXPECT_THAT(StringsOf((*good)[1]), ElementsAre("a value"));
}

TEST_F(Files, VariablesAreSavedAndRestored) {
  const std::string type = Attr("T", "type: DT_FLOAT");
  const std::string variables =
      Op("ref", "VariableV2", {},
         Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 2 } }")) +
      Op("handle", "VarHandleOp", {},
         Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 2 } }")) +
      Text("file", Path("ckpt")) + Texts("both", {"a", "b"}) + Texts("all", {"", ""});
  const std::string save =
      variables +
      testing::Const("x", "DT_FLOAT",
                     "tensor_shape { dim { size: 2 } } float_val: 1 float_val: 2") +
      Op("set_ref", "Assign", {"ref", "x"}, type) +
      Op("set", "AssignVariableOp", {"handle", "x"}, Attr("dtype", "type: DT_FLOAT")) +
      Op("value", "ReadVariableOp", {"handle", "^set"}, Attr("dtype", "type: DT_FLOAT")) +
      Op("save", "SaveV2", {"file", "both", "all", "ref", "value", "^set_ref"},
         Types("dtypes", {"DT_FLOAT", "DT_FLOAT"}));
  const auto saved = RunGraph(save, {"save"});
  ASSERT_TRUE(saved.ok()) << saved.status();
  const std::string load =
      variables +
      Op("read", "RestoreV2", {"file", "both", "all"}, Types("dtypes", {"DT_FLOAT", "DT_FLOAT"})) +
      Op("set_ref", "Assign", {"ref", "read"}, type) +
      Op("set", "AssignVariableOp", {"handle", "read:1"}, Attr("dtype", "type: DT_FLOAT")) +
      Op("value", "ReadVariableOp", {"handle", "^set"}, Attr("dtype", "type: DT_FLOAT"));
  const auto loaded = RunGraph(load, {"set_ref", "value"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  for (const Tensor& t : *loaded) EXPECT_THAT(testing::Values(t), ElementsAre(1, 2));
}

TEST_F(Files, AFailedSaveLeavesNothing) {
  const std::string graph = Text("name", Path("ckpt")) + Texts("names", {"a", "a"}) +
                            Texts("parts", {"", ""}) +
                            Op("save", "SaveV2", {"name", "names", "parts", "name", "name"},
                               Types("dtypes", {"DT_STRING", "DT_STRING"}));
  const absl::Status status = RunGraph(graph, {"save"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("tensor 'a' is saved twice"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Files, WholeFilesAreReadWrittenAndFound) {
  const std::string text("a\0b\n", 4);
  const std::string path = Path("sub/folder/file.txt");
  const auto written = RunGraph(Text("name", path) + Text("text", text) +
                                    Op("write", "WriteFile", {"name", "text"}) +
                                    Op("read", "ReadFile", {"name", "^write"}),
                                {"read"});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_THAT(StringsOf((*written)[0]), ElementsAre(text));
  Write("b.txt", "");
  Write("a.txt", "");
  const auto found =
      RunGraph(Texts("patterns", {Path("*.txt"), Path("none*"), Path("sub/*/f?le.txt")}) +
                   Op("match", "MatchingFiles", {"patterns"}),
               {"match"});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(StringsOf((*found)[0]), ElementsAre(Path("a.txt"), Path("b.txt"), path));
  const absl::Status missing =
      RunGraph(Text("name", Path("none")) + Op("read", "ReadFile", {"name"}), {"read"}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr(Path("none")));
}

TEST_F(Files, VocabulariesFillTables) {
  struct Case {
    std::string text, key_type, value_type, attrs;
    std::string expected;  // "key=value" sorted, or what the message holds
  };
  const auto columns = [](int key, int value, int size = -1, std::string delimiter = " ",
                          int offset = 0) {
    return absl::StrCat(Attr("key_index", absl::StrCat("i: ", key)),
                        Attr("value_index", absl::StrCat("i: ", value)),
                        Attr("vocab_size", absl::StrCat("i: ", size)),
                        Attr("delimiter", absl::StrCat("s: '", delimiter, "'")),
                        Attr("offset", absl::StrCat("i: ", offset)));
  };
  const std::string s = "DT_STRING", l = "DT_INT64", i = "DT_INT32", f = "DT_FLOAT";
  const Case cases[] = {
      {"a\nb\nc\n", s, l, columns(-2, -1), "a=0 b=1 c=2"},
      {"a\nb\nc", s, l, columns(-2, -1), "a=0 b=1 c=2"},
      {"a\r\nb\r\nc\rd\r", s, l, columns(-2, -1), "a=0 b=1 c\rd=2"},
      {"a\nb\nc\n", s, l, columns(-2, -1, 2), "a=0 b=1"},
      {"a\nb\n\n", s, l, columns(-2, -1, 2), "a=0 b=1"},
      {"a\nb\nc\n", s, l, columns(-2, -1, 5), "has 3 lines, vocab_size is 5"},
      {"a\nb\nc\n", s, l, columns(-2, -1, 0), "no line"},
      {"a\nb\n", l, s, columns(-1, -2, -1, " ", 10), "10=a 11=b"},
      {"a 1\nb 2\n", s, l, columns(0, 1, -1, " ", 3), "a=1 b=2"},
      {"a  1\nb  2\n", s, l, columns(0, 2), "a=1 b=2"},
      {"a\t1\n", s, i, columns(0, 1, -1, "\\t"), "a=1"},
      {"a 1.5\nb 2\n", s, f, columns(0, 1), "a=1.500000 b=2.000000"},
      {" 1 \n2\n", l, l, columns(-2, -1), "1=0 2=1"},
      {"a\na\n", s, s, columns(-2, -2), "a=a"},
      {"a\na\n", s, l, columns(-2, -1), "keys[1] was there before"},
      {"a\nb\n\nc\n", s, l, columns(-2, -1), "line 3 is empty"},
      {"", s, l, columns(-2, -1), "no line"},
      {"a 1\nb\n", s, l, columns(0, 1), "line 2 has 1 columns where 2 are wanted"},
      {"a 1\nb x\n", s, l, columns(0, 1), "line 2: 'x' is no DT_INT64"},
      {"a 2147483648\n", s, i, columns(0, 1), "is no DT_INT32"},
      {"1\n", s, f, columns(-2, -1), "values are DT_FLOAT, which cannot be line numbers"},
      {"1\n", s, f, columns(-2, -2), "which cannot be whole lines"},
      {"1 1\n", s, "DT_INT8", columns(0, 1), "cannot be read from a text file"},
      {"a\n", s, l, columns(-2, -1, -1, "ab"), "must be one character"},
  };
  for (const Case& c : cases) {
    const auto types = [&](std::string_view key, std::string_view value) {
      return Attr(key, "type: " + c.key_type) + Attr(value, "type: " + c.value_type);
    };
    const auto out = RunGraph(
        Text("name", Write("words.txt", c.text)) +
            Op("table", "HashTableV2", {}, types("key_dtype", "value_dtype")) +
            Op("init", "InitializeTableFromTextFileV2", {"table", "name"}, c.attrs) +
            Op("export", "LookupTableExportV2", {"table", "^init"}, types("Tkeys", "Tvalues")) +
            Op("keys", "AsString", {"export"}, Attr("T", "type: " + c.key_type)) +
            Op("values", "AsString", {"export:1"}, Attr("T", "type: " + c.value_type)),
        {"keys", "values"});
    if (!out.ok()) {
      EXPECT_THAT(out.status().message(), AllOf(HasSubstr(c.expected), HasSubstr("init")));
      continue;
    }
    std::vector<std::string> entries;
    for (int64_t k = 0; k < (*out)[0].num_elements(); ++k)
      entries.push_back(absl::StrCat((*out)[0].StringAt(k), "=", (*out)[1].StringAt(k)));
    std::sort(entries.begin(), entries.end());
    EXPECT_EQ(absl::StrJoin(entries, " "), c.expected);
  }
}

TEST_F(Files, TablesOfVersion1AreFilledByReference) {
  const std::string types =
      Attr("key_dtype", "type: DT_STRING") + Attr("value_dtype", "type: DT_INT64");
  const auto out = RunGraph(
      Text("name", Write("words.txt", "a\nb\n")) + Text("asked", "b") +
          Op("none", "Const", {},
             Attr("dtype", "type: DT_INT64") +
                 Attr("value", "tensor { dtype: DT_INT64 tensor_shape {} int64_val: -1 }")) +
          Op("table", "HashTable", {}, types) +
          Op("init", "InitializeTableFromTextFile", {"table", "name"},
             Attr("key_index", "i: -2") + Attr("value_index", "i: -1")) +
          Op("found", "LookupTableFind", {"table", "asked", "none", "^init"},
             Attr("Tin", "type: DT_STRING") + Attr("Tout", "type: DT_INT64")),
      {"found"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].IntAt(0), 1);
}

TEST_F(Files, AFilledTableStaysAsItIs) {
  const std::string attrs = Attr("key_index", "i: -2") + Attr("value_index", "i: -1");
  const std::string types =
      Attr("key_dtype", "type: DT_STRING") + Attr("value_dtype", "type: DT_INT64");
  const auto out = RunGraph(
      Text("one", Write("one.txt", "a\n")) + Text("two", Write("two.txt", "b\nc\n")) +
          Op("table", "HashTableV2", {}, types) +
          Op("first", "InitializeTableFromTextFileV2", {"table", "one"}, attrs) +
          Op("second", "InitializeTableFromTextFileV2", {"table", "two", "^first"}, attrs) +
          Op("size", "LookupTableSizeV2", {"table", "^second"}),
      {"size"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].IntAt(0), 1);
}

TEST_F(Files, VocabulariesAreComparedLineByLine) {
  struct Case {
    std::string old_words, new_words, attrs, expected;
  };
  const auto attrs = [](int first, int count, int old_size) {
    return Attr("new_vocab_offset", absl::StrCat("i: ", first)) +
           Attr("num_new_vocab", absl::StrCat("i: ", count)) +
           Attr("old_vocab_size", absl::StrCat("i: ", old_size));
  };
  const Case cases[] = {
      {"a\nb\nc\n", "c\nx\na\n", attrs(0, 3, -1), "2 -1 0, 2 there"},
      {"a\nb\nc\n", "c\r\nx\r\na\r\n", attrs(1, 2, -1), "-1 0, 1 there"},
      {"a\nb\nc\n", "c\nx\na\n", attrs(0, 3, 2), "-1 -1 0, 1 there"},
      {"a\n", "a\n", attrs(1, 0, -1), ", 0 there"},
      {"a\n", "a\n", attrs(0, 2, -1), "lines 0 to 0 + 2 are wanted, there are 1"},
      {"a\nb\n", "a\n", attrs(0, 1, 3), "the file has 2 lines"},
      {"a\na\n", "a\n", attrs(0, 1, -1), "'a' is there twice"},
      {"", "a\n", attrs(0, 1, -1), "there is no line to read"},
  };
  for (const Case& c : cases) {
    const auto out = RunGraph(Text("new", Write("new.txt", c.new_words)) +
                                  Text("old", Write("old.txt", c.old_words)) +
                                  Op("remap", "GenerateVocabRemapping", {"new", "old"}, c.attrs),
                              {"remap", "remap:1"});
    if (!out.ok()) {
      EXPECT_THAT(out.status().message(), AllOf(HasSubstr(c.expected), HasSubstr("remap")));
      continue;
    }
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < (*out)[0].num_elements(); ++i) numbers.push_back((*out)[0].IntAt(i));
    EXPECT_EQ(absl::StrCat(absl::StrJoin(numbers, " "), ", ", (*out)[1].IntAt(0), " there"),
              c.expected);
  }
}

}  // namespace
}  // namespace tenon::files_test
