#!/usr/bin/env bash
# unimplemented_list.sh BUILD_DIR: docs/plugins.md names every function of the C API that answers
# UNIMPLEMENTED for its own sake, and no other.
set -euo pipefail

in_code() {
  grep -rohE '\b(Refuse|RefuseNull|NotImplemented)\((ctx, )?"TF_[A-Za-z]+' plugin/host/c_api | grep -oE 'TF_[A-Za-z]+'
}
in_docs() {
  sed -n '/^## Functions that answer UNIMPLEMENTED/,/^## What differs/p' docs/plugins.md | grep -E '^\| `TF_' |
    cut -d'|' -f2 | grep -oE 'TF_[A-Za-z]+'
}
diff <(in_code | sort -u) <(in_docs | sort -u) || {
  echo "unimplemented_list: < only the code, > only docs/plugins.md"
  exit 1
}
