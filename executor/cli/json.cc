#include "executor/cli/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "graph/one_line.h"

namespace tenon::cli {

struct Json::Impl {
  nlohmann::ordered_json value;
};

Json::Json() : impl_(std::make_unique<Impl>()) {}
Json::Json(bool v) : impl_(new Impl{v}) {}
Json::Json(std::string_view v) : impl_(new Impl{std::string(v)}) {}
Json::Json(Integer v) : impl_(new Impl{v.value}) {}
Json::Json(Unsigned v) : impl_(new Impl{v.value}) {}
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

std::string Json::Dump() const {
  return impl_->value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace tenon::cli
