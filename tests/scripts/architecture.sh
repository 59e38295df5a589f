#!/usr/bin/env bash
# architecture.sh [BUILD_DIR | --write]: the picture in docs/architecture.md shows the includes between rooms as they are. With
# --write it is drawn anew. Rooms within plugin/cpu but its base and oneDNN are one box, and so are rooms within
# passes, host, plan and cli; compile/passes is not, since clusters stand between it and compile. An edge that other edges imply is left out.
set -euo pipefail
page=docs/architecture.md
layers=(proto graph grappler_lite optimizer_api plugin executor)

# "FROM<tab>TO" for every include of one box from another of its layer.
edges() {
  grep -rHoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+/[^"]+' --include='*.h' --include='*.cc' --include='*.inc' \
      "${layers[@]}" |
    sed -E 's/:[[:space:]]*#[[:space:]]*include[[:space:]]*"/\t/' |
    awk -F'\t' '
      function box(path,   parts, n) {
        sub("/[^/]*$", "", path)
        if (path ~ /\/include(\/|$)/) return ""
        n = split(path, parts, "/")
        if (n == 1) return path
        if (parts[1] == "plugin" && parts[2] == "cpu")
          return parts[3] == "base" || parts[3] == "onednn" ? "plugin/cpu/" parts[3] : "plugin/cpu/FAMILY"
        if (path == "executor/compile/passes") return path
        return parts[1] "/" parts[2]
      }
      {
        from = box($1); to = box($2)
        if (from == "" || to == "" || from == to) next
        split(from, a, "/"); split(to, b, "/")
        if (a[1] == b[1] && !seen[from, to]++) print from "\t" to
      }' | LC_ALL=C sort
}

# The rooms of a layer that have sources, even those that include no other.
boxes() {
  find "${layers[@]}" -name '*.cc' -o -name '*.h' -o -name '*.proto' | awk -F/ '
    /\/include\// { next }
    NF == 2 { print $1; next }
    $1 == "executor" && $2 == "compile" && $3 == "passes" { print "executor/compile/passes"; next }
    $1 == "plugin" && $2 == "cpu" { print "plugin/cpu/" ($3 == "base" || $3 == "onednn" ? $3 : "FAMILY"); next }
    { print $1 "/" $2 }' | LC_ALL=C sort -u
}

draw() {
  echo '```mermaid'
  echo 'flowchart TB'
  awk -F'\t' -v layers="${layers[*]}" '
    FILENAME == ARGV[1] { boxes[++num] = $1; next }
    { edge[$1, $2] = 1; from[++count] = $1; to[count] = $2 }
    # Whether `b` is reached from `a` by two edges or more. The table of rooms has no cycle.
    function implied(a, b,   i) {
      for (i = 1; i <= num; ++i)
        if (((a, boxes[i]) in edge) && boxes[i] != b && reaches(boxes[i], b)) return 1
      return 0
    }
    function reaches(a, b,   i) {
      if ((a, b) in known) return known[a, b]
      known[a, b] = 0
      if ((a, b) in edge) return known[a, b] = 1
      for (i = 1; i <= num; ++i)
        if (((a, boxes[i]) in edge) && reaches(boxes[i], b)) return known[a, b] = 1
      return 0
    }
    function id(box) { gsub("[^a-zA-Z]", "_", box); return box }
    END {
      n = split(layers, layer, " ")
      for (l = n; l >= 1; --l) {
        print "  subgraph " layer[l]
        for (i = 1; i <= num; ++i) {
          split(boxes[i], parts, "/")
          if (parts[1] != layer[l]) continue
          label = boxes[i]
          sub("^[^/]*/", "", label)
          sub("FAMILY", "(family)", label)
          print "    " id(boxes[i]) "_[\"" label "\"]"
        }
        for (i = 1; i <= count; ++i) {
          split(from[i], parts, "/")
          if (parts[1] == layer[l] && !implied(from[i], to[i])) print "    " id(from[i]) "_ --> " id(to[i]) "_"
        }
        print "  end"
      }
      for (l = n; l > 1; --l) print "  " layer[l] " ==> " layer[l - 1]
    }' <(boxes) <(edges)
  echo '```'
}

begin='<!-- The picture: tests/scripts/architecture.sh --write draws it. -->'
end='<!-- End of the picture. -->'
drawn=$(mktemp)
trap 'rm -f "$drawn"' EXIT
awk -v begin="$begin" '{ print } $0 == begin { exit }' "$page" >"$drawn"
draw >>"$drawn"
awk -v end="$end" '$0 == end { on = 1 } on' "$page" >>"$drawn"
if [[ ${1:-} == --write ]]; then
  cp "$drawn" "$page"
elif ! diff -u "$page" "$drawn"; then
  echo "architecture: the picture is not that of the includes; tests/scripts/architecture.sh --write draws it anew"
  exit 1
fi
