// Strings as bytes: DecodeRaw, DecodePaddedRaw, EncodeBase64, DecodeBase64.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/strings/string_map.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Raw {
  Shape shape;            // of the strings
  int64_t element, word;  // bytes; the two parts of a complex number are words of their own
  bool swapped;           // big endian
  int64_t padded = 0;     // bytes of each string; DecodePaddedRaw
};

void SwapBytes(const Raw& s, char* data, int64_t bytes) {
  if (!s.swapped || s.word == 1) return;
  for (int64_t i = 0; i + s.word <= bytes; i += s.word) std::reverse(data + i, data + i + s.word);
}

absl::Status RunRaw(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Raw*>(state);
  const int64_t n = s.shape.num_elements();
  const size_t bytes = n == 0 ? 0 : StringAt(args.in[0], 0).size();
  for (int64_t i = 0; i < n; ++i) {
    const size_t size = StringAt(args.in[0], i).size();
    if (size != bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("all strings must be of one length, but string 0 has ", bytes,
                       " bytes and string ", i, " has ", size));
    }
  }
  if (bytes % s.element != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "strings of ", bytes, " bytes hold no whole number of elements of ", s.element));
  }
  Shape out = s.shape;
  out.push_back(static_cast<int64_t>(bytes) / s.element);
  TENON_ASSIGN_OR_RETURN(void* const data, args.run_state->AllocateOutput(0, out));
  for (int64_t i = 0; i < n && bytes > 0; ++i) {
    char* const to = static_cast<char*>(data) + i * bytes;
    memcpy(to, StringAt(args.in[0], i).data(), bytes);
    SwapBytes(s, to, static_cast<int64_t>(bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<Raw> MakeRaw(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool little, p.AttrBool("little_endian"));
  const auto bytes = static_cast<int64_t>(DataTypeSize(p.output_type(0)));
  return Raw{p.input_shape(0), bytes, IsComplex(p.output_type(0)) ? bytes / 2 : bytes, !little};
}

absl::Status PrepareRaw(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Raw s, MakeRaw(p));
  p.set_dynamic_output(0);
  p.set_run(&RunRaw, std::make_shared<Raw>(std::move(s)));
  return absl::OkStatus();
}

absl::Status RunPaddedRaw(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Raw*>(state);
  for (int64_t i = 0; i < s.shape.num_elements(); ++i) {
    const std::string_view text = StringAt(args.in[0], i).substr(0, s.padded);
    char* const to = static_cast<char*>(args.out[0]) + i * s.padded;
    std::copy(text.begin(), text.end(), to);
    std::fill(to + text.size(), to + s.padded, '\0');
    SwapBytes(s, to, s.padded);
  }
  return absl::OkStatus();
}

absl::Status PreparePaddedRaw(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(Raw s, MakeRaw(p));
  TENON_ASSIGN_OR_RETURN(s.padded, InputInt(p, 1));
  if (s.padded <= 0 || s.padded % s.element != 0) {
    return p.Invalid(absl::StrCat("fixed_length ", s.padded, " is no positive multiple of the ",
                                  s.element, " bytes of an element"));
  }
  Dims dims(s.shape.dims().begin(), s.shape.dims().end());
  dims.push_back(s.padded / s.element);
  TENON_ASSIGN_OR_RETURN(Shape out, CheckedShape(p, dims));
  p.set_output_shape(0, std::move(out));
  p.set_run(&RunPaddedRaw, std::make_shared<Raw>(std::move(s)));
  return absl::OkStatus();
}

struct ToBase64 {
  bool pad;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view bytes = StringAt(args.in[0], i);
    std::string text = absl::WebSafeBase64Escape(bytes);
    if (pad) text.append((3 - bytes.size() % 3) % 3, '=');
    PutString(args.out[0], i, text);
    return absl::OkStatus();
  }
};

absl::Status PrepareToBase64(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool pad, p.AttrBool("pad"));
  return SetElementMap(p, ToBase64{pad});
}

// The six bits of each character of the web-safe alphabet; -1 for others.
constexpr std::array<int8_t, 256> kSixBits = [] {
  std::array<int8_t, 256> bits = {};
  bits.fill(-1);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    bits[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return bits;
}();

// Padding may be missing; bits that make no whole byte do not matter.
struct FromBase64 {
  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view whole = StringAt(args.in[0], i);
    std::string_view text = whole;
    if (text.size() % 4 == 0) {
      for (int k = 0; k < 2 && !text.empty() && text.back() == '='; ++k) text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return Refuse(whole, i);
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    uint32_t word = 0;
    int filled = 0;
    for (const char c : text) {
      const int8_t bits = kSixBits[static_cast<uint8_t>(c)];
      if (bits < 0) return Refuse(whole, i);
      word = word << 6 | static_cast<uint32_t>(bits);
      filled += 6;
      if (filled < 8) continue;
      filled -= 8;
      bytes += static_cast<char>(word >> filled);
    }
    PutString(args.out[0], i, bytes);
    return absl::OkStatus();
  }

  static absl::Status Refuse(std::string_view text, int64_t i) {
    return absl::InvalidArgumentError(
        absl::StrCat("string ", i, " is not in web-safe base64: '", text.substr(0, 80), "'"));
  }
};

absl::Status PrepareFromBase64(Prepare& p) { return SetElementMap(p, FromBase64{}); }

}  // namespace

absl::Span<const CpuKernelSpec> RawBytesKernels() {
  static const CpuKernelSpec specs[] = {
      {"DecodeRaw", {{"out_type", kEveryType}}, PrepareRaw},
      {"DecodePaddedRaw", {{"out_type", kEveryType}}, PreparePaddedRaw, 1 << 1},
      {"EncodeBase64", {}, PrepareToBase64},
      {"DecodeBase64", {}, PrepareFromBase64},
  };
  return specs;
}

}  // namespace tenon::cpu
