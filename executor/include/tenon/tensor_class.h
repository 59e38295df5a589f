// Tensors: values, and symbols of a function that is being traced.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/context.h"
#include "tenon/dtype.h"
#include "tenon/error.h"
#include "tenon/shape.h"
#include "tensorflow/c/tf_tensor.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::inline v0 {
namespace internal {

class TraceGraph;

// A variable as graphs name it.
struct VariableInfo {
  uint64_t number = 0;  // that no other variable of the process has or had
  std::string name, shared_name;
  DType dtype = DType::kInvalid;
  Shape shape;
};

// Destroys what a handle of a resource leads to. Throws nothing: the program may be in the middle
// of an exception.
inline void DestroyResource(TFE_TensorHandle* handle) {
  TF_Status* const status = TF_NewStatus();
  if (TFE_Op* const op = TFE_NewOp(Context(), "DestroyResourceOp", status)) {
    TFE_OpAddInput(op, handle, status);
    TFE_OpSetAttrBool(op, "ignore_lookup_error", 1);
    int count = 0;
    TFE_Execute(op, nullptr, &count, status);
    TFE_DeleteOp(op);
  }
  TF_DeleteStatus(status);
}

// How many traces the process has begun.
inline std::atomic<uint64_t> trace_clock{0};

// What tensors share: an eager value, or one output of a node of a trace.
struct TensorRep {
  std::atomic<int64_t> refs{1};
  DType dtype = DType::kInvalid;
  TFE_TensorHandle* handle = nullptr;     // an eager value
  std::atomic<TF_Tensor*> host{nullptr};  // the value in the host's memory, once it was asked for
  std::shared_ptr<TraceGraph> graph;      // a symbol
  TF_Output output{nullptr, 0};
  Where where;  // of the call that made it, if that is known
  // Of a resource the bytes of TF_SetHandleShapeAndType, if the types of its content are known.
  std::shared_ptr<const std::string> handle_data;
  std::shared_ptr<const VariableInfo> variable;  // of a variable's handle
  bool is_trainable = false;                     // the handle of a variable that tapes watch
  bool owns_resource = false;                    // the handle of a variable, which goes with it
  std::atomic<bool> is_watched{false};           // a tape was told to watch it
  // How many traces had begun when it was made.
  const uint64_t born = trace_clock.load(std::memory_order_relaxed);
  TensorRep* read_of = nullptr;  // of a value that a Variable became: its handle, counted

  TensorRep() = default;
  TensorRep(const TensorRep&) = delete;
  TensorRep& operator=(const TensorRep&) = delete;
  ~TensorRep() {
    if (owns_resource) DestroyResource(handle);
    if (read_of != nullptr && read_of->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete read_of;
    if (handle != nullptr) TFE_DeleteTensorHandle(handle);
    if (TF_Tensor* const tensor = host.load(std::memory_order_relaxed)) TF_DeleteTensor(tensor);
  }
};

// A new tensor in the host's memory, whose elements are not set.
inline TF_Tensor* AllocateTensor(DType dtype, const int64_t* dims, int rank, Where where = {}) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      Throw(TF_INVALID_ARGUMENT, "A tensor has no negative lengths: " + std::to_string(dims[i]),
            where);
    if (__builtin_mul_overflow(count, dims[i], &count))
      Throw(TF_INVALID_ARGUMENT, "A tensor of more than 2^63 elements", where);
  }
  const auto size = static_cast<int64_t>(TF_DataTypeSize(static_cast<TF_DataType>(dtype)));
  int64_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(
      count, dtype == DType::kString ? int64_t{sizeof(TF_TString)} : size, &bytes);
  TF_Tensor* const tensor = overflow ? nullptr
                                     : TF_AllocateTensor(static_cast<TF_DataType>(dtype), dims,
                                                         rank, static_cast<size_t>(bytes));
  if (tensor == nullptr)
    Throw(TF_RESOURCE_EXHAUSTED,
          "No memory for a tensor of " + std::to_string(count) + " elements of type " + Name(dtype),
          where);
  return tensor;
}

}  // namespace internal

class Index;
class Tensor;
template <typename T>
class TensorElements;
namespace internal {

// A complex number in lists of lists, where a pair in braces is its real and its imaginary part. A
// number alone makes none: {{1, 2}, {3, 4}} would be a matrix too.
template <typename T>
class ComplexElement {
 public:
  ComplexElement(typename T::value_type real, typename T::value_type imaginary)
      : value_(real, imaginary) {}
  template <std::same_as<T> U>
  ComplexElement(const U& value) : value_(value) {}  // NOLINT
  operator T() const { return value_; }              // NOLINT

