// Reads from the file of a shared library what the library needs and exports. The file is never
// opened as a library, so that none of its code runs. The reader trusts nothing in the file.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon {

// A function or variable that another library must define.
struct ElfSymbol {
  std::string name;
  std::string version;  // "GLIBC_2.34"; empty: any
  std::string library;  // the library of that version, "libc.so.6"; empty: not stated
  bool weak = false;    // may stay undefined
};

struct ElfLibrary {
  std::string soname;  // empty: none
  // DT_RUNPATH, or DT_RPATH if there is none: folders to look for `needed` in, parted by ':'; keeps
  // $ORIGIN.
  std::string run_path;
  std::vector<std::string> needed;   // in the file's order
  std::vector<ElfSymbol> undefined;  // in the file's order
  // Names without versions, sorted. A name comes once for each of its versions.
  std::vector<std::string> exported;
  std::vector<std::string> versions;  // symbol versions that the library defines, sorted
  bool unique_symbols = false;        // has STB_GNU_UNIQUE symbols: the system never unloads it
};

// INVALID_ARGUMENT states the fault of the file: it cannot be read, is no ELF file, is for another
// machine, is no shared library, or is damaged. A position-independent program passes as a library.
absl::StatusOr<ElfLibrary> ReadElfLibrary(const std::string& path);

}  // namespace tenon
