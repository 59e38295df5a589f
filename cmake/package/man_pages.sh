#!/usr/bin/env bash
# man_pages.sh GRAPH_RUN FOLDER: writes graph_run.1 and a page for each command, graph_run-opt.1 and so on, of what
# --help says, which the program makes of its tables of commands and flags.
set -euo pipefail
program=$1
folder=$2
mkdir -p "$folder"
version=$("$program" --version | sed -nE '1s/.* ([0-9][0-9.]*).*/\1/p')

# page NAME WHAT HELP: sections are lines that end in a colon, items have two blanks between name and text.
page() {
  printf '%s\n' "$3" | awk -v name="$1" -v what="$2" -v version="$version" '
    function escaped(text) {
      gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/\x27/, "\\(aq", text)
      return text ~ /^\./ ? "\\&" text : text
    }
    function section(title) { if (example) print ".EE"; example = 0; print ".SH " toupper(escaped(title)) }
    BEGIN {
      sub(/\.$/, "", what)
      printf ".TH %s 1 \"\" \"Tenon %s\" \"Tenon\"\n", toupper(escaped(name)), version
      print ".SH NAME\n" escaped(name) " \\- " escaped(what)
    }
    NR == 1 || $0 == "" { next }
    /^usage: / { section("Synopsis"); print ".B " escaped(substr($0, 8)); next }
    /^Exit codes: / { section("Exit status"); print escaped(substr($0, 13)); next }
    /^[A-Z][^:]*:$/ { sub(/:$/, ""); section($0); if ($0 == "Examples") { example = 1; print ".EX" }; next }
    example { sub(/^  /, ""); print escaped($0); next }
    /^ +graph_run / { print ".br\n.B " escaped(substr($0, 8)); next }
    # A command, its arguments, and what it does.
    match($0, /^  [a-z]+( [a-z]+)? +[A-Z. ]*[A-Z.]  +[A-Z]/) {
      item = substr($0, 3, RLENGTH - 3); sub(/ +$/, "", item); gsub(/ +/, " ", item)
      print ".TP\n.B " escaped(item) "\n" escaped(substr($0, RLENGTH)); next
    }
    match($0, /[^ ]  +/) && /^  [^ ]/ {
      print ".TP\n.B " escaped(substr($0, 3, RSTART - 2)) "\n" escaped(substr($0, RSTART + RLENGTH)); next
    }
    /^  / { print ".TP\n.B " escaped(substr($0, 3)); next }
    { print ".PP\n" escaped($0) }
    END { if (example) print ".EE"; print ".SH SEE ALSO\n" (name == "graph_run" ? "The pages of the commands, as graph_run\\-opt(1)" : "graph_run(1)") }
  ' >"$folder/$1.1"
}

help=$("$program" --help)
page graph_run "run, inspect, optimize, compare and debug TensorFlow models without TensorFlow" "$help"
while read -r command; do
  read -ra words <<<"$command"
  help=$("$program" "${words[@]}" --help)
  page "graph_run-${command// /-}" "$(head -n 1 <<<"$help")" "$help"
done < <("$program" --help | sed -nE '/^Commands:/,/^$/ s/^  (plugin [a-z]+|[a-z]+) .*/\1/p')
