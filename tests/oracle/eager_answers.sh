#!/usr/bin/env bash
# eager_answers.sh BUILD_DIR TENSORFLOW: compiles eager_answers.cc for libtenon in BUILD_DIR and for the Python package
# TENSORFLOW (the folder with libtensorflow_cc.so.2), runs both, and shows where they differ beside eager_answers.diff.
set -euo pipefail
build=$(realpath "$1") tensorflow=$(realpath "$2") here=$(dirname "$(realpath "$0")")
root=$here/../.. work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=(-I"$root/executor/include" -I"$root/graph/include" -I"$root/plugin/include")
c++ -std=c++17 "${headers[@]}" "$here/eager_answers.cc" -o "$work/tenon" -L"$build/lib" -ltenon -Wl,-rpath,"$build/lib"
c++ -std=c++17 "${headers[@]}" "$here/eager_answers.cc" -o "$work/tensorflow" "$tensorflow/libtensorflow_cc.so.2" \
  "$tensorflow/libtensorflow_framework.so.2" -Wl,-rpath,"$tensorflow"
"$work/tenon" >"$work/tenon.txt" 2>/dev/null
TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=0 "$work/tensorflow" >"$work/tensorflow.txt" 2>/dev/null
diff "$work/tensorflow.txt" "$work/tenon.txt" >"$work/difference" || true
diff "$here/eager_answers.diff" "$work/difference"
