#!/usr/bin/env bash
# Builds protobuf and Abseil from Debian's source packages as static, position independent libraries
# with hidden symbols, which Debian's own packages are not (DESIGN.md says why they must be).
#
#   cmake/hidden_deps.sh [--find] [plain|asan|tsan]
#
# Prints the install prefix on stdout and progress on stderr. The result is kept in
# ${TENON_CACHE:-~/.cache/tenon}/deps, outside the tree; a second call costs nothing. With --find
# nothing is built: the status is 1 where nothing has been built yet.
set -euo pipefail

readonly PROTOBUF=3.21.12 ABSEIL=20220623.1
find_only=
if [[ ${1:-} == --find ]]; then
  find_only=1
  shift
fi
readonly find_only flavour=${1:-plain}

say() { echo "deps: $*" >&2; }
die() { say "error: $*"; exit 1; }

flags="-fno-gnu-unique -fvisibility=hidden -fvisibility-inlines-hidden"
case $flavour in
  plain) flags+=" -O2 -DNDEBUG" ;;
  asan) flags+=" -O1 -DNDEBUG -fno-omit-frame-pointer -fsanitize=address" ;;
  tsan) flags+=" -O1 -DNDEBUG -fno-omit-frame-pointer -fsanitize=thread" ;;
  *) die "unknown flavour '$flavour'; use plain, asan or tsan" ;;
esac

compiler=${CXX:-c++}
# Count RECIPE up when what is built below changes.
RECIPE=2
[[ $flavour != tsan ]] || RECIPE=3
hash=$( (echo "$RECIPE $flags"; "$compiler" -dumpfullversion -dumpversion) | sha256sum)
cache=${TENON_CACHE:-${HOME:-/root}/.cache/tenon}
deps=$cache/deps
prefix=$deps/protobuf-$PROTOBUF-abseil-$ABSEIL-$flavour-${hash:0:10}

if [[ -e $prefix/complete ]]; then
  echo "$prefix"
  exit 0
fi
[[ -z $find_only ]] || exit 1

mkdir -p "$deps"
# Two builds at once (two checkouts, say) must not do the work twice.
exec 9>"$deps/lock"
if ! flock -n 9; then
  say "waiting for another build of the dependencies"
  flock 9
fi
if [[ -e $prefix/complete ]]; then
  echo "$prefix"
  exit 0
fi

# Whoever held the lock before is gone; so is the use of what it left half built.
rm -rf "$deps"/work.*
work=$(mktemp -d "$deps/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Runs a command quietly; shows the end of its output only if it fails.
quietly() {
  local log=$work/log
  "$@" >"$log" 2>&1 </dev/null 9>&- || { tail -n 40 "$log" >&2; die "failed: $*"; }
}

# The machine's own Debian sources as deb-src, in a private folder: apt's system-wide state is not
# touched, root is not needed, and apt checks the signatures as for any package.
write_source_parts() {
  local parts=$1 pattern file
  # Sources of other vendors are left out; if none says "debian", a mirror has another name: take all.
  for pattern in debian .; do
    for file in /etc/apt/sources.list.d/*.sources; do
      [[ -e $file ]] && grep -qiE "^URIs:.*$pattern" "$file" || continue
      sed -E 's/^Types:.*/Types: deb-src/I' "$file" >"$parts/${file##*/}"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
      [[ -e $file ]] || continue
      sed -nE "/$pattern/ s/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p" "$file" | sort -u \
        >"$parts/$(basename "$file" .list).list"
    done
    find "$parts" -type f -empty -delete
    [[ -z $(ls "$parts") ]] || return 0
  done
  die "no package source in /etc/apt; add a Debian 12 one with 'main' in it"
}

fetch_sources() {
  local apt=$work/apt
  mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial,download}
  write_source_parts "$apt/parts"
  local options=(
    -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts"
    -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache"
    -o Acquire::Languages=none -o APT::Sandbox::User= -o APT::Update::Post-Invoke::=true
    -o APT::Update::Post-Invoke-Success::=true -o Acquire::Retries=3)
  say "fetching Debian's source packages of protobuf $PROTOBUF and Abseil $ABSEIL"
  quietly apt-get -q "${options[@]}" update
  (cd "$apt/download" && quietly apt-get -q "${options[@]}" source --download-only protobuf abseil)
  local name
  for name in "protobuf_$PROTOBUF" "abseil_$ABSEIL"; do
    local archives=("$apt/download/$name".orig.tar.*)
    [[ -e ${archives[0]} ]] || die "Debian's sources have no $name (is this Debian 12?)"
    mkdir -p "$work/${name%%_*}"
    tar -xf "${archives[0]}" -C "$work/${name%%_*}" --strip-components=1
  done
}

