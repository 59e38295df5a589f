// One pass over the text finds the tokens and checks that the lists form a whole array.

#include "executor/cli/tensors/spec_elements.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

absl::Status At(size_t pos, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(message, " at character ", pos + 1));
}

// Splits a list into tokens and follows the brackets. Counts the children of each list; all lists
// of one depth must have equally many.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  absl::StatusOr<SpecElements> Run() {
    while (pos_ < text_.size()) TENON_RETURN_IF_ERROR(Step());
    if (!open_.empty()) return At(text_.size(), "a closing ']' is missing");
    return std::move(result_);
  }

 private:
  absl::Status Step() {
    const char c = text_[pos_];
    if (absl::ascii_isspace(c) || c == ',') {
      ++pos_;
      return absl::OkStatus();
    }
    if (c == '[') return Open();
    if (c == ']') return Close();
    if (open_.empty() && closed_) return At(pos_, "something follows the closing ']'");
    if (!open_.empty()) {
      if (leaf_depth_ != 0 && leaf_depth_ != open_.size())
        return At(pos_, "an element stands at another depth than those before it");
      if (open_.size() < result_.dims.size()) return At(pos_, "an element stands between lists");
      leaf_depth_ = open_.size();
      ++open_.back();
    }
    return c == '"' ? Quoted() : Bare();
  }

  absl::Status Open() {
    if (closed_ && open_.empty()) return At(pos_, "a second list follows the first one");
    if (open_.empty() && !result_.tokens.empty()) return At(pos_, "elements stand before the '['");
    if (open_.size() >= kMaxRank) return At(pos_, "brackets nest deeper than any tensor");
    if (leaf_depth_ != 0 && leaf_depth_ == open_.size())
      return At(pos_, "a list stands between elements");
    if (!open_.empty()) ++open_.back();
    open_.push_back(0);
    result_.nested = true;
    if (result_.dims.size() < open_.size()) result_.dims.push_back(kUnknownDim);
    ++pos_;
    return absl::OkStatus();
  }

  absl::Status Close() {
    if (open_.empty()) return At(pos_, "a ']' without its '['");
    int64_t& dim = result_.dims[open_.size() - 1];
    if (dim != kUnknownDim && dim != open_.back()) {
      return At(pos_, absl::StrCat("a list of ", open_.back(), " where the others have ", dim));
    }
    dim = open_.back();
    open_.pop_back();
    closed_ = true;
    ++pos_;
    return absl::OkStatus();
  }

  absl::Status Quoted() {
    const size_t start = pos_++;
    std::string token;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) {
        TENON_RETURN_IF_ERROR(Escape(token));
      } else {
        token += text_[pos_++];
      }
    }
    if (pos_ >= text_.size()) return At(start, "a string without its closing '\"'");
    ++pos_;
    result_.quoted = true;
    result_.tokens.push_back(std::move(token));
    return absl::OkStatus();
  }

  absl::Status Escape(std::string& token) {
    const char c = text_[pos_ + 1];
    if (c == 'x') {
      if (pos_ + 3 >= text_.size() || !absl::ascii_isxdigit(text_[pos_ + 2]) ||
          !absl::ascii_isxdigit(text_[pos_ + 3])) {
        return At(pos_, "\\x wants two hexadecimal digits");
      }
      token += static_cast<char>(std::stoi(std::string(text_.substr(pos_ + 2, 2)), nullptr, 16));
      pos_ += 4;
      return absl::OkStatus();
    }
    token += c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c;
    pos_ += 2;
    return absl::OkStatus();
  }

  absl::Status Bare() {
    const size_t start = pos_;
    while (pos_ < text_.size() && !absl::ascii_isspace(text_[pos_]) && text_[pos_] != ',' &&
           text_[pos_] != '[' && text_[pos_] != ']' && text_[pos_] != '"') {
      ++pos_;
    }
    result_.tokens.emplace_back(text_.substr(start, pos_ - start));
    return absl::OkStatus();
  }

  std::string_view text_;
  size_t pos_ = 0;
  std::vector<int64_t> open_;  // children so far of each open list, outermost first
  size_t leaf_depth_ = 0;      // depth of elements; 0 before the first one in brackets
  bool closed_ = false;
  SpecElements result_;
};

