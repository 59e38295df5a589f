// A leak is no leak if a static variable still points to the object. Writable segments of all
// loaded libraries are searched for the addresses, word by word, as a conservative garbage
// collector does.

#include "graph/c_api/static_data.h"

#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace tenon {
namespace {

using Addresses = absl::flat_hash_set<const void*>;

struct Search {
  const Addresses& wanted;
  Addresses found;
};

// Reads the memory through the kernel (process_vm_readv): an unmapped page then ends the read,
// where an ordinary load would end the process.
void SearchSegment(uintptr_t begin, size_t size, Search& search) {
  constexpr size_t kAtOnce = 1 << 14;
  std::vector<const void*> words(kAtOnce);
  for (size_t done = 0; done < size; done += kAtOnce * sizeof(void*)) {
    const iovec here{static_cast<void*>(words.data()),
                     std::min(kAtOnce * sizeof(void*), size - done)};
    const iovec there{reinterpret_cast<void*>(begin + done), here.iov_len};
    const ssize_t read = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    for (ssize_t i = 0; i < read / static_cast<ssize_t>(sizeof(void*)); ++i) {
      if (search.wanted.contains(words[i])) search.found.insert(words[i]);
    }
  }
}

int SearchLibrary(dl_phdr_info* library, size_t, void* argument) {
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    // The linker aligns pointers, so only aligned words are looked at.
    const uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    const uintptr_t aligned = (begin + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
    if (aligned - begin < segment.p_memsz)
      SearchSegment(aligned, segment.p_memsz - (aligned - begin), *static_cast<Search*>(argument));
  }
  return 0;
}

}  // namespace

Addresses HeldInStaticData(const Addresses& wanted) {
  Search search{wanted, {}};
  if (!wanted.empty()) dl_iterate_phdr(SearchLibrary, &search);
  return std::move(search.found);
}

}  // namespace tenon
