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
cat >program.c <<'PROGRAM'
#include <stdio.h>
#include <tensorflow/c/c_api.h>
int main(void) { return puts(TF_Version()) < 0; }
PROGRAM
cat >CMakeLists.txt <<'PROGRAM'
cmake_minimum_required(VERSION 3.16)
project(program LANGUAGES C)
find_package(Tenon 0.1 REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE Tenon::tensorflow_c)
PROGRAM
quietly cmake -S . -B by_cmake
quietly cmake --build by_cmake
expect 2.21.0 by_cmake/program
for package in tenon tensorflow_c tensorflow; do
  flags=$(PKG_CONFIG_PATH=/usr/lib/tenon/pkgconfig pkg-config --cflags --libs "$package")
  # shellcheck disable=SC2086
  quietly gcc -std=c11 program.c -o program $flags
  expect 2.21.0 ./program
done
quietly graph_run plugin new my_board board
quietly cmake -S board -B board/build
quietly cmake --build board/build
quietly ctest --test-dir board/build --output-on-failure --no-tests=error
remove /tmp/before tenon libtenon0 libtenon-dev

say "all is well"
