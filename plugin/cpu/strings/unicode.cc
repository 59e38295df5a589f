// UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeTranscode, UnicodeScript, on ICU.
#include <unicode/ucnv.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/strings/string_map.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kLastCharacter = 0x10FFFF;

enum class Encoding { kUtf8, kUtf16, kUtf32 };  // the latter two big endian

Encoding EncodingNamed(std::string_view name) {
  return name == "UTF-8" ? Encoding::kUtf8
                         : (name == "UTF-16-BE" ? Encoding::kUtf16 : Encoding::kUtf32);
}

void AppendUtf8(uint32_t c, std::string* out) {
  // UTF-8 has no form for half of a pair; U+FFFD stands for it.
  if (U_IS_SURROGATE(c)) c = 0xFFFD;
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t n = 0;
  U8_APPEND_UNSAFE(bytes, n, c);
  out->append(reinterpret_cast<const char*>(bytes), n);
}

// UTF-16 and UTF-32 write half of a pair as it is.
void AppendEncoded(Encoding encoding, uint32_t c, std::string* out) {
  const auto big_endian = [&](uint32_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      *out += static_cast<char>(value >> shift);
  };
  switch (encoding) {
    case Encoding::kUtf32:
      return big_endian(c, 4);
    case Encoding::kUtf16:
      if (c < 0x10000) return big_endian(c, 2);
      big_endian(U16_LEAD(c), 2);
      return big_endian(U16_TRAIL(c), 2);
    case Encoding::kUtf8:
      return AppendUtf8(c, out);
  }
}

// What becomes of characters that are malformed, or controls that are not wanted.
struct Repair {
  bool strict, ignore, replace_controls = false;
  int32_t replacement;
};

absl::StatusOr<Repair> ReadRepair(const Prepare& p) {
  Repair repair;
  TENON_ASSIGN_OR_RETURN(const std::string_view errors, p.AttrString("errors"));
  repair.strict = errors == "strict";
  repair.ignore = errors == "ignore";
  TENON_ASSIGN_OR_RETURN(const int64_t replacement, p.AttrInt("replacement_char"));
  if (replacement < 0 || replacement > kLastCharacter) {
    return p.Invalid(absl::StrCat("replacement_char ", replacement, " is no character of Unicode"));
  }
  repair.replacement = static_cast<int32_t>(replacement);
  if (p.op().FindAttr("replace_control_characters") != nullptr) {
    TENON_ASSIGN_OR_RETURN(repair.replace_controls, p.AttrBool("replace_control_characters"));
  }
  return repair;
}

// Reads strings of one encoding. Not for two threads at once.
class Decoder {
 public:
  static absl::StatusOr<Decoder> Make(const std::string& encoding) {
    Decoder decoder;
    UErrorCode error = U_ZERO_ERROR;
    decoder.converter_.reset(ucnv_open(encoding.c_str(), &error));
    if (U_FAILURE(error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input_encoding '", encoding, "' is not known: ", u_errorName(error)));
    }
    return decoder;
  }

  // Calls emit(character, bytes) for each character of `text` that is kept after repair, and
  // skip(bytes) for each that is not. INVALID_ARGUMENT if `repair` is strict and one is malformed.
  template <typename Emit, typename Skip>
  absl::Status Decode(std::string_view text, const Repair& repair, Emit&& emit, Skip&& skip) {
    bool malformed = false;
    UErrorCode error = U_ZERO_ERROR;
    ucnv_reset(converter_.get());
    ucnv_setToUCallBack(converter_.get(), &Substitute, &malformed, nullptr, nullptr, &error);
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
      const char* const before = at;
      error = U_ZERO_ERROR;
      malformed = false;
      UChar32 c = ucnv_getNextUChar(converter_.get(), &at, end, &error);
      if (error == U_INDEX_OUTOFBOUNDS_ERROR) break;  // a mark of byte order, say, and no more
      if (U_FAILURE(error)) {
        at = end;
        c = 0xFFFD;
        malformed = true;
      }
      if (malformed && repair.strict) {
        return absl::InvalidArgumentError(
            absl::StrCat("the string is malformed at byte ", before - text.data()));
      }
      const auto bytes = static_cast<int64_t>(at - before);
      if (malformed || (repair.replace_controls && c <= 0x1F)) {
        if (repair.ignore) {
          skip(bytes);
          continue;
        }
        c = repair.replacement;
      }
      emit(c, bytes);
    }
    return absl::OkStatus();
  }

