#!/usr/bin/env bash
# eager_ratios.sh BUILD_DIR TENSORFLOW: eager_bench.cc with libtenon of BUILD_DIR and with the Python package TENSORFLOW
# (the folder with libtensorflow_cc.so.2), in turns; nanoseconds of processor time, the best of three, and the ratio.
set -euo pipefail
build=$(realpath "$1") tensorflow=$(realpath "$2") root=$(realpath "$(dirname "$0")/..") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile=(c++ -std=c++20 -O2 "$root/benchmarks/eager_bench.cc" -I"$root/executor/include" -I"$root/graph/include" -I"$root/plugin/include")
"${compile[@]}" -o "$work/tenon" -L"$build/lib" -ltenon -lbenchmark -lbenchmark_main -Wl,-rpath,"$build/lib"
"${compile[@]}" -o "$work/tensorflow" "$tensorflow/libtensorflow_cc.so.2" "$tensorflow/libtensorflow_framework.so.2" \
  -lbenchmark -lbenchmark_main -Wl,-rpath,"$tensorflow"
for round in 1 2 3; do
  for program in tenon tensorflow; do
    TF_CPP_MIN_LOG_LEVEL=3 "$work/$program" --benchmark_format=csv 2>/dev/null |
      awk -F, -v p="$program" '/^"BM_/ { gsub("\"", "", $1); print p, $1, $4 }'
  done
done | awk '
  !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
  !seen[$2]++ { order[++n] = $2 }
  END {
    printf "%-28s %12s %12s %8s\n", "ns", "Tenon", "TensorFlow", "ratio"
    for (i = 1; i <= n; ++i) {
      name = order[i]
      printf "%-28s %12.0f %12.0f %8.1f\n", name, best["tenon", name], best["tensorflow", name], best["tensorflow", name] / best["tenon", name]
    }
  }'
