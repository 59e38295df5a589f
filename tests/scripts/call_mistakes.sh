#!/usr/bin/env bash
# call_mistakes.sh BUILD_DIR: the compiler refuses a call of a Function that its callable does not take, with a message that says so and
# with the numbers of arguments.
set -euo pipefail
export LC_ALL=C
build=$1
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
other_number='A Function is called with another number of arguments than its callable takes'
other_types='A Function is called with arguments of other types'

# A callable, a call of its function, and what the compiler's messages contain.
mistakes=(
  '[](Tensor a) { return a; }' 'f(x, x)' "$other_number" 'callable_takes = 1; int call_gives = 2'
  '[](Tensor a) { return a; }' 'f()' "$other_number" 'callable_takes = 1; int call_gives = 0'
  '[](Tensor a, int) { return a; }' 'f.Concrete(x)' "$other_number" 'callable_takes = 2; int call_gives = 1'
  '[](Tensor a, int) { return a; }' 'f(x, "text")' "$other_types" 'const char|char \[5\]'
  '[](auto a) { return a; }' 'f(x, x)' "$other_types" 'Args = \{tenon::v0::Tensor, tenon::v0::Tensor\}'
)
failed=0
for ((i = 0; i < ${#mistakes[@]}; i += 4)); do
  printf '#include "tenon/function.h"\nusing namespace tenon;\nvoid Call(Tensor x) {\n  Function f(%s);\n  %s;\n}\n' \
    "${mistakes[i]}" "${mistakes[i + 1]}" >"$work/mistake.cc"
  if "$compiler" -std=c++20 -Wall -fsyntax-only -fdiagnostics-color=never -Igraph/include -Iexecutor/include \
      -I"$build/generated/include" "$work/mistake.cc" 2>"$work/messages"; then
    echo "call_mistakes: the compiler takes ${mistakes[i + 1]}"
    failed=1
  elif [[ $(grep -c 'error: ' "$work/messages") -ne 1 ]] || ! grep -qE "error: .*${mistakes[i + 2]}" "$work/messages" ||
      ! grep -qE "${mistakes[i + 3]}" "$work/messages" || ! grep -q 'mistake\.cc:5' "$work/messages"; then
    echo "call_mistakes: about ${mistakes[i + 1]} the compiler says:"
    cat "$work/messages"
    failed=1
  fi
done
exit "$failed"
