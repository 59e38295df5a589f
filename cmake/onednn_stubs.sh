#!/bin/sh
# onednn_stubs.sh LIBDNNL.SO OUT.S: for each C function that oneDNN exports a hidden stub that jumps
# through a table, plus the list of names that plugin/cpu/onednn/onednn_loader.cc fills the table from.
set -eu
library=$1
out=$2

names=$(nm -D --defined-only "$library" | awk '$2 == "T" && $3 ~ /^dnnl_/ { print $3 }' | sort -u)
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\].*/\1/p')
if [ -z "$names" ] || [ -z "$soname" ]; then
  echo "onednn_stubs.sh: $library exports no dnnl_* function or has no SONAME" >&2
  exit 1
fi

echo "$names" | awk -v soname="$soname" '
{ names[NR] = $1 }
END {
  print "\t.intel_syntax noprefix\n\t.text"
  # Before the table is filled a call reports dnnl_runtime_error instead of jumping to nowhere.
  print "unbound:\n\tmov eax, 5\n\tret"
  for (i = 1; i <= NR; i++) {
    printf "\t.globl %s\n\t.hidden %s\n\t.type %s, @function\n", names[i], names[i], names[i]
    printf "%s:\n\tjmp [rip + tenon_onednn_slots + %d]\n", names[i], 8 * (i - 1)
    printf "\t.size %s, . - %s\n", names[i], names[i]
  }
  print "\t.data\n\t.balign 8\n\t.globl tenon_onednn_slots\n\t.hidden tenon_onednn_slots"
  print "tenon_onednn_slots:"
  for (i = 1; i <= NR; i++) print "\t.quad unbound"
  print "\t.section .rodata\n\t.globl tenon_onednn_soname\n\t.hidden tenon_onednn_soname"
  printf "tenon_onednn_soname:\n\t.asciz \"%s\"\n", soname
  # One string, names parted by NUL, closed by an empty name: no relocations.
  print "\t.globl tenon_onednn_names\n\t.hidden tenon_onednn_names\ntenon_onednn_names:"
  for (i = 1; i <= NR; i++) printf "\t.asciz \"%s\"\n", names[i]
  print "\t.asciz \"\""
  print "\t.section .note.GNU-stack, \"\", @progbits"
}' >"$out"
