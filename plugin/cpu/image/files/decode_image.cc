// The ops that decode image files. As in TensorFlow, nearly each of them takes every format: the
// file's first bytes decide.
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/image/files/codecs.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum class Format { kUnknown, kJpeg, kPng, kGif, kBmp, kWebP, kJpegXl };
constexpr const char* kFormatNames[] = {"unknown", "JPEG", "PNG", "GIF", "BMP", "WebP", "JPEG XL"};

// By the signatures that files begin with.
Format FormatOf(std::string_view contents) {
  constexpr std::string_view kJpegXlBox{"\0\0\0\x0cJXL \r\n\x87\n", 12};
  if (absl::StartsWith(contents, "\xff\xd8\xff")) return Format::kJpeg;
  if (absl::StartsWith(contents, "\x89PNG\r\n\x1a\n")) return Format::kPng;
  if (absl::StartsWith(contents, "GIF8")) return Format::kGif;
  if (absl::StartsWith(contents, "BM")) return Format::kBmp;
  if (absl::StartsWith(contents, "RIFF") && contents.size() > 12 &&
      absl::StartsWith(contents.substr(8), "WEBP")) {
    return Format::kWebP;
  }
  if (absl::StartsWith(contents, "\xff\x0a") || absl::StartsWith(contents, kJpegXlBox))
    return Format::kJpegXl;
  return Format::kUnknown;
}

enum class Op { kJpeg, kCroppedJpeg, kPng, kGif, kBmp, kWebP, kImage };

struct Decoding {
  Op op;
  DataType type;
  int channels;            // 0: those of the file
  bool expand_animations;  // an animation's frames have a dimension
  JpegDecoding jpeg;
};

// The output, once the decoder knows its shape.
struct Pixels {
  RunState* run_state;
  DataType type;
  bool leading_one = false;  // [1, height, width, channels]
  void* data = nullptr;
  int64_t count = 0;

  absl::StatusOr<void*> Allocate(const Shape& shape) {
    count = shape.num_elements();
    TENON_RETURN_IF_ERROR(
        CheckStringBytes(static_cast<double>(count) * static_cast<double>(DataTypeSize(type))));
    TENON_ASSIGN_OR_RETURN(
        data, run_state->AllocateOutput(0, leading_one ? Shape(Stacked(1, shape)) : shape));
    return data;
  }
};

// Values of type From in the output's memory become type To, times `scale`. From the end: a value's
// place is not before the one that it comes from.
template <typename From, typename To>
void Widen(const Pixels& pixels, To scale) {
  const PlainElement<From> from;
  const PlainElement<To> to;
  for (int64_t i = pixels.count; i-- > 0;)
    to.Put(pixels.data, i, static_cast<To>(from.template As<To>(pixels.data, i) * scale));
}

absl::Status RefuseChannels(Format format, int channels, std::string_view may_be) {
  return absl::InvalidArgumentError(absl::StrCat("'channels' must be ", may_be, " for ",
                                                 kFormatNames[static_cast<int>(format)], ", not ",
                                                 channels));
}

bool Takes(Op op, Format format) {
  switch (format) {
    case Format::kJpeg:
      return op != Op::kBmp;
    case Format::kPng:
      return op != Op::kBmp && op != Op::kCroppedJpeg;
    case Format::kGif:
      return op != Op::kBmp && op != Op::kCroppedJpeg && op != Op::kWebP;
    case Format::kBmp:
      return op == Op::kBmp || op == Op::kImage;
    default:
      return true;
  }
}

