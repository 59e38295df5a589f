// Whether a plug-in would find what it needs here: the libraries of its DT_NEEDED, and theirs, and
// the functions that they leave undefined. From files alone; nothing is loaded.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/host/link/elf_library.h"

namespace tenon {

struct NeededLibrary {
  std::string name;      // as DT_NEEDED says
  std::string by;        // file name of who needs it
  std::string path;      // empty: not found
  bool of_host = false;  // one of TensorFlow's names, which Tenon stands for
  std::string damage;    // why the file that was found cannot be used
};

enum class SymbolState : uint8_t {
  kHost,     // Tenon has it
  kLibrary,  // a library has it
  kWeak,     // nobody has it, nor must
  kMissing,
};

struct SymbolFinding {
  ElfSymbol symbol;
  std::string by;  // file name of who wants it
  SymbolState state = SymbolState::kMissing;
  bool cxx = false;           // a C++ name
  std::string readable;       // the name, demangled
  std::string library;        // file name of who has it, or would have it; empty: unknown
  std::string wrong_version;  // the library has no such version: the newest that it has
};

struct LinkReport {
  std::string path;
  ElfLibrary file;
  std::vector<std::string> entry_points;  // those that a host calls, in call order
  std::vector<NeededLibrary> needed;      // the plug-in's own first, then what these need
  std::vector<SymbolFinding> symbols;     // all of the plug-in's, then those that libraries miss
};

// INVALID_ARGUMENT for a file that is no library (ReadElfLibrary's words).
absl::StatusOr<LinkReport> CheckLinks(const std::string& path);

// Who has a function of this name: "TensorFlow's C++ library", "Abseil", "Python" …; empty: nobody
// knows.
std::string LikelyOwner(const ElfSymbol& symbol);

}  // namespace tenon
