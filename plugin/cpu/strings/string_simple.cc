// Ops on each string alone: StringLength, StringStrip, StringLower, StringUpper, the hashes.
#include <farmhash.h>
#include <highwayhash/sip_hash.h>
#include <unicode/ucasemap.h>

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/strings/string_map.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Length {
  bool characters;  // of UTF-8, rather than bytes

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view s = StringAt(args.in[0], i);
    size_t n = s.size();
    if (characters) {
      for (char c : s) n -= IsTrailByte(c) ? 1 : 0;
    }
    static_cast<int32_t*>(args.out[0])[i] = static_cast<int32_t>(n);
    return absl::OkStatus();
  }
};

absl::Status PrepareLength(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view unit, p.AttrString("unit"));
  return SetElementMap(p, Length{unit == "UTF8_CHAR"});
}

struct Strip {
  absl::Status operator()(const StepArgs& args, int64_t i) const {
    PutString(args.out[0], i, absl::StripAsciiWhitespace(StringAt(args.in[0], i)));
    return absl::OkStatus();
  }
};

absl::Status PrepareStrip(Prepare& p) { return SetElementMap(p, Strip{}); }

template <bool kUpper>
struct AsciiCase {
  absl::Status operator()(const StepArgs& args, int64_t i) const {
    std::string text(StringAt(args.in[0], i));
    kUpper ? absl::AsciiStrToUpper(&text) : absl::AsciiStrToLower(&text);
    PutString(args.out[0], i, text);
    return absl::OkStatus();
  }
};

// Case of all scripts, as no language in particular has it.
template <bool kUpper>
struct UnicodeCase {
  std::shared_ptr<UCaseMap> map;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view s = StringAt(args.in[0], i);
    // ICU counts in int32, and text can grow when its case changes: one character may become three.
    if (s.size() > INT32_MAX / 4) {
      return absl::InvalidArgumentError(
          absl::StrCat("string ", i, " of ", s.size(), " bytes is too long to change its case"));
    }
    constexpr auto kConvert = kUpper ? &ucasemap_utf8ToUpper : &ucasemap_utf8ToLower;
    const auto size = static_cast<int32_t>(s.size());
    std::string text(s.size() + 8, '\0');
    for (;;) {
      UErrorCode error = U_ZERO_ERROR;
      const int32_t needed = kConvert(map.get(), text.data(), static_cast<int32_t>(text.size()),
                                      s.data(), size, &error);
      if (U_FAILURE(error) && error != U_BUFFER_OVERFLOW_ERROR)
        return absl::InternalError(absl::StrCat("ICU: ", u_errorName(error)));
      // ICU tells what it needs also where it does not fit; the second attempt does.
      const bool fits = static_cast<size_t>(needed) <= text.size();
      text.resize(needed);
      if (!fits) continue;
      PutString(args.out[0], i, text);
      return absl::OkStatus();
    }
  }
};

template <bool kUpper>
absl::Status PrepareCase(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view encoding, p.AttrString("encoding"));
  if (encoding.empty()) return SetElementMap(p, AsciiCase<kUpper>{});
  if (encoding != "utf-8") {
    return p.Invalid(
        absl::StrCat("attribute 'encoding' must be 'utf-8' or empty, not '", encoding, "'"));
  }
  UErrorCode error = U_ZERO_ERROR;
  std::shared_ptr<UCaseMap> map(ucasemap_open("", U_FOLD_CASE_DEFAULT, &error), &ucasemap_close);
  if (U_FAILURE(error)) return absl::InternalError(absl::StrCat("ICU: ", u_errorName(error)));
  return SetElementMap(p, UnicodeCase<kUpper>{std::move(map)});
}

// MurmurHash64A (Austin Appleby, public domain), with TensorFlow's seed.
uint64_t MurmurHash(std::string_view s) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995, kSeed = 0xDECAFCAFFE;
  constexpr int kShift = 47;
  uint64_t hash = kSeed ^ (s.size() * kFactor);
  const auto load = [&](size_t at, size_t n) {
    uint64_t word = 0;
    memcpy(&word, s.data() + at, n);
    return word;
  };
  size_t at = 0;
  for (; at + 8 <= s.size(); at += 8) {
    uint64_t word = load(at, 8) * kFactor;
    word ^= word >> kShift;
    hash = (hash ^ word * kFactor) * kFactor;
  }
  if (at < s.size()) hash = (hash ^ load(at, s.size() - at)) * kFactor;
  hash = (hash ^ hash >> kShift) * kFactor;
  return hash ^ hash >> kShift;
}

