// The libraries that come into the process with another, before it is opened.
#pragma once

#include <string>
#include <vector>

namespace tenon {

struct Dependency {
  std::string name;  // as DT_NEEDED says
  std::string path;  // empty: nowhere
  int by = -1;       // who needs it, as an index into the same list; -1: the library itself
};

// What the library at `path` needs, and what these need, as far as the process does not have it and
// it is none of those that Tenon stands for. From files alone, in the loader's order; what is no
// library needs nothing.
std::vector<Dependency> MissingInProcess(const std::string& path);

// "x.so needs a.so, which needs b.so".
std::string ChainTo(const std::vector<Dependency>& dependencies, int i, const std::string& path);

}  // namespace tenon
