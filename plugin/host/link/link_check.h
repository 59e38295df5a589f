// Checks whether a plug-in would find here what it needs: the libraries of its DT_NEEDED, the
// libraries that they need, and the symbols that all of them leave undefined. Reads the files of
// these libraries and loads none of them. Calls PrepareForPlugins, since some symbols are Tenon's.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/host/link/elf_library.h"

namespace tenon {

// One library of the list that the loader would map.
struct NeededLibrary {
  std::string name;      // as DT_NEEDED says
  std::string by;        // file name of the library that needs it
  std::string path;      // empty: not found
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
  // File name of the library that defines the symbol. For kMissing: of the library that should
  // define it, or the answer of LikelyOwner. Empty: unknown, or kHost.
  std::string library;
  std::string wrong_version;  // if the library lacks the version: its newest version
};

struct LinkReport {
  std::string path;  // canonical
  ElfLibrary file;
  std::vector<std::string> entry_points;  // functions that some host calls, in call order
  std::vector<NeededLibrary> needed;      // the plug-in's DT_NEEDED first, then their needs
  std::vector<SymbolFinding> symbols;     // all of the plug-in's, then those its libraries lack
};

// Thread-safe. INVALID_ARGUMENT, with ReadElfLibrary's message, for a file that is no library.
absl::StatusOr<LinkReport> CheckLinks(const std::string& path);

// The project that likely defines the symbol, by its name: "TensorFlow's C++ library", "Abseil",
// "Python", …; empty: unknown.
std::string LikelyOwner(const ElfSymbol& symbol);

}  // namespace tenon
