#!/usr/bin/env bash
# client_api.sh PACKAGE [BUILD_DIR]: compiles each client_*.c beside this script with our headers, links it with libtenon.so and with
# the libraries of a TensorFlow package (its folder "tensorflow"), and compares what both print.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
package=$1
build=$(realpath "${2:-build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for source in tests/oracle/client_*.c; do
  name=$(basename "$source" .c)
  compile=("${CC:-cc}" -std=gnu11 -Wall -Wextra -Igraph/include -Iexecutor/include "$source")
  "${compile[@]}" -o "$work/tenon" "$build/lib/libtenon.so" -Wl,-rpath,"$build/lib"
  "${compile[@]}" -o "$work/tensorflow" "$package"/libtensorflow_{cc,framework}.so.2 -Wl,-rpath,"$package"
  "$work/tenon" >"$work/tenon.txt" || echo "$name: ends with $? here"
  TF_CPP_MIN_LOG_LEVEL=3 "$work/tensorflow" >"$work/tensorflow.txt" 2>/dev/null || echo "$name: ends with $? in TensorFlow"
  if diff "$work/tensorflow.txt" "$work/tenon.txt"; then
    echo "$name: $(wc -l <"$work/tenon.txt") lines, the same"
  else
    failed=1
  fi
done
exit "$failed"
