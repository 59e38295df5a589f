#!/usr/bin/env bash
# matrix_library.sh BUILD_DIR: without the library of decompositions, or with another library in its place, a graph
# that decomposes is an error that names the file, and every other graph runs.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "matrix_library: $*"; failed=1; }

mkdir -p "$work/bin" "$work/lib/tenon"
cp "$build/bin/graph_run" "$work/bin"
cp -P "$build"/lib/libtenon.so* "$work/lib"
file=$work/lib/tenon/libtenon_linalg.so

# check OP: what `graph_run check` of the op's golden graph says, and its exit code.
check() { status=0; said=$("$work/bin/graph_run" check "tests/golden/ops/$1.pbtxt.xz" 2>&1) || status=$?; }

# refused TEXT: Cholesky fails with TEXT and the file's path, Add runs.
refused() {
  check Cholesky
  [[ $status -ne 0 && $said == *"$1"* && $said == *"$file"* ]] || complain "want '$1' and $file; got code $status: $said"
  check Add
  [[ $status -eq 0 ]] || complain "Add ends with $status: $said"
}
refused "the library of matrix decompositions cannot be opened"
cp "$build/lib/plugins/libapu.so" "$file"
refused "is not the library of matrix decompositions of this version"
cp "$build/lib/tenon/libtenon_linalg.so" "$file"
check Cholesky
[[ $status -eq 0 ]] || complain "with its library Cholesky ends with $status: $said"
exit "$failed"
