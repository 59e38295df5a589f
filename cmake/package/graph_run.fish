# Completion of graph_run in fish: commands and flags as its own --help lists them, files otherwise.
function __graph_run_commands
    graph_run --help 2>/dev/null | sed -nE '/^Commands:/,/^$/ { s/^  plugin .*/plugin\tcheck or write a plug-in/p; t; s/^  ([a-z]+) +[A-Z. ]*  *([A-Z].*)/\1\t\2/p; }' | sort -u
end

function __graph_run_plugin_commands
    graph_run --help 2>/dev/null | sed -nE 's/^  plugin ([a-z]+) +[A-Z. ]*  *([A-Z].*)/\1\t\2/p'
end

# A model in a command's place stands for `run` with that model.
function __graph_run_flags
    set -l words (commandline -opc)
    set -l command $words[2]
    test "$command" = plugin; and set -a command $words[3]
    set -l help (graph_run $command --help 2>/dev/null; or graph_run run --help 2>/dev/null)
    printf '%s\n' $help | sed -nE 's/^  (--[a-z-]+)[^ ]*( [^ ]+)?  +(.*)/\1\t\3/p'
end

complete -c graph_run -n __fish_use_subcommand -a '(__graph_run_commands)'
complete -c graph_run -n '__fish_seen_subcommand_from plugin; and test (count (commandline -opc)) -eq 2' -f -a '(__graph_run_plugin_commands)'
complete -c graph_run -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__graph_run_flags)'
