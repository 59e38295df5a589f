// What every callback needs: how errors and exceptions become statuses.
#pragma once

#include <exception>
#include <memory>

#include "tensorflow/c/tf_status.h"

// Marks the functions that the host looks up by name in the library. All others are hidden.
#define SAMPLE_ENTRY_POINT extern "C" __attribute__((visibility("default")))

namespace sample {

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using StatusPtr = std::unique_ptr<TF_Status, DeleteStatus>;

// Runs `body` and turns an exception into a status: no exception may cross the C interface.
template <typename Body>
void Guard(TF_Status* status, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  }
}

}  // namespace sample
