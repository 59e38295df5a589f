// The inner loops of elementwise ops: contiguous operands of equal length, one function per
// operation and type.
//
// Broadcasting, half precision and threads are the driver's (broadcast.h): it brings every operand
// into this form.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// clang-format off
enum class ElementOp : uint8_t {
  // One operand, of any number type.
  kNeg, kAbs, kSquare, kSign, kRelu, kRelu6,
  // One operand, floating.
  kLeakyRelu, kSqrt, kRsqrt, kReciprocal, kFloor, kCeil, kRint,
  kExp, kExpm1, kLog, kLog1p, kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kTanh, kAsinh, kAcosh, kAtanh,
  kErf, kErfc, kSigmoid, kElu, kSelu, kSoftplus, kSoftsign, kLgamma,
  kBesselI0, kBesselI0e, kBesselI1, kBesselI1e, kBesselJ0, kBesselJ1,
  kBesselK0, kBesselK0e, kBesselK1, kBesselK1e, kBesselY0, kBesselY1,
  kDigamma, kNdtri, kErfinv, kDawsn, kExpint, kFresnelCos, kFresnelSin, kSpence,
  // One operand, other results: bool, bits, or their number.
  kIsNan, kIsInf, kIsFinite, kLogicalNot, kInvert, kPopulationCount,
  // Two operands. AtLeast (AtMost) is the first, but for a second that is greater (less).
  kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kAtLeast, kAtMost, kSquaredDifference, kDivNoNan, kMulNoNan, kPow, kAtan2,
  kFloorDiv, kFloorMod, kTruncateDiv, kTruncateMod, kXdivy, kXlogy, kXlog1py,
  kIgamma, kIgammaGradA, kRandomGammaGrad, kIgammac, kPolygamma, kZeta, kNextAfter,
  kLogicalAnd, kLogicalOr, kBitwiseAnd, kBitwiseOr, kBitwiseXor, kLeftShift, kRightShift,
  // Two operands, the result is bool.
  kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kApproximateEqual,
  // Gradients, operands in the order of the op's inputs.
  kReluGrad, kRelu6Grad, kLeakyReluGrad, kEluGrad, kSeluGrad, kSoftplusGrad, kSoftsignGrad,
  kTanhGrad, kSigmoidGrad, kSqrtGrad, kRsqrtGrad, kReciprocalGrad,
  // Three operands.
  kSelect, kClip, kBetainc,
};
// clang-format on

// in[k]: operand k, n elements, no alignment asked for. `out` may be one of the operands. `param`
// is the operation's own number (LeakyRelu's alpha), else ignored.
using ElementLoop = void (*)(const void* const* in, void* out, int64_t n, float param);

// The loop for elements of type `t` (of the first operand after Select's condition), chosen for
// this machine; null where there is none. Half and bfloat16 have none of their own but for moves:
// use float and convert.
ElementLoop FindElementLoop(ElementOp op, DataType t);

// Rows of two operands that meet without lying alike. Strides are in elements; those of the result
// are `columns` and 1.
struct ElementRows {
  int64_t rows, columns;
  int64_t row_stride[2];
  bool repeats[2];  // the operand is one element per row; never both
};
using ElementRowsLoop = void (*)(const void* const* in, void* out, const ElementRows& shape);

// The same as FindElementLoop for the commonest arithmetic on floats; null for everything else.
ElementRowsLoop FindElementRowsLoop(ElementOp op, DataType t);

// Writes n copies of one element of `bytes` bytes.
using RepeatFn = void (*)(const void* element, int64_t bytes, int64_t n, void* out);
RepeatFn FindRepeat();

// Loops that convert between two real or bool types (half and bfloat16 included), C's rules, floats
// to bool by != 0. Null for others.
ElementLoop FindCastLoop(DataType from, DataType to);

// The type through which `t` is cast to all others (float for half, complex64 and float8); `t`
// itself where it needs none.
DataType CastHub(DataType t);
// Between such a type and its hub, and between the complex types; null for others.
ElementLoop FindSpecialCast(DataType from, DataType to);
// What a Cast with Truncate does before it casts: to float or double numbers that `to` holds
// exactly. Null where it does nothing.
ElementLoop FindTruncation(DataType from, DataType to);

}  // namespace tenon::cpu
