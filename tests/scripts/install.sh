#!/usr/bin/env bash
# install.sh BUILD_DIR: what `cmake --install` writes can be moved, has what docs/library.md says, and is found by
# find_package and pkg-config; C programs link with it and run; a program that was linked against TensorFlow's C
# library runs with it by its library path alone.
set -euo pipefail
build=$(realpath "$1")
grep -qE '^CMAKE_BUILD_TYPE:STRING=(Asan|Tsan)$' "$build/CMakeCache.txt" && exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
  echo "install: $*"
  failed=1
}

quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "install: failed: $*"; exit 1; }; }

# expect WANTED COMMAND...: the command prints just that, to stdout and stderr together.
expect() {
  local got status=0
  got=$("${@:2}" 2>&1) || status=$?
  [[ $status -eq 0 && $got == "$1" ]] || complain "'${*:2}' ended with $status and printed '$got', not '$1'"
}

quietly cmake --install "$build" --prefix "$work/first"
root="$work/a moved tree"
mv "$work/first" "$root"
lib=$root/lib

check_files() {
  local path
  for path in bin/graph_run lib/libtenon.so.0 lib/libtenon.so lib/tenon/libtensorflow.so.2 \
      lib/tenon/libtensorflow_framework.so.2 lib/tenon/libtensorflow_cc.so.2 \
      lib/tenon/_pywrap_tensorflow_internal.so lib/tenon/libtensorflow.so lib/tenon/libtenon.so.0 lib/tenon/libtenon_linalg.so lib/tenon/plugins/libapu.so lib/tenon/plugins/libtenon_opencl.so \
      lib/pkgconfig/tenon.pc lib/pkgconfig/tensorflow_c.pc lib/tenon/pkgconfig/tensorflow.pc \
      lib/cmake/Tenon/TenonConfig.cmake lib/cmake/Tenon/TenonConfigVersion.cmake \
      share/zsh/vendor-completions/_graph_run share/fish/vendor_completions.d/graph_run.fish \
      share/doc/tenon/LICENSE share/doc/tenon/docs/library.md share/doc/tenon/docs/report.png \
      share/doc/tenon/docs/graph_run.schema.json; do
    [[ -e $root/$path ]] || complain "there is no $path"
  done
  # In /usr/local these would stand before a TensorFlow that is installed.
  [[ -z $(find "$lib" -maxdepth 1 -name '*tensorflow*') ]] || complain "lib/ itself has TensorFlow's names"
  diff <(cd "$root/include" && find . -name '*.h' | sort) \
    <(for folder in */include "$build/generated/include"; do (cd "$folder" && find . -name '*.h'); done | sort) ||
    complain "the headers (<) are not those of the source tree and of the ops (>)"
  if grep -rlF -e "$build" -e "$PWD/" -e "$work" "$lib/cmake" "$lib/pkgconfig" "$lib/tenon/pkgconfig"; then
    complain "the files above name the place where they were made"
  fi
}