 private:
  // Notes what was wrong in a bool, and goes on with U+FFFD.
  static void Substitute(const void* malformed, UConverterToUnicodeArgs* args, const char* bytes,
                         int32_t size, UConverterCallbackReason reason, UErrorCode* error) {
    if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR)
      *static_cast<bool*>(const_cast<void*>(malformed)) = true;
    UCNV_TO_U_CALLBACK_SUBSTITUTE(nullptr, args, bytes, size, reason, error);
  }

  struct Close {
    void operator()(UConverter* c) const { ucnv_close(c); }
  };
  std::unique_ptr<UConverter, Close> converter_;
};

struct Unicode {
  std::string input_encoding;
  Encoding output = Encoding::kUtf8;
  Repair repair = {};
  int64_t n = 0;
  bool offsets = false;  // where characters begin is an output, too
};

absl::Status RunTranscode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Unicode*>(state);
  // One converter per run: runs at the same time cannot share one.
  TENON_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Make(s.input_encoding));
  std::string text;
  for (int64_t i = 0; i < s.n; ++i) {
    text.clear();
    TENON_RETURN_IF_ERROR(decoder.Decode(
        StringAt(args.in[0], i), s.repair,
        [&](UChar32 c, int64_t) { AppendEncoded(s.output, static_cast<uint32_t>(c), &text); },
        [](int64_t) {}));
    PutString(args.out[0], i, text);
  }
  return absl::OkStatus();
}

// Encodings are looked up by name, which must end where the attribute does.
absl::StatusOr<std::string> ReadInputEncoding(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view name, p.AttrString("input_encoding"));
  std::string encoding(name);
  if (encoding.find('\0') != std::string::npos) encoding.clear();
  if (encoding.empty()) return p.Invalid("attribute 'input_encoding' names no encoding");
  TENON_RETURN_IF_ERROR(Decoder::Make(encoding).status());
  return encoding;
}

absl::Status PrepareTranscode(Prepare& p) {
  auto s = std::make_shared<Unicode>();
  TENON_ASSIGN_OR_RETURN(s->input_encoding, ReadInputEncoding(p));
  TENON_ASSIGN_OR_RETURN(const std::string_view output, p.AttrString("output_encoding"));
  s->output = EncodingNamed(output);
  TENON_ASSIGN_OR_RETURN(s->repair, ReadRepair(p));
  s->n = p.input_shape(0).num_elements();
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&RunTranscode, std::move(s));
  return absl::OkStatus();
}

template <typename Split>
absl::Status RunDecode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Unicode*>(state);
  TENON_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Make(s.input_encoding));
  std::vector<int32_t> characters;
  std::vector<int64_t> starts;
  auto* const splits = static_cast<Split*>(args.out[0]);
  splits[0] = 0;
  for (int64_t i = 0; i < s.n; ++i) {
    int64_t start = 0;
    TENON_RETURN_IF_ERROR(decoder.Decode(
        StringAt(args.in[0], i), s.repair,
        [&](UChar32 c, int64_t bytes) {
          characters.push_back(c);
          starts.push_back(start);
          start += bytes;
        },
        [&](int64_t bytes) { start += bytes; }));
    if (characters.size() > std::numeric_limits<Split>::max())
      return absl::InvalidArgumentError("the row splits of the characters do not fit int32");
    splits[i + 1] = static_cast<Split>(characters.size());
  }
  const Shape shape({static_cast<int64_t>(characters.size())});
  TENON_ASSIGN_OR_RETURN(void* const out, args.run_state->AllocateOutput(1, shape));
  std::copy(characters.begin(), characters.end(), static_cast<int32_t*>(out));
  if (!s.offsets) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(void* const offsets, args.run_state->AllocateOutput(2, shape));
  std::copy(starts.begin(), starts.end(), static_cast<int64_t*>(offsets));
  return absl::OkStatus();
}