struct Murmur {
  uint64_t operator()(std::string_view s) const { return MurmurHash(s); }
};
// FarmHash's fingerprints never change with the library's version or the machine; its Hash64 may.
struct Farm {
  uint64_t operator()(std::string_view s) const { return util::Fingerprint64(s.data(), s.size()); }
};
// SipHash-2-4, keyed: whoever does not know the key cannot choose strings that collide.
struct Sip {
  highwayhash::HH_U64 key[2];
  uint64_t operator()(std::string_view s) const {
    return highwayhash::SipHash(key, s.data(), s.size());
  }
};

template <typename Hash>
struct Buckets {
  Hash hash;
  uint64_t count;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    static_cast<int64_t*>(args.out[0])[i] =
        static_cast<int64_t>(hash(StringAt(args.in[0], i)) % count);
    return absl::OkStatus();
  }
};

// 128 bits, as two numbers, of which the first is neither 0 nor 1.
struct Fingerprint128 {
  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string_view s = StringAt(args.in[0], i);
    const util::uint128_t print = util::Fingerprint128(s.data(), s.size());
    const uint64_t first = util::Uint128Low64(print);
    auto* out = static_cast<int64_t*>(args.out[0]) + 2 * i;
    out[0] = static_cast<int64_t>(first >= 2 ? first : first - 2);
    out[1] = static_cast<int64_t>(util::Uint128High64(print));
    return absl::OkStatus();
  }
};

absl::Status PrepareSdcaFingerprint(Prepare& p) {
  if (p.input_shape(0).rank() != 1) return p.Invalid("the strings must be a vector");
  TENON_RETURN_IF_ERROR(SetElementMap(p, Fingerprint128{}));
  TENON_ASSIGN_OR_RETURN(Shape out, CheckedShape(p, {p.input_shape(0).dim(0), 2}));
  p.set_output_shape(0, std::move(out));
  return absl::OkStatus();
}

template <typename Hash>
absl::Status SetBuckets(Prepare& p, Hash hash) {
  TENON_ASSIGN_OR_RETURN(const int64_t count, p.AttrInt("num_buckets"));
  if (count < 1) return p.Invalid(absl::StrCat("num_buckets must be positive, not ", count));
  return SetElementMap(p, Buckets<Hash>{hash, static_cast<uint64_t>(count)});
}

template <typename Hash>
absl::Status PrepareBuckets(Prepare& p) {
  return SetBuckets(p, Hash{});
}

absl::Status PrepareStrongBuckets(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> key, p.AttrIntList("key"));
  if (key.size() != 2)
    return p.Invalid(absl::StrCat("attribute 'key' must be two numbers, not ", key.size()));
  return SetBuckets(
      p, Sip{{static_cast<highwayhash::HH_U64>(key[0]), static_cast<highwayhash::HH_U64>(key[1])}});
}

// Integers are hashed as their decimal digits.
struct DecimalBuckets {
  DataType type;
  uint64_t count;

  absl::Status operator()(const StepArgs& args, int64_t i) const {
    const std::string digits =
        type == DataType::kUint64   ? absl::StrCat(static_cast<const uint64_t*>(args.in[0])[i])
        : type == DataType::kUint32 ? absl::StrCat(static_cast<const uint32_t*>(args.in[0])[i])
                                    : absl::StrCat(LoadIndex(args.in[0], type, i));
    static_cast<int64_t*>(args.out[0])[i] = static_cast<int64_t>(Farm()(digits) % count);
    return absl::OkStatus();
  }
};

absl::Status PrepareDecimalBuckets(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t count, p.AttrInt("num_buckets"));
  if (count < 1) return p.Invalid(absl::StrCat("num_buckets must be positive, not ", count));
  return SetElementMap(p, DecimalBuckets{p.input_type(0), static_cast<uint64_t>(count)});
}

}  // namespace

absl::Span<const CpuKernelSpec> StringSimpleKernels() {
  static const CpuKernelSpec specs[] = {
      {"StringLength", {}, PrepareLength},
      {"StringStrip", {}, PrepareStrip},
      {"StringLower", {}, PrepareCase<false>},
      {"StringUpper", {}, PrepareCase<true>},
      {"StringToHashBucket", {}, PrepareBuckets<Murmur>},
      {"StringToHashBucketFast", {}, PrepareBuckets<Farm>},
      {"StringToHashBucketStrong", {}, PrepareStrongBuckets},
      {"SdcaFprint", {}, PrepareSdcaFingerprint},
      {"_TensorToHashBucketFast", {{"T", kEveryType}}, PrepareDecimalBuckets},
  };
  return specs;
}

}  // namespace tenon::cpu
