// Kernels: compiled when first needed, kept in memory, and kept on disk for later processes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "binary_cache.h"
#include "cl.h"

namespace opencl {

// One kernel of a program. Its arguments are state of the OpenCL object, so that who sets them
// holds `mutex` until the kernel is queued.
struct Kernel {
  Program program;
  KernelHandle handle;
  std::mutex mutex;
  std::string name;            // for traces and errors
  size_t most_work_items = 1;  // in a work-group
};

// What is compiled: `prologue` (definitions that choose types and variants), then common.cl, then
// the file. An empty `file` means that the prologue is all of it.
struct Source {
  std::string_view file;  // "reduce.cl"
  std::string prologue;
  const char* entry = "";  // the __kernel function
  const char* options = "";
};

// What of a call decides a kernel's source, as a few bytes: these cost less to write and to compare
// than the source.
class KernelKey {
 public:
  // `entry` is the name of a kernel that no other source has.
  explicit KernelKey(std::string_view entry) {
    bytes_.reserve(120);
    Text(entry);
  }
  KernelKey& Number(int64_t number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  KernelKey& Text(std::string_view text) {
    Number(static_cast<int64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The programs of one device. Thread-safe: one thread compiles a source, others that want it wait
// for that one and no other.
class Programs {
 public:
  // `for_gpu`: files see IS_GPU defined.
  Programs(cl_context context, cl_device_id device, bool for_gpu);
  ~Programs();

  // The kernel lives as long as this object. `key` decides what make_source() returns, which is
  // called for a new key alone. Throws INTERNAL with the compiler's log, and what Check and
  // SourceOf throw. After an error the next call tries again.
  template <typename MakeSource>
  Kernel& Get(const KernelKey& key, MakeSource make_source) {
    if (Kernel* known = Find(key)) return *known;
    return Keep(key, Get(make_source()));
  }

 private:
  struct Entry;
  Kernel& Get(const Source& source);
  Kernel* Find(const KernelKey& key);
  Kernel& Keep(const KernelKey& key, Kernel& kernel);
  std::string OptionsFor(const Source& source) const;
  Program Build(const Source& source, const std::string& text) const;
  Program BuildText(const Source& source, const std::string& text) const;
  std::unique_ptr<Kernel> Make(const Source& source) const;

  const cl_context context_;
  const cl_device_id device_;
  const bool for_gpu_;
  const std::string device_key_;  // name, driver and platform, for the cache on disk
  const BinaryCache cache_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, Kernel*> by_key_;
};

}  // namespace opencl
