#!/usr/bin/env bash
# examples.sh BUILD_DIR: the programs of examples/c and examples/cpp, as an installation has them, are built against it,
# and print what they should.
set -euo pipefail
build=$(realpath "$1")
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "examples: failed: $*"; exit 1; }; }

quietly cmake --install "$build" --prefix "$work/installed"
for language in c cpp; do
  made="$work/made_$language"
  quietly cmake -S "$work/installed/share/doc/tenon/examples/$language" -B "$made" -G Ninja \
    -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_C_FLAGS="-Werror -pedantic" -DCMAKE_CXX_FLAGS="-Werror -pedantic"
  quietly cmake --build "$made"
  for program in examples/"$language"/*.c*; do
    name=$(basename "${program%.*}")
    [[ -e $made/$name ]] || { echo "examples: $name was not built"; exit 1; }
    lines=$(wc -l <"$program")
    ((lines < 150)) || { echo "examples: $program has $lines lines"; exit 1; }
  done
  quietly ctest --test-dir "$made" --output-on-failure --no-tests=error
done
