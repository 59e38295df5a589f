// Operators of tensors, and parts of them as NumPy gives them.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/op_class.h"
#include "tenon/tensor_class.h"

namespace tenon::inline v0 {

class Results;
class Variable;

// A bound of a Slice: a number, or a scalar tensor of type kInt32 or kInt64. Without either, or
// with a Tensor(), there is no bound.
struct SliceBound {
  SliceBound() = default;
  SliceBound(std::nullopt_t) {}                                  // NOLINT
  SliceBound(std::optional<int64_t> number) : number(number) {}  // NOLINT
  template <std::integral T>
  SliceBound(T number) : number(static_cast<int64_t>(number)) {}  // NOLINT
  SliceBound(const Tensor& tensor) : tensor(tensor) {}            // NOLINT
  bool has_value() const { return number.has_value() || tensor.defined(); }

  std::optional<int64_t> number;
  Tensor tensor;
};

// A range of one dimension: elements begin, begin + step, ... before end. A missing begin or end
// leaves out no element on its side. As in Python, negative bounds count from the end of the
// dimension, and bounds beyond the dimension are cut to it. A step of 0 is INVALID_ARGUMENT.
struct Slice {
  Slice() = default;
  Slice(SliceBound begin, SliceBound end, int64_t step = 1)
      : begin(std::move(begin)), end(std::move(end)), step(step) {}

  SliceBound begin, end;
  int64_t step = 1;
};

inline constexpr struct AllType {
} All;  // a whole dimension
inline constexpr struct NewAxisType {
} NewAxis;  // a new dimension of length 1
inline constexpr struct EllipsisType {
} Ellipsis;  // as many whole dimensions as are left

// One index of operator[]. An int, or a scalar tensor of type kInt32 or kInt64, takes an element
// and drops the dimension; -1 is the last element. INVALID_ARGUMENT for a Tensor(). An Index knows
// the place of the expression.
class Index {
 public:
  Index(int i, Where where = Where::current()) : Index(int64_t{i}, where) {}  // NOLINT
  Index(int64_t i, Where where = Where::current())                            // NOLINT
      : where_(where),
        kind_(Kind::kElement),
        begin_(i),
        end_(i == std::numeric_limits<int64_t>::max() ? i : i + 1),
        has_begin_(true),
        has_end_(i != -1) {}
  Index(const Tensor& i, Where where = Where::current())  // NOLINT
      : where_(where),
        kind_(Kind::kElement),
        begin_tensor_(i),
        is_tensor_(true),
        has_begin_(true),
        has_end_(true) {}
  Index(const Slice& slice, Where where = Where::current())  // NOLINT
      : where_(where),
        kind_(Kind::kSlice),
        begin_tensor_(slice.begin.tensor),
        end_tensor_(slice.end.tensor),
        begin_(slice.begin.number.value_or(0)),
        end_(slice.end.number.value_or(0)),
        step_(slice.step),
        has_begin_(slice.begin.has_value()),
        has_end_(slice.end.has_value()) {}
  Index(AllType, Where where = Where::current())  // NOLINT
      : where_(where), kind_(Kind::kSlice) {}
  Index(NewAxisType, Where where = Where::current())  // NOLINT
      : where_(where), kind_(Kind::kNewAxis) {}
  Index(EllipsisType, Where where = Where::current())  // NOLINT
      : where_(where), kind_(Kind::kEllipsis) {}

  Where where() const { return where_; }

