#include "graph/c_api/handles.h"

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {

void DeletedBuffer(void*, size_t) {}

void TellOfDeleted(const char* function) {
  WarnOf(absl::InvalidArgumentError(
      absl::StrCat(function, ": an object that it was given was deleted already")));
}

}  // namespace tenon
