#include "graph/c_api/without_memory.h"

#include <new>
#include <stdexcept>

#include "graph/c_api/c_api_internal.h"

namespace tenon {
namespace {

void TellNoMemory(TF_Status* status) {
  if (status == nullptr || status->is_deleted()) return;
  ClearStatus(status);
  status->code = TSL_RESOURCE_EXHAUSTED;
  status->message = "out of memory";  // short enough to lie in the string itself
}

}  // namespace

NoResult WithoutMemory(TF_Status* status) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    TellNoMemory(status);
  } catch (const std::length_error&) {  // more than any container can hold
    TellNoMemory(status);
  }
  return {};
}

}  // namespace tenon
