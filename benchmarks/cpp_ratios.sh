#!/usr/bin/env bash
# cpp_ratios.sh BUILD_DIR TENSORFLOW [PYTHON]: benchmarks/cpp_bench.cc as one program, which runs with libtenon of BUILD_DIR
# and with the Python package TENSORFLOW (the folder with libtensorflow_cc.so.2), in turns, three times each: the least of
# the medians of each row. Of PYTHON, an interpreter that has the package, the third column is: benchmarks/cpp_rows.py.
set -euo pipefail
build=$(realpath "$1") tensorflow=$(realpath "$2") python=${3:-} root=$(realpath "$(dirname "$0")/..") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++20 -O2 "$root/benchmarks/cpp_bench.cc" -o "$work/program" -I"$root/executor/include" -I"$root/graph/include" \
  -I"$root/plugin/include" -I"$build/generated/include" \
  "$tensorflow/libtensorflow_cc.so.2" "$tensorflow/libtensorflow_framework.so.2"
rows() { awk -v p="$1" '/  limit$/ { next } { print p "|" substr($0, 1, 44) "|" $(NF - 2) }'; }
for round in 1 2 3; do
  for libraries in "$build/lib/tenon" "$tensorflow"; do
    LD_LIBRARY_PATH=$libraries TF_CPP_MIN_LOG_LEVEL=3 "$work/program" 7 2>"$work/log" | rows "$libraries"
  done
  [[ -z $python ]] || TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= "$python" "$root/benchmarks/cpp_rows.py" 2>"$work/log" | rows python
done | awk -F'|' -v tenon="$build/lib/tenon" -v tensorflow="$tensorflow" '
  !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
  !seen[$2]++ { order[++n] = $2 }
  END {
    printf "%-44s %10s %10s %10s\n", "", "Tenon", "TensorFlow", "Python"
    for (i = 1; i <= n; ++i)
      printf "%-44s %10s %10s %10s\n", order[i], best[tenon, order[i]], best[tensorflow, order[i]], best["python", order[i]]
  }'
