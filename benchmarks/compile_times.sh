#!/usr/bin/env bash
# compile_times.sh BUILD_DIR [FAMILY...]: seconds of processor time, the best of five, that g++ takes for a program that includes one
# family of ops (math, if none is named) and runs one op, for one that includes all, and for headers alone. Run it on an idle machine.
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT=%U

# best LEVEL: of $work/program.cc
best() {
  for _ in 1 2 3 4 5; do
    { time c++ -std=c++20 "$1" -Igraph/include -Iexecutor/include -I"$build/generated/include" -c "$work/program.cc" -o "$work/program.o"; } 2>&1
  done | sort -n | head -n 1
}
row() { printf '%-34s %8s %8s\n' "$1" "$(best -O0)" "$(best -O2)"; }

readonly PROGRAM='int main() {
  const tenon::Tensor x = tenon::Tensor::Of<float>({1, 2});
  return tenon::Op("AddV2").Input(x).Input(x).RunOne().data<float>()[0] > 0;
}'
printf '%-34s %8s %8s\n' seconds -O0 -O2
for header in "${@/#/ops/}" $([[ $# -gt 0 ]] || echo ops/math) ops tenon; do
  printf '#include "tenon/%s.h"\n' "$header" >"$work/program.cc"
  row "tenon/$header.h, nothing called"
  printf '#include "tenon/%s.h"\n%s\n' "$header" "$PROGRAM" >"$work/program.cc"
  row "tenon/$header.h, one op"
done
