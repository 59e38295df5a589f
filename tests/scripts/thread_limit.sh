#!/usr/bin/env bash
# thread_limit.sh BUILD_DIR: where the system has fewer threads than flags ask for, nothing aborts.
set -uo pipefail
run=$1/bin/graph_run
model=tests/golden/models/mlp/graph.pbtxt

# The sanitizers need all addresses.
! grep -qiE '^CMAKE_BUILD_TYPE:[A-Z]+=(asan|tsan)$' "$1/CMakeCache.txt" || exit 77
# Room for the stacks of some twenty threads.
ulimit -s 1000000
ulimit -v 20000000

message=$("$run" run "$model" --input x=1x20xf32=ones --threads 4096 2>&1)
code=$?
[[ $code == 0 ]] || { echo "run --threads 4096 exits with $code: $message"; exit 1; }
message=$("$run" bench "$model" --input x=1x20xf32=ones --threads 1 --concurrency 1024 \
            --runs 1024 2>&1)
code=$?
[[ $code == 1 && $message == *"the system has threads for"* ]] ||
  { echo "bench --concurrency 1024 exits with $code: $message"; exit 1; }
