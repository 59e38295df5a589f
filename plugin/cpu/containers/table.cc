#include "plugin/cpu/containers/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<Shape> Behind(const Shape& first, const Shape& rest) {
  Dims dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  return Shape::Make(dims);
}

// Texts of a key, one behind the other, each behind its length: "ab", "c" and "a", "bc" are
// different keys.
void AppendText(std::string& key, std::string_view text) {
  const uint64_t size = text.size();
  key.append(reinterpret_cast<const char*>(&size), sizeof(size));
  key.append(text);
}

std::string_view NextText(std::string_view& key) {
  uint64_t size;
  std::memcpy(&size, key.data(), sizeof(size));
  const std::string_view text = key.substr(sizeof(size), size);
  key.remove_prefix(sizeof(size) + size);
  return text;
}

}  // namespace

// Keys are texts of bytes, so that one hash map serves all types and shapes of keys. Keys are equal
// if their bytes are: 0 and -0 are different keys, and a NaN finds a NaN of the same bits.
std::string Table::KeyOf(const Tensor& keys, int64_t i, int64_t size) {
  if (keys.dtype() != DataType::kString) {
    const size_t bytes = DataTypeSize(keys.dtype()) * size;
    return std::string(keys.flat<char>() + i * bytes, bytes);
  }
  if (size == 1) return std::string(keys.StringAt(i));
  std::string key;
  for (int64_t k = i * size; k < (i + 1) * size; ++k) AppendText(key, keys.StringAt(k));
  return key;
}

bool Table::IsNoKey(const std::string& key) const {
  return std::find(options_.no_keys.begin(), options_.no_keys.end(), key) != options_.no_keys.end();
}

absl::StatusOr<Shape> Table::ValuesOf(const Tensor& keys) const {
  if (keys.dtype() != options_.key_type) {
    return absl::InvalidArgumentError(absl::StrCat("keys are ", DataTypeName(keys.dtype()),
                                                   ", those of table '", name(), "' are ",
                                                   DataTypeName(options_.key_type)));
  }
  const auto dims = keys.shape().dims(), key = options_.key_shape.dims();
  if (dims.size() < key.size() || !std::equal(key.begin(), key.end(), dims.end() - key.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("keys have shape ", keys.shape().ToString(), ", which does not end with ",
                     options_.key_shape.ToString(), " as those of table '", name(), "' do"));
  }
  Dims values(dims.begin(), dims.end() - key.size());
  const auto value = options_.value_shape.dims();
  values.insert(values.end(), value.begin(), value.end());
  return Shape::Make(values);
}

absl::StatusOr<int64_t> Table::CountKeys(const Tensor& keys) const {
  const int64_t count = keys.num_elements() / options_.key_shape.num_elements();
  for (int64_t i = 0; i < count && !options_.no_keys.empty(); ++i) {
    if (IsNoKey(KeyOf(keys, i)))
      return absl::InvalidArgumentError(
          absl::StrCat("keys[", i, "] is the table's empty or deleted key"));
  }
  return count;
}

absl::Status Table::CheckMutable() const {
  if (options_.is_mutable) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("table '", name(), "' is filled once, by its initializer"));
}

absl::Status Table::CheckFilledOnce() const {
  if (!options_.is_mutable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("table '", name(), "' is mutable and has no initializer; insert its entries"));
}

absl::Status Table::CheckEntries(const Tensor& keys, const Tensor& values) const {
  TENON_ASSIGN_OR_RETURN(const Shape wanted, ValuesOf(keys));
  if (values.dtype() != options_.value_type) {
    return absl::InvalidArgumentError(absl::StrCat("values are ", DataTypeName(values.dtype()),
                                                   ", those of table '", name(), "' are ",
                                                   DataTypeName(options_.value_type)));
  }
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
  TENON_ASSIGN_OR_RETURN(const Shape shape, ValuesOf(keys));
  TENON_ASSIGN_OR_RETURN(const int64_t count, CountKeys(keys));
  if (missing.dtype() != options_.value_type) {
    return absl::InvalidArgumentError(
        absl::StrCat("the default value is ", DataTypeName(missing.dtype()), ", values of table '",
                     name(), "' are ", DataTypeName(options_.value_type)));
  }
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
  for (int64_t i = 0; i < count; ++i) {
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
  // Room grows by doubling, so n insertions copy O(n) rows. Places of removed keys are used again,
  // the last one first.
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
  TENON_RETURN_IF_ERROR(CheckFilledOnce());
  TENON_RETURN_IF_ERROR(CheckEntries(keys, values));
  const int64_t count = keys.num_elements() / options_.key_shape.num_elements();
  absl::MutexLock lock(&mutex_);
  if (filled_) {
    // An initializer may run again, in each run that names it. TensorFlow then compares the numbers
    // of entries only.
    if (static_cast<int64_t>(places_.size()) == count) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("table '", name(), "' is initialized already, with other entries"));
  }
  const absl::Status filled = Fill(keys, values, count);
  if (!filled.ok()) Clear();
  filled_ = filled.ok();
  return filled;
}

absl::Status Table::Fill(const Tensor& keys, const Tensor& values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::string key = KeyOf(keys, i);
    const auto known = places_.find(key);
    if (known == places_.end()) {
      TENON_RETURN_IF_ERROR(Put(std::move(key), values, i));
    } else if (!SameValue(known->second, values, i)) {
      return absl::FailedPreconditionError(
          absl::StrCat("keys[", i, "] was there before, with another value"));
    }
  }
  return absl::OkStatus();
}

