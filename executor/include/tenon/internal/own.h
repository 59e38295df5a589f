// What only Tenon's library has: null where a program is linked with another one. Used by the
// library's own headers.
#pragma once

#include <string>

#include "tenon/error.h"
#include "tenon/tenon_c.h"

extern "C" {
extern decltype(TENON_ReadGraph) TENON_ReadGraph __attribute__((weak));
extern decltype(TENON_WriteGraph) TENON_WriteGraph __attribute__((weak));
extern decltype(TENON_ExplainGraph) TENON_ExplainGraph __attribute__((weak));
extern decltype(TENON_OptimizeGraph) TENON_OptimizeGraph __attribute__((weak));
extern decltype(TENON_FreezeGraph) TENON_FreezeGraph __attribute__((weak));
extern decltype(TENON_LoadPlugin) TENON_LoadPlugin __attribute__((weak));
extern decltype(TENON_SetNodePlace) TENON_SetNodePlace __attribute__((weak));
extern decltype(TENON_AddGradients) TENON_AddGradients __attribute__((weak));
extern decltype(TENON_WriteTrace) TENON_WriteTrace __attribute__((weak));
extern decltype(TENON_NewThreadPool) TENON_NewThreadPool __attribute__((weak));
extern decltype(TENON_ThreadPoolOfSession) TENON_ThreadPoolOfSession __attribute__((weak));
extern decltype(TENON_ThreadPoolSize) TENON_ThreadPoolSize __attribute__((weak));
extern decltype(TENON_SetThreadPool) TENON_SetThreadPool __attribute__((weak));
extern decltype(TENON_DeleteThreadPool) TENON_DeleteThreadPool __attribute__((weak));
}

namespace tenon::inline v0::internal {

// Throws UNIMPLEMENTED unless the library has the function.
template <typename Function>
void NeedTenon(Function* function, const char* what, Where where = {}) {
  if (function != nullptr) return;
  Throw(TF_UNIMPLEMENTED,
        std::string(what) + " needs Tenon's library; this program runs on another one", where);
}

// Takes the bytes out of a buffer, which must not be null, and deletes it.
inline std::string TakeBytes(TF_Buffer* buffer) {
  std::string bytes(static_cast<const char*>(buffer->data), buffer->length);
  TF_DeleteBuffer(buffer);
  return bytes;
}

}  // namespace tenon::inline v0::internal
