#!/bin/sh
# stubs.sh LIBTENON OUT.S: a symbol for each function of the C API, for linkers that are given a shim by its file name.
# No call gets here: a shim is a filter (DT_FILTER), before which the system's loader looks into libtenon.
set -eu
library=$1
out=$2

names=$(nm -D --defined-only "$library" | awk '$2 == "T" && $3 ~ /^(TF|TFE|TSL)_/ { sub(/@.*/, "", $3); print $3 }' | sort -u)
if [ -z "$names" ]; then
  echo "stubs.sh: $library exports no function of the C API" >&2
  exit 1
fi

echo "$names" | awk '
BEGIN { print "\t.text\nstub:\n\tud2" }
{ printf "\t.globl %s\n\t.type %s, @function\n\t.set %s, stub\n", $1, $1, $1 }
END { print "\t.section .note.GNU-stack, \"\", @progbits" }' >"$out"
