// Checkpoints: those that TensorFlow wrote, damaged ones, and our own.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "graph/base/crc32c.h"
#include "graph/saved_model/bundle/bundle_format.h"
#include "graph/saved_model/bundle/bundle_merge.h"
#include "graph/saved_model/bundle/bundle_reader.h"
#include "graph/saved_model/bundle/bundle_writer.h"
#include "gtest/gtest.h"
#include "proto/tensor_bundle.pb.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kGolden = "tests/golden/checkpoints/";

absl::StatusOr<BundleReader> Open(const std::string& prefix) {
  return BundleReader::Open(prefix, [](std::string_view path) { return std::string(path); });
}

absl::StatusOr<Tensor> Read(const std::string& prefix, std::string_view name) {
  absl::StatusOr<BundleReader> reader = Open(prefix);
  return reader.ok() ? reader->Read(name) : reader.status();
}

absl::StatusOr<Tensor> ReadPart(const std::string& prefix, std::string_view name,
                                std::string_view part) {
  absl::StatusOr<BundleReader> reader = Open(prefix);
  if (!reader.ok()) return reader.status();
  const ShapeAndSlice wanted = *ShapeAndSlice::Parse(part);
  return reader->ReadRegion(name, *wanted.slice.In(wanted.shape));
}

template <typename T>
std::vector<T> Values(const absl::StatusOr<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  return std::vector<T>(tensor->flat<T>(), tensor->flat<T>() + tensor->num_elements());
}

std::vector<std::string> Texts(const absl::StatusOr<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  std::vector<std::string> texts;
  for (int64_t i = 0; tensor.ok() && i < tensor->num_elements(); ++i)
    texts.emplace_back(tensor->StringAt(i));
  return texts;
}

std::vector<std::string> Names(const std::string& prefix) {
  std::vector<std::string> names;
  const absl::StatusOr<BundleReader> reader = Open(prefix);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return names;
  const absl::Status all =
      reader->index().ForEach([&](std::string_view key, std::string_view) -> absl::Status {
        if (!key.empty() && key[0] != '\0') names.emplace_back(key);
        return absl::OkStatus();
      });
  EXPECT_TRUE(all.ok()) << all;
  return names;
}

std::string BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteBytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The bytes that the golden tensors were made of.
std::string PatternOf(DataType type, int64_t elements) {
  std::string bytes(static_cast<size_t>(elements) * DataTypeSize(type), '\0');
  for (size_t j = 0; j < bytes.size(); ++j) {
    bytes[j] = static_cast<char>(type == DataType::kBool    ? j % 2
                                 : type == DataType::kInt4  ? j * 5 % 16 - 8
                                 : type == DataType::kUint4 ? j * 5 % 16
                                                            : j * 37 + 11);
  }
  return bytes;
}

class BundleTest : public testing::FolderTest {
 protected:
  // A copy of a golden checkpoint that may be damaged.
  std::string CopyOf(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(kGolden)) {
      const std::string file = entry.path().filename();
      if (file.starts_with(name + ".")) fs::copy_file(entry.path(), folder_ / file);
    }
    return Path(name);
  }
  // Changes one entry of the index.
  void Edit(const std::string& prefix, const std::string& key,
            const std::function<void(pb::BundleEntryProto&)>& change) const {
    BundleEntries entries;
    {
      const absl::StatusOr<BundleReader> reader = Open(prefix);
      ASSERT_TRUE(reader.ok()) << reader.status();
      ASSERT_TRUE(reader->index()
                      .ForEach([&](std::string_view k, std::string_view v) -> absl::Status {
                        entries.emplace(k, v);
                        return absl::OkStatus();
                      })
                      .ok());
    }
    pb::BundleEntryProto entry;
    ASSERT_TRUE(entry.ParseFromString(entries[key]));
    change(entry);
    entries[key] = entry.SerializeAsString();
    ASSERT_TRUE(WriteBundleIndex(prefix, 1, std::move(entries)).ok());
  }
};

// One bit after the other, as the polynomial says.
uint32_t SlowCrc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

