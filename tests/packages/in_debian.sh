#!/usr/bin/env bash
# in_debian.sh: what debian.sh runs in the bare system, where /packages has the packages and a model.
set -euo pipefail
cd /tmp
export DEBIAN_FRONTEND=noninteractive

say() { echo "debian: $*"; }
quietly() { "$@" >/tmp/log 2>&1 || { tail -n 60 /tmp/log; say "failed: $*"; exit 1; }; }
install() { quietly apt-get install -y --no-install-recommends "$@"; }

# All files but those that apt, dpkg and the loader keep for themselves.
files() {
  find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /packages -o -path '/var/cache' -o -path '/var/log' \
    -o -path '/var/lib/apt' -o -path '/var/lib/dpkg' -o -path /etc/ld.so.cache \) -prune -o -print | sort
}

# remove LIST PACKAGE...: purges the packages and what came with them; then the files must be those of LIST.
remove() {
  quietly apt-get purge -y --autoremove "${@:2}"
  files | diff "$1" - || { say "the files above stayed behind (>) or are gone (<) after the removal of ${*:2}"; exit 1; }
}

# expect WANTED COMMAND...: the command prints just that.
expect() {
  local got
  got=$("${@:2}" 2>&1) || { echo "$got"; say "failed: ${*:2}"; exit 1; }
  [[ $got == "$1" ]] || { say "'${*:2}' printed '$got', not '$1'"; exit 1; }
}

quietly apt-get update
files >/tmp/bare

say "the command alone"
install /packages/libtenon0_*.deb /packages/tenon_*.deb
quietly graph_run --version
quietly graph_run run /packages/graph.pbtxt --input 'x=4x20xf32=random(seed=1)' --threads 2
quietly graph_run run /packages/graph.pbtxt --input 'x=4x20xf32=random(seed=1)' --plugin /usr/lib/tenon/plugins/libapu.so
expect '' find /usr/lib /usr/lib/x86_64-linux-gnu -maxdepth 1 -name '*tensorflow*'
remove /tmp/bare tenon libtenon0

say "compilers"
install gcc g++ make cmake pkg-config
files >/tmp/before

say "programs and plug-ins"
install /packages/*.deb
quietly cmake -S /usr/share/doc/tenon/examples/c -B examples
quietly cmake --build examples
quietly ctest --test-dir examples --output-on-failure --no-tests=error
examples=/usr/share/doc/tenon/examples/c
# Word splitting is meant.
quietly gcc -std=c11 $examples/train_line.c -o train_line $(pkg-config --cflags --libs tensorflow_c)
expect 'y = 3.000 x + 1.000, loss 0.000000' ./train_line
export PKG_CONFIG_PATH=/usr/lib/tenon/pkgconfig
quietly gcc -std=c11 $examples/train_line.c -o train_line $(pkg-config --cflags --libs tensorflow)
expect 'y = 3.000 x + 1.000, loss 0.000000' ./train_line
quietly graph_run plugin new my_board board
quietly cmake -S board -B board/build
quietly cmake --build board/build
quietly ctest --test-dir board/build --output-on-failure --no-tests=error
remove /tmp/before tenon libtenon0 libtenon-dev

say "all is well"
