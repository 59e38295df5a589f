// Image files that are not what they say they are: an error that says so, whatever the bytes. What
// whole ones decode to stands in tests/golden/ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon {
namespace {

using testing::Attrs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Int32s;
using testing::RunCpuKernel;

Tensor File(std::string_view bytes) {
  Tensor t = *Tensor::Allocate(DataType::kString, Shape());
  t.SetString(0, bytes);
  return t;
}

std::string BytesOf(const Tensor& t) { return std::string(t.StringAt(0)); }

Tensor Ramp(const Shape& shape) {
  Tensor t = *Tensor::Allocate(DataType::kUint8, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.flat<uint8_t>()[i] = static_cast<uint8_t>(i);
  return t;
}

std::string Jpeg(const Attrs& attrs = {}) {
  return BytesOf((*RunCpuKernel("EncodeJpeg", attrs, {Ramp(Shape({20, 30, 3}))}))[0]);
}

// Frames of one color each.
std::string Gif(uint16_t width, uint16_t height, int frames) {
  const auto place = [&] {
    return std::string{static_cast<char>(width), static_cast<char>(width >> 8),
                       static_cast<char>(height), static_cast<char>(height >> 8)};
  };
  std::string file = absl::StrCat("GIF89a", place(), std::string("\x80\0\0\1\2\3\4\5\6", 9));
  for (int i = 0; i < frames; ++i) {
    absl::StrAppend(&file, std::string(",\0\0\0\0", 5), place(), std::string("\0\2\2\x4c\1\0", 6));
  }
  return file + ";";
}

// A frame of one row and a frame of one column, each with bytes enough for its own pixels.
std::string GifOfCross(uint8_t thousands) {
  const std::string length{static_cast<char>(thousands * 1000),
                           static_cast<char>(thousands * 1000 >> 8)};
  const std::string one("\1\0", 2),
      pixels = absl::StrCat("\2\x40", std::string(64, '\0'), std::string(1, '\0'));
  const auto frame = [&](const std::string& size) {
    return absl::StrCat(std::string(",\0\0\0\0", 5), size, std::string(1, '\0'), pixels);
  };
  return absl::StrCat("GIF89a", length, length, std::string("\x80\0\0\1\2\3\4\5\6", 9),
                      frame(length + one), frame(one + length), ";");
}

std::string Bmp(int32_t width, int32_t height) {
  std::string file = "BM";
  for (int32_t field : {58, 0, 54, 40, width, height, 24 << 16 | 1, 0, 4, 0, 0, 0, 0})
    file.append(reinterpret_cast<const char*>(&field), sizeof(field));
  return file + std::string("\1\2\3\0", 4);
}

absl::StatusOr<std::vector<Tensor>> Decode(const std::string& op, const std::string& file,
                                           Attrs attrs = {}) {
  if (op == "DecodeImage") attrs.emplace("dtype", attr::Type(DataType::kUint8));
  return RunCpuKernel(op, attrs, {File(file)});
}

void ExpectRefused(const char* message, const std::string& op, const std::string& file,
                   const Attrs& attrs = {}) {
  const absl::Status status = Decode(op, file, attrs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), HasSubstr(message));
}

TEST(ImageFiles, HaveFramesWhereTheOpWantsThem) {
  const auto shape = [](const char* op, const std::string& file, const Attrs& attrs = {}) {
    return Decode(op, file, attrs)->at(0).shape();
  };
  EXPECT_EQ(shape("DecodeGif", Gif(1, 1, 2)), Shape({2, 1, 1, 3}));
  EXPECT_EQ(shape("DecodeImage", Gif(1, 1, 2)), Shape({2, 1, 1, 3}));
  EXPECT_EQ(shape("DecodeImage", Gif(1, 1, 2), {{"expand_animations", attr::Bool(false)}}),
            Shape({1, 1, 3}));
  EXPECT_EQ(shape("DecodeJpeg", Gif(1, 1, 1)), Shape({1, 1, 3}));
  EXPECT_EQ(shape("DecodeGif", Jpeg()), Shape({1, 20, 30, 3}));
  EXPECT_EQ(shape("DecodeImage", Bmp(1, 1)), Shape({1, 1, 3}));
}

TEST(ImageFiles, AreRefusedWhereTheOpDoesNotTakeThem) {
  ExpectRefused("empty", "DecodeJpeg", "");
  ExpectRefused("no JPEG, PNG, GIF", "DecodeImage", "nothing");
  ExpectRefused("does not decode JPEG", "DecodeBmp", Jpeg());
  ExpectRefused("does not decode BMP", "DecodeJpeg", Bmp(1, 1));
  ExpectRefused("does not decode GIF", "DecodeWebP", Gif(1, 1, 1));
  ExpectRefused("2 frames", "DecodePng", Gif(1, 1, 2));
  ExpectRefused("0, 1 or 3 for JPEG", "DecodeJpeg", Jpeg(), {{"channels", attr::Int(4)}});
  ExpectRefused("0 or 3 for GIF", "DecodeImage", Gif(1, 1, 1), {{"channels", attr::Int(1)}});
  ExpectRefused("'channels' must be 0, 1, 3 or 4", "DecodeJpeg", "", {{"channels", attr::Int(2)}});
  ExpectRefused("'ratio' must be", "DecodeJpeg", Jpeg(), {{"ratio", attr::Int(3)}});
  ExpectRefused("'dct_method' must be", "DecodeJpeg", Jpeg(), {{"dct_method", attr::String("X")}});
  EXPECT_EQ(Decode("DecodeImage", "\xff\x0a JPEG XL").status().code(),
            absl::StatusCode::kUnimplemented);
}

// What a file says it holds, it must have bytes for.
TEST(ImageFiles, DoNotGetMemoryForWhatTheyCannotHold) {
  ExpectRefused("cannot hold 65535x65535", "DecodeGif", Gif(65535, 65535, 1));
  ExpectRefused("cannot fill an image of 60000x60000", "DecodeGif", GifOfCross(60));
  ExpectRefused("cannot fill an image of 30000x30000", "DecodePng", GifOfCross(30));
  ExpectRefused("pixels", "DecodeBmp", Bmp(1 << 15, 1 << 15));
  ExpectRefused("pixels", "DecodeBmp", Bmp(INT32_MAX, INT32_MIN));
  std::string jpeg = Jpeg();
  const size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  ExpectRefused("65500x65500", "DecodeJpeg", jpeg);
  std::string png = BytesOf((*RunCpuKernel("EncodePng", {{"T", attr::Type(DataType::kUint8)}},
                                           {Ramp(Shape({2, 2, 3}))}))[0]);
  png.replace(16, 8, std::string("\0\x0f\0\0\0\x0f\0\0", 8));
  ExpectRefused("PNG", "DecodeImage", png);
}

// The pixels of a frame that cannot be decoded would be those of the heap from the fault on.
TEST(ImageFiles, AFrameWithTooFewCodesIsLeftOut) {
  // A frame of 4x1 pixels: its codes of 9 bits are 256 (clear) and 1, one pixel alone.
  const std::string bad(",\0\0\0\0\4\0\1\0\0\10\3\0\3\0\0", 16);
  std::string file = Gif(1, 1, 1);
  file.pop_back();
  const absl::StatusOr<std::vector<Tensor>> decoded =
      Decode("DecodeGif", absl::StrCat(file, bad, ";"));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->at(0).shape(), Shape({1, 1, 1, 3}));
  ExpectRefused(
      "defective", "DecodeGif",
      absl::StrCat(file.substr(0, file.find(',')), bad, Gif(1, 1, 1).substr(file.find(','))));
}