TEST(Crc32c, IsTheSameInPieces) {
  EXPECT_EQ(ExtendCrc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(ExtendCrc32c(5, ""), 5u);
  const std::string bytes = PatternOf(DataType::kUint8, 5000);
  for (size_t n : {0, 1, 7, 8, 9, 63, 1000, 5000}) {
    const std::string_view part(bytes.data(), n);
    EXPECT_EQ(ExtendCrc32c(0, part), SlowCrc32c(part)) << n;
    EXPECT_EQ(ExtendCrc32c(ExtendCrc32c(0, part.substr(0, n / 3)), part.substr(n / 3)),
              SlowCrc32c(part))
        << n;
  }
}

TEST(Bundle, EveryTypeIsReadAsTensorFlowWroteIt) {
  const std::vector<std::string> names = Names(kGolden + "types");
  EXPECT_EQ(names.size(), 55u);
  for (const std::string& name : names) {
    const absl::StatusOr<Tensor> t = Read(kGolden + "types", name);
    ASSERT_TRUE(t.ok()) << t.status();
    if (name == "empty") {
      EXPECT_EQ(t->shape(), Shape({0, 4}));
      continue;
    }
    EXPECT_EQ(t->shape(), name.ends_with("_2") ? Shape({2, 3}) : Shape());
    EXPECT_EQ(absl::StrCat(DataTypeName(t->dtype()), "_", t->shape().rank()), name);
    EXPECT_EQ(std::string(t->flat<char>(), t->bytes()), PatternOf(t->dtype(), t->num_elements()))
        << name;
  }
}

TEST(Bundle, StringsKeepEveryByte) {
  const std::string prefix = kGolden + "strings";
  EXPECT_THAT(Texts(Read(prefix, "one")), ElementsAre("hello"));
  EXPECT_THAT(Texts(Read(prefix, "several")),
              ElementsAre("", "a", std::string("a\0b", 3), "\xff\xfe", std::string(127, 'x'),
                          std::string(128, 'y'), std::string(300, 'z')));
  EXPECT_THAT(Texts(Read(prefix, "none")), ElementsAre());
  EXPECT_THAT(Texts(Read(prefix, "matrix")), ElementsAre("a", "bb", "ccc", ""));
  EXPECT_EQ(Read(prefix, "matrix")->shape(), Shape({2, 2}));
  EXPECT_THAT(Texts(ReadPart(prefix, "matrix", "2 2 -:1,1")), ElementsAre("bb", ""));
}

TEST(Bundle, DataMayLieInSeveralFiles) {
  for (int i = 0; i < 3; ++i) {
    const auto first = static_cast<float>(10 * i);
    EXPECT_THAT(Values<float>(Read(kGolden + "shards", absl::StrCat("w", i))),
                ElementsAre(first, first + 1, first + 2, first + 3));
    EXPECT_THAT(Values<int32_t>(Read(kGolden + "shards", absl::StrCat("dir/b", i))),
                ElementsAre(i));
  }
}

TEST(Bundle, PartsMakeOneTensor) {
  const std::string prefix = kGolden + "parts";
  std::vector<int32_t> matrix(35);
  std::iota(matrix.begin(), matrix.end(), 0);
  EXPECT_EQ(Values<int32_t>(Read(prefix, "m")), matrix);
  EXPECT_THAT(Values<int32_t>(ReadPart(prefix, "m", "5 7 1,2:2,3")),
              ElementsAre(9, 10, 11, 16, 17, 18));
  std::vector<uint8_t> row(9000);
  for (size_t i = 0; i < row.size(); ++i) row[i] = i % 251;
  EXPECT_EQ(Values<uint8_t>(Read(prefix, "long")), row);
  EXPECT_THAT(Values<uint8_t>(ReadPart(prefix, "long", "9000 69,2")), ElementsAre(69, 70));
  EXPECT_THAT(Texts(ReadPart(prefix, "text", "4 3 2,2:0,2")),
              ElementsAre("r2c0", "r2c1", "r3c0", "r3c1"));
  EXPECT_THAT(Values<float>(Read(prefix, "sc")), ElementsAre(1.5F));
}

TEST(Bundle, PartitionedVariablesOfASaver) {
  const std::string prefix = kGolden + "saver";
  std::vector<float> rows(21);
  std::iota(rows.begin(), rows.end(), 0.0F);
  EXPECT_EQ(Values<float>(Read(prefix, "s/rows")), rows);
  std::vector<double> columns(20);
  std::iota(columns.begin(), columns.end(), 0.0);
  EXPECT_EQ(Values<double>(Read(prefix, "s/columns")), columns);
  EXPECT_THAT(Values<int64_t>(Read(prefix, "step")), ElementsAre(7));
}

TEST(Bundle, NamesWhatIsNotThere) {
  const absl::Status no_file = Open(kGolden + "none").status();
  EXPECT_EQ(no_file.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(no_file.message(), HasSubstr("none.index"));
  for (const char* name : {"nothing", "", "DT_FLOAT_3"}) {
    const absl::Status no_tensor = Read(kGolden + "types", name).status();
    EXPECT_EQ(no_tensor.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(no_tensor.message(), AllOf(HasSubstr("types.index"), HasSubstr(name)));
  }
}

TEST_F(BundleTest, ShortAndMissingDataFilesAreErrors) {
  const std::string prefix = CopyOf("strings"), data = ShardPath(prefix, 0, 1);
  const std::string bytes = BytesOf(data);
  for (const size_t n : {size_t{0}, size_t{1}, bytes.size() / 2}) {
    WriteBytes(data, bytes.substr(0, n));
    const absl::Status status = Read(prefix, "several").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), AllOf(HasSubstr(data), HasSubstr("several")));
  }
  fs::remove(data);
  const absl::Status status = Read(prefix, "several").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(data), HasSubstr("several")));
}

