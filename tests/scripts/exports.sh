#!/usr/bin/env bash
# exports.sh BUILD_DIR: libtenon.so exports the functions of tests/abi/functions.inc, those of its C++
# interface (with a version), the names that TensorFlow gives dlpack.h's functions in C++, and nothing by accident; the public headers declare the same functions; a C program that
# takes the address of each, compiled with these headers, links with the library and runs. The library's thread-local
# memory fits into what the loader keeps for libraries that a program opens by name: some 1,600 bytes for all of them.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compare WHAT FILE: FILE has the listed functions, each once.
compare() {
  diff "$work/listed" "$2" >"$work/difference" && return 0
  echo "exports: tests/abi/functions.inc (<) against $1 (>):"
  grep '^[<>]' "$work/difference"
  failed=1
}

sed -nE 's/^F\((\w+)\)$/\1/p' tests/abi/functions.inc | sort >"$work/listed"

nm -DC --defined-only "$build/lib/libtenon.so" | cut -d' ' -f3- |
  grep -vE '^(tenon::(GraphRunMain|GraphRunEnds|GraphRunKeepsSignal)\(.*\)@@TENON_0\.1|TENON_0\.1)$' |
  grep -vE '^tensorflow::TFE_\w+\(.*\)@@TENON_0\.1$' | sed 's/^\(TENON_\w*\)@@TENON_0\.1$/\1/' | sort >"$work/exported"
compare "what libtenon.so exports" "$work/exported"

# Entry points are the plug-in's, strings are functions of the header itself.
"${CC:-cc}" -E -P -I. -Igraph/include -Ioptimizer_api/include -Iplugin/include -Iexecutor/include -x c tests/abi/headers.inc |
  grep -oE '\b(TF|TFE|TSL|TP|TENON)_\w+ ?\(' | tr -d ' (' | sort -u |
  grep -vE '^(TF_Init(Kernel|Graph|Profiler)|TF_TString_.*)$' >"$work/declared"
compare "what the headers declare" "$work/declared"

local_bytes=$(readelf -lW "$build/lib/libtenon.so" | awk '$1 == "TLS" { print $6 }')
if (( local_bytes > 1024 )); then
  echo "exports: libtenon.so has $((local_bytes)) bytes of thread-local memory; at most 1024 can be relied on"
  failed=1
fi

"$build/tests/abi_functions" >"$work/output" || { cat "$work/output"; failed=1; }
exit "$failed"
