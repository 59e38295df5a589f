#include "graph/tensor/npy.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string File(std::string_view dict, std::string_view data, char major = 1) {
  std::string out("\x93NUMPY");
  out.push_back(major);
  out.push_back('\0');
  out.push_back(static_cast<char>(dict.size()));
  out.push_back('\0');
  if (major > 1) out.append(2, '\0');
  return out.append(dict).append(data);
}

std::string Bytes(std::initializer_list<int> values) {
  std::string s;
  for (int v : values) s.push_back(static_cast<char>(v));
  return s;
}

TEST(Npy, EveryTypeSurvivesARoundTrip) {
  for (DataType t :
       {DataType::kBool, DataType::kInt8, DataType::kUint8, DataType::kInt16, DataType::kUint16,
        DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64, DataType::kHalf,
        DataType::kFloat, DataType::kDouble, DataType::kComplex64, DataType::kComplex128,
        DataType::kBfloat16, DataType::kFloat8E5m2, DataType::kInt4, DataType::kQint32}) {
    Tensor t0 = *Tensor::Allocate(t, Shape({2, 3}));
    for (size_t i = 0; i < t0.bytes(); ++i) t0.flat<char>()[i] = static_cast<char>(i % 2);
    const absl::StatusOr<std::string> bytes = NpyToBytes(t0);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const absl::StatusOr<Tensor> t1 = NpyFromBytes(*bytes, t);
    ASSERT_TRUE(t1.ok()) << t1.status();
    EXPECT_EQ(t1->dtype(), t);
    EXPECT_EQ(t1->shape(), t0.shape());
    EXPECT_EQ(std::memcmp(t0.data(), t1->data(), t0.bytes()), 0);
    EXPECT_EQ((bytes->size() - t0.bytes()) % 64, 0u);
  }
}

TEST(Npy, ReadsFortranOrderAndBigEndian) {
  const auto t = NpyFromBytes(File("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n",
                                   Bytes({0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 1, 6}), 2));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(absl::MakeSpan(t->flat<int16_t>(), 6), ElementsAre(1, 2, 3, 4, 5, 262));
}

// NumPy writes numbers of lent types as bytes that it knows nothing of.
TEST(Npy, ReadsBytesAsLentTypes) {
  const auto read = [](std::string_view descr, DataType type) {
    return NpyFromBytes(
        File(absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (1,), }"),
             Bytes({0x80, 0x3f, 0, 0}).substr(0, descr.back() - '0')),
        type);
  };
  const auto one = read("<V2", DataType::kBfloat16);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->dtype(), DataType::kBfloat16);
  EXPECT_EQ(*one->flat<uint16_t>(), 0x3f80);
  EXPECT_TRUE(read("|V1", DataType::kFloat8E5m2).ok());
  EXPECT_THAT(std::string(read("|V4", DataType::kFloat).status().message()),
              HasSubstr("'|V4' are not read"));
}

TEST(Npy, ReadsStrings) {
  const auto s = NpyFromBytes(
      File("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", std::string("ab\0cde", 6)));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s->StringAt(0), "ab");
  EXPECT_EQ(s->StringAt(1), "cde");
  const auto u = NpyFromBytes(File("{'descr': '<U2', 'fortran_order': False, 'shape': (), }",
                                   Bytes({0xDF, 0, 0, 0, 0, 0, 0, 0})));
  ASSERT_TRUE(u.ok()) << u.status();
  EXPECT_EQ(u->StringAt(0), "\xC3\x9F");
  const auto again = NpyFromBytes(*NpyToBytes(*s));
  EXPECT_EQ(again->StringAt(1), "cde");
}

TEST(Npy, RefusesElementsThatTheirTypeLacks) {
  const testing::OwnFolder folder;
  const std::string head = "{'fortran_order': False, 'shape': (2,), 'descr': '";
  const auto refused = [&](const std::string& file, const char* why) {
    const std::string path = folder.path() / "bad_elements.npy";
    std::ofstream(path, std::ios::binary) << file;
    const absl::Status status = ReadNpy(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith(path));
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  };
  refused(File(head + "|b1'}", Bytes({1, 2})), "element 1 is 2");
  refused(File(head + "<U1'}", Bytes({65, 0, 0, 0, 0, 0, 0x11, 0})), "U+110000");
  refused(File(head + ">U1'}", Bytes({0xff, 0xff, 0xff, 0xff, 0, 0, 0, 65})), "U+ffffffff");
  refused(File(head + "<U1'}", Bytes({0, 0xd8, 0, 0, 65, 0, 0, 0})), "U+d800");
  const auto last = NpyFromBytes(File(head + "<U1'}", Bytes({0xff, 0xff, 0x10, 0, 65, 0, 0, 0})));
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->StringAt(0), "\xf4\x8f\xbf\xbf");
}

