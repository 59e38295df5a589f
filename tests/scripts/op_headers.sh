#!/usr/bin/env bash
# op_headers.sh BUILD_DIR: each op whose name begins with a letter has just one function in tenon/ops/, and tenon/ops.h includes all
# headers there, and no other stays. Deprecated ops are marked. A family does not include what traces functions: it takes the compiler long, and
# a program of eager ops does not need it.
set -euo pipefail
export LC_ALL=C
headers=$1/generated/include/tenon
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same WANTED GOT WHAT
same() { diff "$1" "$2" || { echo "op_headers: $3"; failed=1; }; }

functions() { sed -nE 's/^(inline .* )?([A-Z][A-Za-z0-9_]*)\(.*/\2/p' "$@"; }

same <(grep -oE '^[A-Za-z][^|]*' tests/golden/ops/op_defs.txt | sort) <(functions "$headers"/ops/*.h | sort) \
  "the functions (>) are not those of the ops (<)"
same <(cd "$headers" && ls ops/*.h | sort) <(sed -nE 's,^#include "tenon/(ops/.*)"$,\1,p' "$headers/ops.h") \
  "tenon/ops.h does not include all headers (<)"
same <(awk -F'|' '/^[A-Za-z]/ && (" " $5) ~ / deprecated / { print $1 }' tests/golden/ops/op_defs.txt | sort) \
  <(functions <(grep -h -A 2 '^\[\[deprecated' "$headers"/ops/*.h) | sort) "the deprecated functions (>) are not those of the ops (<)"

for family in "$headers"/ops/*.h; do
  included=$(c++ -std=c++20 -MM -Igraph/include -Iexecutor/include -I"$1/generated/include" "$family")
  if grep -oE 'tenon/(trace_graph|trace_node|function_rep|gradient_tape)\.h' <<<"$included"; then
    echo "op_headers: $(basename "$family") includes the above"
    failed=1
  fi
done

# A header of a family that is no more goes.
mkdir -p "$work/tenon/ops"
touch "$work/tenon/ops/gone.h"
(cd "$headers/ops" && ls -- *.h) | sed 's/\.h$//' | xargs "$1/bin/op_headers" graph/op_docs "$work"
same <(cd "$headers" && ls ops.h ops/*.h) <(cd "$work/tenon" && ls ops.h ops/*.h) "a header stays that no op needs (>)"

# An installation ends where an op is newer than its function.
touch -d 2000-01-01 "$work/old"
touch -d tomorrow "$work/new"
check=$1/generated/package/check_build.cmake
cmake -Dstamp="$work/new" -P "$check" || { echo "op_headers: a new build folder may not be installed"; failed=1; }
if cmake -Dstamp="$work/old" -P "$check" 2>"$work/messages" || ! grep -q 'build it before' "$work/messages"; then
  echo "op_headers: an old build folder may be installed"
  cat "$work/messages"
  failed=1
fi
exit "$failed"
