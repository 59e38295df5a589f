// Reads and writes JSON documents. Objects keep the order of their keys.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::cli {

// One JSON value, which owns its members. Hides the JSON library from every other source. Not
// thread-safe.
class Json {
 public:
  Json();  // null
  Json(bool v);
  Json(double v);  // NaN and infinities become the strings "NaN", "Infinity", "-Infinity"
  Json(std::string_view v);
  Json(const std::string& v) : Json(std::string_view(v)) {}
  Json(const char* v) : Json(std::string_view(v)) {}
  template <std::signed_integral T>
  Json(T v) : Json(Integer{static_cast<int64_t>(v)}) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T v) : Json(Unsigned{static_cast<uint64_t>(v)}) {}
  Json(Json&&) noexcept;
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json Object();
  static Json Array();
  // An array of these values.
  template <typename Range>
  static Json ArrayOf(const Range& range) {
    Json array = Array();
    for (const auto& value : range) array.Push(Json(value));
    return array;
  }

  // "code" and "message", which is one line, as on stderr.
  static Json OfStatus(const absl::Status& status);

  // Sets a key of an object (once per key) or appends to an array.
  Json& Set(std::string_view key, Json value);
  Json& Push(Json value);

  // INVALID_ARGUMENT for malformed text; names the position and the reason.
  static absl::StatusOr<Json> Parse(std::string_view text);
  bool is_array() const;
  bool is_object() const;
  size_t size() const;      // of an array or object
  Json At(size_t i) const;  // of an array
  std::optional<Json> Find(
      std::string_view key) const;        // of anything; nothing if it has no such key
  std::vector<std::string> Keys() const;  // of an object, in their order
  std::optional<std::string> AsString() const;
  std::optional<double> AsNumber() const;

  // One line, without a line feed. Bytes that are not UTF-8 are replaced.
  std::string Dump() const;

 private:
  struct Integer {
    int64_t value;
  };
  struct Unsigned {
    uint64_t value;
  };
  struct Impl;
  explicit Json(Integer v);
  explicit Json(Unsigned v);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::cli
