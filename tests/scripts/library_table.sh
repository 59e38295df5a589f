#!/usr/bin/env bash
# library_table.sh [BUILD_DIR | --write]: the section "Functions" of docs/library.md has a row for each function of
# tests/abi/functions.inc, under its header and in that order; exports.sh compares the list with headers and exports. With
# --write the rows are written anew: those that there are keep what they say, and a new function is "whole" until its
# author says how it differs.
set -euo pipefail
page=docs/library.md
list=tests/abi/functions.inc

# The page, with the rows of the last section written anew.
draw() {
  awk -v title='## Functions' '
    FILENAME == ARGV[1] {
      if ($0 ~ /^### /) header = $2
      if (on && match($0, /^\| `[A-Za-z0-9_]+` \| /)) {
        split($0, words, "`")
        says[header, words[2]] = substr($0, RLENGTH + 1)
      }
      if ($0 == title) on = 1
      if (!on || !begun) print
      # The words before the first header stay.
      if (on && $0 == "") ++blank
      if (on && blank == 2) begun = 1
      next
    }
    /^\/\/ [a-z_\/]+\.h$/ {
      header = "`" $2 "`"
      print (rows++ ? "\n" : "") "### " header "\n\n| function | holds |\n|---|---|"
    }
    match($0, /^F\([A-Za-z0-9_]+\)/) {
      name = substr($0, 3, RLENGTH - 3)
      print "| `" name "` | " ((header, name) in says ? says[header, name] : "whole |")
    }' "$page" "$list"
}

drawn=$(mktemp)
trap 'rm -f "$drawn"' EXIT
draw >"$drawn"
[[ $(grep -c '^| `TFE\?_' "$drawn") -gt 500 ]] || { echo "library_table: $list cannot be read"; exit 1; }
if [[ ${1:-} == --write ]]; then
  cp "$drawn" "$page"
elif ! diff -u "$page" "$drawn"; then
  echo "library_table: $page has not a row for each function of $list; tests/scripts/library_table.sh --write adds rows"
  exit 1
fi
