#!/usr/bin/env bash
# no_exceptions.sh BUILD_DIR: no exception leaves a function of the C interface that has a status. Its body is a
# function-try-block that ends in WithoutMemory (graph/c_api/without_memory.h), unless it is one line.
set -euo pipefail

# find_open FILES...: "FILE: FUNCTION" for each function that would let an exception out.
find_open() {
  awk '
    FNR == 1 { header = "" }
    header == "" && /^[A-Za-z].*[ *](TF|TFE|TENON)_[A-Za-z_0-9]+\(/ && !/^(using|return|namespace)/ { header = $0; first = 1 }
    header == "" { next }
    !first { header = header $0 }
    { first = 0 }
    /[{;]/ {
      if (header ~ /TF_Status\* *(const )?(out_)?status[,)]/ && header ~ /\{$/ && header !~ / try \{$/) {
        match(header, /(TF|TFE|TENON)_[A-Za-z_0-9]+\(/)
        print FILENAME ": " substr(header, RSTART, RLENGTH - 1)
      }
      header = ""
    }' "$@"
}

# The check itself finds what it looks for.
sample=$(mktemp)
trap 'rm -f "$sample"' EXIT
printf '%s\n' 'void TF_One(int x, TF_Status* status) try {' '}' 'int TF_Two(int x,' '           TF_Status* status) {' '}' \
  'void TF_Three(TF_Status* status) { TF_Four(status); }' >"$sample"
[[ $(find_open "$sample") == "$sample: TF_Two" ]] || { echo "the check does not find an open function"; exit 1; }

mapfile -t sources < <(grep -rl --include='*.cc' 'extern "C"' executor/api graph/c_api optimizer_api plugin/host/c_api)
[[ ${#sources[@]} -ge 60 ]] || { echo "too few sources of the C interface: ${#sources[@]}"; exit 1; }
open=$(find_open "${sources[@]}")
[[ -z $open ]] || { printf '%s\n' "$open" 'These functions let exceptions out: see graph/c_api/without_memory.h'; exit 1; }
