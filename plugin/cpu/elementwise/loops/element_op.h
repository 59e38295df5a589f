// The inner loops of elementwise ops: one function per operation and type, for contiguous operands
// of equal length.
//
// The driver (broadcast.h) brings every operand into this form. The driver does broadcasting, half
// precision and threads.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// clang-format off
enum class ElementOp : uint8_t {
  // One operand, of any real type; kNeg, kSquare and kSign of complex types too.
  kNeg, kAbs, kSquare, kSign, kRelu, kRelu6,
  // One operand, floating; the elementary functions of complex types too.
  kLeakyRelu, kSqrt, kRsqrt, kReciprocal, kFloor, kCeil, kRint,
  kExp, kExpm1, kLog, kLog1p, kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kTanh, kAsinh, kAcosh, kAtanh,
  kErf, kErfc, kSigmoid, kElu, kSelu, kSoftplus, kSoftsign, kLgamma,
  kBesselI0, kBesselI0e, kBesselI1, kBesselI1e, kBesselJ0, kBesselJ1,
  kBesselK0, kBesselK0e, kBesselK1, kBesselK1e, kBesselY0, kBesselY1,
  kDigamma, kNdtri, kErfinv, kDawsn, kExpint, kFresnelCos, kFresnelSin, kSpence,
  // One operand. The result is bool, except: kInvert gives all bits inverted, kPopulationCount the
  // number of bits that are 1, as uint8.
  kIsNan, kIsInf, kIsFinite, kLogicalNot, kInvert, kPopulationCount,
  // Two operands, in the order of the op's inputs: kSub is the first less the second, kDivNoNan the
  // first by the second, kPow the first to the power of the second, kAtan2 takes y and then x.
  // kMaximum and kMinimum are NaN if an operand is NaN. kAtLeast is the first operand, or the
  // second if that is greater. kAtMost is the first operand, or the second if that is less.
  // Integers wrap around. A quotient or remainder of integers is 0 if the divisor is 0, an integer
  // power is 1 if the exponent is negative, and a shift count outside of [0, bits) acts as the
  // nearest inside: callers that want errors check before (ElementSpec::check).
  kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kAtLeast, kAtMost, kSquaredDifference, kDivNoNan, kMulNoNan, kPow, kAtan2,
  kFloorDiv, kFloorMod, kTruncateDiv, kTruncateMod, kXdivy, kXlogy, kXlog1py,
  kIgamma, kIgammaGradA, kRandomGammaGrad, kIgammac, kPolygamma, kZeta, kNextAfter,
  kLogicalAnd, kLogicalOr, kBitwiseAnd, kBitwiseOr, kBitwiseXor, kLeftShift, kRightShift,
  // Two operands, in the order of the op's inputs. The result is bool.
  kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kApproximateEqual,
  // Gradients, operands in the order of the op's inputs.
  kReluGrad, kRelu6Grad, kLeakyReluGrad, kEluGrad, kSeluGrad, kSoftplusGrad, kSoftsignGrad,
  kTanhGrad, kSigmoidGrad, kSqrtGrad, kRsqrtGrad, kReciprocalGrad,
  // Three operands, in the order of the op's inputs: condition, then, else for kSelect; the number,
  // its minimum, its maximum for kClip; a, b, x for kBetainc.
  kSelect, kClip, kBetainc,
};
// clang-format on

// Computes n elements of `out` from n elements of each operand in[k], in the calling thread. No
// alignment is required. `out` may be an operand whose elements have the size of the result's.
// `param` is the alpha of kLeakyRelu and kLeakyReluGrad, the tolerance of kApproximateEqual, or the
// limit of kSoftplus, above which it returns its operand. Other operations ignore it.
using ElementLoop = void (*)(const void* const* in, void* out, int64_t n, float param);

// Returns the loop for operands of type `t`, for CpuIsa(); null if there is none. For kSelect, `t`
// is the type of the operands behind the condition. Half and bfloat16 have loops for kSelect, and
// where TensorFlow rounds between the steps of an operation, e.g. for kFloorDiv and kElu. For any
// other operation use the loop of float and convert (ChooseLoop in broadcast.h).
ElementLoop FindElementLoop(ElementOp op, DataType t);

// Rows of two operands of different layouts. Strides are in elements. The result is dense: its
// strides are `columns` and 1. `out` may be an operand that is dense too.
struct ElementRows {
  int64_t rows, columns;
  int64_t row_stride[2];
  bool repeats[2];  // the operand has one element per row; never true for both operands
};
using ElementRowsLoop = void (*)(const void* const* in, void* out, const ElementRows& shape);

// Returns the loop over rows for the commonest arithmetic of type float; null for any other
// operation or type.
ElementRowsLoop FindElementRowsLoop(ElementOp op, DataType t);

// Writes n copies of one element of `bytes` bytes to `out`, which must not overlap the element.
using RepeatFn = void (*)(const void* element, int64_t bytes, int64_t n, void* out);
// Returns the function for CpuIsa().
RepeatFn FindRepeat();

// Returns the loop, for CpuIsa(), that converts between two real or bool types; half and bfloat16
// only from and to float. The conversion follows C's rules, which leave a float beyond an integer
// type's range undefined; a number becomes true if it is not 0. Null for any other types.
ElementLoop FindCastLoop(DataType from, DataType to);

// Returns the type, the hub, through which `t` is cast from and to other types, e.g. float for
// half and complex64, double for float8, so that a double is rounded once. Returns `t` if casts are
// direct.
DataType CastHub(DataType t);
// Returns the loop that converts between a type and its hub, or between the complex types. Null for
// any other pair, and for half and bfloat16, which FindCastLoop converts.
ElementLoop FindSpecialCast(DataType from, DataType to);
// Returns the loop that a Cast with Truncate runs before the cast. The loop clears the low bits of
// each float's or double's significand for which type `to` has no room, so that the cast rounds no
// number of its normal range. Of complex operands, the results are the real parts. There is a loop
// from float, double and complex types to half, from float to bfloat16, and from double and
// complex128 to float. Null for any other pair.
ElementLoop FindTruncation(DataType from, DataType to);

}  // namespace tenon::cpu
