#!/usr/bin/env bash
# tutorial.sh BUILD_DIR: the parts of docs/tutorial.md and that of README.md, put together, compile and print what the pages
# say; the commands that the tutorial names run.
set -euo pipefail
build=$(realpath "$1")
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

blocks() { awk -v fence="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == fence { on = 1 }' docs/tutorial.md; }
{
  printf '#include <tenon/tenon.h>\n#include <iostream>\nusing namespace tenon;\nint main() {\n'
  blocks cpp
  printf '{\n'
  sed -n '/^  ```cpp$/,/^  ```$/p' README.md | grep -v '```'
  printf '}\n}\n'
} >"$work/tutorial.cc"
{
  blocks text
  sed -nE 's,^  std::cout .*  // ,,p' README.md
} >"$work/expected"
[[ $(wc -l <"$work/expected") -gt 20 ]] || { echo "tutorial: the page has no parts"; exit 1; }

includes=(-Iexecutor/include -Igraph/include -Iplugin/include -I"$build/generated/include")
"${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror "${includes[@]}" "$work/tutorial.cc" -o "$work/tutorial" \
  -L"$build/lib" -ltenon -Wl,-rpath,"$build/lib"
(cd "$work" && ./tutorial >printed) || { cat "$work/printed"; echo "tutorial: the program failed"; exit 1; }
diff "$work/expected" "$work/printed" || { echo "tutorial: docs/tutorial.md says (<) what the program does not print (>)"; exit 1; }

grep -oE '`graph_run [^`]*predict\.pbtxt[^`]*`' docs/tutorial.md | tr -d '`' >"$work/commands"
[[ $(wc -l <"$work/commands") -eq 2 ]] || { echo "tutorial: the page should name two commands"; exit 1; }
(cd "$work" && PATH=$build/bin:$PATH bash -euo pipefail commands >printed 2>&1) ||
  { cat "$work/printed"; echo "tutorial: a command of docs/tutorial.md failed"; exit 1; }
