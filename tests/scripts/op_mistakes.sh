#!/usr/bin/env bash
# op_mistakes.sh BUILD_DIR: the compiler refuses a wrong call of a function of tenon/ops with a message that names the op, and warns of a
# deprecated op with what to use.
set -euo pipefail
export LC_ALL=C
build=$1
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

# A line of the program, and what the compiler's message for it contains.
mistakes=(
  'MatMul(x)' 'error: .*MatMul'                                 # an input is missing
  'MatMul(x, x, x)' 'error: .*MatMul'                           # one too many
  'MatMul(x, x, {.transpose_c = true})' 'error: .*MatMul'       # an attribute that the op does not have
  'MaxPool(x, {1, 2, 2, 1}, {1, 2, 2, 1})' 'error: .*MaxPool'   # a required attribute is missing
  'ConcatV2(x, 0)' 'error: .*Tensor'                            # a tensor in the place of a list
  'BatchMatrixInverse(x)' 'warning: .*BatchMatrixInverse.*Use MatrixInverse instead'
)
{
  echo '#include "tenon/ops.h"'
  for ((i = 0; i < ${#mistakes[@]}; i += 2)); do
    echo "void Call$i(const tenon::Tensor& x) { tenon::ops::${mistakes[i]}; }"
  done
} >"$work/mistakes.cc"
if "$compiler" -std=c++20 -Wall -fsyntax-only -fdiagnostics-color=never -Igraph/include -Iexecutor/include \
    -I"$build/generated/include" "$work/mistakes.cc" 2>"$work/messages"; then
  echo "op_mistakes: the compiler takes all of them"
  exit 1
fi
failed=0
for ((i = 0; i < ${#mistakes[@]}; i += 2)); do
  grep -qE "mistakes\.cc:$((i / 2 + 2)):[0-9]+: ${mistakes[i + 1]}" "$work/messages" && continue
  echo "op_mistakes: no message \"${mistakes[i + 1]}\" about ${mistakes[i]}, but:"
  grep -E "mistakes\.cc:$((i / 2 + 2)):" "$work/messages" || true
  failed=1
done
exit "$failed"