TEST(Npy, RefusesWhatDoesNotFit) {
  const std::string ints =
      File("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", Bytes({1, 0, 0, 0}));
  EXPECT_THAT(std::string(NpyFromBytes(ints, DataType::kFloat).status().message()),
              HasSubstr("i32 where f32"));
  EXPECT_FALSE(NpyFromBytes("hello").ok());
  EXPECT_FALSE(NpyFromBytes(ints.substr(0, ints.size() - 1)).ok());
  EXPECT_FALSE(
      NpyFromBytes(File("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }", "")).ok());
  EXPECT_FALSE(
      NpyFromBytes(File("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "")).ok());
  EXPECT_FALSE(
      NpyFromBytes(
          File("{'descr': '<f4', 'shape': (4000000000000, 4000000), 'fortran_order': False}", ""))
          .ok());
  for (const char* type : {"|S0", "<U0"}) {
    const std::string dict =
        absl::StrCat("{'descr': '", type, "', 'fortran_order': False, 'shape': (4000000000,), }");
    EXPECT_EQ(NpyFromBytes(File(dict, "")).status().code(), absl::StatusCode::kInvalidArgument);
  }
  for (size_t n = 0; n < ints.size(); ++n)
    EXPECT_FALSE(NpyFromBytes(std::string_view(ints).substr(0, n)).ok());
}

TEST(Npz, WritesAndReadsArchives) {
  const float values[] = {1, 2};
  const Tensor t = Tensor::CopyOf(DataType::kFloat, Shape({2}), values, sizeof(values));
  const absl::StatusOr<std::string> bytes = NpzToBytes({{"x", t}, {"y:0", t}});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const absl::StatusOr<NpzReader> reader = NpzReader::FromBytes(BytesOf(*bytes));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(reader->Keys(), ElementsAre("x", "y:0"));
  const absl::StatusOr<Tensor> y = reader->Read("y:0");
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->flat<float>()[1], 2);
  EXPECT_EQ(reader->Read("z").status().code(), absl::StatusCode::kNotFound);
  for (size_t n = 0; n < bytes->size(); ++n)
    EXPECT_FALSE(NpzReader::FromBytes(BytesOf(bytes->substr(0, n))).ok());
}

// np.savez_compressed(x=np.arange(3, dtype=np.int16)).
TEST(Npz, ReadsDeflatedEntries) {
  const absl::StatusOr<NpzReader> reader = NpzReader::Open("tests/golden/npy/deflated.npz");
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::StatusOr<Tensor> x = reader->Read("x");
  ASSERT_TRUE(x.ok()) << x.status();
  EXPECT_THAT(absl::MakeSpan(x->flat<int16_t>(), 3), ElementsAre(0, 1, 2));
}

// The directory's word on an entry's size decides on no allocation.
TEST(Npz, SizesAreWhatComesOut) {
  const absl::StatusOr<FileBytes> file = ReadFile("tests/golden/npy/deflated.npz", SIZE_MAX);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string good(file->bytes);
  const size_t size_field = good.find("PK\x01\x02") + 24;
  for (const uint32_t size : {0u, 1u, 0xFFFFFFF0u}) {
    std::string forged = good;
    std::memcpy(forged.data() + size_field, &size, sizeof(size));
    const absl::StatusOr<NpzReader> reader = NpzReader::FromBytes(BytesOf(std::move(forged)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->Read("x").status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST(Npz, AnArchiveMayBeEmpty) {
  const absl::StatusOr<std::string> bytes = NpzToBytes({});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const absl::StatusOr<NpzReader> reader = NpzReader::FromBytes(BytesOf(*bytes));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(reader->Keys(), ElementsAre());
}

TEST(Npz, SaysWhatItDoesNotRead) {
  const absl::StatusOr<FileBytes> file = ReadFile("tests/golden/npy/deflated.npz", SIZE_MAX);
  ASSERT_TRUE(file.ok()) << file.status();
  std::string encrypted(file->bytes), other_method = encrypted;
  const size_t directory = encrypted.find("PK\x01\x02");
  encrypted[directory + 8] |= 1;
  EXPECT_EQ(NpzReader::FromBytes(BytesOf(encrypted)).status().code(),
            absl::StatusCode::kUnimplemented);
  other_method[directory + 10] = 14;
  const absl::StatusOr<NpzReader> reader = NpzReader::FromBytes(BytesOf(other_method));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_THAT(std::string(reader->Read("x").status().message()), HasSubstr("method 14"));
}

// What is read of a damaged archive is right or an error.
TEST(Npz, SurvivesMutation) {
  const float values[] = {1, 2, 3};
  const Tensor t = Tensor::CopyOf(DataType::kFloat, Shape({3}), values, sizeof(values));
  const absl::StatusOr<std::string> stored = NpzToBytes({{"x", t}, {"y", t}});
  ASSERT_TRUE(stored.ok()) << stored.status();
  const absl::StatusOr<FileBytes> deflated = ReadFile("tests/golden/npy/deflated.npz", SIZE_MAX);
  ASSERT_TRUE(deflated.ok()) << deflated.status();
  for (const std::string& good : {*stored, std::string(deflated->bytes)}) {
    const auto x = NpzReader::FromBytes(BytesOf(good))->Read("x");
    ASSERT_TRUE(x.ok()) << x.status();
    int refused = 0;
    for (size_t at = 0; at < good.size(); ++at) {
      for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(value);
        const absl::StatusOr<NpzReader> reader = NpzReader::FromBytes(BytesOf(std::move(bad)));
        const absl::StatusOr<Tensor> read =
            reader.ok() ? reader->Read("x") : absl::StatusOr<Tensor>(reader.status());
        refused += read.ok() ? 0 : 1;
        if (!read.ok()) continue;
        ASSERT_EQ(read->bytes(), x->bytes()) << at;
        EXPECT_EQ(std::memcmp(read->data(), x->data(), x->bytes()), 0) << at;
      }
    }
    EXPECT_GT(refused, 100);
  }
}

TEST(Npy, AFolderIsNoFile) {
  EXPECT_THAT(std::string(ReadNpy("tests/golden").status().message()), HasSubstr("is a folder"));
  EXPECT_THAT(std::string(NpzReader::Open("tests/golden").status().message()),
              HasSubstr("is a folder"));
}

}  // namespace
}  // namespace tenon
