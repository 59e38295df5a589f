#!/usr/bin/env bash
# plugin_new.sh BUILD_DIR: what `graph_run plugin new` writes, in a folder with a blank, configures, builds and
# passes its tests against the installed tree, with each compiler that is there; it configures against the build
# tree too. The command lines that it prints are right.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "plugin_new: failed: $*"; exit 1; }; }

quietly "$build/bin/graph_run" plugin new my_board "$work/a board"
grep -qF "cmake --build '$work/a board/build'" "$work/log" || { cat "$work/log"; echo "plugin_new: no quotes"; exit 1; }
quietly cmake -S "$work/a board" -B "$work/by_build" -G Ninja -DCMAKE_PREFIX_PATH="$build"
quietly cmake --install "$build" --prefix "$work/installed"
for compiler in g++ clang++; do
  command -v "$compiler" >/dev/null || continue
  made="$work/made by $compiler"
  quietly cmake -S "$work/a board" -B "$made" -G Ninja -DCMAKE_PREFIX_PATH="$work/installed" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-Werror -DCMAKE_CXX_COMPILER="$compiler"
  quietly cmake --build "$made"
  quietly ctest --test-dir "$made" --output-on-failure --no-tests=error
done

# A plug-in for PJRT: the large one, so without optimization and with one compiler.
quietly "$build/bin/graph_run" plugin new my_board "$work/a compiler" --kind pjrt
if grep -rniE "pjref|pjrt_reference|sample" "$work/a compiler"; then
  echo "plugin_new: a name of ours is left"
  exit 1
fi
made="$work/made for PJRT"
quietly cmake -S "$work/a compiler" -B "$made" -G Ninja -DCMAKE_PREFIX_PATH="$work/installed" \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Werror -O0"
quietly cmake --build "$made"
quietly ctest --test-dir "$made" --output-on-failure --no-tests=error