absl::Status PrepareDecode(Prepare& p) {
  auto s = std::make_shared<Unicode>();
  TENON_ASSIGN_OR_RETURN(s->input_encoding, ReadInputEncoding(p));
  TENON_ASSIGN_OR_RETURN(s->repair, ReadRepair(p));
  s->n = p.input_shape(0).num_elements();
  s->offsets = p.num_outputs() == 3;
  p.set_output_shape(0, Shape({s->n + 1}));
  for (int i = 1; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  const RunFn run =
      p.output_type(0) == DataType::kInt64 ? &RunDecode<int64_t> : &RunDecode<int32_t>;
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

struct Encode {
  Encoding output;
  Repair repair;
  bool splits64;
  int64_t values, rows;
};

absl::Status CheckSplits(const Encode& s, const void* splits) {
  int64_t last = 0;
  for (int64_t i = 0; i <= s.rows; ++i) {
    const int64_t split = LoadIndex(splits, s.splits64, i);
    if (split < last || (i == 0 && split != 0) || (i == s.rows && split != s.values)) {
      return absl::InvalidArgumentError(
          absl::StrCat("row splits must ascend from 0 to the number of values, ", s.values,
                       ", but split ", i, " is ", split));
    }
    last = split;
  }
  return absl::OkStatus();
}

absl::Status RunEncode(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Encode*>(state);
  TENON_RETURN_IF_ERROR(CheckSplits(s, args.in[1]));
  const auto* const values = static_cast<const int32_t*>(args.in[0]);
  std::string text;
  for (int64_t row = 0; row < s.rows; ++row) {
    text.clear();
    const int64_t end = LoadIndex(args.in[1], s.splits64, row + 1);
    for (int64_t i = LoadIndex(args.in[1], s.splits64, row); i < end; ++i) {
      int32_t c = values[i];
      if (c < 0 || c > kLastCharacter || U_IS_SURROGATE(c)) {
        if (s.repair.strict) {
          return absl::InvalidArgumentError(
              absl::StrCat("value ", i, " is no character of Unicode: ", c));
        }
        if (s.repair.ignore) continue;
        c = s.repair.replacement;
      }
      AppendEncoded(s.output, static_cast<uint32_t>(c), &text);
    }
    PutString(args.out[0], row, text);
  }
  return absl::OkStatus();
}

absl::Status PrepareEncode(Prepare& p) {
  const Shape &values = p.input_shape(0), &splits = p.input_shape(1);
  if (values.rank() != 1 || splits.rank() != 1 || splits.dim(0) < 1)
    return p.Invalid("values and row splits must be vectors, the latter of one element at least");
  TENON_ASSIGN_OR_RETURN(const std::string_view output, p.AttrString("output_encoding"));
  TENON_ASSIGN_OR_RETURN(Repair repair, ReadRepair(p));
  const int64_t rows = splits.dim(0) - 1;
  p.set_output_shape(0, Shape({rows}));
  p.set_run(&RunEncode, std::make_shared<Encode>(Encode{EncodingNamed(output), repair,
                                                        p.input_type(1) == DataType::kInt64,
                                                        values.dim(0), rows}));
  return absl::OkStatus();
}

struct Script {
  absl::Status operator()(const StepArgs& args, int64_t i) const {
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script =
        uscript_getScript(static_cast<const int32_t*>(args.in[0])[i], &error);
    static_cast<int32_t*>(args.out[0])[i] = U_FAILURE(error) ? USCRIPT_INVALID_CODE : script;
    return absl::OkStatus();
  }
};

absl::Status PrepareScript(Prepare& p) { return SetElementMap(p, Script{}); }

}  // namespace

absl::Span<const CpuKernelSpec> UnicodeKernels() {
  static const CpuKernelSpec specs[] = {
      {"UnicodeTranscode", {}, PrepareTranscode},
      {"UnicodeDecode", {}, PrepareDecode},
      {"UnicodeDecodeWithOffsets", {}, PrepareDecode},
      {"UnicodeEncode", {}, PrepareEncode},
      {"UnicodeScript", {}, PrepareScript},
  };
  return specs;
}

}  // namespace tenon::cpu
