// JSON documents as the command writes them: keys in the order in which they were set.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tenon::cli {

// One JSON value, owned. Keeps the JSON library out of every other source. Used on one thread.
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
