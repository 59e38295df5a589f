// Functions of two elements, comparisons, select and clamp.
#include <cmath>
#include <cstring>
#include <limits>

#include "checks.h"
#include "elementwise.h"
#include "families.h"

namespace pjref {
namespace {

template <unsigned kinds>
void CheckBinary(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckKind(op, op.operand_types[0], kinds);
  CheckThat(op, op.operand_types[0] == op.operand_types[1],
            "requires the same type for all operands and results, but has '" +
                ToString(op.operand_types[0]) + "' and '" + ToString(op.operand_types[1]) + "'");
  CheckResult(op, 0, op.operand_types[0]);
}

template <typename T>
constexpr unsigned kKindOf = kIsComplex<T>                 ? kComplexes
                             : std::is_floating_point_v<T> ? kFloats
                                                           : kIntegers | kBool;

template <typename F, unsigned kinds>
Array Binary(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Element element = operands[0].element();
  Array out({element, dims});
  const int width = BitWidth(element);
  VisitComputed(element, [&](auto zero) {
    using T = decltype(zero);
    if constexpr ((kinds & kKindOf<T>) != 0) {
      MapTwo<T, T>(operands[0], operands[1], out, [width](T a, T b) {
        if constexpr (F::kTakesWidth) {
          return F::At(a, b, width);
        } else {
          return F::At(a, b);
        }
      });
    }
  });
  return out;
}

template <typename F, unsigned kinds>
OpRow BinaryRow(std::string_view name) {
  return {name, &CheckBinary<kinds>, &EvaluateLifted<&Binary<F, kinds>>, &Binary<F, kinds>};
}

struct Plain {
  static constexpr bool kTakesWidth = false;
};

// Integers wrap, which only unsigned ones do by themselves.
struct Add : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    return a + b;
  }
};
struct Subtract : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    return a - b;
  }
};
struct Multiply : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    return a * b;
  }
};
// As XLA: a / 0 is -1, and the least number by -1 itself.
struct Divide : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract::At(T(0), a);
    }
    return a / b;
  }
};
struct Remainder : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return a;
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
      return a % b;
    }
  }
};
// A NaN stays one.
struct Maximum : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (kIsComplex<T>) {
      if (a.real() != b.real()) return a.real() > b.real() ? a : b;
      return a.imag() >= b.imag() ? a : b;
    } else {
      if (a != a || b != b) return a != a ? a : b;
      if constexpr (std::is_floating_point_v<T>) {
        if (a == b) return std::signbit(a) ? b : a;
      }
      return a > b ? a : b;
    }
  }
};
struct Minimum : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (kIsComplex<T>) {
      if (a.real() != b.real()) return a.real() < b.real() ? a : b;
      return a.imag() <= b.imag() ? a : b;
    } else {
      if (a != a || b != b) return a != a ? a : b;
      if constexpr (std::is_floating_point_v<T>) {
        if (a == b) return std::signbit(a) ? a : b;
      }
      return a < b ? a : b;
    }
  }
};
struct Power : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b < T(0))
        return a == T(1)                 ? T(1)
               : a == static_cast<T>(-1) ? static_cast<T>(b % 2 == 0 ? 1 : -1)
                                         : T(0);
      T power = 1;
      for (auto left = static_cast<uint64_t>(b); left > 0; left >>= 1) {
        if (left & 1) power = Multiply::At(power, a);
        a = Multiply::At(a, a);
      }
      return power;
    } else {
      return std::pow(a, b);
    }
  }
};
struct Atan2 : Plain {
  template <typename T>
  static T At(T a, T b) {
    if constexpr (kIsComplex<T>) {  // -i log((x + iy) / sqrt(x^2 + y^2))
      const T i(0, 1);
      return -i * std::log((b + i * a) / std::sqrt(b * b + a * a));
    } else {
      return std::atan2(a, b);
    }
  }
};
struct And : Plain {
  template <typename T>
  static T At(T a, T b) {
    return a & b;
  }
};
struct Or : Plain {
  template <typename T>
  static T At(T a, T b) {
    return a | b;
  }
};
struct Xor : Plain {
  template <typename T>
  static T At(T a, T b) {
    return a ^ b;
  }
};

