#!/usr/bin/env bash
# header_filter.sh HEADER: a header of the C++ library as Doxygen wants it. Plain comments before declarations and behind
# members become documentation, what is the library's own is left out, and lines keep their numbers.
exec awk '
# Namespaces of the library itself.
/^namespace internal/ { inside = 1 }
inside { if (/^\}.*\/\/ namespace internal/) inside = 0; print ""; next }
# In the place of this line stands that of @file.
/^#pragma once/ && said { next }
/^(class|struct) [A-Za-z]+;$/ { print ""; next }
{ sub(/^namespace tenon::inline v0/, "namespace tenon"); gsub(/ *\/\/ NOLINT(: .*)?$/, "") }

# Members that are declared in their class and defined behind it.
/^inline [^(]*[A-Z][A-Za-z]*::[^:(]*\(/ { behind = 1 }
behind { if (/^\}/ || /\{\}$/) behind = 0; print ""; next }

# Members that only the headers use, until the next label or the end of the class.
/^  \/\/ --- Of this library/ { hidden = 1 }
hidden { if (/^ (public|private|protected):/ || /^\}/) hidden = 0; else { print ""; next } }

# A class or a function, whose own comments are no documentation. What is declared in a class has two spaces before it.
/^[^ #\/}]/ {
  if (/^(inline constexpr |template .*> *)?(class|struct|enum)( class)? /) in_class = 1
  else if (!/^(template|requires|namespace|using)/) in_class = 0
}
/^\}/ { in_class = 0 }

/^\/\/ / && !code { print (said ? "" : "/// @file\n") "/" $0; said = 1; next }
/^#include/ { code = 1 }
/^ ? ?\/\// && (/^\/\// || in_class) {
  sub(/\/\//, "///")
  # The arguments and results of an op, one a line.
  if (/^\/\/\/   [A-Za-z0-9_]+: /) { sub(/^\/\/\/   /, "/// - `"); sub(/: /, "`: ") }
  # Links from the structs of an op to its function.
  if (/^\/\/\/ (What [A-Za-z0-9]+ gives|Optional attributes of [A-Za-z0-9]+)\.$/) sub(/ gives\.$|\.$/, "()&")
  print
  next
}
(in_class || /^\} [A-Z]/) && /[;,] +\/\/ / { sub(/\/\/ /, "///< ") }
{ print }
' "$1"
