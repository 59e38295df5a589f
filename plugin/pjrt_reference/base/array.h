// Arrays: dense, row major, shared by copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "element.h"

namespace pjref {

using Dims = std::vector<int64_t>;

struct Type {
  Element element = Element::kInvalid;
  Dims dims;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  // Elements; types that the parser or the face let through do not overflow.
  int64_t count() const;
  size_t bytes() const { return static_cast<size_t>(count()) * ByteSize(element); }
  bool operator==(const Type& other) const {
    return element == other.element && dims == other.dims;
  }
  bool operator!=(const Type& other) const { return !(*this == other); }
};

// "tensor<2x3xf32>", "!stablehlo.token".
std::string ToString(const Type& type);
std::string ToString(const Dims& dims);
// Whether the elements' bytes can be counted, with room for arithmetic on them. False for a
// negative dimension, and if the dimensions that are not 0 have a product above 2^56.
bool FitsMemory(const Type& type);

// Memory: its own, which is aligned to 64 bytes, or someone else's of any alignment.
class Storage {
 public:
  // Throws Refusal(kResourceExhausted) without memory. The bytes are undefined.
  explicit Storage(size_t bytes);
  // Memory of someone else's, which must outlive the storage; `keeper`, which may be null, is
  // released with the storage.
  Storage(void* data, size_t bytes, std::shared_ptr<void> keeper);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_;
  size_t size_;
  bool foreign_;
  std::shared_ptr<void> keeper_;
};

class Array {
 public:
  Array() = default;
  // Elements are undefined.
  explicit Array(Type type);
  Array(Type type, std::shared_ptr<Storage> storage)
      : type_(std::move(type)), storage_(std::move(storage)) {}

  const Type& type() const { return type_; }
  Element element() const { return type_.element; }
  const Dims& dims() const { return type_.dims; }
  int64_t count() const { return type_.count(); }
  size_t bytes() const { return type_.bytes(); }
  bool defined() const { return storage_ != nullptr; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  template <typename T = char>
  T* data() const {
    return reinterpret_cast<T*>(storage_->data());
  }
  // The same elements under other dims, of the same count; nothing is copied.
  Array WithDims(Dims dims) const { return Array({type_.element, std::move(dims)}, storage_); }
  // The same memory, also someone else's, or a copy if other arrays have the same Storage.
  Array Own() &&;

 private:
  Type type_;
  std::shared_ptr<Storage> storage_;
};

// Elements `at` to `at` + `count` - 1, as the type in which they are computed; wraps or rounds as a
// conversion between integers or floats does. T is one of VisitComputed's types and of the
// element's kind: integers and i1 as integers, floats as floats, complex numbers as complex
// numbers. Load also gives integers and i1 as floats. Store writes to i1 whether an integer or a
// float is not 0. Both throw Refusal(kInternal) for any other pair.
template <typename T>
void Load(const Array& array, int64_t at, int64_t count, T* out);
template <typename T>
void Store(const T* in, int64_t at, int64_t count, const Array& array);

// The whole array.
template <typename T>
std::vector<T> LoadAll(const Array& array) {
  std::vector<T> values(static_cast<size_t>(array.count()));
  Load<T>(array, 0, array.count(), values.data());
  return values;
}
// Integers and i1 as int64_t. Throws Refusal(kInternal) for other elements.
Dims LoadIntegers(const Array& array);
// An array of `dims`, of which each element is the one element of `value`.
Array Splat(const Array& value, Dims dims);

// Steps between neighbours along each axis of a row-major array, in elements.
Dims StridesOf(const Dims& dims);

// Moves `index`, of as many entries as `dims`, to the next position of a row-major walk. After the
// last position returns false, and `index` is the first position again.
bool Advance(const Dims& dims, Dims* index);

}  // namespace pjref
