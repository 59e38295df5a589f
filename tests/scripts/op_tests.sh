#!/usr/bin/env bash
# op_tests.sh BUILD_DIR: every op that has a kernel is named by a test: a source, a golden graph, a script. Tables of all ops
# (op_defs.txt, shapes.txt) are no tests of a kernel.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$1/bin/graph_run" devices --kernels=markdown | sed -nE 's/^\| ([A-Za-z0-9_]+) \| CPU .*/\1/p' | sort -u >"$work/ops"
if [[ $(wc -l <"$work/ops") -lt 500 ]]; then
  echo "op_tests: graph_run devices lists only $(wc -l <"$work/ops") ops"
  exit 1
fi
{
  find tests -type f -name '*.xz' -print0 | xargs -0 xz -dc
  find tests -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' -o -name '*.pbtxt' -o -name '*.pb' -o -name '*.py' \) -print0 | xargs -0 cat
} | grep -aoE '\b[A-Za-z_][A-Za-z0-9_]*\b' | sort -u >"$work/words"
comm -23 "$work/ops" "$work/words" >"$work/missing"
if [[ -s $work/missing ]]; then
  echo "op_tests: ops that no test names:"
  cat "$work/missing"
  exit 1
fi
