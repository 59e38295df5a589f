// Which cores the threads of a pool may run on.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace tenon {

enum class Pin {
  kOff,    // the system places threads
  kCores,  // each thread has a core of its own
};

enum class Numa {
  kOff,
  // Where the machine has several nodes of memory, each thread stays on the cores of one node. The
  // nodes are filled one after the other, with a thread for each physical core; only then come the
  // second threads of physical cores. Who first touches memory decides in which node it lies: so
  // the weights that a plan packs and the arenas of runs lie where the threads that use them are.
  kAuto,
};

struct Core {
  int number;   // as the system counts
  int node;     // of memory
  int sibling;  // of the cores asked about, 0: the first of its physical core, 1: the second, …
};

// What the system tells of these cores, by falling use for a pool: the first threads of physical
// cores, node after node, then the second threads. The node with the most of these cores comes
// first. A core of which the system says nothing is of node 0 and alone on its physical core.
// `root` stands before /sys: tests have folders of their own.
std::vector<Core> DescribeCores(absl::Span<const int> cores, const std::string& root = "");

struct ThreadPlaces {
  // By thread of the pool, the caller's first: the cores that it may run on. Empty: any. A thread
  // beyond the cores has no place.
  std::vector<std::vector<int>> cores;
  int nodes = 1;  // that the cores belong to
};

// The places of a pool of `threads` threads on these cores. With Pin::kCores, `numa` makes no
// difference. With Pin::kOff, all places are empty if `numa` is kOff, or if the cores are all of
// one node.
ThreadPlaces PlacesOfThreads(int threads, Pin pin, Numa numa, absl::Span<const int> cores,
                             const std::string& root = "");

// Binds the calling thread to these cores. False if the system refuses; the thread then stays as it
// was. Does nothing, with true, for no cores.
bool BindThread(absl::Span<const int> cores);

}  // namespace tenon
