#!/usr/bin/env bash
# docs.sh BUILD_DIR: the pages speak of what there is. Each path that they name exists, each command of graph_run that they name is
# one, and the tables of docs/graph_run.md have all commands, and all reasons of placement with their meanings.
set -euo pipefail
build=$1
failed=0

complain() {
  echo "docs: $*"
  failed=1
}

pages=(README.md CONTRIBUTING.md docs/*.md benchmarks/*.md)

# Paths within `...`, without those that stand for many (<family>, *, …).
for page in "${pages[@]}"; do
  [[ -e $page ]] || continue
  while read -r path; do
    [[ -e $path ]] || complain "$page names $path, which does not exist"
  done < <(grep -oE '`(proto|graph|grappler_lite|optimizer_api|executor|plugin|tests|benchmarks|cmake|docs|examples)/[A-Za-z0-9_./-]*`' "$page" |
             tr -d '`' | sort -u)
done

mapfile -t commands < <("$build/bin/graph_run" --help | sed -nE '/^Commands:/,/^$/ s/^  ((plugin )?[a-z]+) .*/\1/p')
[[ ${#commands[@]} -gt 5 ]] || complain "graph_run --help lists only ${#commands[@]} commands"
for command in "${commands[@]}"; do
  grep -qE "^\| \`$command[ \`]" docs/graph_run.md || complain "docs/graph_run.md has no row for $command"
done
for page in README.md docs/*.md; do
  while read -r command; do
    [[ " ${commands[*]} " == *" $command "* || $command == plugin ]] || complain "$page uses graph_run $command, which is no command"
  done < <(sed -nE 's/^    (\$ )?(build\/release\/bin\/)?graph_run ([a-z]+)( .*|$)/\3/p; s/^\| `([a-z]+) [A-Z ]+.*/\1/p' "$page" | sort -u)
done

# The table of reasons is that of place_codes.h; with TENON_WRITE_GOLDEN it is written anew. Names and meanings alternate.
codes=executor/place/place_codes.h
mapfile -t reasons < <(grep -oE '\.(name|means) = "[^"]*"' $codes | sed -E 's/.*"(.*)"/\1/')
[[ ${#reasons[@]} -ge 20 ]] || complain "$codes names only $((${#reasons[@]} / 2)) reasons"
table=$(for ((i = 0; i < ${#reasons[@]}; i += 2)); do echo "| \`${reasons[i]}\` | ${reasons[i + 1]} |"; done)
row='^| `[A-Z_]*` |'
if [[ -n ${TENON_WRITE_GOLDEN:-} ]]; then
  sed -i -e '/^## Placement$/,/^## P/ {' -e "/$row/d" -e "/^| reason | meaning |\$/ {" -e 'n; r /dev/stdin' -e '}' -e '}' docs/graph_run.md <<<"$table"
fi
diff <(echo "$table") <(sed -n "/^## Placement\$/,/^## P/ { /$row/p }" docs/graph_run.md) ||
  complain "the table of reasons in docs/graph_run.md (>) is not that of $codes (<); TENON_WRITE_GOLDEN=1 writes it"
exit "$failed"
