// Strings of a tensor. Their bytes count against the memory limit of a run, because a TF_TString
// keeps a long string in a buffer of its own.
#include "plugin/cpu/base/string_element.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "absl/strings/str_format.h"
#include "graph/tensor/memory_bound.h"

namespace tenon::cpu {

void PutString(void* data, int64_t i, std::string_view value) {
  // The bytes of a long string lie outside of the tensor's buffer: the limit counts them here.
  MemoryBound::TakeText(value.size());
  char* const bytes =
      TF_TString_ResizeUninitialized(static_cast<TF_TString*>(data) + i, value.size());
  if (bytes == nullptr) throw std::bad_alloc();
  if (!value.empty()) std::memcpy(bytes, value.data(), value.size());
}

void AppendString(void* data, int64_t i, std::string_view value) {
  TF_TString* const element = static_cast<TF_TString*>(data) + i;
  const size_t before = TF_TString_GetSize(element);
  // A short text takes nothing, and one that was long before has been counted.
  const size_t after = before + value.size();
  if (after > TF_TString_SmallCapacity) {
    const size_t more = before > TF_TString_SmallCapacity ? value.size() : after;
    if (!MemoryBound::Take(more)) throw std::bad_alloc();
  }
  TF_TString_AppendN(element, value.data(), value.size());
  if (TF_TString_GetSize(element) - before != value.size()) throw std::bad_alloc();
}

// `bytes` is a double, so that a caller's product of sizes cannot overflow before the check.
absl::Status CheckStringBytes(double bytes) {
  const uint64_t most = std::min<uint64_t>(kMostStringBytes, MemoryBound::Left());
  if (bytes <= static_cast<double>(most)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("the result would take %.3g bytes; the limit is %d", bytes, most));
}

}  // namespace tenon::cpu
