#include <malloc.h>

#include "allocation_counter.h"
#include "tenon/graph_run.h"

namespace {

// Each stage of compiling frees blocks of some megabytes that the next stage asks for again. By
// default glibc returns such blocks to the kernel, and each page costs a fault when it comes back:
// a quarter of the time that a plan of 10,000 nodes takes. Larger blocks still go back.
void KeepFreedBlocks() {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  KeepFreedBlocks();
  return tenon::GraphRunMain(argc, argv, graph_run::CountAllocations);
}