TEST_F(BundleTest, EntriesAreNotBelieved) {
  using Entry = pb::BundleEntryProto;
  const std::pair<const char*, std::function<void(Entry&)>> changes[] = {
      {"wrong checksum", [](Entry& e) { e.set_crc32c(e.crc32c() + 1); }},
      {"bytes from byte", [](Entry& e) { e.set_offset(int64_t{1} << 62); }},
      {"bytes from byte", [](Entry& e) { e.set_offset(-1); }},
      {"bytes from byte", [](Entry& e) { e.set_size(INT64_MAX); }},
      {"bytes from byte", [](Entry& e) { e.set_size(-8); }},
      {"do not make", [](Entry& e) { e.set_size(20); }},
      {"do not make", [](Entry& e) { e.mutable_shape()->mutable_dim(0)->set_size(1LL << 40); }},
      {"bad shape", [](Entry& e) { e.mutable_shape()->mutable_dim(0)->set_size(-2); }},
      {"bad shape", [](Entry& e) { e.mutable_shape()->mutable_dim(0)->set_size(INT64_MAX); }},
      {"bad shape", [](Entry& e) { e.mutable_shape()->set_unknown_rank(true); }},
      {"data file 7", [](Entry& e) { e.set_shard_id(7); }},
      {"data file -1", [](Entry& e) { e.set_shard_id(-1); }},
      {"no known type", [](Entry& e) { e.set_dtype(static_cast<pb::DataType>(99)); }},
      {"no known type", [](Entry& e) { e.set_dtype(static_cast<pb::DataType>(101)); }},
      {"do not make", [](Entry& e) { e.set_dtype(pb::DT_DOUBLE); }},
      {"lengths", [](Entry& e) { e.set_dtype(pb::DT_STRING); }},
      {"DT_VARIANT", [](Entry& e) { e.set_dtype(pb::DT_VARIANT); }},
      {"has no entry",
       [](Entry& e) {
         e.add_slices();
         e.mutable_slices(0)->add_extent();
         e.mutable_slices(0)->add_extent();
       }},
      {"does not lie within",
       [](Entry& e) {
         auto* const slice = e.add_slices();
         slice->add_extent()->set_start(INT64_MAX);
         slice->add_extent()->set_length(INT64_MAX);
       }},
      {"dimensions", [](Entry& e) { e.add_slices(); }},
  };
  for (const auto& [message, change] : changes) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const std::string prefix = CopyOf("types");
    Edit(prefix, "DT_FLOAT_2", change);
    const absl::Status status = Read(prefix, "DT_FLOAT_2").status();
    EXPECT_FALSE(status.ok()) << message;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(message), HasSubstr("DT_FLOAT_2")));
    EXPECT_TRUE(Read(prefix, "DT_FLOAT_0").ok());
  }
}

