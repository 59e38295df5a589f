#include "graph/c_api/arguments.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tenon::api {

namespace {

bool Refuse(const Pointer& p, TF_Status* status) {
  StatusToC(absl::InvalidArgumentError(
                absl::StrCat("argument '", p.name, p.given ? "' was deleted" : "' is NULL")),
            status);
  return false;
}

bool RefuseLength(const char* name, bool possible, const std::string& length, TF_Status* status) {
  StatusToC(absl::InvalidArgumentError(
                possible ? absl::StrCat("argument '", name, "' is NULL, but is to have ", length)
                         : absl::StrCat("argument '", name, "' cannot have ", length)),
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
  if (count == 0 || (IsCount(count) && array != nullptr)) return true;
  return RefuseLength(name, IsCount(count), absl::StrCat(count, " elements"), status);
}

bool IsBytes(const char* name, const void* bytes, size_t length, TF_Status* status) {
  if (length == 0 || (IsSize(length) && bytes != nullptr)) return true;
  return RefuseLength(name, IsSize(length), absl::StrCat(length, " bytes"), status);
}

}  // namespace tenon::api
