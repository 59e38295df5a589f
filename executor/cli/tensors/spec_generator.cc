#include "executor/cli/tensors/spec_generator.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/values/element.h"
#include "executor/values/split_mix.h"
#include "graph/base/closest.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

struct Generator {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

const std::vector<Generator>& Generators() {
  static const auto& list = *new std::vector<Generator>{{"zeros", {}},
                                                        {"ones", {}},
                                                        {"iota", {"start", "step"}},
                                                        {"random", {"seed", "lo", "hi"}},
                                                        {"normal", {"seed", "mean", "std"}}};
  return list;
}

const Generator* FindGenerator(std::string_view name) {
  for (const Generator& g : Generators()) {
    if (g.name == name) return &g;
  }
  return nullptr;
}

// Element `index` of the stream that the seed chooses. Each element is computed by itself, so that
// it does not depend on the shape.
uint64_t Bits(uint64_t seed, uint64_t index) {
  return SplitMix64(seed * 0xd1342543de82ef95u + index * 0x9e3779b97f4a7c15u);
}

// The natural logarithm of 0 < x < 1, by the series of atanh. Uses only additions, products and
// quotients, for which IEEE 754 fixes each bit. m is kept between sqrt(1/2) and sqrt(2), where 12
// terms are enough for a double.
double PortableLog(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double t = (m - 1) / (m + 1);
  const double square = t * t;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * t * sum + exponent * 0.69314718055994531;
}

// Marsaglia's polar method. Each element has 64 draws of its own, of which it takes two at a time
// until they lie in the unit circle.
double Normal(uint64_t seed, uint64_t index) {
  for (uint64_t draw = 0;; ++draw) {
    const uint64_t at = index * 64 + draw * 2;
    const double u = 2 * UnitOf(Bits(seed, at)) - 1;
    const double v = 2 * UnitOf(Bits(seed, at + 1)) - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * PortableLog(s) / s);
  }
}

struct Call {
  const Generator* generator = nullptr;
  std::map<std::string, std::string> arguments;

  bool Has(const std::string& key) const { return arguments.count(key) > 0; }
};

absl::StatusOr<Call> ParseCall(std::string_view text) {
  const size_t open = text.find('(');
  const std::string_view name = absl::StripAsciiWhitespace(text.substr(0, open));
  Call call;
  call.generator = FindGenerator(name);
  if (call.generator == nullptr) {
    ClosestName closest(name);
    for (const Generator& g : Generators()) closest.Offer(g.name);
    return absl::InvalidArgumentError(
        absl::StrCat("unknown generator '", name, "'", closest.Hint(),
                     "; there are zeros, ones, iota, random, normal"));
  }
  if (open == std::string_view::npos) return call;
  if (text.back() != ')')
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' lacks its ')'"));
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  for (std::string_view part : absl::StrSplit(inside, ',', absl::SkipWhitespace())) {
    const std::pair<std::string_view, std::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const std::string_view key = absl::StripAsciiWhitespace(pair.first);
    ClosestName closest(key);
    for (const std::string_view known : call.generator->arguments) closest.Offer(known);
    if (!closest.found()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " has no argument '", key, "'", closest.Hint(), "; it takes ",
          call.generator->arguments.empty() ? std::string("none")
                                            : absl::StrJoin(call.generator->arguments, ", ")));
    }
    call.arguments[std::string(key)] = std::string(absl::StripAsciiWhitespace(pair.second));
  }
  return call;
}