// A shift by the width or more leaves nothing but the sign.
struct OfWidth {
  static constexpr bool kTakesWidth = true;
};
bool Shifts(uint64_t by, int width) { return by < static_cast<uint64_t>(width); }
struct ShiftLeft : OfWidth {
  template <typename T>
  static T At(T a, T b, int width) {
    const auto by = static_cast<uint64_t>(b);
    return Shifts(by, width) ? static_cast<T>(static_cast<uint64_t>(a) << by) : T(0);
  }
};
struct ShiftRightLogical : OfWidth {
  template <typename T>
  static T At(T a, T b, int width) {
    const auto by = static_cast<uint64_t>(b);
    const uint64_t bits = static_cast<uint64_t>(a) & ~uint64_t{0} >> (64 - width);
    return Shifts(by, width) ? static_cast<T>(bits >> by) : T(0);
  }
};
struct ShiftRightArithmetic : OfWidth {
  template <typename T>
  static T At(T a, T b, int width) {
    const auto by = static_cast<uint64_t>(b);
    const int unused = 64 - width;
    const auto value = static_cast<int64_t>(static_cast<uint64_t>(a) << unused) >> unused;
    return static_cast<T>(value >> (Shifts(by, width) ? by : static_cast<uint64_t>(width) - 1));
  }
};

// -NaN < -inf < ... < -0 < 0 < ... < inf < NaN
int64_t TotalOrder(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits < 0 ? std::numeric_limits<int64_t>::min() - bits - 1 : bits;
}

void CheckCompare(const Op& op) {
  CheckCounts(op, 2, 1);
  CheckKind(op, op.operand_types[0], kAll);
  CheckThat(op, op.operand_types[0] == op.operand_types[1],
            "requires compatible types for all operands");
  CheckResult(op, 0, {Element::kI1, op.operand_types[0].dims});
  const std::string direction = op.Word("comparison_direction");
  const bool equality = direction == "EQ" || direction == "NE";
  const bool order =
      direction == "LT" || direction == "LE" || direction == "GT" || direction == "GE";
  CheckThat(op, equality || order, "requires comparison_direction, one of EQ, NE, GE, GT, LE, LT");
  CheckThat(op, equality || !IsComplex(op.operand_types[0].element),
            "complex numbers are EQ or NE only");
  const std::string type = op.Word("compare_type");
  CheckThat(op,
            type.empty() || type == "NOTYPE" || type == "FLOAT" || type == "TOTALORDER" ||
                type == "SIGNED" || type == "UNSIGNED",
            "compare_type must be one of FLOAT, TOTALORDER, SIGNED, UNSIGNED");
  CheckThat(op, type != "TOTALORDER" || IsFloat(op.operand_types[0].element),
            "TOTALORDER is of floats only");
}

template <typename T, typename Map>
void CompareAll(const std::string& direction, const Array& a, const Array& b, const Array& out,
                Map map) {
  using M = decltype(map(T()));
  const auto with = [&](auto holds) {
    MapTwo<T, uint64_t>(a, b, out,
                        [&](T x, T y) { return static_cast<uint64_t>(holds(map(x), map(y))); });
  };
  if constexpr (!kIsComplex<T>) {
    if (direction == "LT") return with([](M x, M y) { return x < y; });
    if (direction == "LE") return with([](M x, M y) { return x <= y; });
    if (direction == "GT") return with([](M x, M y) { return x > y; });
    if (direction == "GE") return with([](M x, M y) { return x >= y; });
  }
  if (direction == "EQ") return with([](M x, M y) { return x == y; });
  with([](M x, M y) { return x != y; });
}

Array Compare(const Op& op, const std::vector<Array>& operands, const Dims& dims) {
  Array out({Element::kI1, dims});
  const std::string direction = op.Word("comparison_direction");
  if (op.Word("compare_type") == "TOTALORDER") {
    CompareAll<double>(direction, operands[0], operands[1], out, &TotalOrder);
    return out;
  }
  VisitComputed(operands[0].element(), [&](auto zero) {
    using T = decltype(zero);
    CompareAll<T>(direction, operands[0], operands[1], out, [](T x) { return x; });
  });
  return out;
}