check_sonames() {
  local shim
  [[ $(readelf -d "$lib/libtenon.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p') == libtenon.so.0 ]] ||
    complain "the library's soname is not libtenon.so.0"
  # A shim stands before libtenon where a program's symbols are looked for, unless it is a filter.
  for shim in "$lib"/tenon/*tensorflow*.so.2 "$lib"/tenon/_pywrap*; do
    [[ $(readelf -d "$shim" | sed -n 's/.*(FILTER).*\[\(.*\)\]/\1/p') == libtenon.so.0 ]] ||
      complain "$shim hides functions of libtenon"
    diff <(nm -D --defined-only "$shim" | awk '$3 ~ /^T/ { print $3 }' | sort) \
      <(nm -D --defined-only "$lib/libtenon.so" | awk '$2 == "T" && $3 ~ /^(TF|TFE|TSL)_/ { print $3 }' | sort) ||
      complain "$shim (<) has not the functions of libtenon (>)"
  done
  readelf -V "$root/bin/graph_run" | grep -q 'Name: TENON_0' || complain "graph_run asks for no version of libtenon"
}

write_programs() {
  cat >"$work/program.c" <<'END'
#include <stdio.h>
#include <tensorflow/c/c_api.h>

int main(void) {
  TF_Status* status = TF_NewStatus();
  TF_SetStatus(status, TF_OUT_OF_RANGE, "no more");
  printf("%s %d %s\n", TF_Version(), TF_GetCode(status), TF_Message(status));
  TF_DeleteStatus(status);
  return 0;
}
END
  cat >"$work/program.cc" <<'END'
#include <tenon/graph_run.h>

int main(int argc, char** argv) { return tenon::GraphRunMain(argc, argv); }
END
  cat >"$work/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(programs LANGUAGES C CXX)
set(CMAKE_C_STANDARD 11)
find_package(Tenon 0.2 QUIET)
if(Tenon_FOUND)
  message(FATAL_ERROR "a later version was found than is installed")
endif()
find_package(Tenon 0.1 REQUIRED)
add_executable(c_program program.c)
target_link_libraries(c_program PRIVATE Tenon::tensorflow_c)
add_executable(cc_program program.cc)
target_link_libraries(cc_program PRIVATE Tenon::tenon)
file(WRITE "${CMAKE_BINARY_DIR}/folders" "${Tenon_TENSORFLOW_LIBRARY_DIR}\n${Tenon_PLUGIN_DIR}\n")
END
}

readonly ANSWER="2.21.0 11 no more"

check_find_package() {
  local folder
  quietly cmake -S "$work" -B "$work/made" -G Ninja -DCMAKE_PREFIX_PATH="$1"
  quietly cmake --build "$work/made"
  expect "$ANSWER" "$work/made/c_program"
  quietly "$work/made/cc_program" --version
  while read -r folder; do
    [[ -d $folder ]] || complain "TenonConfig.cmake names $folder, which does not exist"
  done <"$work/made/folders"
  rm -r "$work/made"
}

check_pkg_config() {
  local package flags
  command -v pkg-config >/dev/null || return 0
  for package in tenon tensorflow_c tensorflow; do
    # pkg-config quotes the blanks in the folder's name.
    flags=$(PKG_CONFIG_PATH=$lib/pkgconfig:$lib/tenon/pkgconfig pkg-config --cflags --libs "$package")
    eval "quietly cc -std=c11 -Wall -Werror \"\$work/program.c\" -o \"\$work/by_pkg_config\" $flags"
    expect "$ANSWER" env LD_LIBRARY_PATH="$lib" "$work/by_pkg_config"
    expect "$ANSWER" env LD_LIBRARY_PATH="$lib/tenon" "$work/by_pkg_config"
  done
  [[ ! -e $lib/pkgconfig/tensorflow.pc ]] || complain "tensorflow.pc stands where a TensorFlow's own is looked for"
}

# A library with TensorFlow's name and versions stands in when the program is linked.
check_library_path() {
  local soname version
  while read -r soname version; do
    echo "$version { global: TF_*; local: *; };" >"$work/versions"
    printf 'void TF_%s(void) {}\n' NewStatus DeleteStatus SetStatus GetCode Message Version >"$work/stand_in.c"
    quietly cc -shared -fPIC "$work/stand_in.c" -o "$work/$soname" -Wl,-soname,"$soname" \
      -Wl,--version-script="$work/versions"
    quietly cc -I"$root/include" "$work/program.c" -o "$work/ported" "$work/$soname"
    expect "$ANSWER" env LD_LIBRARY_PATH="$lib/tenon" "$work/ported"
    # Linked by the file name, as TensorFlow's package for Python is: that has no other.
    quietly cc -I"$root/include" "$work/program.c" -o "$work/by_file" -L"$lib/tenon" "-l:$soname"
    expect "$ANSWER" env LD_LIBRARY_PATH="$lib/tenon" "$work/by_file"
  done <<'END'
libtensorflow.so.2 VERS_1.0
libtensorflow_cc.so.2 tensorflow
libtensorflow_framework.so.2 tensorflow
END
}

check_command() {
  quietly "$root/bin/graph_run" run tests/golden/models/mlp/graph.pbtxt --plugin "$lib/tenon/plugins/libapu.so" \
    --input 'x=4x20xf32=ones'
}

# completes WANTED WORDS...: what bash would offer for the last word has WANTED.
completes() {
  local COMP_WORDS=("$root/bin/graph_run" "${@:2}") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _graph_run
  [[ " ${COMPREPLY[*]} " == *" $1 "* ]] || complain "completion of '${*:2}' offers '${COMPREPLY[*]}', not $1"
}

check_completion() {
  source "$root/share/bash-completion/completions/graph_run"
  completes explain ex
  completes check plugin ch
  completes --op-table run model.pb --op
  completes --op-table README.md --op
  local fish=$root/share/fish/vendor_completions.d/graph_run.fish words
  command -v fish >/dev/null || return 0
  for words in "ex explain" "plugin ch check" "run model.pb --op --op-table" "README.md --op --op-table"; do
    PATH=$root/bin:$PATH fish -c 'source $argv[1]; complete -C $argv[2]' "$fish" "graph_run ${words% *}" |
      cut -f1 | grep -qxe "${words##* }" || complain "fish completes '${words% *}' without ${words##* }"
  done
}

# Each command has a page that says what its --help says.
check_man_pages() {
  local command page flag
  while read -r command; do
    page=$root/share/man/man1/graph_run-${command// /-}.1
    [[ -e $page ]] || { complain "there is no man page of $command"; continue; }
    # shellcheck disable=SC2086
    while read -r flag; do
      grep -qF -- ".B ${flag//-/\\-}" "$page" || complain "the man page of $command lacks $flag"
    done < <("$root/bin/graph_run" $command --help | sed -nE 's/^  (--[a-z-]+).*/\1/p')
    ! command -v groff >/dev/null || [[ -z $(groff -man -ww -z -Tutf8 "$page" 2>&1) ]] ||
      complain "groff warns of $page"
  done < <("$root/bin/graph_run" --help | sed -nE '/^Commands:/,/^$/ s/^  (plugin [a-z]+|[a-z]+) .*/\1/p')
  grep -q 'plugin check SO' "$root/share/man/man1/graph_run.1" || complain "graph_run.1 lacks a command"
}

check_files
check_sonames
write_programs
check_find_package "$root"
check_find_package "$build"
check_pkg_config
check_library_path
check_command
check_completion
check_man_pages
exit "$failed"