absl::Status ReadReal(const Call& call, const std::string& key, double& value) {
  if (!call.Has(key)) return absl::OkStatus();
  const std::string& text = call.arguments.at(key);
  if (absl::SimpleAtod(text, &value) && std::isfinite(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(key, "='", text, "' is no number"));
}

absl::Status ReadInt(const Call& call, const std::string& key, int64_t& value) {
  if (!call.Has(key) || absl::SimpleAtoi(call.arguments.at(key), &value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(key, "='", call.arguments.at(key), "' is no integer"));
}

// Reads an integer as 64 bits, exactly where it is written without fraction or exponent. The
// fraction of others is cut off.
absl::Status ReadWhole(const Call& call, const std::string& key, uint64_t& bits) {
  if (!call.Has(key)) return absl::OkStatus();
  const std::string& text = call.arguments.at(key);
  if (int64_t whole; absl::SimpleAtoi(text, &whole)) {
    bits = static_cast<uint64_t>(whole);
    return absl::OkStatus();
  }
  double value = 0;
  TENON_RETURN_IF_ERROR(ReadReal(call, key, value));
  // A conversion of other values is undefined.
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    return absl::InvalidArgumentError(
        absl::StrCat(key, "=", text, " must lie from -2^63 to 2^63-1 for a tensor of integers"));
  }
  bits = static_cast<uint64_t>(static_cast<int64_t>(value));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ReadSeed(const Call& call) {
  uint64_t seed = 0;
  if (call.Has("seed") && !absl::SimpleAtoi(call.arguments.at("seed"), &seed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("seed='", call.arguments.at("seed"), "' is no integer from 0 on"));
  }
  return seed;
}

absl::Status Unfit(std::string_view generator, DataType type, std::string_view instead) {
  return absl::InvalidArgumentError(
      absl::StrCat(generator, " makes no ", DataTypeShortName(type), instead));
}

absl::Status FillConstant(double value, const Tensor& t) {
  for (int64_t i = 0; i < t.num_elements(); ++i) StoreDouble(t, i, value);
  return absl::OkStatus();
}

// Integers are added without sign, so that an overflow wraps.
absl::Status FillIntegerIota(const Call& call, const Tensor& t) {
  uint64_t start = 0, step = 1;
  TENON_RETURN_IF_ERROR(ReadWhole(call, "start", start));
  TENON_RETURN_IF_ERROR(ReadWhole(call, "step", step));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    StoreInt(t, i, start + static_cast<uint64_t>(i) * step);
  return absl::OkStatus();
}

absl::Status FillIota(const Call& call, const Tensor& t) {
  if (t.dtype() == DataType::kBool) return Unfit("iota", t.dtype(), "; use random");
  if (IsIntegerLike(t.dtype())) return FillIntegerIota(call, t);
  double start = 0, step = 1;
  TENON_RETURN_IF_ERROR(ReadReal(call, "start", start));
  TENON_RETURN_IF_ERROR(ReadReal(call, "step", step));
  for (int64_t i = 0; i < t.num_elements(); ++i)
    StoreDouble(t, i, start + step * static_cast<double>(i));
  return absl::OkStatus();
}

absl::Status FillIntegers(const Call& call, uint64_t seed, const Tensor& t) {
  const bool is_bool = t.dtype() == DataType::kBool;
  int64_t lo = 0, hi = is_bool ? 2
                       : IsIntegerLike(t.dtype()) && RangeOf(t.dtype()).hi < 10
                           ? static_cast<int64_t>(RangeOf(t.dtype()).hi)
                           : 10;
  TENON_RETURN_IF_ERROR(ReadInt(call, "lo", lo));
  TENON_RETURN_IF_ERROR(ReadInt(call, "hi", hi));
  const IntegerRange range = is_bool ? IntegerRange{0, 1} : RangeOf(t.dtype());
  if (lo >= hi || lo < range.lo || (hi > 0 && static_cast<uint64_t>(hi - 1) > range.hi)) {
    return absl::InvalidArgumentError(
        absl::StrCat("random: [", lo, ", ", hi, ") is no range of ", DataTypeShortName(t.dtype()),
                     "s; lo must be below hi, both from ", range.lo, " to ", range.hi));
  }
  // Maps 64 random bits onto the range by the upper half of a product: without a division, and
  // nearly without the bias of a remainder.
  const uint64_t span = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const uint64_t offset =
        static_cast<uint64_t>((static_cast<unsigned __int128>(Bits(seed, i)) * span) >> 64);
    StoreInt(t, i, static_cast<uint64_t>(lo) + offset);
  }
  return absl::OkStatus();
}

absl::Status FillRandom(const Call& call, const Tensor& t) {
  TENON_ASSIGN_OR_RETURN(const uint64_t seed, ReadSeed(call));
  if (IsIntegerLike(t.dtype()) || t.dtype() == DataType::kBool) return FillIntegers(call, seed, t);
  double lo = 0, hi = 1;
  TENON_RETURN_IF_ERROR(ReadReal(call, "lo", lo));
  TENON_RETURN_IF_ERROR(ReadReal(call, "hi", hi));
  if (lo >= hi)
    return absl::InvalidArgumentError(absl::StrCat("random: lo=", lo, " must be below hi=", hi));
  const auto draw = [&](uint64_t i) {
    const double unit = UnitOf(Bits(seed, i)), span = hi - lo;
    return std::isfinite(span) ? lo + span * unit : lo * (1 - unit) + hi * unit;
  };
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (IsComplex(t.dtype())) {
      StoreComplex(t, i, {draw(2 * i), draw(2 * i + 1)});
    } else {
      StoreDouble(t, i, draw(i));
    }
  }
  return absl::OkStatus();
}

absl::Status FillNormal(const Call& call, const Tensor& t) {
  if (!IsFloatLike(t.dtype()) && !IsComplex(t.dtype()))
    return Unfit("normal", t.dtype(), "; use random(lo=,hi=)");
  TENON_ASSIGN_OR_RETURN(const uint64_t seed, ReadSeed(call));
  double mean = 0, deviation = 1;
  TENON_RETURN_IF_ERROR(ReadReal(call, "mean", mean));
  TENON_RETURN_IF_ERROR(ReadReal(call, "std", deviation));
  if (deviation < 0)
    return absl::InvalidArgumentError(absl::StrCat("normal: std=", deviation, " is below 0"));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (IsComplex(t.dtype())) {
      StoreComplex(
          t, i,
          {mean + deviation * Normal(seed, 2 * i), mean + deviation * Normal(seed, 2 * i + 1)});
    } else {
      StoreDouble(t, i, mean + deviation * Normal(seed, i));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsGenerator(std::string_view text) {
  const std::string_view name = absl::StripAsciiWhitespace(text.substr(0, text.find('(')));
  if (FindGenerator(name) != nullptr) return true;
  // "randm(seed=1)" is a misspelt generator, for an error that says so; "nan" and "true" are
  // elements.
  return text.find('(') != std::string_view::npos && !name.empty() && absl::ascii_isalpha(name[0]);
}

absl::Status Generate(std::string_view text, const Tensor& tensor) {
  TENON_ASSIGN_OR_RETURN(const Call call, ParseCall(text));
  const std::string_view name = call.generator->name;
  if (tensor.dtype() == DataType::kString) {
    return name == "zeros" ? absl::OkStatus() : Unfit(name, tensor.dtype(), "; write \"text\"");
  }
  if (name == "zeros") return FillConstant(0, tensor);
  if (name == "ones") return FillConstant(1, tensor);
  if (name == "iota") return FillIota(call, tensor);
  return name == "random" ? FillRandom(call, tensor) : FillNormal(call, tensor);
}

}  // namespace tenon::cli