void CheckSelect(const Op& op) {
  CheckCounts(op, 3, 1);
  const Type& predicate = op.operand_types[0];
  CheckThat(op, predicate.element == Element::kI1,
            "operand #0 must be of i1, but is '" + ToString(predicate) + "'");
  CheckKind(op, op.operand_types[1], kAll);
  CheckThat(op, op.operand_types[1] == op.operand_types[2],
            "requires compatible types for non-predicate operands");
  CheckThat(op, predicate.dims.empty() || predicate.dims == op.operand_types[1].dims,
            "requires the same shape for all operands, or a scalar predicate");
  CheckResult(op, 0, op.operand_types[1]);
}

Array Select(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  const Array& predicate = operands[0];
  Array out({operands[1].element(), dims});
  const size_t size = ByteSize(out.element());
  const int64_t step = predicate.count() == 1 ? 0 : 1;
  const int64_t count = out.count();
  for (int64_t i = 0; i < count; ++i) {
    const Array& from = predicate.data()[i * step] ? operands[1] : operands[2];
    std::memcpy(out.data() + i * size, from.data() + i * size, size);
  }
  return out;
}

void CheckClamp(const Op& op) {
  CheckCounts(op, 3, 1);
  const Type& type = op.operand_types[1];
  CheckKind(op, type, kAll);
  for (size_t i : {0, 2}) {
    const Type& bound = op.operand_types[i];
    CheckThat(op, bound.element == type.element && (bound.dims.empty() || bound.dims == type.dims),
              "bound '" + ToString(bound) + "' does not fit the operand '" + ToString(type) + "'");
  }
  CheckResult(op, 0, type);
}

Array Clamp(const Op&, const std::vector<Array>& operands, const Dims& dims) {
  Array out({operands[1].element(), dims});
  const auto wide = [&](const Array& bound) {
    return bound.count() == out.count() ? bound : Splat(bound, dims);
  };
  const Array low = wide(operands[0]), high = wide(operands[2]);
  VisitComputed(out.element(), [&](auto zero) {
    using T = decltype(zero);
    MapTwo<T, T>(operands[1], low, out, [](T x, T bound) { return Maximum::At(x, bound); });
    MapTwo<T, T>(out, high, out, [](T x, T bound) { return Minimum::At(x, bound); });
  });
  return out;
}

}  // namespace

const std::vector<OpRow>& BinaryRows() {
  static const std::vector<OpRow> kRows = {
      BinaryRow<Add, kAll>("stablehlo.add"),
      BinaryRow<Subtract, kNumbers>("stablehlo.subtract"),
      BinaryRow<Multiply, kAll>("stablehlo.multiply"),
      BinaryRow<Divide, kNumbers>("stablehlo.divide"),
      BinaryRow<Remainder, kReals>("stablehlo.remainder"),
      BinaryRow<Maximum, kAll>("stablehlo.maximum"),
      BinaryRow<Minimum, kAll>("stablehlo.minimum"),
      BinaryRow<Power, kNumbers>("stablehlo.power"),
      BinaryRow<Atan2, kFloats | kComplexes>("stablehlo.atan2"),
      BinaryRow<And, kIntegers | kBool>("stablehlo.and"),
      BinaryRow<Or, kIntegers | kBool>("stablehlo.or"),
      BinaryRow<Xor, kIntegers | kBool>("stablehlo.xor"),
      BinaryRow<ShiftLeft, kIntegers>("stablehlo.shift_left"),
      BinaryRow<ShiftRightLogical, kIntegers>("stablehlo.shift_right_logical"),
      BinaryRow<ShiftRightArithmetic, kIntegers>("stablehlo.shift_right_arithmetic"),
      {"stablehlo.compare", &CheckCompare, &EvaluateLifted<&Compare>, &Compare},
      {"stablehlo.select", &CheckSelect, &EvaluateLifted<&Select>, &Select},
      {"stablehlo.clamp", &CheckClamp, &EvaluateLifted<&Clamp>, &Clamp},
  };
  return kRows;
}

}  // namespace pjref