 private:
  friend Tensor internal::SliceOf(const Tensor&, std::span<const Index>, Where);
  enum class Kind { kElement, kSlice, kNewAxis, kEllipsis };
  Where where_;
  Kind kind_;
  // Where they are defined they stand for begin_ and end_. An element has no end_tensor_.
  Tensor begin_tensor_, end_tensor_;
  int64_t begin_ = 0, end_ = 0, step_ = 1;
  bool is_tensor_ = false;  // an element by a tensor
  bool has_begin_ = false, has_end_ = false;
};

// A side of an operator: a tensor, or a number that takes the type of the other side; beside
// another number it has its own C++ type. An Operand knows the place of the expression.
class Operand {
 public:
  Operand(const Tensor& tensor, Where where = Where::current())  // NOLINT
      : tensor_(tensor), where_(where) {}
  Operand(const Variable& variable, Where where = Where::current());  // NOLINT: its value
  Operand(const Results& results, Where where = Where::current());    // NOLINT: the only one
  Operand(const char* text, Where where = Where::current())           // NOLINT
      : tensor_(text), where_(where) {}
  Operand(const std::string& text, Where where = Where::current())  // NOLINT
      : tensor_(text), where_(where) {}
  template <internal::Number T>
  Operand(T value, Where where = Where::current())  // NOLINT
      : where_(where), is_number_(true), is_integer_(std::is_integral_v<T>) {
    if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(value);
      if constexpr (!std::is_signed_v<T> && sizeof(T) == 8) is_big_ = integer_ < 0;
    }
    number_ = static_cast<double>(value);
    own_type_ = internal::DTypeOf<T>();
  }

  Where where() const { return where_; }
  // The tensor; a number as one of the type of `other`, or of its own C++ type if `other` is a
  // number too. Errors are those of OfType.
  Tensor AsTensor(const Operand& other) const {
    if (!is_number_) return tensor_;
    return OfType(other.is_number_ ? own_type_ : other.tensor_.rep(where_).dtype);
  }
  // The tensor; a number as one of this type.
  Tensor AsTensor(DType dtype) const { return is_number_ ? OfType(dtype) : tensor_; }

  // To be called of a number alone: as a scalar of this type; a type of floats or complex numbers
  // rounds it.
  // INVALID_ARGUMENT for a number of a C++ type of floats as an integer, even 1.0; for an integer
  // out of the range of the type; for anything but a bool as kBool; for any other type.
  Tensor OfType(DType dtype) const {
    switch (dtype) {
      case DType::kFloat:
        return Tensor(static_cast<float>(number_));
      case DType::kDouble:
        return Tensor(number_);
      case DType::kInt8:
        return OfInteger(dtype, 1, true);
      case DType::kInt16:
        return OfInteger(dtype, 2, true);
      case DType::kInt32:
        return OfInteger(dtype, 4, true);
      case DType::kInt64:
        return OfInteger(dtype, 8, true);
      case DType::kUInt8:
        return OfInteger(dtype, 1, false);
      case DType::kUInt16:
        return OfInteger(dtype, 2, false);
      case DType::kUInt32:
        return OfInteger(dtype, 4, false);
      case DType::kUInt64:
        return OfInteger(dtype, 8, false);
      case DType::kBool:
        if (own_type_ != DType::kBool) ThrowUnfit(dtype);
        return Tensor(integer_ != 0);
      case DType::kHalf:
      case DType::kBFloat16:
      case DType::kComplex64:
      case DType::kComplex128:
        return Op("Cast", where_).Input(Tensor(number_)).Attr("DstT", dtype).RunOne();
      default:
        ThrowUnfit(dtype);
    }
  }

 private:
  // As a scalar of an integer type of `size` bytes.
  Tensor OfInteger(DType dtype, size_t size, bool is_signed) const {
    const int64_t limit = size == 8 ? 0 : int64_t{1} << (8 * size - (is_signed ? 1 : 0));
    bool fits = is_integer_;
    if (is_big_) {
      fits = fits && size == 8 && !is_signed;
    } else if (integer_ < 0) {
      fits = fits && is_signed && (size == 8 || integer_ >= -limit);
    } else {
      fits = fits && (size == 8 || integer_ < limit);
    }
    if (!fits) ThrowUnfit(dtype);
    const size_t front = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(integer_) - size : 0;
    return Tensor::OfBytes(dtype, Shape{}, reinterpret_cast<const char*>(&integer_) + front, 1,
                           size);
  }
  [[noreturn]] void ThrowUnfit(DType dtype) const {
    const std::string number = is_big_       ? std::to_string(static_cast<uint64_t>(integer_))
                               : is_integer_ ? std::to_string(integer_)
                                             : std::to_string(number_);
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The number " + number + " is not one of type " + Name(dtype) +
                        ", the type of the tensor beside it",
                    where_);
  }

  Tensor tensor_;
  Where where_;
  double number_ = 0;
  int64_t integer_ = 0;
  DType own_type_ = DType::kInvalid;
  bool is_number_ = false, is_integer_ = false, is_big_ = false;
};

