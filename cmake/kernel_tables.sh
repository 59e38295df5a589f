#!/usr/bin/env bash
# kernel_tables.sh FOLDER OUT: writes the source that lists the tables of kernels of a folder: the
# results of each function `absl::Span<const CpuKernelSpec> Name() {`, by name.
set -euo pipefail
mapfile -t names < <(
  grep -rhoE --include='*.cc' '^absl::Span<const CpuKernelSpec> [A-Za-z0-9]+\(\) \{' "$1" |
    sed -E 's/^.* ([A-Za-z0-9]+)\(\) \{/\1/' | LC_ALL=C sort)
{
  echo '#include "plugin/kernels/kernel_spec.h"'
  echo
  echo 'namespace tenon {'
  echo 'namespace cpu {'
  printf 'absl::Span<const CpuKernelSpec> %s();\n' "${names[@]}"
  echo '}  // namespace cpu'
  echo
  echo 'absl::Span<const absl::Span<const CpuKernelSpec>> CpuKernels() {'
  echo '  static const absl::Span<const CpuKernelSpec> all[] = {'
  printf '      cpu::%s(),\n' "${names[@]}"
  echo '  };'
  echo '  return all;'
  echo '}'
  echo
  echo '}  // namespace tenon'
} >"$2.new"
# What has not changed is not compiled again.
if cmp -s "$2.new" "$2"; then rm "$2.new"; else mv "$2.new" "$2"; fi