absl::Status CheckFormat(const Decoding& s, Format format) {
  if (!Takes(s.op, format)) {
    return absl::InvalidArgumentError(absl::StrCat("the op does not decode ",
                                                   kFormatNames[static_cast<int>(format)],
                                                   " files; DecodeImage does"));
  }
  switch (format) {
    case Format::kJpeg:
      return s.channels == 4 ? RefuseChannels(format, 4, "0, 1 or 3") : absl::OkStatus();
    case Format::kGif:
      if (s.channels != 0 && s.channels != 3) return RefuseChannels(format, s.channels, "0 or 3");
      return absl::OkStatus();
    case Format::kBmp:
      return s.channels == 1 ? RefuseChannels(format, 1, "0, 3 or 4") : absl::OkStatus();
    case Format::kWebP:
      if (s.type != DataType::kUint8)
        return absl::InvalidArgumentError("WebP is decoded to uint8 only");
      return s.channels == 1 ? RefuseChannels(format, 1, "0, 3 or 4") : absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

absl::Status DecodeGifFrames(const Decoding& s, std::string_view contents, Pixels& pixels) {
  const bool one_frame = s.op == Op::kPng || s.op == Op::kJpeg;
  return DecodeGif(contents, s.expand_animations, [&](const Shape& shape) {
    if (!one_frame) return pixels.Allocate(shape);
    if (shape.dim(0) != 1) {
      return absl::StatusOr<void*>(absl::InvalidArgumentError(absl::StrCat(
          "the GIF file has ", shape.dim(0), " frames; DecodeGif and DecodeImage take them")));
    }
    return pixels.Allocate(Shape(shape.dims().subspan(1)));
  });
}

absl::Status RunDecode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Decoding*>(state);
  const std::string_view contents = StringAt(args.in[0], 0);
  if (contents.empty()) return absl::InvalidArgumentError("the contents are empty");
  const Format format = FormatOf(contents);
  TENON_RETURN_IF_ERROR(CheckFormat(s, format));
  Pixels pixels{args.run_state, s.type};
  const auto allocate = [&](const Shape& shape) { return pixels.Allocate(shape); };
  pixels.leading_one = s.op == Op::kGif && (format == Format::kJpeg || format == Format::kPng);
  switch (format) {
    case Format::kJpeg: {
      JpegDecoding options = s.jpeg;
      if (s.op == Op::kCroppedJpeg) {
        const auto* window = static_cast<const int32_t*>(args.in[1]);
        options.crop = CropWindow{window[0], window[1], window[2], window[3]};
      }
      TENON_RETURN_IF_ERROR(DecodeJpeg(contents, options, allocate));
      break;
    }
    case Format::kPng: {
      TENON_RETURN_IF_ERROR(DecodePng(contents, s.channels, s.type != DataType::kUint8, allocate));
      if (s.type == DataType::kFloat) Widen<uint16_t>(pixels, 1.0f / 65535);
      return absl::OkStatus();
    }
    case Format::kGif:
      TENON_RETURN_IF_ERROR(DecodeGifFrames(s, contents, pixels));
      break;
    case Format::kBmp:
      TENON_RETURN_IF_ERROR(DecodeBmp(contents, s.channels, allocate));
      break;
    case Format::kWebP:
      return DecodeWebP(contents, s.channels, s.expand_animations, allocate);
    case Format::kJpegXl:
      return absl::UnimplementedError("JPEG XL files are not decoded");
    case Format::kUnknown:
      return absl::InvalidArgumentError(
          absl::StrCat("the ", contents.size(), " bytes are no JPEG, PNG, GIF, BMP or WebP file"));
  }
  // TensorFlow's factor: 255 becomes 65280, not 65535.
  if (s.type == DataType::kUint16) Widen<uint8_t>(pixels, uint16_t{256});
  if (s.type == DataType::kFloat) Widen<uint8_t>(pixels, 1.0f / 255);
  return absl::OkStatus();
}

absl::Status PrepareJpegOptions(const Prepare& p, JpegDecoding& jpeg) {
  TENON_ASSIGN_OR_RETURN(const int64_t ratio, p.AttrInt("ratio"));
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8)
    return p.Invalid(absl::StrCat("attribute 'ratio' must be 1, 2, 4 or 8, not ", ratio));
  jpeg.ratio = static_cast<int>(ratio);
  TENON_ASSIGN_OR_RETURN(jpeg.fancy_upscaling, p.AttrBool("fancy_upscaling"));
  TENON_ASSIGN_OR_RETURN(jpeg.try_recover_truncated, p.AttrBool("try_recover_truncated"));
  TENON_ASSIGN_OR_RETURN(jpeg.acceptable_fraction, p.AttrFloat("acceptable_fraction"));
  TENON_ASSIGN_OR_RETURN(const std::string_view method, p.AttrString("dct_method"));
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE") {
    return p.Invalid(absl::StrCat(
        "attribute 'dct_method' must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', not '", method,
        "'"));
  }
  jpeg.accurate = method == "INTEGER_ACCURATE";
  return absl::OkStatus();
}

absl::Status PrepareDecode(Prepare& p, Op op) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("the contents must be a scalar");
  Decoding s{op, p.output_type(0), 3, true, {}};
  if (op != Op::kGif) {
    TENON_ASSIGN_OR_RETURN(const int64_t channels, p.AttrInt("channels"));
    if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
      return p.Invalid(absl::StrCat("attribute 'channels' must be 0, 1, 3 or 4, not ", channels));
    s.channels = static_cast<int>(channels);
  }
  s.jpeg.channels = s.channels;
  if (op == Op::kJpeg || op == Op::kCroppedJpeg)
    TENON_RETURN_IF_ERROR(PrepareJpegOptions(p, s.jpeg));
  if (op == Op::kCroppedJpeg) TENON_RETURN_IF_ERROR(CheckInputShape(p, 1, Shape({4})));
  if (op == Op::kImage) {
    TENON_ASSIGN_OR_RETURN(s.expand_animations, p.AttrBool("expand_animations"));
  }
  p.set_dynamic_output(0);
  p.set_run(&RunDecode, std::make_shared<Decoding>(std::move(s)));
  return absl::OkStatus();
}

template <Op kOp>
absl::Status PrepareDecode(Prepare& p) {
  return PrepareDecode(p, kOp);
}

absl::Status RunShape(const void* state, const StepArgs& args) {
  const bool is64 = *static_cast<const bool*>(state);
  TENON_ASSIGN_OR_RETURN(const Dims dims, JpegDimensions(StringAt(args.in[0], 0)));
  for (int i = 0; i < 3; ++i) StoreIndex(args.out[0], is64, i, dims[i]);
  return absl::OkStatus();
}

absl::Status PrepareShape(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("the contents must be a scalar");
  p.set_output_shape(0, Shape({3}));
  p.set_run(&RunShape, std::make_shared<bool>(p.output_type(0) == DataType::kInt64));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> DecodeImageKernels() {
  static const CpuKernelSpec specs[] = {
      {"DecodeAndCropJpeg", {}, PrepareDecode<Op::kCroppedJpeg>},
      {"DecodeBmp", {}, PrepareDecode<Op::kBmp>},
      {"DecodeGif", {}, PrepareDecode<Op::kGif>},
      {"DecodeImage", {}, PrepareDecode<Op::kImage>},
      {"DecodeJpeg", {}, PrepareDecode<Op::kJpeg>},
      {"DecodePng", {}, PrepareDecode<Op::kPng>},
      {"DecodeWebP", {}, PrepareDecode<Op::kWebP>},
      {"ExtractJpegShape", {}, PrepareShape},
  };
  return specs;
}

}  // namespace tenon::cpu
