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

# Every include of a path with a folder, as "FILE<tab>PATH".
includes() {
  grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+/[^>"]+' \
      --include='*.h' --include='*.cc' --include='*.c' --include='*.inc' "${folders[@]}" |
    sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]/\t/'
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
  done < <(includes | grep -vE $'\t(absl|google|boost|sys|nlohmann|CLI|hwy|unsupported)/')
}

# Every header that says "Private to FOLDER/." before its code, as "HEADER<tab>FOLDER/".
private_headers() {
  grep -roE '^// .*Private to [a-z_/]+/\.' --include='*.h' "${folders[@]}" |
    sed -E 's/:.*Private to ([a-z_/]+\/)\./\t\1/'
}

# rooms.txt says which rooms there are and who may include whom.
check_rooms() {
  local hit
  while read -r hit; do
    complain "$hit"
  done < <(awk -F'\t' '
      function folder(path) { sub("/[^/]*$", "", path); return path }
      FILENAME ~ /rooms.txt$/ {
        if ($0 ~ /^(#|$)/) next
        n = split($0, words, /:? +|:$/)
        room = words[1]
        layer = room; sub("/.*", "", layer)
        for (i = 2; i <= n; ++i) {
          other = layer "/" words[i]
          if (words[i] != "" && !(other in rooms)) print "rooms.txt: " room " may not include from " other ", which is no room above it"
          may[room, other] = 1
        }
        rooms[room] = 1
        next
      }
      {
        from = folder($1)
        if (from ~ /\/include(\/|$)/) next
        if (!(from in rooms) && !(from in missed)) { missed[from] = 1; print from "/ is no room: tests/scripts/rooms.txt has no row for it" }
        to = folder($2)
        if (!(to in rooms) || to == from || (from, to) in may) next
        a = from; b = to; sub("/.*", "", a); sub("/.*", "", b)
        if (a == b) print $1 " includes " $2 ": " from " may not include from " to " (tests/scripts/rooms.txt)"
      }' "$(dirname "$0")/rooms.txt" <(includes))
  while read -r hit; do
    complain "$hit"
  done < <(awk -F'\t' '
      NR == FNR { scope[$1] = $2; next }
      ($2 in scope) && index($1, scope[$2]) != 1 { print $1 " includes " $2 ", which is private to " scope[$2] }' \
    <(private_headers) <(includes))
}

# A shipped plug-in sees the public C headers only; a public C++ header shows no library of ours.
check_public_headers() {
  local hit
  while read -r hit; do
    complain "$hit: a plug-in may include public C headers only"
  done < <(grep -rnE '#[[:space:]]*include[[:space:]]*[<"]('"$(IFS='|'; echo "${folders[*]}")"'|absl|google)/' \
             plugin/apu plugin/template plugin/opencl plugin/pjrt_reference 2>/dev/null |
             grep -vE '"plugin/(apu|template|opencl|pjrt_reference)/')
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
    done < <(readelf -d "$build/$binary" | grep NEEDED | grep -oE '\[lib(protobuf|absl|dnnl|mkldnn|crypto|ssl|zip|elf)[^]]*')
  done
  while read -r needed; do
    complain "libtenon.so exports $needed; with a version, references to TF_x@tensorflow of published plug-ins would fail"
  done < <(nm -D --defined-only "$build/lib/libtenon.so" | grep -oE ' (TF|TFE|TSL|TP)_.*@.*')
}

check_includes
check_rooms
check_public_headers
check_binaries
exit "$failed"