namespace internal {

inline Tensor Binary(const char* type, const Operand& a, const Operand& b) {
  return Op(type, a.where()).Input(a.AsTensor(b)).Input(b.AsTensor(a)).RunOne();
}

inline bool IsFloating(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
         dtype == DType::kBFloat16 || dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

}  // namespace internal

// With broadcasting. + joins strings. Integers are divided as in Python's //, towards minus
// infinity, and % has the sign of the divisor; integers that are divided by zero are
// INVALID_ARGUMENT.
inline Tensor operator+(const Operand& a, const Operand& b) {
  const Tensor x = a.AsTensor(b);
  const char* const type = x.rep(a.where()).dtype == DType::kString ? "Add" : "AddV2";
  return Op(type, a.where()).Input(x).Input(b.AsTensor(a)).RunOne();
}
inline Tensor operator-(const Operand& a, const Operand& b) {
  return internal::Binary("Sub", a, b);
}
inline Tensor operator*(const Operand& a, const Operand& b) {
  return internal::Binary("Mul", a, b);
}
inline Tensor operator/(const Operand& a, const Operand& b) {
  const Tensor x = a.AsTensor(b);
  return internal::Binary(internal::IsFloating(x.dtype()) ? "RealDiv" : "FloorDiv", a, b);
}
inline Tensor operator%(const Operand& a, const Operand& b) {
  return internal::Binary("FloorMod", a, b);
}
inline Tensor operator<(const Operand& a, const Operand& b) {
  return internal::Binary("Less", a, b);
}
inline Tensor operator<=(const Operand& a, const Operand& b) {
  return internal::Binary("LessEqual", a, b);
}
inline Tensor operator>(const Operand& a, const Operand& b) {
  return internal::Binary("Greater", a, b);
}
inline Tensor operator>=(const Operand& a, const Operand& b) {
  return internal::Binary("GreaterEqual", a, b);
}
inline Tensor operator==(const Operand& a, const Operand& b) {
  return internal::Binary("Equal", a, b);
}
inline Tensor operator!=(const Operand& a, const Operand& b) {
  return internal::Binary("NotEqual", a, b);
}
// Element by element, of tensors of type kBool: both sides are computed. The operands are tensors,
// whose own operator bool would else fit as well.
inline Tensor operator&&(const Operand& a, const Tensor& b) {
  return Op("LogicalAnd", a.where()).Input(a.AsTensor(b)).Input(b).RunOne();
}
inline Tensor operator||(const Operand& a, const Tensor& b) {
  return Op("LogicalOr", a.where()).Input(a.AsTensor(b)).Input(b).RunOne();
}
inline Tensor operator!(const Tensor& a) {
  return Op("LogicalNot", a.rep().where).Input(a).RunOne();
}
inline Tensor operator-(const Operand& a) {
  return Op("Neg", a.where()).Input(a.AsTensor(a)).RunOne();
}
inline Tensor operator+(const Tensor& a) { return a; }
inline Tensor& operator+=(Tensor& a, const Operand& b) { return a = Operand(a, b.where()) + b; }
inline Tensor& operator-=(Tensor& a, const Operand& b) { return a = Operand(a, b.where()) - b; }
inline Tensor& operator*=(Tensor& a, const Operand& b) { return a = Operand(a, b.where()) * b; }
inline Tensor& operator/=(Tensor& a, const Operand& b) { return a = Operand(a, b.where()) / b; }
inline Tensor& operator%=(Tensor& a, const Operand& b) { return a = Operand(a, b.where()) % b; }

namespace internal {

inline Tensor SliceOf(const Tensor& tensor, std::span<const Index> indices, Where where) {
  std::vector<int64_t> begin, end, step;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
  if (indices.size() > 32) Throw(TF_INVALID_ARGUMENT, "More than 32 indices", where);
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    const int64_t bit = int64_t{1} << i;
    begin.push_back(index.begin_);
    end.push_back(index.end_);
    step.push_back(index.step_);
    switch (index.kind_) {
      case Index::Kind::kElement:
        if (index.is_tensor_) index.begin_tensor_.rep(where);
        shrink_mask |= bit;
        break;
      case Index::Kind::kSlice:
        if (!index.has_begin_) begin_mask |= bit;
        if (!index.has_end_) end_mask |= bit;
        break;
      case Index::Kind::kNewAxis:
        new_axis_mask |= bit;
        break;
      case Index::Kind::kEllipsis:
        ellipsis_mask |= bit;
        break;
    }
  }
  // Numbers of type kInt32 where they fit, as TensorFlow's Python has them.
  bool is_wide = false, all_known = true;
  for (const auto* const list : {&begin, &end, &step}) {
    for (const int64_t value : *list) is_wide |= value != static_cast<int32_t>(value);
  }
  for (const Index& index : indices) {
    for (const Tensor* const bound : {&index.begin_tensor_, &index.end_tensor_}) {
      if (!bound->defined()) continue;
      all_known = false;
      const DType dtype = bound->dtype();
      is_wide |= dtype == DType::kInt64;
      if (dtype == DType::kInt32 || dtype == DType::kInt64) continue;
      Throw(TF_INVALID_ARGUMENT,
            std::string("An index is of type ") + Name(dtype) + ": it must be int32 or int64",
            where);
    }
  }
  const auto number = [&](int64_t value) {
    return is_wide ? Tensor(value) : Tensor(static_cast<int32_t>(value));
  };
  const auto vector = [&](const std::vector<int64_t>& values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    if (is_wide) return Tensor::Of<int64_t>(shape, values);
    return Tensor::Of<int32_t>(shape, std::vector<int32_t>(values.begin(), values.end()));
  };
  // A bound of each index, where `bound_of` gives its tensor and what is added to that.
  const auto bounds = [&](const std::vector<int64_t>& values, const auto& bound_of) {
    if (all_known) return vector(values);
    std::vector<Tensor> parts;
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto [bound, more] = bound_of(indices[i]);
      if (!bound.defined()) {
        parts.push_back(number(values[i]));
        continue;
      }
      Tensor part = bound;
      if (is_wide && bound.dtype() == DType::kInt32)
        part = Op("Cast", where).Input(part).Attr("DstT", DType::kInt64).RunOne();
      if (more != 0) part = Op("AddV2", where).Input(part).Input(number(more)).RunOne();
      parts.push_back(part);
    }
    return Op("Pack", where).Input(parts).RunOne();
  };
  const auto begin_of = [](const Index& index) {
    return std::pair<Tensor, int64_t>(index.begin_tensor_, 0);
  };
  const auto end_of = [](const Index& index) {
    const bool is_element = index.kind_ == Index::Kind::kElement;
    return std::pair<Tensor, int64_t>(is_element ? index.begin_tensor_ : index.end_tensor_,
                                      is_element ? 1 : 0);
  };
  return Op("StridedSlice", where)
      .Input(tensor)
      .Input(bounds(begin, begin_of))
      .Input(bounds(end, end_of))
      .Input(vector(step))
      .Attr("begin_mask", begin_mask)
      .Attr("end_mask", end_mask)
      .Attr("ellipsis_mask", ellipsis_mask)
      .Attr("new_axis_mask", new_axis_mask)
      .Attr("shrink_axis_mask", shrink_mask)
      .RunOne();
}

}  // namespace internal

