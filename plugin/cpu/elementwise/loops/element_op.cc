#include "plugin/cpu/elementwise/loops/element_op.h"

#include "plugin/cpu/base/isa.h"

namespace tenon::cpu {

#define TENON_DECLARE(ISA)                                  \
  void Repeat_##ISA(const void*, int64_t, int64_t, void*);  \
  ElementLoop FindArith_##ISA(ElementOp op, DataType t);    \
  ElementRowsLoop FindRows_##ISA(ElementOp op, DataType t); \
  ElementLoop FindMath_##ISA(ElementOp op, DataType t);     \
  ElementLoop FindCast_##ISA(DataType from, DataType to);
TENON_DECLARE(sse2)
TENON_DECLARE(avx2)
TENON_DECLARE(avx512)
ElementLoop FindSlow(ElementOp op, DataType t);     // slow_loops.cc
ElementLoop FindSpecial(ElementOp op, DataType t);  // special_loops.cc

ElementLoop FindElementLoop(ElementOp op, DataType t) {
  if (ElementLoop loop = SelectIsa(FindArith_sse2, FindArith_avx2, FindArith_avx512)(op, t))
    return loop;
  if (ElementLoop loop = SelectIsa(FindMath_sse2, FindMath_avx2, FindMath_avx512)(op, t))
    return loop;
  if (ElementLoop loop = FindSlow(op, t)) return loop;
  return FindSpecial(op, t);
}

ElementRowsLoop FindElementRowsLoop(ElementOp op, DataType t) {
  return SelectIsa(FindRows_sse2, FindRows_avx2, FindRows_avx512)(op, t);
}

RepeatFn FindRepeat() { return SelectIsa(&Repeat_sse2, &Repeat_avx2, &Repeat_avx512); }

ElementLoop FindCastLoop(DataType from, DataType to) {
  return SelectIsa(FindCast_sse2, FindCast_avx2, FindCast_avx512)(from, to);
}

}  // namespace tenon::cpu