 private:
  T value_;
};
// The element of type T of lists of lists.
template <typename T>
struct ListElementOf {
  using Type = T;
};
template <IsComplex T>
struct ListElementOf<T> {
  using Type = ComplexElement<T>;
};
template <typename T>
using ListElement = typename ListElementOf<T>::Type;

Tensor SliceOf(const Tensor& tensor, std::span<const class Index> indices, Where where);
}  // namespace internal

// A cheap handle: copies are the same tensor, which lives as long as the last of them. Either an
// eager value, or a symbol of a function that is being traced. Tensors do not change. Copies of one
// tensor may be used by several threads at once. A moved-from Tensor is as the one of Tensor().
class Tensor {
 public:
  // No tensor. defined(), IsSymbolic(), ToString(), copies and assignment are allowed; any other
  // use is INVALID_ARGUMENT. Gradients are given in this form where there is no path.
  Tensor() = default;
  // Scalars, and strings as scalars. `text` must not be null.
  template <internal::Number T>
  Tensor(T value)  // NOLINT
      : Tensor(OfBytes(internal::DTypeOf<T>(), Shape{}, &value, 1, sizeof(T))) {}
  Tensor(const char* text) : Tensor(std::string_view(text)) {}         // NOLINT
  Tensor(const std::string& text) : Tensor(std::string_view(text)) {}  // NOLINT
  Tensor(std::string_view text)                                        // NOLINT
      : Tensor(Of<std::string_view>(Shape{}, std::span<const std::string_view>(&text, 1))) {}

