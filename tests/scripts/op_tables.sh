#!/usr/bin/env bash
# op_tables.sh BUILD_DIR: what is true of an op stands in its row in graph/ops; nowhere else is there a
# table, list or set of op names. Patterns of rewrites name the few ops that they look for, and kernels,
# rules for gradients and rows of StableHLO the op that they serve.
set -euo pipefail

readonly MOST=6                                  # op names in one statement
readonly REWRITES='(Rewrite|Watcher|Contraction) k'  # rows of rewrites: what each looks for and makes
# The C++ library knows ops by the C API alone, which does not say how an op touches state. Its functions of ops stand in
# headers by what people look for, which is no fact of an op.
readonly CLIENT='^executor/(include/tenon|op_headers)/'
readonly ABOUT_TENSORFLOW='/(tensorflow_versions|target)\.cc$'  # what its versions have, not what is true of ops

# find_tables FILES...: "FILE: COUNT names of ops: NAME..." for each statement that names more. Files of
# graph/ops come first: their rows say what is an op.
find_tables() {
  awk -v most="$MOST" -v rewrites="$REWRITES" '
    function look_at(statement,    seen, names, count, size, words, i) {
      if (statement ~ rewrites) return
      while (match(statement, /"[A-Za-z_0-9 ]+"/)) {
        size = split(substr(statement, RSTART + 1, RLENGTH - 2), words, " ")
        statement = substr(statement, RSTART + RLENGTH)
        for (i = 1; i <= size; ++i) {
          if (!(words[i] in is_op) || words[i] in seen) continue
          seen[words[i]] = 1
          names = names " " words[i]
          ++count
        }
      }
      if (count > most) print FILENAME ": " count " names of ops:" names
    }
    FILENAME ~ /^graph\/ops\// {
      if (match($0, /^    \{"[A-Za-z_0-9]+"/)) is_op[substr($0, 7, RLENGTH - 7)] = 1
      next
    }
    FNR == 1 { statement = "" }
    {
      sub(/\/\/.*/, "")
      statement = statement $0 "\n"
      if (/;[[:space:]]*$/) {
        look_at(statement)
        statement = ""
      }
    }' "$@"
}

mapfile -t sources < <(
  find graph grappler_lite optimizer_api plugin executor \( -name '*.cc' -o -name '*.h' \) \
    -not -path 'graph/ops/*' -not -path 'graph/gradients/*' -not -path 'plugin/cpu/*' -not -path 'plugin/apu/*' \
    -not -path 'plugin/opencl/*' -not -path 'plugin/template/*' -not -path 'executor/stablehlo/*' |
    grep -vE "$ABOUT_TENSORFLOW|$CLIENT" | sort)

# That it finds one is tested first.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/planted.cc" <<'END'
const std::set<std::string> kOps = {"Abs", "Neg", "Exp", "Log", "MatMul", "Conv2D", "Identity"};
bool IsFast(std::string_view op) { return op == "Abs" || op == "Neg"; }
END
[[ $(find_tables graph/ops/*.cc "$work/planted.cc") == *planted.cc:\ 7\ names* ]] ||
  { echo "op_tables: a planted table was not found"; exit 1; }

found=$(find_tables graph/ops/*.cc "${sources[@]}")
[[ -z $found ]] || {
  echo "$found"
  echo "op_tables: state a fact in the ops' rows (graph/op_defs/op_facts.h) and ask Graph::facts"
  exit 1
}
