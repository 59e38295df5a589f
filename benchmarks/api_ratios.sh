#!/usr/bin/env bash
# api_ratios.sh BUILD_DIR TENSORFLOW BENCH [FILTER]: benchmarks/BENCH.cc (api_bench or eager_bench) as one program, which
# runs with libtenon of BUILD_DIR under TensorFlow's names and with the Python package TENSORFLOW (the folder with
# libtensorflow_cc.so.2), in turns; nanoseconds of processor time, the best of three, and the ratio. FILTER is a regular
# expression for names of benchmarks.
set -euo pipefail
build=$(realpath "$1") tensorflow=$(realpath "$2") bench=$3 filter=${4:-.} root=$(realpath "$(dirname "$0")/..") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++20 -O2 "$root/benchmarks/$bench.cc" -o "$work/program" -lbenchmark -lbenchmark_main \
  -I"$root/executor/include" -I"$root/graph/include" -I"$root/plugin/include" \
  "$tensorflow/libtensorflow_cc.so.2" "$tensorflow/libtensorflow_framework.so.2"
for round in 1 2 3; do
  for libraries in "$build/lib/tenon" "$tensorflow"; do
    # Not as CSV: that form ends the program at the first row with a counter that the rows before it lack.
    LD_LIBRARY_PATH=$libraries TF_CPP_MIN_LOG_LEVEL=3 "$work/program" --benchmark_color=false \
      --benchmark_filter="$filter" >"$work/rows" 2>"$work/log" ||
      { cat "$work/log" >&2; echo "$0: $bench ended with $? under $libraries" >&2; exit 1; }
    awk -v p="$libraries" 'BEGIN { unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9 }
      $4 > 0 && $5 in unit { print p, $1, $4 * unit[$5] }' "$work/rows"
  done
done | awk -v tenon="$build/lib/tenon" -v tensorflow="$tensorflow" '
  !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
  !seen[$2]++ { order[++n] = $2 }
  END {
    printf "%-36s %12s %12s %8s\n", "ns", "Tenon", "TensorFlow", "ratio"
    for (i = 1; i <= n; ++i) {
      ours = best[tenon, order[i]]; theirs = best[tensorflow, order[i]]
      printf "%-36s %12.0f %12.0f %8.1f\n", order[i], ours, theirs, theirs / ours
    }
  }'