// Each file, cut off anywhere or with any byte changed, is decoded or refused.
TEST(ImageFiles, MayHoldAnything) {
  const std::string files[] = {Jpeg(), Jpeg({{"progressive", attr::Bool(true)}}), Gif(1, 1, 3),
                               Bmp(1, 1)};
  const auto check = [](const std::string& file) {
    const absl::Status status = Decode("DecodeImage", file).status();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument ||
                status.code() == absl::StatusCode::kUnimplemented)
        << status;
  };
  for (const std::string& file : files) {
    for (size_t i = 0; i < file.size(); ++i) {
      check(file.substr(0, i));
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
      check(changed);
    }
  }
}

TEST(DecodeJpeg, RecoversWhatIsThere) {
  const std::string file = Jpeg(), half = file.substr(0, file.size() - 60);
  ExpectRefused("JPEG: Premature end", "DecodeJpeg", half);
  const Attrs recover = {{"try_recover_truncated", attr::Bool(true)}};
  EXPECT_EQ(Decode("DecodeJpeg", half, recover)->at(0).shape(), Shape({20, 30, 3}));
}

TEST(DecodeAndCropJpeg, WantsAWindowInsideOfTheImage) {
  const auto crop = [](std::initializer_list<int32_t> window) {
    return RunCpuKernel("DecodeAndCropJpeg", {}, {File(Jpeg()), Int32s(window)});
  };
  const Tensor whole = Decode("DecodeJpeg", Jpeg())->at(0);
  const Tensor part = crop({5, 7, 3, 2})->at(0);
  ASSERT_EQ(part.shape(), Shape({3, 2, 3}));
  EXPECT_EQ(part.flat<uint8_t>()[0], whole.flat<uint8_t>()[(5 * 30 + 7) * 3]);
  for (const auto& window : {std::initializer_list<int32_t>{0, 0, 0, 1},
                             {-1, 0, 3, 3},
                             {18, 0, 3, 3},
                             {0, 29, 3, 2},
                             {1, 1, INT32_MAX, INT32_MAX}}) {
    const absl::Status status = crop(window).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("is not inside of the JPEG image of 20x30"));
  }
  EXPECT_THAT(crop({1, 2, 3}).status().message(), HasSubstr("[4]"));
}

TEST(EncodeJpeg, RefusesWhatAFileCannotHold) {
  const auto encode = [](const Shape& shape, const Attrs& attrs = {}) {
    return RunCpuKernel("EncodeJpeg", attrs, {Ramp(shape)}).status();
  };
  EXPECT_EQ(encode(Shape({1, 65501, 1})).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(encode(Shape({0, 3, 3})).code(), absl::StatusCode::kInternal);
  EXPECT_THAT(
      encode(Shape({2, 2, 3}), {{"xmp_metadata", attr::String(std::string(66000, 'x'))}}).message(),
      HasSubstr("Bogus marker length"));
  EXPECT_THAT(encode(Shape({2, 2, 2})).message(), HasSubstr("1 or 3 channels, not 2"));
  EXPECT_THAT(encode(Shape({2, 2, 3}), {{"format", attr::String("grayscale")}}).message(),
              HasSubstr("wants 1 channels, but the image has 3"));
  EXPECT_THAT(encode(Shape({2, 2, 3}), {{"quality", attr::Int(101)}}).message(),
              HasSubstr("not 101"));
}

}  // namespace
}  // namespace tenon