// No memory is asked for before the size is known to be right.
TEST_F(BundleTest, EntriesAreNotBelievedWhereAPartIsRead) {
  const std::string prefix = CopyOf("types");
  Edit(prefix, "DT_FLOAT_2", [](pb::BundleEntryProto& e) {
    e.mutable_shape()->mutable_dim(0)->set_size(int64_t{1} << 40);
  });
  const absl::Status status =
      ReadPart(prefix, "DT_FLOAT_2", "1099511627776 3 0,1099511627775:-").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_THAT(status.message(), HasSubstr("do not make"));
}

TEST_F(BundleTest, PartsMustCoverTheTensorOnce) {
  const std::string prefix = CopyOf("parts");
  const auto set = [](pb::BundleEntryProto& e, int slice, int64_t start, int64_t length) {
    auto* const extent = e.mutable_slices(slice)->mutable_extent(0);
    extent->set_start(start);
    extent->set_length(length);
  };
  Edit(prefix, "long", [](pb::BundleEntryProto& e) { e.mutable_slices()->RemoveLast(); });
  EXPECT_THAT(Read(prefix, "long").status().message(), HasSubstr("lacks 500 elements"));
  EXPECT_TRUE(ReadPart(prefix, "long", "9000 0,8500").ok());
  Edit(prefix, "long", [&](pb::BundleEntryProto& e) { *e.add_slices() = e.slices(0); });
  Edit(prefix, "long",
       [&](pb::BundleEntryProto& e) { e.mutable_shape()->mutable_dim(0)->set_size(8570); });
  EXPECT_THAT(Read(prefix, "long").status().message(), HasSubstr("overlap"));
  Edit(prefix, "long", [&](pb::BundleEntryProto& e) { *e.add_slices() = e.slices(1); });
  EXPECT_THAT(Read(prefix, "long").status().message(), HasSubstr("was there before"));
  Edit(prefix, "long", [&](pb::BundleEntryProto& e) { set(e, 0, 0, 71); });
  EXPECT_THAT(Read(prefix, "long").status().message(), HasSubstr("has no entry"));
}

