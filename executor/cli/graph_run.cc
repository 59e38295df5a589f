#include "tenon/graph_run.h"

#include <cstdio>
#include <string>

#include "graph/version.h"

namespace tenon {

int GraphRunMain(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    printf("graph_run %s\n", std::string(Version()).c_str());
    return 0;
  }
  fprintf(stderr, "usage: graph_run --version\n");
  return 2;
}

}  // namespace tenon