inline Tensor Tensor::operator[](const Index& index) const {
  return internal::SliceOf(*this, std::span<const Index>(&index, 1), index.where());
}
inline Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return (*this)(indices, indices.size() == 0 ? rep().where : indices.begin()->where());
}
inline Tensor Tensor::operator()(std::initializer_list<Index> indices, Where where) const {
  return internal::SliceOf(*this, std::span<const Index>(indices.begin(), indices.size()), where);
}

inline Shape Tensor::shape(Where where) const {
  internal::TensorRep& rep = this->rep(where);
  TF_Status* const status = internal::ThreadStatus();
  if (rep.handle != nullptr) {
    const int rank = TFE_TensorHandleNumDims(rep.handle, status);
    internal::Check(status);
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    for (int i = 0; i < rank; ++i) {
      dims[static_cast<size_t>(i)] = TFE_TensorHandleDim(rep.handle, i, status);
      internal::Check(status);
    }
    return Shape(std::move(dims));
  }
  TF_Graph* const graph = internal::TraceFunctionsInUse().graph_of(rep);
  const int rank = TF_GraphGetTensorNumDims(graph, rep.output, status);
  internal::Check(status);
  if (rank < 0) return Shape::Unknown();
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  TF_GraphGetTensorShape(graph, rep.output, dims.data(), rank, status);
  internal::Check(status);
  return Shape(std::move(dims));
}

