// Copies of elements that are not plain bytes: strings, which own memory, and objects, which count
// references.
#include "plugin/cpu/elementwise/loops/element_copy.h"

#include <utility>

#include "graph/tensor/object.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {

void ElementCopy::CopyCounted(const char* from, char* to, int64_t n) const {
  if (strings_) {
    for (int64_t i = 0; i < n; ++i) PutString(to, i, StringAt(from, i));
    return;
  }
  const auto* f = reinterpret_cast<Object* const*>(from);
  auto* t = reinterpret_cast<Object**>(to);
  for (int64_t i = 0; i < n; ++i) {
    // The new reference is taken before the old one is dropped: both may be to the same object.
    Object* const copy = ObjectRef<Object>::Share(f[i]).release();
    ObjectRef<Object>::Adopt(std::exchange(t[i], copy));
  }
}

void ElementCopy::Repeat(const void* from, int64_t i, void* to, int64_t j, int64_t n) const {
  const char* f = static_cast<const char*>(from) + i * bytes_;
  char* t = static_cast<char*>(to) + j * bytes_;
  if (!counted_) return FindRepeat()(f, bytes_, n, t);
  for (int64_t k = 0; k < n; ++k) CopyCounted(f, t + k * bytes_, 1);
}

}  // namespace tenon::cpu
