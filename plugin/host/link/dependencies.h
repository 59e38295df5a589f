// Finds the libraries that the loader would bring into the process with a library.
#pragma once

#include <string>
#include <vector>

namespace tenon {

struct Dependency {
  std::string name;  // as DT_NEEDED says
  std::string path;  // empty: not found
  int by = -1;       // index of the first library in the list that needs this one; -1: `path` does
};

// The libraries that the library at `path` needs, directly or through others, in the loader's
// order, each name once; the first 1000. Leaves out libraries that the process already has and
// libraries that Tenon replaces, and does not look at the needs of either. Reads files only and
// loads nothing. A file that is no library needs nothing.
std::vector<Dependency> MissingInProcess(const std::string& path);

// The chain of needs that leads from `path` to dependency i: "x.so needs a.so, which needs b.so".
std::string ChainTo(const std::vector<Dependency>& dependencies, int i, const std::string& path);

}  // namespace tenon