inline std::string Tensor::device(Where where) const {
  internal::TensorRep& rep = this->rep(where);
  if (rep.handle == nullptr) return TF_OperationDevice(rep.output.oper);
  TF_Status* const status = internal::ThreadStatus();
  const char* const name = TFE_TensorHandleDeviceName(rep.handle, status);
  internal::Check(status);
  return name;
}

inline std::string Tensor::name(Where where) const {
  internal::TensorRep& rep = this->rep(where);
  if (rep.handle != nullptr) return {};
  return std::string(TF_OperationName(rep.output.oper)) + ":" + std::to_string(rep.output.index);
}

inline Tensor Tensor::To(const std::string& device, Where where) const {
  if (IsSymbolic() || internal::scopes.tape != nullptr || internal::scopes.trace != nullptr) {
    const Device scope(device);
    return Op("Identity", where).Input(*this).RunOne();
  }
  TF_Status* const status = internal::ThreadStatus();
  TFE_TensorHandle* const copy = TFE_TensorHandleCopyToDevice(
      rep(where).handle, internal::Context(), internal::DeviceName(device).c_str(), status);
  internal::Check(status, where);
  return FromHandle(copy);
}

inline Tensor::operator bool() const {
  if (rep_ == nullptr && internal::scopes.trace != nullptr) {
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The program branches, behind the op that is called here, by a Tensor that is"
                    " empty: it was moved from, or is a gradient that there is not. Use the tensor"
                    " that it was moved to, and Cond(pred, then, else) for what it decides",
                    internal::TraceFunctionsInUse().last_place());
  }
  if (IsSymbolic()) {
    internal::Throw(
        TF_FAILED_PRECONDITION,
        "The program branches by the value of \"" + name() +
            "\", which is not known while a"
            " function is traced. Write Cond(pred, then, else), While(cond, body, vars...) or"
            " ops::SelectV2(pred, a, b), or branch by a C++ value",
        rep().where);
  }
  const Where where = rep().where;
  if (const Shape size = shape(where); size.num_elements() != 1) {
    internal::Throw(TF_INVALID_ARGUMENT,
                    "The program branches by a tensor of shape " + size.ToString() +
                        ", which is made here: only a tensor of one element is true or false. Write"
                        " ops::All(t, axes) or ops::Any(t, axes)",
                    where);
  }
  if (dtype() == DType::kBool) return item<bool>(where);
  return Op("Cast", where).Input(*this).Attr("DstT", DType::kBool).RunOne().item<bool>(where);
}

// A call that does not know its place, as operators do not, says which op of the trace it is
// behind.
inline void Tensor::ThrowEmpty(Where where) {
  where = internal::OfProgram(where);
  const bool in_trace = where.line() == 0 && internal::scopes.trace != nullptr;
  if (in_trace) where = internal::TraceFunctionsInUse().last_place();
  internal::Throw(TF_INVALID_ARGUMENT,
                  "This Tensor is empty: it holds neither a value nor a symbol. It was moved from,"
                  " or is a gradient that there is not" +
                      std::string(in_trace ? ". It is used behind the op that is called here" : ""),
                  where);
}

inline void Tensor::ThrowSymbolic(const char* what, Where where) const {
  internal::Throw(TF_FAILED_PRECONDITION,
                  "\"" + name() + "\" is a symbol of a function that is traced" +
                      (tenon::ToString(rep().where).empty()
                           ? std::string()
                           : " (made at " + tenon::ToString(rep().where) + ")") +
                      ": " + what,
                  where);
}

}  // namespace tenon::inline v0
