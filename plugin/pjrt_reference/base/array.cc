#include "array.h"

#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "refusal.h"

namespace pjref {
namespace {

constexpr size_t kAlignment = 64;

// How one stored element becomes a computed one, and back.
template <typename T, typename S>
T Widen(S value) {
  return static_cast<T>(value);
}
template <typename T>
T Widen(Half value) {
  return static_cast<T>(ToFloat(value));
}
template <typename T>
T Widen(BFloat value) {
  return static_cast<T>(ToFloat(value));
}

template <typename S, typename T>
void Narrow(T value, S* out) {
  *out = static_cast<S>(value);
}
template <typename T>
void Narrow(T value, Half* out) {
  *out = ToHalf(value);
}
template <typename T>
void Narrow(T value, BFloat* out) {
  *out = ToBFloat(value);
}

// Which stored types a computed one meets.
template <typename T, typename S>
constexpr bool Meets() {
  constexpr bool kStoredFloat =
      std::is_floating_point_v<S> || std::is_same_v<S, Half> || std::is_same_v<S, BFloat>;
  if constexpr (std::is_integral_v<T>) return std::is_integral_v<S>;
  if constexpr (std::is_floating_point_v<T>) return kStoredFloat || std::is_integral_v<S>;
  if constexpr (!std::is_integral_v<T> && !std::is_floating_point_v<T>)
    return !std::is_integral_v<S> && !kStoredFloat;
  return false;
}

}  // namespace

int64_t Type::count() const {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

std::string ToString(const Type& type) {
  if (type.element == Element::kToken) return "!stablehlo.token";
  std::string text = "tensor<";
  for (int64_t dim : type.dims) text += std::to_string(dim) + "x";
  return text + std::string(NameOf(type.element)) + ">";
}

std::string ToString(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

bool FitsMemory(const Type& type) {
  constexpr int64_t kMost = int64_t{1} << 56;
  int64_t product = 1;
  for (int64_t dim : type.dims) {
    if (dim < 0) return false;
    const int64_t factor = dim == 0 ? 1 : dim;
    if (product > kMost / factor) return false;
    product *= factor;
  }
  return true;
}

Storage::Storage(size_t bytes) : size_(bytes), foreign_(false) {
  const size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  data_ = static_cast<char*>(std::aligned_alloc(kAlignment, rounded));
  if (!data_)
    throw Refusal(Code::kResourceExhausted,
                  "Out of memory allocating " + std::to_string(bytes) + " bytes.");
}

Storage::Storage(void* data, size_t bytes, std::shared_ptr<void> keeper)
    : data_(static_cast<char*>(data)), size_(bytes), foreign_(true), keeper_(std::move(keeper)) {}

Storage::~Storage() {
  if (!foreign_) std::free(data_);
}

Array::Array(Type type)
    : type_(std::move(type)), storage_(std::make_shared<Storage>(type_.bytes())) {}

Array Array::Own() && {
  if (storage_.use_count() == 1) return std::move(*this);
  Array copy(type_);
  std::memcpy(copy.data(), data(), bytes());
  return copy;
}

template <typename T>
void Load(const Array& array, int64_t at, int64_t count, T* out) {
  VisitStored(array.element(), [&](auto stored) {
    using S = decltype(stored);
    if constexpr (Meets<T, S>()) {
      const S* in = array.data<S>() + at;
      for (int64_t i = 0; i < count; ++i) out[i] = Widen<T>(in[i]);
    } else {
      throw Refusal(Code::kInternal,
                    "elements of " + ToString(array.type()) + " were read as another type");
    }
  });
}

template <typename T>
void Store(const T* in, int64_t at, int64_t count, const Array& array) {
  if (array.element() == Element::kI1) {
    if constexpr (std::is_arithmetic_v<T>) {
      uint8_t* out = array.data<uint8_t>() + at;
      for (int64_t i = 0; i < count; ++i) out[i] = in[i] != 0;
      return;
    }
  }
  VisitStored(array.element(), [&](auto stored) {
    using S = decltype(stored);
    // A float that no integer holds has no meaning here: who converts clamps first.
    if constexpr (Meets<T, S>() && !(std::is_floating_point_v<T> && std::is_integral_v<S>)) {
      S* out = array.data<S>() + at;
      for (int64_t i = 0; i < count; ++i) Narrow(in[i], &out[i]);
    } else {
      throw Refusal(Code::kInternal,
                    "elements of " + ToString(array.type()) + " were written as another type");
    }
  });
}

#define PJREF_COMPUTED(T)                                    \
  template void Load<T>(const Array&, int64_t, int64_t, T*); \
  template void Store<T>(const T*, int64_t, int64_t, const Array&);
PJREF_COMPUTED(float)
PJREF_COMPUTED(double)
PJREF_COMPUTED(int64_t)
PJREF_COMPUTED(uint64_t)
PJREF_COMPUTED(std::complex<float>)
PJREF_COMPUTED(std::complex<double>)
#undef PJREF_COMPUTED

Dims LoadIntegers(const Array& array) { return LoadAll<int64_t>(array); }

Array Splat(const Array& value, Dims dims) {
  Array out({value.element(), std::move(dims)});
  const size_t size = ByteSize(value.element());
  char* to = out.data();
  const int64_t count = out.count();
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * size, value.data(), size);
  return out;
}

Dims StridesOf(const Dims& dims) {
  Dims strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

bool Advance(const Dims& dims, Dims* index) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++(*index)[i] < dims[i]) return true;
    (*index)[i] = 0;
  }
  return false;
}

}  // namespace pjref
