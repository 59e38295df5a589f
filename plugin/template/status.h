// What every callback needs: an owner for a status, and a guard against exceptions.
#pragma once

#include <exception>
#include <memory>

#include "tensorflow/c/tf_status.h"

// Marks the functions that the host looks up by name in the library. exports.map lists their names
// too: a function that is not in both places stays hidden.
#define SAMPLE_ENTRY_POINT extern "C" __attribute__((visibility("default")))

namespace sample {

struct DeleteStatus {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
};
using StatusPtr = std::unique_ptr<TF_Status, DeleteStatus>;

// Runs `body`, and sets `status` to TF_INTERNAL if `body` throws: no exception may cross the C
// interface. Without an exception, `status` stays as `body` leaves it. `status` must not be null.
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

}  // namespace sample
