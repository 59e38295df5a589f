#!/usr/bin/env bash
# op_docs.sh: each op whose name begins with a letter has a text in graph/op_docs, in the file of its table in graph/ops. A text is
# a sentence, then a line for every input and output in the order of the op's definition, then lines for attributes.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check FOLDER: what is wrong with the texts there. op_defs.txt is what a test of tests/graph/ops compares the registry with.
check() {
  {
    grep -h '^[A-Za-z]' tests/golden/ops/op_defs.txt | sed 's/^/def /'
    grep -oE '"[A-Za-z_0-9]+"' graph/ops/*.cc | sed -E 's,^graph/ops/(.*)\.cc:"(.*)"$,row \1 \2,'
    for file in "$1"/*.txt; do
      echo "file $(basename "$file" .txt)"
      grep -v '^#' "$file" | sed 's/^/text /'
      echo "text "
    done
  } | awk '
    function complain(what) { print "op_docs: " (op == "" ? family : op) ": " what }
    # Names of "name:type ..." in order, joined by blanks.
    function names(list,    parts, size, i, result) {
      size = split(list, parts, " ")
      for (i = 1; i <= size; ++i) if (parts[i] ~ /^[A-Za-z_0-9]+:/) result = result " " substr(parts[i], 1, index(parts[i], ":") - 1)
      return result
    }
    function finish() {
      if (op == "") return
      if (lines == 0) complain("there is no sentence")
      if (said != arguments[op]) complain("the inputs and outputs are" arguments[op] ", not" said)
      op = ""
    }
    $1 == "def" {
      split(substr($0, 5), part, "|")
      inputs_outputs = names(part[2]) names(part[3])
      arguments[part[1]] = inputs_outputs
      attributes[part[1]] = names(part[4]) " "
      next
    }
    $1 == "row" { in_table[$2 " " $3] = 1; next }
    $1 == "file" { family = $2; op = ""; next }
    {
      line = substr($0, 6)
      if (length(line) > 120) complain("a line has " length(line) " characters: " line)
      if (line ~ /[ \t]$/) complain("a line ends with a blank")
      if (line == "") { finish(); next }
      if (line ~ /^[^ ]/) {
        finish()
        op = line
        lines = 0
        said = ""
        delete seen
        if (!(op in arguments)) complain("is no op of tests/golden/ops/op_defs.txt")
        else if (!((family " " op) in in_table)) complain("is no op of graph/ops/" family ".cc")
        if (op in documented) complain("has two texts")
        documented[op] = 1
        next
      }
      if (line !~ /^  [^ ]/) { complain("neither a name nor indented by two: " line); next }
      if (++lines == 1) {
        if (line !~ /\.$/) complain("the sentence has no full stop")
        if (length(line) > 112) complain("the sentence has more than 110 characters")
        next
      }
      name = substr(line, 3, index(line, ":") - 3)
      if (line !~ /^  [A-Za-z_0-9]+: ./) complain("no \"name: text\": " line)
      else if (name in seen) complain("two lines for " name)
      else if (index(arguments[op] " ", " " name " ")) {
        if (attributes_begun[op]) complain("attributes come last, before them " name)
        said = said " " name
      } else if (index(attributes[op], " " name " ")) attributes_begun[op] = 1
      else complain("has no input, output or attribute " name)
      seen[name] = 1
    }
    END {
      finish()
      for (op in arguments) if (!(op in documented)) complain("has no text in graph/op_docs")
    }'
}

# That it finds faults is tested first.
mkdir "$work/planted"
cp graph/op_docs/*.txt "$work/planted"
printf '\nNoSuchOp\n  Does nothing.\n\nAbs\n  Computes a second time\n  y: shape of x\n  z: what is not there\n' >>"$work/planted/elementwise.txt"
sed -i '/^MatMul$/,/^$/d' "$work/planted/linalg.txt"
check "$work/planted" >"$work/found"
for fault in 'NoSuchOp: is no op' 'Abs: has two texts' 'Abs: the sentence has no full stop' 'Abs: has no input, output or attribute z' \
  'Abs: the inputs and outputs are x y, not y' 'MatMul: has no text'; do
  grep -qF "op_docs: $fault" "$work/found" || { echo "op_docs: a planted fault was not found: $fault"; exit 1; }
done

check graph/op_docs | sort >"$work/found"
if [[ -s $work/found ]]; then
  cat "$work/found"
  exit 1
fi
