#compdef graph_run
# Completion of graph_run in zsh: commands and flags as its own --help lists them, files otherwise.
_graph_run() {
  local program=${words[1]} word=${words[CURRENT]} first=${words[2]}
  local -a command choices
  command=("$first")
  [[ $first != plugin ]] || command+=("${words[3]}")
  # A colon in a choice would begin its description.
  if (( CURRENT == 2 )) && [[ $word != -* ]]; then
    choices=(${(f)"$("$program" --help 2>/dev/null |
      sed -nE '/^Commands:/,/^$/ { s/^  plugin .*/plugin:check or write a plug-in/p; t; s/^  ([a-z]+) +[A-Z. ]*  *([A-Z].*)/\1:\2/p; }' | sort -u)"})
    _describe command choices
    _files
  elif (( CURRENT == 3 )) && [[ $first == plugin ]]; then
    choices=(${(f)"$("$program" --help 2>/dev/null | sed -nE 's/^  plugin ([a-z]+) +[A-Z. ]*  *([A-Z].*)/\1:\2/p')"})
    _describe command choices
  elif [[ $word == -* ]]; then
    # A model in a command's place stands for `run` with that model.
    choices=(${(f)"$({ "$program" "${command[@]}" --help || "$program" run --help; } 2>/dev/null |
      sed -nE 's/^  (--[a-z-]+)[^ ]*( [^ ]+)?  +(.*)/\1:\3/p')"})
    _describe flag choices
  else
    _files
  fi
}
_graph_run "$@"
