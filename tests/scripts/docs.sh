#!/usr/bin/env bash
# docs.sh BUILD_DIR: the pages speak of what there is. Each path that they name exists, each command of graph_run that they name is
# one, and the table of docs/graph_run.md has all commands.
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
exit "$failed"