void Table::Clear() {
  places_.clear();
  free_.clear();
  used_ = 0;
}

absl::Status Table::Insert(const Tensor& keys, const Tensor& values) {
  TENON_RETURN_IF_ERROR(CheckMutable());
  TENON_RETURN_IF_ERROR(CheckEntries(keys, values));
  TENON_ASSIGN_OR_RETURN(const int64_t count, CountKeys(keys));
  absl::MutexLock lock(&mutex_);
  for (int64_t i = 0; i < count; ++i) TENON_RETURN_IF_ERROR(Put(KeyOf(keys, i), values, i));
  return absl::OkStatus();
}

// A dense table's keys and values are matrices, of one column where both are scalars.
absl::StatusOr<Table::Entries> Table::FromMatrices(const Tensor& keys, const Tensor& values) const {
  if (options_.no_keys.empty() || keys.shape().rank() != 2) return Entries{keys, values};
  const Shape rows({keys.shape().dim(0)});
  Entries entries{keys, values};
  for (const auto& [tensor, element] :
       {std::pair(&entries.keys, &options_.key_shape), {&entries.values, &options_.value_shape}}) {
    TENON_ASSIGN_OR_RETURN(Shape shape, Behind(rows, *element));
    // CheckEntries refuses any other number of elements.
    if (tensor->num_elements() == shape.num_elements())
      *tensor = tensor->Reshaped(std::move(shape));
  }
  return entries;
}

absl::Status Table::Import(const Tensor& some_keys, const Tensor& some_values) {
  TENON_RETURN_IF_ERROR(CheckMutable());
  TENON_ASSIGN_OR_RETURN(const auto entries, FromMatrices(some_keys, some_values));
  const auto& [keys, values] = entries;
  TENON_RETURN_IF_ERROR(CheckEntries(keys, values));
  const int64_t count = keys.num_elements() / options_.key_shape.num_elements();
  absl::MutexLock lock(&mutex_);
  Clear();
  for (int64_t i = 0; i < count; ++i) {
    std::string key = KeyOf(keys, i);
    if (!IsNoKey(key)) TENON_RETURN_IF_ERROR(Put(std::move(key), values, i));
  }
  return absl::OkStatus();
}

absl::Status Table::Remove(const Tensor& keys) {
  TENON_RETURN_IF_ERROR(CheckMutable());
  TENON_RETURN_IF_ERROR(ValuesOf(keys).status());
  TENON_ASSIGN_OR_RETURN(const int64_t count, CountKeys(keys));
  absl::MutexLock lock(&mutex_);
  for (int64_t i = 0; i < count; ++i) {
    const auto found = places_.find(KeyOf(keys, i));
    if (found == places_.end()) continue;
    free_.push_back(found->second);
    places_.erase(found);
  }
  return absl::OkStatus();
}

void Table::SetKey(const Tensor& keys, int64_t i, std::string_view key) const {
  const int64_t size = options_.key_shape.num_elements();
  if (options_.key_type != DataType::kString) {
    std::memcpy(keys.flat<char>() + i * key.size(), key.data(), key.size());
  } else if (size == 1) {
    keys.SetString(i, key);
  } else {
    for (int64_t k = i * size; k < (i + 1) * size; ++k) keys.SetString(k, NextText(key));
  }
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
  const bool dense = !options_.no_keys.empty();
  const auto rows = [&](const Shape& element) {
    return Behind(count, dense ? Shape({element.num_elements()}) : element);
  };
  TENON_ASSIGN_OR_RETURN(const Shape keys, rows(options_.key_shape));
  TENON_ASSIGN_OR_RETURN(entries.keys, Tensor::Allocate(options_.key_type, keys));
  TENON_ASSIGN_OR_RETURN(const Shape shape, rows(options_.value_shape));
  TENON_ASSIGN_OR_RETURN(entries.values, Tensor::Allocate(options_.value_type, shape));
  const ElementCopy copy(options_.value_type);
  const int64_t row = options_.value_shape.num_elements();
  // By place, so that the result does not depend on the hash map: in the order of insertion, unless
  // removals have freed places.
  std::vector<std::pair<int64_t, std::string_view>> in_order;
  for (const auto& [key, place] : places_) in_order.emplace_back(place, key);
  std::sort(in_order.begin(), in_order.end());
  int64_t i = 0;
  for (const auto& [place, key] : in_order) {
    SetKey(entries.keys, i, key);
    copy(values_.data(), place * row, entries.values.data(), i * row, row);
    ++i;
  }
  return entries;
}

absl::StatusOr<ObjectRef<Table>> Table::Copy() {
  auto copy = ObjectRef<Table>::Make(name(), options_);
  absl::MutexLock lock(&mutex_);
  absl::MutexLock lock_copy(&copy->mutex_);
  copy->filled_ = filled_;
  copy->places_ = places_;
  copy->free_ = free_;
  copy->used_ = used_;
  if (values_.initialized()) {
    TENON_ASSIGN_OR_RETURN(copy->values_, values_.Copy());
  }
  return copy;
}

}  // namespace tenon::cpu
