// What every callback needs: visibility of entry points, errors, owned handles.
#pragma once

#include <exception>
#include <memory>

#include "tensorflow/c/tf_status.h"

// Marks the functions that the host looks up by name in the library. All others are hidden.
#define APU_ENTRY_POINT extern "C" __attribute__((visibility("default")))

namespace apu {

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using StatusPtr = std::unique_ptr<TF_Status, DeleteStatus>;

// Runs `body` and turns an exception into a status: no exception may cross the C interface. `body`
// may set the status itself.
template <typename Body>
void Guard(TF_Status* status, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  } catch (...) {
    TF_SetStatus(status, TF_INTERNAL, "an exception of an unknown type");
  }
}

}  // namespace apu
