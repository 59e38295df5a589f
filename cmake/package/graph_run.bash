# Completion of graph_run in bash: commands and flags as its own --help lists them, files otherwise.
_graph_run() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} first=${COMP_WORDS[1]} choices=
  local command=("$first")
  [[ $first != plugin ]] || command+=("${COMP_WORDS[2]}")
  if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then
    choices=$("$program" --help 2>/dev/null | sed -nE '/^Commands:/,/^$/ s/^  ([a-z]+) .*/\1/p' | sort -u)
  elif [[ $COMP_CWORD -eq 2 && $first == plugin ]]; then
    choices=$("$program" --help 2>/dev/null | sed -nE 's/^  plugin ([a-z]+) .*/\1/p')
  elif [[ $word == -* ]]; then
    # A model in a command's place stands for `run` with that model.
    choices=$({ "$program" "${command[@]}" --help || "$program" run --help; } 2>/dev/null |
      sed -nE 's/^  (--[a-z-]+).*/\1/p')
  fi
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _graph_run graph_run