// nullopt also for a number beyond double: infinity is what "inf" and "infinity" say.
std::optional<double> ParseReal(const std::string& text) {
  if (text.empty() || absl::ascii_isspace(text[0]) || absl::ascii_isspace(text.back()))
    return std::nullopt;
  double value = 0;
  if (!absl::SimpleAtod(text, &value)) return std::nullopt;
  if (std::isinf(value) && text.find_first_of("iI") == text.npos) return std::nullopt;
  return value;
}

// "1.5", "2j", "1+2j", "-1e3-2.5i"
std::optional<std::complex<double>> ParseComplex(const std::string& text) {
  if (const auto real = ParseReal(text)) return *real;
  if (text.empty() || (text.back() != 'j' && text.back() != 'i')) return std::nullopt;
  const std::string body = text.substr(0, text.size() - 1);
  if (const auto imaginary = ParseReal(body)) return std::complex<double>(0, *imaginary);
  // From the end, so that the sign of an exponent comes before that of the real part.
  for (size_t split = body.size(); split-- > 1;) {
    if (body[split] != '+' && body[split] != '-') continue;
    const auto real = ParseReal(body.substr(0, split));
    const auto imaginary = ParseReal(body.substr(split));
    if (real && imaginary) return std::complex<double>(*real, *imaginary);
  }
  return std::nullopt;
}

bool StoreInteger(const Tensor& t, int64_t i, const std::string& text) {
  const IntegerRange range = RangeOf(t.dtype());
  int64_t value;
  if (absl::SimpleAtoi(text, &value)) {
    if (value < range.lo || (value > 0 && static_cast<uint64_t>(value) > range.hi)) return false;
    StoreInt(t, i, static_cast<uint64_t>(value));
    return true;
  }
  uint64_t large;
  if (!absl::SimpleAtoi(text, &large) || large > range.hi) return false;
  StoreInt(t, i, large);
  return true;
}

bool StoreBool(const Tensor& t, int64_t i, const std::string& text) {
  bool value;
  if (!absl::SimpleAtob(text, &value)) return false;
  StoreInt(t, i, value ? 1 : 0);
  return true;
}

// Whether rounding to the element's type has left a finite number finite.
bool StaysFinite(double value, double stored) {
  return std::isfinite(stored) || !std::isfinite(value);
}

bool StoreReal(const Tensor& t, int64_t i, const std::string& text) {
  const auto value = ParseReal(text);
  if (!value) return false;
  StoreDouble(t, i, *value);
  return StaysFinite(*value, ElementAsDouble(t, i));
}

bool StoreComplexText(const Tensor& t, int64_t i, const std::string& text) {
  const auto value = ParseComplex(text);
  if (!value) return false;
  StoreComplex(t, i, *value);
  const std::complex<double> stored = ElementAsComplex(t, i);
  return StaysFinite(value->real(), stored.real()) && StaysFinite(value->imag(), stored.imag());
}

bool Store(const Tensor& t, int64_t i, const std::string& text) {
  if (t.dtype() == DataType::kString) {
    t.SetString(i, text);
    return true;
  }
  if (t.dtype() == DataType::kBool) return StoreBool(t, i, text);
  if (IsIntegerLike(t.dtype())) return StoreInteger(t, i, text);
  return IsComplex(t.dtype()) ? StoreComplexText(t, i, text) : StoreReal(t, i, text);
}

}  // namespace

absl::StatusOr<SpecElements> SplitElements(std::string_view text) { return Splitter(text).Run(); }

absl::Status StoreElement(const Tensor& t, int64_t i, const std::string& text) {
  if (Store(t, i, text)) return absl::OkStatus();
  std::string range;
  if (IsIntegerLike(t.dtype())) {
    range = absl::StrCat(" (", RangeOf(t.dtype()).lo, " to ", RangeOf(t.dtype()).hi, ")");
  } else if (t.dtype() == DataType::kBool) {
    range = " (true or false)";
  }
  return absl::InvalidArgumentError(
      absl::StrCat("element ", i, ": '", text, "' is no ", DataTypeShortName(t.dtype()), range));
}

}  // namespace tenon::cli