// Every byte of the index and of the data, changed in three ways.
TEST_F(BundleTest, EveryDamagedByteIsFoundOrDoesNotMatter) {
  for (const char* name : {"strings", "shards", "saver"}) {
    const std::string prefix = CopyOf(name);
    const std::vector<std::string> tensors = Names(prefix);
    std::vector<std::string> good;
    const auto wire = [](const Tensor& t) {
      return t.dtype() == DataType::kString ? absl::StrJoin(Texts(t), "|")
                                            : std::string(t.flat<char>(), t.bytes());
    };
    for (const std::string& tensor : tensors) good.push_back(wire(*Read(prefix, tensor)));
    int found = 0;
    for (const auto& file : fs::directory_iterator(folder_)) {
      const std::string bytes = BytesOf(file.path());
      for (size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(i % 3 == 0 ? ~damaged[i] : damaged[i] ^ 1 << i % 8);
        WriteBytes(file.path(), damaged);
        for (size_t k = 0; k < tensors.size(); ++k) {
          const absl::StatusOr<Tensor> t = Read(prefix, tensors[k]);
          if (t.ok()) {
            EXPECT_EQ(wire(*t), good[k]) << file.path() << " byte " << i;
          } else {
            EXPECT_THAT(t.status().message(), HasSubstr(folder_.string()));
            ++found;
          }
        }
      }
      WriteBytes(file.path(), bytes);
    }
    EXPECT_GT(found, 1000) << name;
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
}

void AppendVarint(std::string* out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

// A table of one block, which leads to another one of that size.
std::string TableWithBlock(uint64_t size) {
  std::string place;
  AppendVarint(&place, 0);
  AppendVarint(&place, size);
  std::string table = {0, 1, static_cast<char>(place.size()), 'k'};  // an entry with the key "k"
  table += place;
  table.append({0, 0, 0, 0, 1, 0, 0, 0});  // one restart, at 0
  const size_t block = table.size();
  table.push_back(0);  // not compressed
  const uint32_t crc = MaskCrc32c(ExtendCrc32c(0, table));
  table += BytesOfWord(crc);
  std::string footer;
  for (const uint64_t v : {uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{block}})
    AppendVarint(&footer, v);
  footer.resize(40);
  return table + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

// LevelDB adds to the sizes of blocks and takes memory before it reads.
TEST_F(BundleTest, BlocksOfStrangeSizesAreErrors) {
  const std::string prefix = Path("ckpt"), path = IndexPath(prefix);
  for (const uint64_t size : {uint64_t{0}, uint64_t{1} << 20, ~uint64_t{0}, ~uint64_t{0} - 2,
                              ~uint64_t{0} - 3, ~uint64_t{0} - 4}) {
    WriteBytes(path, TableWithBlock(size));
    const absl::Status status = Open(prefix).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(path), HasSubstr("beyond the end")));
  }
  const std::string good = TableWithBlock(0);
  for (const uint64_t size : {uint64_t{1} << 31, uint64_t{1} << 62, ~uint64_t{0} - 4}) {
    std::string footer;
    for (const uint64_t v : {uint64_t{0}, uint64_t{0}, uint64_t{0}, size}) AppendVarint(&footer, v);
    footer.resize(40);
    WriteBytes(path, good.substr(0, good.size() - 48) + footer + good.substr(good.size() - 8));
    EXPECT_THAT(Open(prefix).status().message(), HasSubstr("its end is none of a table"));
  }
}

TEST_F(BundleTest, WhatIsWrittenIsRead) {
  const std::string prefix = Path("new/folder/ckpt");
  const float values[] = {1, 2, 3, 4, 5, 6};
  const Tensor matrix = Tensor::CopyOf(DataType::kFloat, Shape({2, 3}), values, sizeof(values));
  Tensor texts = *Tensor::Allocate(DataType::kString, Shape({3}));
  texts.SetString(0, "a");
  texts.SetString(2, std::string(200, 'c'));
  {
    absl::StatusOr<BundleWriter> writer = BundleWriter::Create(prefix);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->Add("m", matrix).ok());
    EXPECT_TRUE(writer->Add("texts", texts).ok());
    for (const char* part : {"4 3 0,2:-", "4 3 2,2:0,3"})
      EXPECT_TRUE(writer->AddPart("p", *ShapeAndSlice::Parse(part), matrix).ok());
    EXPECT_TRUE(writer->AddPart("whole", *ShapeAndSlice::Parse("2 3 -:0,3"), matrix).ok());
    EXPECT_THAT(writer->Add("m", matrix).message(), HasSubstr("saved twice"));
    EXPECT_THAT(writer->Add("p", matrix).message(), HasSubstr("saved twice"));
    EXPECT_THAT(writer->Add("", matrix).message(), HasSubstr("must have a name"));
    EXPECT_THAT(writer->AddPart("p", *ShapeAndSlice::Parse("9 3 0,2:-"), matrix).message(),
                HasSubstr("differ"));
    EXPECT_THAT(writer->AddPart("p", *ShapeAndSlice::Parse("4 3 0,1:-"), matrix).message(),
                HasSubstr("[1,3]"));
    EXPECT_THAT(writer->AddPart("p", *ShapeAndSlice::Parse("4 3 0,2:-"), matrix).message(),
                HasSubstr("saved twice"));
    EXPECT_FALSE(fs::exists(ShardPath(prefix, 0, 1)));
    ASSERT_TRUE(writer->Finish().ok());
  }
  EXPECT_THAT(Names(prefix), ElementsAre("m", "p", "texts", "whole"));
  EXPECT_THAT(Values<float>(Read(prefix, "m")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Values<float>(Read(prefix, "whole")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Texts(Read(prefix, "texts")), ElementsAre("a", "", std::string(200, 'c')));
  EXPECT_THAT(Values<float>(Read(prefix, "p")), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(std::distance(fs::directory_iterator(Path("new/folder")), {}), 2);
}

TEST_F(BundleTest, AWriterThatIsDroppedLeavesNothing) {
  ASSERT_TRUE(BundleWriter::Create(Path("ckpt")).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BundleTest, MergedCheckpointsAreOne) {
  const float values[] = {1, 2, 3};
  const Tensor row = Tensor::CopyOf(DataType::kFloat, Shape({1, 3}), values, sizeof(values));
  const std::vector<std::string> parts = {Path("a/part"), Path("b/part")};
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<BundleWriter> writer = BundleWriter::Create(parts[i]);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->Add(absl::StrCat("w", i), row).ok());
    const std::string part = absl::StrCat("2 3 ", i, ",1:-");
    EXPECT_TRUE(writer->AddPart("rows", *ShapeAndSlice::Parse(part), row).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const std::vector<std::string> with_missing = {parts[0], Path("none"), parts[1]};
  EXPECT_EQ(MergeBundles(with_missing, Path("ckpt"), false).code(), absl::StatusCode::kNotFound);
  const std::vector<std::string> twice = {parts[0], parts[0]};
  EXPECT_THAT(MergeBundles(twice, Path("ckpt"), false).message(), HasSubstr("another one"));
  const absl::Status merged = MergeBundles(with_missing, Path("ckpt"), true);
  ASSERT_TRUE(merged.ok()) << merged;
  EXPECT_THAT(Values<float>(Read(Path("ckpt"), "w1")), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values<float>(Read(Path("ckpt"), "rows")), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_TRUE(fs::is_empty(Path("a")) && fs::is_empty(Path("b")));
}

// The destination's folder has two names.
TEST_F(BundleTest, ACheckpointIsMergedIntoItself) {
  const float values[] = {1, 2, 3};
  absl::StatusOr<BundleWriter> writer = BundleWriter::Create(Path("a/ckpt"));
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(
      writer->Add("w", Tensor::CopyOf(DataType::kFloat, Shape({3}), values, sizeof(values))).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const absl::Status merged = MergeBundles({Path("a/ckpt")}, Path("a/../a/ckpt"), false);
  ASSERT_TRUE(merged.ok()) << merged;
  EXPECT_THAT(Values<float>(Read(Path("a/ckpt"), "w")), ElementsAre(1, 2, 3));
}

// Whether the two checkpoints write the part in one way or in two.
TEST_F(BundleTest, APartIsInOneOfMergedCheckpoints) {
  const float values[] = {1, 2, 3};
  const Tensor row = Tensor::CopyOf(DataType::kFloat, Shape({1, 3}), values, sizeof(values));
  const std::vector<std::string> prefixes = {Path("a/part"), Path("b/part"), Path("c/part")};
  const std::vector<std::string> parts = {"2 3 0,1:-", "2 3 0,1:-", "2 3 0,1:0,3"};
  for (size_t i = 0; i < parts.size(); ++i) {
    absl::StatusOr<BundleWriter> writer = BundleWriter::Create(prefixes[i]);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->AddPart("rows", *ShapeAndSlice::Parse(parts[i]), row).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  for (const size_t other : {1, 2}) {
    const std::vector<std::string> both = {prefixes[0], prefixes[other]};
    const absl::Status status = MergeBundles(both, Path("ckpt"), false);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("tensor 'rows' has its part '0,1:0,3' in another one"));
  }
  EXPECT_THAT(Names(prefixes[0]), ElementsAre("rows"));
}

TEST(TensorSlice, IsReadAndRefused) {
  EXPECT_EQ(TensorSlice::Parse("-:0,5:2,1")->ToString(), "-:0,5:2,1");
  for (const char* text : {"1", "a,1", "1,b", "-1,2", "0,0", "0,-1", "1,2,3", "-1"})
    EXPECT_FALSE(TensorSlice::Parse(text).ok()) << text;
  for (const char* text : {"", "x 0,1", "-1 0,1", "9223372036854775807 9223372036854775807 -:-"})
    EXPECT_FALSE(ShapeAndSlice::Parse(text).ok()) << text;
  EXPECT_FALSE(TensorSlice::Parse("1,9223372036854775807")->In(Shape({3})).ok());
  EXPECT_FALSE(TensorSlice::Parse("3,1")->In(Shape({3})).ok());
  EXPECT_FALSE(TensorSlice::Parse("-")->In(Shape({3, 1})).ok());
  EXPECT_EQ(TensorSlice::Parse("1,2")->In(Shape({3}))->shape, Shape({2}));
}

}  // namespace
}  // namespace tenon
