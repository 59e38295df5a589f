#!/usr/bin/env bash
# tutorial.sh BUILD_DIR: the parts of docs/tutorial.md, put together, compile and print what the page says.
set -euo pipefail
build=$(realpath "$1")
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

blocks() { awk -v fence="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == fence { on = 1 }' docs/tutorial.md; }
{
  printf '#include <tenon/tenon.h>\n#include <iostream>\nusing namespace tenon;\nint main() {\n'
  blocks cpp
  printf '}\n'
} >"$work/tutorial.cc"
blocks text >"$work/expected"
[[ $(wc -l <"$work/expected") -gt 20 ]] || { echo "tutorial: the page has no parts"; exit 1; }

includes=(-Iexecutor/include -Igraph/include -Iplugin/include -I"$build/generated/include")
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror "${includes[@]}" "$work/tutorial.cc" -o "$work/tutorial" \
  -L"$build/lib" -ltenon -Wl,-rpath,"$build/lib"
(cd "$work" && ./tutorial >printed) || { cat "$work/printed"; echo "tutorial: the program failed"; exit 1; }
diff "$work/expected" "$work/printed" || { echo "tutorial: docs/tutorial.md says (<) what the program does not print (>)"; exit 1; }
