#include "executor/values/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "graph/base/one_line.h"

namespace tenon::cli {

struct Json::Impl {
  nlohmann::ordered_json value;
};

Json::Json() : impl_(std::make_unique<Impl>()) {}
Json::Json(bool v) : impl_(new Impl{v}) {}
Json::Json(std::string_view v) : impl_(new Impl{std::string(v)}) {}
Json::Json(Integer v) : impl_(new Impl{v.value}) {}
Json::Json(Unsigned v) : impl_(new Impl{v.value}) {}
// JSON has no such numbers; these names are those of protobuf's JSON, which readers in JavaScript,
// Python and Go know.
Json::Json(double v) : impl_(std::make_unique<Impl>()) {
  if (std::isnan(v)) {
    impl_->value = "NaN";
  } else if (std::isinf(v)) {
    impl_->value = v > 0 ? "Infinity" : "-Infinity";
  } else {
    impl_->value = v;
  }
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::Object() {
  Json json;
  json.impl_->value = nlohmann::ordered_json::object();
  return json;
}

Json Json::Array() {
  Json json;
  json.impl_->value = nlohmann::ordered_json::array();
  return json;
}

Json Json::OfStatus(const absl::Status& status) {
  Json json = Object();
  json.Set("code", absl::StatusCodeToString(status.code()))
      .Set("message", OneLine(status.message()));
  return json;
}

Json& Json::Set(std::string_view key, Json value) {
  impl_->value[std::string(key)] = std::move(value.impl_->value);
  return *this;
}

Json& Json::Push(Json value) {
  impl_->value.push_back(std::move(value.impl_->value));
  return *this;
}

namespace {
struct TooDeep {};
}  // namespace

absl::StatusOr<Json> Json::Parse(std::string_view text) {
  Json json;
  try {  // the library's only way to tell where and why
    json.impl_->value = nlohmann::ordered_json::parse(
        text, [](int depth, nlohmann::ordered_json::parse_event_t event, nlohmann::ordered_json&) {
          using Event = nlohmann::ordered_json::parse_event_t;
          const bool begins = event == Event::array_start || event == Event::object_start;
          if (begins && depth >= kMaxDepth) throw TooDeep();
          return true;
        });
  } catch (const TooDeep&) {
    return absl::InvalidArgumentError(
        absl::StrCat("arrays and objects are more than ", kMaxDepth, " deep in each other"));
  } catch (const nlohmann::ordered_json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 2, column 1: syntax error …"
    const std::string_view what = e.what();
    const size_t place = what.find(" at line ");
    return absl::InvalidArgumentError(
        what.substr(place == what.npos ? what.find("] ") + 2 : place + 4));
  }
  return json;
}

bool Json::is_array() const { return impl_->value.is_array(); }
bool Json::is_object() const { return impl_->value.is_object(); }
size_t Json::size() const { return impl_->value.size(); }

Json Json::At(size_t i) const {
  Json json;
  json.impl_->value = impl_->value[i];
  return json;
}

std::optional<Json> Json::Find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  const auto it = impl_->value.find(std::string(key));
  if (it == impl_->value.end()) return std::nullopt;
  Json json;
  json.impl_->value = *it;
  return json;
}

std::vector<std::string> Json::Keys() const {
  std::vector<std::string> keys;
  for (const auto& item : impl_->value.items()) keys.push_back(item.key());
  return keys;
}

std::optional<std::string> Json::AsString() const {
  if (!impl_->value.is_string()) return std::nullopt;
  return impl_->value.get<std::string>();
}

std::optional<double> Json::AsNumber() const {
  if (!impl_->value.is_number()) return std::nullopt;
  return impl_->value.get<double>();
}

std::string Json::Dump() const {
  return impl_->value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tenon::cli
