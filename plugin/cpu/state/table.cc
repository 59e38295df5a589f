#include "plugin/cpu/state/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/element_copy.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Shape> Behind(const Shape& first, const Shape& rest) {
  Dims dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape::Make(dims);
}

}  // namespace

std::string Table::KeyOf(const Tensor& keys, int64_t i) {
  if (keys.dtype() == DataType::kString) return std::string(keys.StringAt(i));
  const size_t bytes = DataTypeSize(keys.dtype());
  return std::string(keys.flat<char>() + i * bytes, bytes);
}

absl::Status Table::CheckKeys(const Tensor& keys) const {
  if (keys.dtype() != options_.key_type) {
    return absl::InvalidArgumentError(absl::StrCat("keys are ", DataTypeName(keys.dtype()),
                                                   ", those of table '", name(), "' are ",
                                                   DataTypeName(options_.key_type)));
  }
  for (int64_t i = 0; i < keys.num_elements() && !options_.no_keys.empty(); ++i) {
    const auto& no = options_.no_keys;
    if (std::find(no.begin(), no.end(), KeyOf(keys, i)) != no.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("keys[", i, "] is the table's empty or deleted key"));
    }
  }
  return absl::OkStatus();
}

absl::Status Table::CheckEntries(const Tensor& keys, const Tensor& values) const {
  TENON_RETURN_IF_ERROR(CheckKeys(keys));
  if (values.dtype() != options_.value_type) {
    return absl::InvalidArgumentError(absl::StrCat("values are ", DataTypeName(values.dtype()),
                                                   ", those of table '", name(), "' are ",
                                                   DataTypeName(options_.value_type)));
  }
  TENON_ASSIGN_OR_RETURN(const Shape wanted, Behind(keys.shape(), options_.value_shape));
  if (values.shape() == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("values have shape ", values.shape().ToString(),
                                                 " where ", wanted.ToString(),
                                                 " is right for keys ", keys.shape().ToString()));
}

absl::Status Table::CheckFilled() const {
  if (filled_ || options_.is_mutable) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("table '", name(), "' is not initialized; run its initializer first"));
}

absl::StatusOr<Tensor> Table::Find(const Tensor& keys, const Tensor& missing) {
  if (keys.dtype() != options_.key_type || missing.dtype() != options_.value_type) {
    return absl::InvalidArgumentError(
        absl::StrCat("table '", name(), "' gives ", DataTypeName(options_.value_type), " for ",
                     DataTypeName(options_.key_type), ", not ", DataTypeName(missing.dtype()),
                     " for ", DataTypeName(keys.dtype())));
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, Behind(keys.shape(), options_.value_shape));
  const bool one_for_all = missing.shape() == options_.value_shape;
  if (!one_for_all && !(missing.shape() == shape)) {
    return absl::InvalidArgumentError(absl::StrCat("the default value has shape ",
                                                   missing.shape().ToString(), " where ",
                                                   options_.value_shape.ToString(), " is wanted"));
  }
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(options_.value_type, shape));
  const ElementCopy copy(options_.value_type);
  const int64_t row = options_.value_shape.num_elements();
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckFilled());
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const auto found = places_.find(KeyOf(keys, i));
    if (found != places_.end()) {
      copy(values_.data(), found->second * row, out.data(), i * row, row);
    } else {
      copy(missing.data(), one_for_all ? 0 : i * row, out.data(), i * row, row);
    }
  }
  return out;
}

bool Table::SameValue(int64_t place, const Tensor& values, int64_t i) const {
  const int64_t row = options_.value_shape.num_elements();
  if (options_.value_type == DataType::kString) {
    for (int64_t k = 0; k < row; ++k) {
      if (values_.StringAt(place * row + k) != values.StringAt(i * row + k)) return false;
    }
    return true;
  }
  const size_t bytes = row * DataTypeSize(options_.value_type);
  return std::memcmp(values_.flat<char>() + place * bytes, values.flat<char>() + i * bytes,
                     bytes) == 0;
}

