// The functions on string elements as symbols of the library, for plug-ins that link to them; the
// inline functions of the header do the work. A null string is an empty one, and so is one of more
// bytes than there may be.
#include "tensorflow/c/tf_tstring.h"

#include <string_view>

#include "graph/c_api/counts.h"

namespace {

std::string_view TextOf(const char* src, size_t size) {
  return src == nullptr || !tenon::api::IsSize(size) ? "" : std::string_view(src, size);
}

}  // namespace

extern "C" {

void TF_StringInit(TF_TString* t) {
  if (t != nullptr) TF_TString_Init(t);
}
void TF_StringCopy(TF_TString* dst, const char* src, size_t size) {
  const std::string_view text = TextOf(src, size);
  if (dst != nullptr) TF_TString_Copy(dst, text.data(), text.size());
}
void TF_StringAssignView(TF_TString* dst, const char* src, size_t size) {
  const std::string_view text = TextOf(src, size);
  if (dst != nullptr) TF_TString_AssignView(dst, text.data(), text.size());
}
const char* TF_StringGetDataPointer(const TF_TString* tstr) {
  return tstr == nullptr ? nullptr : TF_TString_GetDataPointer(tstr);
}
TF_TString_Type TF_StringGetType(const TF_TString* str) {
  return str == nullptr ? TF_TSTR_SMALL : TF_TString_GetType(str);
}
size_t TF_StringGetSize(const TF_TString* tstr) {
  return tstr == nullptr ? 0 : TF_TString_GetSize(tstr);
}
size_t TF_StringGetCapacity(const TF_TString* str) {
  return str == nullptr ? 0 : TF_TString_GetCapacity(str);
}
void TF_StringDealloc(TF_TString* tstr) {
  if (tstr != nullptr) TF_TString_Dealloc(tstr);
}

}  // extern "C"
