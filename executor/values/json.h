// Reads and writes JSON documents. Objects keep the order in which their keys were set.
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

// One JSON value, which owns its members. Hides the JSON library from every other source.
// Thread-compatible.
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

  // An object with "code" (as "INVALID_ARGUMENT") and "message" (in one line, as on stderr).
  static Json OfStatus(const absl::Status& status);

  // Set gives a key of an object its value; a value that the key had is replaced, in its place.
  // Push appends to an array. Both take a null for an empty object or array, must not be called for
  // other values, and return *this.
  Json& Set(std::string_view key, Json value);
  Json& Push(Json value);

  // INVALID_ARGUMENT with the reason: for malformed text, where the message also has the position,
  // and for a number that is too large. Of a key that stands twice the last value counts. Also
  // for arrays and objects more than kMaxDepth deep in each other: copies recur once for each
  // level.
  static constexpr int kMaxDepth = 1000;
  static absl::StatusOr<Json> Parse(std::string_view text);
  bool is_array() const;
  bool is_object() const;
  size_t size() const;  // of an array or object
  // A copy of element i of an array; i < size().
  Json At(size_t i) const;
  // A copy of the member of an object. Nothing if there is no such key, or this is no object.
  std::optional<Json> Find(std::string_view key) const;
  std::vector<std::string> Keys() const;  // of an object, in their order
  // The string or number; nothing if this is none.
  std::optional<std::string> AsString() const;
  std::optional<double> AsNumber() const;

  // The document in one line, without a line feed. Bytes that are not UTF-8 become U+FFFD.
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
