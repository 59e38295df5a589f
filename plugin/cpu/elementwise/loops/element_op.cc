// Finds the loop of an operation: vector loops for this processor first, then plain loops.
#include "plugin/cpu/elementwise/loops/element_op.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

#define TENON_DECLARE(ISA)                            \
  namespace ISA {                                     \
  void Repeat(const void*, int64_t, int64_t, void*);  \
  ElementLoop FindArith(ElementOp op, DataType t);    \
  ElementRowsLoop FindRows(ElementOp op, DataType t); \
  ElementLoop FindMath(ElementOp op, DataType t);     \
  ElementLoop FindCast(DataType from, DataType to);   \
  }
TENON_DECLARE(sse2)
TENON_DECLARE(avx2)
TENON_DECLARE(avx512)
ElementLoop FindSlow(ElementOp op, DataType t);     // slow_loops.cc
ElementLoop FindSpecial(ElementOp op, DataType t);  // special_loops.cc

ElementLoop FindElementLoop(ElementOp op, DataType t) {
  if (ElementLoop loop = SelectIsa(sse2::FindArith, avx2::FindArith, avx512::FindArith)(op, t))
    return loop;
  if (ElementLoop loop = SelectIsa(sse2::FindMath, avx2::FindMath, avx512::FindMath)(op, t))
    return loop;
  if (ElementLoop loop = FindSlow(op, t)) return loop;
  return FindSpecial(op, t);
}

ElementRowsLoop FindElementRowsLoop(ElementOp op, DataType t) {
  return SelectIsa(sse2::FindRows, avx2::FindRows, avx512::FindRows)(op, t);
}

RepeatFn FindRepeat() { return SelectIsa(&sse2::Repeat, &avx2::Repeat, &avx512::Repeat); }

ElementLoop FindCastLoop(DataType from, DataType to) {
  return SelectIsa(sse2::FindCast, avx2::FindCast, avx512::FindCast)(from, to);
}

}  // namespace tenon::cpu
