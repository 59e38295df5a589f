// Runs in handlers of signals, so that it takes no lock and allocates no memory.

#include "executor/cli/faults/back_trace.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

namespace tenon::cli {
namespace {

constexpr int kMaxFrames = 64;   // frames that are walked
constexpr int kShownFrames = 8;  // frames that are shown
constexpr size_t kMaxName = 64;  // bytes of the name of a library or function

// Finds the library with the code at this address; false if there is none. _dl_find_object takes no
// lock, which dladdr does.
bool FindModule(uintptr_t address, dl_find_object* module) {
  return _dl_find_object(reinterpret_cast<void*>(address), module) == 0;
}

// Whether the module is the program or the library that holds this code.
bool IsHost(const dl_find_object& module) {
  dl_find_object own;
  return module.dlfo_link_map->l_name[0] == '\0' ||
         (FindModule(reinterpret_cast<uintptr_t>(&IsHost), &own) &&
          own.dlfo_link_map == module.dlfo_link_map);
}

// The exported symbols of a library, read from its memory: dladdr would take a lock.
class ExportedSymbols {
 public:
  explicit ExportedSymbols(const dl_find_object& module) : base_(module.dlfo_link_map->l_addr) {
    const ElfW(Dyn)* entry = module.dlfo_link_map->l_ld;
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols_ = At<ElfW(Sym)>(*entry);
      if (entry->d_tag == DT_STRTAB) strings_ = At<char>(*entry);
      if (entry->d_tag == DT_GNU_HASH) hash_ = At<uint32_t>(*entry);
    }
  }

  // The exported function that covers the address, and the offset in it; null if there is none.
  // Reads every bucket, as the hash table finds symbols by name and not by address.
  const char* Find(uintptr_t address, uintptr_t* offset) const {
    if (symbols_ == nullptr || strings_ == nullptr || hash_ == nullptr) return nullptr;
    const uint32_t buckets = hash_[0], first = hash_[1], filter_words = hash_[2];
    const auto* const filter = reinterpret_cast<const ElfW(Addr)*>(hash_ + 4);
    const auto* const bucket = reinterpret_cast<const uint32_t*>(filter + filter_words);
    const uint32_t* const chain = bucket + buckets - first;
    for (uint32_t b = 0; b < buckets; ++b) {
      // Each bucket is a run of symbols; the hash of the last one has its lowest bit set.
      for (uint32_t i = bucket[b]; i >= first; ++i) {
        const ElfW(Sym)& symbol = symbols_[i];
        const uintptr_t begin = base_ + symbol.st_value;
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            address >= begin && address - begin < symbol.st_size) {
          *offset = address - begin;
          return strings_ + symbol.st_name;
        }
        if ((chain[i] & 1) != 0) break;
      }
    }
    return nullptr;
  }

 private:
  // The loader has turned most of these offsets into addresses.
  template <typename T>
  const T* At(const ElfW(Dyn) & entry) const {
    const uintptr_t value = entry.d_un.d_ptr;
    return reinterpret_cast<const T*>(value < base_ ? value + base_ : value);
  }

  const uintptr_t base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const uint32_t* hash_ = nullptr;
};

void AddHex(FaultLine& line, uintptr_t value) {
  std::array<char, 2 * sizeof(value)> digits;
  size_t begin = digits.size();
  do {
    digits[--begin] = "0123456789abcdef"[value % 16];
    value /= 16;
  } while (value != 0);
  line.Add("0x").Add({digits.data() + begin, digits.size() - begin});
}

std::string_view Shortened(const char* name) { return {name, strnlen(name, kMaxName)}; }

const char* BaseName(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// "libx.so+0x12ab (Exported+0x1b)".
void AddFrame(FaultLine& line, uintptr_t address, const dl_find_object* module) {
  if (module == nullptr) {
    line.Add("address ");
    return AddHex(line, address);
  }
  const char* const path = module->dlfo_link_map->l_name;
  line.Add(*path == '\0' ? "the program" : Shortened(BaseName(path))).Add("+");
  AddHex(line, address - module->dlfo_link_map->l_addr);
  uintptr_t offset;
  const char* const name = ExportedSymbols(*module).Find(address, &offset);
  if (name == nullptr) return;
  line.Add(" (").Add(Shortened(name)).Add("+");
  AddHex(line, offset);
  line.Add(")");
}

// The system's libraries. They are called by plug-ins (abort, memcpy, throw), so their frames do
// not tell of the plug-in's own code.
bool IsRuntime(const char* name) {
  static constexpr const char* kNames[] = {"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so",
                                           "ld-linux"};
  return std::any_of(std::begin(kNames), std::end(kNames), [name](const char* runtime) {
    return std::strncmp(name, runtime, std::strlen(runtime)) == 0;
  });
}

struct Frame {
  uintptr_t address = 0;
  dl_find_object module;
  bool known = false;  // whether `module` is set
  bool host() const { return known && IsHost(module); }
  bool of_plugin() const {
    return known && !IsHost(module) && !IsRuntime(BaseName(module.dlfo_link_map->l_name));
  }
};

// Gathers the frames to show.
class Walk {
 public:
  _Unwind_Reason_Code Visit(_Unwind_Context* context) {
    int interrupted = 0;
    const uintptr_t next = _Unwind_GetIPInfo(context, &interrupted);
    if (--frames_left_ == 0 || next == 0) return _URC_END_OF_STACK;
    Frame frame;
    frame.address = interrupted != 0 ? next : next - 1;  // a return address is behind the call
    frame.known = FindModule(frame.address, &frame.module);
    // The frames so far are those of the host's handler and of the system's way to it.
    if (interrupted != 0 && !interrupted_) {
      count_ = 0;
      plugin_seen_ = false;
    }
    interrupted_ |= interrupted != 0;
    return Keep(frame) ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  void AddTo(FaultLine& line) {
    // Behind the plug-in's frames come the host's or, in a constructor or a thread, the system's.
    while (plugin_seen_ && count_ > 0 && !frames_[count_ - 1].of_plugin()) --count_;
    for (int i = 0; i < count_; ++i) {
      line.Add(i == 0 ? " (at " : i == 1 ? ", called by " : ", ");
      AddFrame(line, frames_[i].address, frames_[i].known ? &frames_[i].module : nullptr);
    }
    if (count_ > 0) line.Add(")");
  }

 private:
  // Keeps the frame. Returns whether to walk on.
  bool Keep(const Frame& frame) {
    const bool above = count_ == 0 && !interrupted_;  // still in the host's handlers
    if (frame.host() && (above || plugin_seen_)) return above;
    plugin_seen_ |= frame.of_plugin();
    frames_[count_++] = frame;
    return count_ < kShownFrames;
  }

  std::array<Frame, kShownFrames> frames_;
  int count_ = 0;
  int frames_left_ = kMaxFrames;
  bool interrupted_ = false;
  bool plugin_seen_ = false;
};

}  // namespace

void AddBackTrace(FaultLine& line) {
  Walk walk;
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void* arg) { return static_cast<Walk*>(arg)->Visit(frame); },
      &walk);
  walk.AddTo(line);
}

}  // namespace tenon::cli
