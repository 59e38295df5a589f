#!/usr/bin/env bash
# The figures of the README, one thread: benchmarks/figures.sh [GRAPH_RUN]. Run it on an idle machine.
# Models come from tests/golden/models, unpacked, because a packed file cannot be mapped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly GRAPH_RUN=${1:-build/release/bin/graph_run}
readonly BIN=$(dirname "$GRAPH_RUN")/../benchmarks
readonly WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

number() { sed -n "s/.*\"$2\":\([0-9.e+-]*\).*/\1/p" "$1" | head -n 1; }

row() {
  local model=$1 folder=tests/golden/models/$1 args=() feed
  xz -dc "$folder/graph.pb.xz" >"$WORK/graph.pb"
  for feed in "$folder"/feeds/*.npy; do
    [[ -e $feed ]] && args+=(--input "$(basename "$feed" .npy)=@$feed")
  done
  "$GRAPH_RUN" run "$WORK/graph.pb" "${args[@]}" --threads 1 --json >"$WORK/run.json"
  "$GRAPH_RUN" bench "$WORK/graph.pb" "${args[@]}" --threads 1 --seconds 5 --json >"$WORK/bench.json"
  printf '%-16s %9.1f %9.1f %9.1f %9.1f %12.1f %9.0f\n' "$model" \
    "$(number "$WORK/run.json" load)" "$(number "$WORK/run.json" optimize)" "$(number "$WORK/run.json" plan)" \
    "$(number "$WORK/run.json" first_run)" "$(number "$WORK/bench.json" min_us)" "$(number "$WORK/bench.json" peak_rss_mb)"
}

printf '%-16s %9s %9s %9s %9s %12s %9s\n' model import_ms optim_ms plan_ms first_ms steady_us peak_MB
for model in mlp dlrm mobilenet_v2 resnet50 bert_tiny bert_base gpt2_small_64 wide_chain_10k; do row "$model"; done

folder=tests/golden/models/mlp
best=
for _ in 1 2 3 4 5 6 7 8 9 10; do
  start=$(date +%s%N)
  "$GRAPH_RUN" run "$folder/graph.pb.xz" --input "x=@$folder/feeds/x.npy" --threads 1 >/dev/null
  took=$((($(date +%s%N) - start) / 1000))
  [[ -z $best || $took -lt $best ]] && best=$took
done
printf '\nprocess start to first result, mlp: %d.%d ms\n' $((best / 1000)) $((best % 1000 / 100))
for bench in import_bench dispatch_bench control_flow_bench; do
  [[ -x $BIN/$bench ]] && "$BIN/$bench" --benchmark_min_time=0.3 2>/dev/null
done
