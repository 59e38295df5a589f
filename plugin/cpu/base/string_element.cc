#include "plugin/cpu/base/string_element.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "graph/tensor/memory_bound.h"

namespace tenon::cpu {

void PutString(void* data, int64_t i, std::string_view value) {
  // The bytes of a long string lie outside of the tensor's buffer: the limit counts them here.
  MemoryBound::TakeText(value.size());
  TF_TString_Copy(static_cast<TF_TString*>(data) + i, value.data(), value.size());
}

absl::Status CheckStringBytes(double bytes) {
  const uint64_t most = std::min<uint64_t>(kMostStringBytes, MemoryBound::Left());
  if (bytes <= static_cast<double>(most)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("the strings would take %.3g bytes; the limit is %d", bytes, most));
}

}  // namespace tenon::cpu
