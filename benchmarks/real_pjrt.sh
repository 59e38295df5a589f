#!/usr/bin/env bash
# real_pjrt.sh DIR [MODEL...]: fetches published PJRT plug-ins into DIR with pip, unpacks them and prints a line for each: its
# path. With MODELs, folders as in tests/golden/models, each runs on each CPU plug-in. No part of a build or of CI: some
# hundred megabytes come from PyPI.
set -euo pipefail
dir=$1
shift
models=("$@")
graph_run=${GRAPH_RUN:-build/release/bin/graph_run}

# Package, the library in it, whether it runs on any machine.
plugins=(
  "lammps-jax-pjrt-cpu==0.11.2 lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so runs"
  "fastatomstruct-xla-cpu==2026.6.23 fastatomstruct_xla_cpu/libpjrt_cpu.so runs"
  "xla-cpu-pjrt==0.0.1 xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so runs"
  "jax-cuda13-pjrt==0.11.2 jax_plugins/xla_cuda13/xla_cuda_plugin.so lists"
  "libtpu==0.0.52 libtpu/libtpu.so lists"
)

# Runs a folder with graph.pb.xz, feeds/NAME.npy and fetches/NAME.npy, and prints whether the answers are right.
run_model() {
  local model=$1 plugin=$2 args=() file
  for file in "$model"/feeds/*.npy; do args+=(--input "$(basename "$file" .npy)=@$file"); done
  for file in "$model"/fetches/*.npy; do args+=(--expect "$(basename "$file" .npy)=@$file"); done
  timeout 600 "$graph_run" run "$model/graph.pb.xz" --plugin "$plugin" --device PJRT_CPU:0 --rtol 1e-3 --atol 1e-4 "${args[@]}" \
    >/dev/null 2>&1 && echo "right"
}

ulimit -c 0
mkdir -p "$dir/wheels"
for entry in "${plugins[@]}"; do
  read -r package library use <<<"$entry"
  name=${package%%==*}
  name=${name//-/_}
  if [[ ! -e $dir/$name/$library ]]; then
    pip download --quiet --no-deps -d "$dir/wheels" "$package"
    mkdir -p "$dir/$name"
    python3 -m zipfile -e "$dir/wheels/$name"-*.whl "$dir/$name"
  fi
  path=$dir/$name/$library
  echo "$path"
  timeout 120 "$graph_run" devices --plugin "$path" 2>/dev/null | sed -n 's/^  \(PJRT\|platform\|no devices\) /    \1 /p'
  [[ $use == runs ]] || continue
  for model in "${models[@]}"; do
    printf '    %s: ' "$model"
    run_model "$model" "$path" || echo "wrong"
  done
done
