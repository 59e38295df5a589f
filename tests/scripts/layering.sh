#!/usr/bin/env bash
# layering.sh BUILD_DIR: an include points only to its own folder or to one on its left, and within a
# folder not where the table of rooms forbids it; what we ship needs no library that a plug-in may
# bring itself.
set -euo pipefail
build=$1
failed=0

complain() {
  echo "layering: $*"
  failed=1
}

folders=(proto graph grappler_lite optimizer_api plugin executor)

declare -A rank
for i in "${!folders[@]}"; do rank[${folders[i]}]=$i; done

# Sets `owner` to the folder that owns an included path; empty for a path from outside.
find_owner() {
  local folder
  for folder in "${folders[@]}"; do
    owner=$folder
    [[ $1 != "$folder"/* && ! -e $folder/include/$1 ]] || return 0
  done
  owner=
}

check_includes() {
  local folder file path owner
  while IFS=$'\t' read -r file path; do
    folder=${file%%/*}
    find_owner "$path"
    if [[ $path == tests/* || $path == benchmarks/* ]]; then
      complain "$file includes $path: the library must not include tests"
    elif [[ -n $owner ]] && ((rank[$owner] > rank[$folder])); then
      complain "$file includes $path: $folder must not include from $owner"
    fi
  done < <(grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+/[^>"]+' \
             --include='*.h' --include='*.cc' --include='*.c' --include='*.inc' "${folders[@]}" |
           grep -vE '[<"](absl|google|boost|sys|nlohmann|CLI|hwy|unsupported)/' |
           sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]/\t/')
}

# Within a folder: "ROOM OTHER", where ROOM must not include from OTHER.
rooms=(
  "executor/run executor/plan"
  "executor/plan/steps executor/plan/layout"
  "executor/plan/layout executor/plan/steps"
)

check_rooms() {
  local room other hit
  while read -r room other; do
    while read -r hit; do
      complain "$hit: $room must not include from $other"
    done < <(grep -rnE "#[[:space:]]*include[[:space:]]*[<\"]$other/" "$room")
  done < <(printf '%s\n' "${rooms[@]}")
}

# A shipped plug-in sees the public C headers only; a public C++ header shows no library of ours.
check_public_headers() {
  local hit
  while read -r hit; do
    complain "$hit: a plug-in may include public C headers only"
  done < <(grep -rnE '#[[:space:]]*include[[:space:]]*[<"]('"$(IFS='|'; echo "${folders[*]}")"'|absl|google)/' \
             plugin/apu plugin/template plugin/opencl 2>/dev/null | grep -vE '"plugin/(apu|template|opencl)/')
  while read -r hit; do
    complain "$hit: a public header must not show a private or third-party one"
  done < <(grep -rnE '#[[:space:]]*include[[:space:]]*[<"]('"$(IFS='|'; echo "${folders[*]}")"'|absl|google|dnnl|nlohmann|CLI)' \
             "${folders[@]/%//include}" 2>/dev/null)
}

check_binaries() {
  local binary needed
  for binary in lib/libtenon.so bin/graph_run; do
    while read -r needed; do
      complain "$binary needs $needed at start; it must be hidden or opened at run time"
    done < <(readelf -d "$build/$binary" | grep NEEDED | grep -oE '\[lib(protobuf|absl|dnnl|mkldnn)[^]]*')
  done
  if readelf -V "$build/lib/libtenon.so" | grep -q 'Version definition'; then
    complain "libtenon.so has a named version; plug-ins' references to TF_x@tensorflow would fail"
  fi
}

check_includes
check_rooms
check_public_headers
check_binaries
exit "$failed"
