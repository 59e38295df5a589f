// What the file of a shared library says of itself: what it needs and exports. The file is read,
// never opened as a library: none of its code runs, and nothing in it is believed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

// A function or variable that somebody else must define.
struct ElfSymbol {
  std::string name;
  std::string version;  // "GLIBC_2.34"; empty: any
  std::string library;  // whose version it is, "libc.so.6"; empty: not said
  bool weak = false;    // may stay undefined
};

struct ElfLibrary {
  std::string soname;
  std::string run_path;  // folders to look for `needed` in, parted by ':'
  std::vector<std::string> needed;
  std::vector<ElfSymbol> undefined;   // in the file's order
  std::vector<std::string> exported;  // sorted
  std::vector<std::string> versions;  // that it defines, sorted; empty: it has none
  bool unique_symbols = false;        // the system never unloads it
};

// INVALID_ARGUMENT says what is wrong with the file: not there to be read, no ELF file, for another
// machine, no shared library, or damaged.
absl::StatusOr<ElfLibrary> ReadElfLibrary(const std::string& path);

}  // namespace tenon
