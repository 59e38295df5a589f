#include "graph/c_api/arguments.h"

#include "absl/strings/str_cat.h"

namespace tenon::api {

namespace {

bool Refuse(const Pointer& p, TF_Status* status) {
  StatusToC(absl::InvalidArgumentError(
                absl::StrCat("argument '", p.name, p.given ? "' was deleted" : "' is NULL")),
            status);
  return false;
}

}  // namespace

bool AllGiven(std::initializer_list<Pointer> pointers, TF_Status* status) {
  for (const Pointer& p : pointers) {
    if (!p.given || p.deleted) return Refuse(p, status);
  }
  ClearStatus(status);
  return true;
}

bool NoneDeleted(std::initializer_list<Pointer> pointers, TF_Status* status) {
  for (const Pointer& p : pointers) {
    if (p.deleted) return Refuse(p, status);
  }
  return true;
}

bool IsArray(const char* name, const void* array, int64_t count, TF_Status* status) {
  if (count == 0 || (count > 0 && array != nullptr)) return true;
  StatusToC(absl::InvalidArgumentError(
                count < 0 ? absl::StrCat("argument '", name, "' cannot have ", count, " elements")
                          : absl::StrCat("argument '", name, "' is NULL, but is to have ", count,
                                         " elements")),
            status);
  return false;
}

}  // namespace tenon::api