configure() {
  local source=$1 build=$2
  shift 2
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  quietly cmake -S "$source" -B "$build" -G Ninja "${launcher[@]}" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_C_FLAGS="$flags" \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_STANDARD=20 "$@"
}

# Mutex hands a waiting thread's object over inside code that the thread sanitizer does not follow,
# and wakes the thread up in code that it does: a false report. Later Abseils ignore it there too.
ignore_wake_up() {
  local file=$work/abseil/absl/synchronization/mutex.cc
  local call='  PerThreadSem::Post(w->thread_identity());'
  grep -qxF "$call" "$file" || die "Abseil's Mutex is not as expected"
  sed -i "s/^$call\$/  ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_BEGIN();\n&\n  ABSL_ANNOTATE_IGNORE_READS_AND_WRITES_END();/" "$file"
}

# Neither protobuf nor Tenon uses these: a fifth of Abseil's sources, and a third of protobuf's.
leave_out() {
  local list=$work/abseil/absl/CMakeLists.txt folder
  for folder in flags random; do
    grep -qxF "add_subdirectory($folder)" "$list" || die "Abseil's folders are not as expected"
    sed -i "/^add_subdirectory($folder)\$/d" "$list"
  done
  list=$work/protobuf/cmake/libprotobuf.cmake
  local messages='(api|duration|empty|field_mask|source_context|struct|timestamp|type)\.pb'
  local utilities='util/(delimited_message_util|field_mask_util|internal/.*|json_util|time_util|type_resolver_util)'
  sed -i -E "\\:/google/protobuf/($messages|$utilities|compiler/.*|io/gzip_stream|service)\.cc\$:d" "$list"
}

# Eight sources are compiled as one, which halves the compile time; those that define a name which
# another one of them has, too, stay alone.
keep_apart() {
  local folder=$1 source
  shift
  for source in "$@"; do
    [[ -e $folder/$source ]] || die "there is no $folder/$source"
    echo "set_source_files_properties(\"$folder/$source\" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)"
  done
}

build_abseil() {
  say "building Abseil ($flavour)"
  local absl=$work/abseil/absl
  keep_apart "$absl/strings" numbers.cc >>"$absl/strings/CMakeLists.txt"
  keep_apart "$absl/time" time.cc internal/cctz/src/time_zone_posix.cc >>"$absl/time/CMakeLists.txt"
  [[ $flavour != tsan ]] || ignore_wake_up
  configure "$work/abseil" "$work/abseil-build" -DABSL_PROPAGATE_CXX_STD=ON
  quietly cmake --build "$work/abseil-build"
  DESTDIR=$work/stage quietly cmake --install "$work/abseil-build"
}

build_protobuf() {
  say "building protobuf ($flavour)"
  local list=$work/protobuf/cmake/libprotobuf.cmake
  keep_apart "$work/protobuf/src/google/protobuf" {any,descriptor,wrappers}.pb.cc \
    generated_message_reflection.cc >>"$list"
  # Some sources do not end the life of the macros that their headers define.
  cat >>"$list" <<'END'
set_target_properties(libprotobuf PROPERTIES UNITY_BUILD_CODE_AFTER_INCLUDE "#ifdef PROTOBUF_VERSION
#include <google/protobuf/port_undef.inc>
#endif")
END
  configure "$work/protobuf" "$work/protobuf-build" -Dprotobuf_BUILD_TESTS=OFF \
    -Dprotobuf_BUILD_PROTOC_BINARIES=OFF -Dprotobuf_WITH_ZLIB=OFF
  quietly cmake --build "$work/protobuf-build" --target libprotobuf
  local stage=$work/stage$prefix
  mkdir -p "$stage/include" "$stage/lib"
  cp "$work/protobuf-build/libprotobuf.a" "$stage/lib/"
  (cd "$work/protobuf/src" &&
    find google/protobuf \( -name '*.h' -o -name '*.inc' -o -name '*.proto' \) \
      ! -path '*/compiler/*' ! -name '*test*' ! -path '*/testing/*' -print0 |
    tar -c --null -T - | tar -x -C "$stage/include")
}

fetch_sources
leave_out
build_abseil
build_protobuf
touch "$work/stage$prefix/complete"
rm -rf "$prefix"
mv "$work/stage$prefix" "$prefix"
say "ready: $prefix"
echo "$prefix"