  Tensor(const Tensor& other) noexcept : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Tensor() {
    if (rep_ != nullptr && rep_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep_;
  }

  // A value of this shape with these elements in row-major order, which are copied. The type is
  // that of T: float is kFloat, int64_t kInt64, std::string kString. INVALID_ARGUMENT if there are
  // not as many elements as the shape has, or a length is unknown. RESOURCE_EXHAUSTED if there is
  // no memory.
  template <typename T>
  static Tensor Of(const Shape& shape, std::span<const T> values, Where where = Where::current()) {
    static_assert(internal::DTypeOf<T>() != DType::kInvalid, "Tensors do not hold this type");
    if constexpr (internal::DTypeOf<T>() == DType::kString) {
      TF_Tensor* const tensor = Allocate(DType::kString, shape, values.size(), where);
      auto* const strings = static_cast<TF_TString*>(TF_TensorData(tensor));
      for (size_t i = 0; i < values.size(); ++i) {
        const std::string_view text = values[i];
        TF_TString_Init(&strings[i]);
        TF_TString_Copy(&strings[i], text.data(), text.size());
      }
      return FromHost(tensor, where);
    } else {
      return OfBytes(internal::DTypeOf<T>(), shape, values.data(), values.size(),
                     values.size_bytes(), where);
    }
  }
  template <typename T>
  static Tensor Of(const Shape& shape, const std::vector<T>& values,
                   Where where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>) {
      const std::unique_ptr<bool[]> copy(new bool[values.size()]);
      for (size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
      return Of<bool>(shape, std::span<const bool>(copy.get(), values.size()), where);
    } else {
      return Of<T>(shape, std::span<const T>(values), where);
    }
  }
  template <typename T>
  static Tensor Of(const Shape& shape, std::initializer_list<T> values,
                   Where where = Where::current()) {
    return Of<T>(shape, std::span<const T>(values.begin(), values.size()), where);
  }
  // Vectors, matrices and tensors of three and four dimensions: Of<float>({{1, 2}, {3, 4}}).
  // For complex numbers a pair in braces is one number: Of<std::complex<float>>({{1, 2}, {3, 4}})
  // is the vector of 1+2i and 3+4i. INVALID_ARGUMENT if lists of one level differ in length.
  template <typename T>
  static Tensor Of(std::initializer_list<T> values, internal::Here here = Where::current()) {
    return Of<T>(Shape{static_cast<int64_t>(values.size())},
                 std::span<const T>(values.begin(), values.size()), here);
  }
  template <typename T>
  requires(!internal::IsComplex<T>) static Tensor
      Of(std::initializer_list<std::initializer_list<T>> values,
         internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }
  template <typename T>
  requires(!internal::IsComplex<T>) static Tensor
      Of(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
         internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }
  template <typename T>
  requires(!internal::IsComplex<T>) static Tensor Of(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>
          values,
      internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }
  template <internal::IsComplex T>
  static Tensor Of(std::initializer_list<std::initializer_list<internal::ComplexElement<T>>> values,
                   internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }
  template <internal::IsComplex T>
  static Tensor Of(std::initializer_list<
                       std::initializer_list<std::initializer_list<internal::ComplexElement<T>>>>
                       values,
                   internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }
  template <internal::IsComplex T>
  static Tensor Of(std::initializer_list<std::initializer_list<
                       std::initializer_list<std::initializer_list<internal::ComplexElement<T>>>>>
                       values,
                   internal::Here here = Where::current()) {
    return OfNested<T>(values, here);
  }

  // A value in memory of the caller's, which holds elements of `dtype` in row-major order: numbers
  // or kBool, no strings. The memory is used where it lies if it is aligned to 64 bytes, else
  // copied. It must not change until `release` is called. `release` may be empty. It is called
  // once, on any thread, when no tensor uses the memory any more: for a copy, and for no elements,
  // before View returns; after an error, before View throws. INVALID_ARGUMENT for another type, an
  // unknown length, null `data` of a tensor that has elements, and for no memory for a copy.
  static Tensor View(void* data, DType dtype, const Shape& shape, std::function<void()> release,
                     Where where = Where::current()) {
    const size_t size = TF_DataTypeSize(static_cast<TF_DataType>(dtype));
    auto* const owner = new std::function<void()>(std::move(release));
    const auto free = [](void*, size_t, void* argument) {
      auto* const function = static_cast<std::function<void()>*>(argument);
      if (*function) (*function)();
      delete function;
    };
    if (!shape.IsFullyDefined()) {
      free(data, 0, owner);
      internal::Throw(TF_INVALID_ARGUMENT, "View: unknown lengths in " + shape.ToString(), where);
    }
    const int64_t count = shape.num_elements();
    if (size == 0 || (data == nullptr && count != 0)) {
      free(data, 0, owner);
      internal::Throw(TF_INVALID_ARGUMENT,
                      size == 0
                          ? std::string("View: a tensor of type ") + Name(dtype) +
                                " is no view: its elements are not plain memory"
                          : "View: the memory of " + std::to_string(count) + " elements is null",
                      where);
    }
    if (count == 0) {
      free(data, 0, owner);
      return FromHost(Allocate(dtype, shape, 0, where), where);
    }
    TF_Tensor* const tensor =
        TF_NewTensor(static_cast<TF_DataType>(dtype), shape.dims().data(), shape.rank(), data,
                     size * static_cast<size_t>(count), free, owner);
    if (tensor == nullptr) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      std::string("View: not a tensor of type ") + Name(dtype) + " and shape " +
                          shape.ToString(),
                      where);
    }
    return FromHost(tensor, where);
  }

  // A value of the C API, not null. Takes what it is given, also where it throws. The first
  // FromHost of the process makes the eager context, and with it the devices.
  static Tensor FromHost(TF_Tensor* tensor, Where where = {}) {
    auto* const rep = new internal::TensorRep;
    rep->host.store(tensor, std::memory_order_relaxed);
    rep->where = where;
    Tensor result(rep);
    rep->dtype = static_cast<DType>(TF_TensorType(tensor));
    internal::Context();
    TF_Status* const status = internal::ThreadStatus();
    rep->handle = TFE_NewTensorHandle(tensor, status);
    internal::Check(status, where);
    return result;
  }
  static Tensor FromHandle(TFE_TensorHandle* handle, Where where = {}) {
    auto* const rep = new internal::TensorRep;
    rep->handle = handle;
    rep->where = where;
    rep->dtype = static_cast<DType>(TFE_TensorHandleDataType(handle));
    return Tensor(rep);
  }

  bool defined() const { return rep_ != nullptr; }
  // True for a symbol: a tensor of a function that is being traced, which has no value yet.
  bool IsSymbolic() const { return rep_ != nullptr && rep_->handle == nullptr; }
  DType dtype(Where where = Where::current()) const { return rep(where).dtype; }
  // Of a symbol as far as it is known.
  Shape shape(Where where = Where::current()) const;
  // The full name of the device of the op that made the value, or to which the value was copied:
  // the op may have left the value in host memory. Of a symbol the device that the program asked
  // for, "" for none.
  std::string device(Where where = Where::current()) const;
  // Of a symbol the name of the output in its graph, "dense/MatMul:0"; of a value "".
  std::string name(Where where = Where::current()) const;

  // The tensor on a device, "/GPU:0" or a full name. A value that is there already is not copied.
  // In a trace, for a symbol and under a tape this is an op Identity on the device. An unknown
  // device is INVALID_ARGUMENT; in a trace the call of the function reports it.
  Tensor To(const std::string& device, Where where = Where::current()) const;

  // The elements in row-major order in the host's memory, which the tensor owns. Waits until they
  // are computed, and throws the error of the op that failed to compute them. INVALID_ARGUMENT if T
  // is not the tensor's type; FAILED_PRECONDITION for a symbol. Not for strings:
  // ToVector<std::string>().
  template <typename T>
  std::span<const T> data(Where where = Where::current()) const& {
    static_assert(internal::DTypeOf<T>() != DType::kString, "Use ToVector<std::string>()");
    TF_Tensor* const tensor = Host(where);
    CheckType(internal::DTypeOf<T>(), where);
    return {static_cast<const T*>(TF_TensorData(tensor)),
            static_cast<size_t>(TF_TensorElementCount(tensor))};
  }
  // The same of a temporary, which the elements keep: for (const float x : (a + b).data<float>()).
  // What becomes a std::span is gone with the expression.
  template <typename T>
  TensorElements<T> data(Where where = Where::current()) &&;
  // The only element, which may be a std::string. INVALID_ARGUMENT if there is not exactly one;
  // other errors are those of data().
  template <typename T>
  T item(Where where = Where::current()) const {
    static_assert(internal::DTypeOf<T>() != DType::kString || std::is_same_v<T, std::string>,
                  "Use item<std::string>()");
    TF_Tensor* const tensor = Host(where);
    CheckType(internal::DTypeOf<T>(), where);
    if (TF_TensorElementCount(tensor) != 1) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "item() of a tensor of shape " + shape().ToString() +
                          ": only a tensor of one"
                          " element has it",
                      where);
    }
    if constexpr (std::is_same_v<T, std::string>) {
      return StringAt(tensor, 0);
    } else {
      T value;
      std::memcpy(&value, TF_TensorData(tensor), sizeof(T));
      return value;
    }
  }
  // A copy of the elements, which may be std::string. Errors are those of data().
  template <typename T>
  std::vector<T> ToVector(Where where = Where::current()) const {
    if constexpr (std::is_same_v<T, std::string>) {
      TF_Tensor* const tensor = Host(where);
      CheckType(DType::kString, where);
      std::vector<std::string> strings(static_cast<size_t>(TF_TensorElementCount(tensor)));
      for (size_t i = 0; i < strings.size(); ++i) strings[i] = StringAt(tensor, i);
      return strings;
    } else {
      const std::span<const T> elements = data<T>(where);
      return std::vector<T>(elements.begin(), elements.end());
    }
  }
  // As NumPy prints, in aligned columns. A tensor of more than 1,000 elements is shown in part: of
  // each dimension longer than 6 the first and the last 3. Of a symbol its name, shape and type. Of
  // an empty Tensor "<empty Tensor>". Else the errors of data() but for the type.
  std::string ToString() const;

  // True if the only element is not zero. INVALID_ARGUMENT if there is not exactly one;
  // FAILED_PRECONDITION for a symbol: what a function does by a value is said with Cond or While.
  // The place of the error is that where the tensor was made.
  explicit operator bool() const;

  // A part, as NumPy gives it: t[0], t[Slice(1, 3)]. C++20's operator[] takes one index: several
  // stand in t({Slice(1, 3), All, -1}) or t[{Ellipsis, NewAxis}]. INVALID_ARGUMENT for more than 32
  // indices, for more than the tensor has dimensions, for an element that a dimension does not
  // have, and for a tensor as an index that is not of type kInt32 or kInt64.
  Tensor operator[](const Index& index) const;
  Tensor operator[](std::initializer_list<Index> indices) const;
  Tensor operator()(std::initializer_list<Index> indices, Where where = Where::current()) const;

  // The C API's objects, which belong to the tensor. handle() is null for a symbol, output().oper
  // for a value.
  TFE_TensorHandle* handle(Where where = Where::current()) const { return rep(where).handle; }
  TF_Output output(Where where = Where::current()) const { return rep(where).output; }

  // --- Of this library's own headers.
  explicit Tensor(internal::TensorRep* rep) : rep_(rep) {}
  // A value of `count` elements, not strings, which are copied from `values`. One function for all
  // types: the compiler makes one for each otherwise, also for a program that calls none.
  static Tensor OfBytes(DType dtype, const Shape& shape, const void* values, size_t count,
                        size_t bytes, Where where = {}) {
    TF_Tensor* const tensor = Allocate(dtype, shape, count, where);
    if (bytes != 0) std::memcpy(TF_TensorData(tensor), values, bytes);
    return FromHost(tensor, where);
  }
  internal::TensorRep* get() const { return rep_; }
  internal::TensorRep& rep(Where where = {}) const {
    if (rep_ == nullptr) [[unlikely]]
      ThrowEmpty(where);
    return *rep_;
  }
  // The value in the host's memory. The tensor owns it.
  [[gnu::noinline]] TF_Tensor* Host(Where where) const {
    internal::TensorRep& rep = this->rep(where);
    if (TF_Tensor* const tensor = rep.host.load(std::memory_order_acquire)) return tensor;
    if (rep.handle == nullptr)
      ThrowSymbolic(
          "its value is not known while the function is traced. Give it as a result of the function"
          " and read what the call gives; branch and loop by it with Cond and While; print it with"
          " ops::Print(x, {x})",
          where);
    TF_Status* const status = internal::ThreadStatus();
    TF_Tensor* const tensor = TFE_TensorHandleResolve(rep.handle, status);
    internal::Check(status, where);
    TF_Tensor* before = nullptr;
    if (rep.host.compare_exchange_strong(before, tensor, std::memory_order_acq_rel)) return tensor;
    TF_DeleteTensor(tensor);
    return before;
  }
  [[noreturn, gnu::cold]] void ThrowSymbolic(const char* what, Where where) const;
  [[noreturn, gnu::cold]] static void ThrowEmpty(Where where);

 private:
  static TF_Tensor* Allocate(DType dtype, const Shape& shape, size_t count, Where where) {
    if (shape.num_elements() != static_cast<int64_t>(count)) [[unlikely]]
      ThrowCount(shape, count, where);
    return internal::AllocateTensor(dtype, shape.dims().data(), shape.rank(), where);
  }
  [[noreturn, gnu::cold]] static void ThrowCount(const Shape& shape, size_t count, Where where) {
    internal::Throw(TF_INVALID_ARGUMENT,
                    "A tensor of shape " + shape.ToString() + " cannot have " +
                        std::to_string(count) + " elements",
                    where);
  }
  template <typename T, typename List>
  static Tensor OfNested(const List& list, Where where) {
    std::vector<int64_t> dims;
    std::unique_ptr<T[]> values;
    MeasureNested<T>(list, dims);
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    values.reset(new T[static_cast<size_t>(count)]);
    T* end = values.get();
    CopyNested<T>(list, dims.data(), end, where);
    return Of<T>(Shape(std::move(dims)),
                 std::span<const T>(values.get(), static_cast<size_t>(count)), where);
  }
  template <typename T, typename List>
  static void MeasureNested(const List& list, std::vector<int64_t>& dims) {
    dims.push_back(static_cast<int64_t>(list.size()));
    if constexpr (!std::is_same_v<List, std::initializer_list<internal::ListElement<T>>>) {
      // Of an empty list each length within it is 0.
      MeasureNested<T>(list.size() == 0 ? typename List::value_type() : *list.begin(), dims);
    }
  }
  template <typename T, typename List>
  static void CopyNested(const List& list, const int64_t* dims, T*& end, Where where) {
    if (static_cast<int64_t>(list.size()) != *dims) {
      internal::Throw(TF_INVALID_ARGUMENT,
                      "Tensor::Of: a list of " + std::to_string(list.size()) + " beside one of " +
                          std::to_string(*dims),
                      where);
    }
    for (const auto& part : list) {
      if constexpr (std::is_same_v<List, std::initializer_list<internal::ListElement<T>>>) {
        *end++ = part;
      } else {
        CopyNested<T>(part, dims + 1, end, where);
      }
    }
  }
  static std::string StringAt(TF_Tensor* tensor, size_t i) {
    const auto* const strings = static_cast<const TF_TString*>(TF_TensorData(tensor));
    return std::string(TF_TString_GetDataPointer(&strings[i]), TF_TString_GetSize(&strings[i]));
  }
  void CheckType(DType asked, Where where) const {
    if (asked != rep_->dtype) [[unlikely]]
      ThrowType(asked, where);
  }
  [[noreturn, gnu::cold]] void ThrowType(DType asked, Where where) const {
    internal::Throw(TF_INVALID_ARGUMENT,
                    std::string("Elements of type ") + Name(asked) + " asked of a tensor of type " +
                        Name(rep_->dtype),
                    where);
  }

  internal::TensorRep* rep_ = nullptr;
};

// The elements of a tensor, and the tensor that owns them.
template <typename T>
class TensorElements : public std::span<const T> {
 public:
  TensorElements(Tensor tensor, Where where)
      : std::span<const T>(std::as_const(tensor).template data<T>(where)),
        tensor_(std::move(tensor)) {}

 private:
  Tensor tensor_;
};

template <typename T>
TensorElements<T> Tensor::data(Where where) && {
  return TensorElements<T>(std::move(*this), where);
}

}  // namespace tenon::inline v0