absl::Status Table::Put(std::string key, const Tensor& values, int64_t i) {
  const ElementCopy copy(options_.value_type);
  const int64_t row = options_.value_shape.num_elements();
  const auto known = places_.find(key);
  int64_t place = known != places_.end() ? known->second : used_;
  if (known == places_.end() && !free_.empty()) {
    place = free_.back();
    free_.pop_back();
  }
  const int64_t room = values_.initialized() ? values_.shape().dim(0) : 0;
  if (place >= room) {
    TENON_ASSIGN_OR_RETURN(const Shape shape,
                           Behind(Shape({std::max<int64_t>(16, 2 * room)}), options_.value_shape));
    TENON_ASSIGN_OR_RETURN(Tensor larger, Tensor::Allocate(options_.value_type, shape));
    if (room > 0) copy(values_.data(), 0, larger.data(), 0, room * row);
    values_ = std::move(larger);
  }
  copy(values.data(), i * row, values_.data(), place * row, row);
  used_ = std::max(used_, place + 1);
  places_.insert_or_assign(std::move(key), place);
  return absl::OkStatus();
}

absl::Status Table::Initialize(const Tensor& keys, const Tensor& values) {
  TENON_RETURN_IF_ERROR(CheckEntries(keys, values));
  absl::MutexLock lock(&mutex_);
  if (filled_) {
    if (static_cast<int64_t>(places_.size()) == keys.num_elements()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("table '", name(), "' is initialized already, with other entries"));
  }
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    std::string key = KeyOf(keys, i);
    const auto known = places_.find(key);
    if (known == places_.end()) {
      TENON_RETURN_IF_ERROR(Put(std::move(key), values, i));
    } else if (!SameValue(known->second, values, i)) {
      places_.clear();
      used_ = 0;
      return absl::FailedPreconditionError(
          absl::StrCat("keys[", i, "] was there before, with another value"));
    }
  }
  filled_ = true;
  return absl::OkStatus();
}

absl::Status Table::Insert(const Tensor& keys, const Tensor& values, bool clear_before) {
  if (!options_.is_mutable) {
    return absl::UnimplementedError(
        absl::StrCat("table '", name(), "' is filled once, by its initializer"));
  }
  TENON_RETURN_IF_ERROR(CheckEntries(keys, values));
  absl::MutexLock lock(&mutex_);
  if (clear_before) {
    places_.clear();
    free_.clear();
    used_ = 0;
  }
  for (int64_t i = 0; i < keys.num_elements(); ++i)
    TENON_RETURN_IF_ERROR(Put(KeyOf(keys, i), values, i));
  return absl::OkStatus();
}

absl::Status Table::Remove(const Tensor& keys) {
  if (!options_.is_mutable) {
    return absl::UnimplementedError(
        absl::StrCat("table '", name(), "' is filled once, by its initializer"));
  }
  TENON_RETURN_IF_ERROR(CheckKeys(keys));
  absl::MutexLock lock(&mutex_);
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const auto found = places_.find(KeyOf(keys, i));
    if (found == places_.end()) continue;
    free_.push_back(found->second);
    places_.erase(found);
  }
  return absl::OkStatus();
}

bool Table::filled() {
  absl::MutexLock lock(&mutex_);
  return filled_;
}

absl::StatusOr<int64_t> Table::Size() {
  absl::MutexLock lock(&mutex_);
  return static_cast<int64_t>(places_.size());
}

absl::StatusOr<Table::Entries> Table::Export() {
  absl::MutexLock lock(&mutex_);
  TENON_RETURN_IF_ERROR(CheckFilled());
  const Shape count({static_cast<int64_t>(places_.size())});
  Entries entries;
  TENON_ASSIGN_OR_RETURN(entries.keys, Tensor::Allocate(options_.key_type, count));
  TENON_ASSIGN_OR_RETURN(const Shape shape, Behind(count, options_.value_shape));
  TENON_ASSIGN_OR_RETURN(entries.values, Tensor::Allocate(options_.value_type, shape));
  const ElementCopy copy(options_.value_type);
  const int64_t row = options_.value_shape.num_elements();
  // In the order in which they came.
  std::vector<std::pair<int64_t, std::string_view>> in_order;
  for (const auto& [key, place] : places_) in_order.emplace_back(place, key);
  std::sort(in_order.begin(), in_order.end());
  int64_t i = 0;
  for (const auto& [place, key] : in_order) {
    if (options_.key_type == DataType::kString) {
      entries.keys.SetString(i, key);
    } else {
      std::memcpy(entries.keys.flat<char>() + i * key.size(), key.data(), key.size());
    }
    copy(values_.data(), place * row, entries.values.data(), i * row, row);
    ++i;
  }
  return entries;
}

}  // namespace tenon::cpu
