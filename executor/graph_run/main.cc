#include "allocation_counter.h"
#include "tenon/graph_run.h"

int main(int argc, char** argv) {
  return tenon::GraphRunMain(argc, argv, graph_run::CountAllocations);
}
