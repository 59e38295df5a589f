// Checks whether a plug-in would find here what it needs: the libraries of its DT_NEEDED, the
// libraries that they need, and the symbols that all of them leave undefined. Reads the files of
// these libraries and loads none of them. Calls PrepareForPlugins, since some symbols are Tenon's.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/host/link/elf_library.h"

namespace tenon {

// One library that the loader would look for, whether the process has it already or not.
struct NeededLibrary {
  std::string name;      // as DT_NEEDED says
  std::string by;        // file name of the first library that needs it
  std::string path;      // empty: not found, or `of_host`
  bool of_host = false;  // one of TensorFlow's libraries, which Tenon replaces
  std::string damage;    // why the file at `path` cannot be used; empty: it can
};

enum class SymbolState : uint8_t {
  kHost,     // Tenon defines the symbol
  kLibrary,  // a needed library, the plug-in itself or another library of the process defines it
  kWeak,     // not defined, but the symbol is weak: it may stay so
  kMissing,  // not defined: the plug-in cannot be loaded
};

// The result for one undefined symbol.
struct SymbolFinding {
  ElfSymbol symbol;
  std::string by;  // file name of the library that needs the symbol
  SymbolState state = SymbolState::kMissing;
  bool cxx = false;      // a C++ name
  std::string readable;  // the name, demangled
  // File name of the library that defines the symbol. For kMissing and kWeak: of the needed library
  // that the symbol's version names; for kMissing without one, the answer of LikelyOwner. Empty:
  // unknown, or kHost.
  std::string library;
  // For kMissing and kWeak: the newest version in `library` of the family of the symbol's version:
  // "GLIBC_2.36" for "GLIBC_2.38". Empty: there is none.
  std::string wrong_version;
};

struct LinkReport {
  std::string path;  // canonical
  ElfLibrary file;
  // The exported functions that some host calls, in call order. Tenon does not call all of them.
  std::vector<std::string> entry_points;
  // The plug-in's DT_NEEDED first, then their needs, each name once. The list ends when 1000 files
  // have been read.
  std::vector<NeededLibrary> needed;
  // All undefined symbols of the plug-in. Then the kMissing ones of its libraries; libraries that
  // the process has already are not checked.
  std::vector<SymbolFinding> symbols;
};

// Thread-safe. INVALID_ARGUMENT, with ReadElfLibrary's message, if the file at `path` is missing or
// no library. A fault of a needed library is no error: the report has it.
absl::StatusOr<LinkReport> CheckLinks(const std::string& path);

// The library or project that likely defines the symbol: symbol.library if that is stated, else by
// the name "TensorFlow's C library", "Abseil", "Python", …; empty: unknown.
std::string LikelyOwner(const ElfSymbol& symbol);

}  // namespace tenon
