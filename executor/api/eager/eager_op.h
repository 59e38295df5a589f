// TFE_Op: an op that its caller describes and executes. Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/api/eager/cancellation.h"
#include "executor/api/eager/context.h"
#include "executor/api/eager/op_attrs.h"
#include "executor/api/eager/op_entry.h"
#include "executor/api/eager/tensor_handle.h"

// Used by one thread at a time.
struct TFE_Op {
  bool is_deleted() const { return !alive.load(std::memory_order_relaxed); }

  std::atomic<bool> alive{false};
  TFE_Context* shell = nullptr;
  uint64_t generation = 0;  // of the shell when the op was made
  tenon::eager::OpEntry* entry = nullptr;
  std::shared_ptr<tenon::eager::Function> function;  // owns `entry`; null: the op is no function
  tenon::eager::OpAttrs attrs;
  absl::InlinedVector<TFE_TensorHandle*, 4> inputs;  // the op holds a reference to each
  const tenon::eager::DeviceName* device = nullptr;  // the op asks for it; null: for no device
  std::shared_ptr<tenon::eager::CancellationManager> cancellation;  // null: none
  // The input argument of the OpDef to which the next AddInput or AddInputs belongs. -1: no further
  // input sets attributes.
  int next_arg = 0;
  bool has_custom = false;      // an input is, or was, on a custom device
  bool lacks_memory = false;    // for an attribute, so that the op cannot be executed
  TFE_Op* next_idle = nullptr;  // of HandlePool

  // Drops all inputs, with the references to them.
  void ClearInputs();
};

namespace tenon::eager {

// INVALID_ARGUMENT if the op is null or deleted, or if its context is deleted; RESOURCE_EXHAUSTED
// if it lacks memory.
absl::Status CheckOp(const TFE_Op* op);
// The context of an op for which CheckOp returned OK.
inline Context& ContextOf(const TFE_Op& op) { return *op.shell->context.load(); }

// Makes `op` an op of this name: without inputs, attributes, device and cancellation. `name` is an
// op or a function of the context. NOT_FOUND if there is neither; the error of ContextOf. After an
// error `op` is unchanged.
absl::Status Open(TFE_Op& op, TFE_Context* shell, std::string_view name);

// Makes the op ask for the device of this name, which need not exist. Null and "": the op asks for
// no device. INVALID_ARGUMENT if the name is malformed or does not begin with '/'; the op then asks
// for the device that it asked for before.
absl::Status AskForDevice(TFE_Op& op, const char* name);

// Append inputs, with a reference to each, and infer attributes as TensorFlow does. CheckHandle
// must have returned OK for each input. AddInput is for an argument that is one tensor, AddInputs
// for an argument that is a list. INVALID_ARGUMENT from AddInputs if next_arg is an argument that
// is no list; the inputs are appended even then. The number and the types of inputs are checked
// when the op is executed.
void AddInput(TFE_Op& op, TFE_TensorHandle* input);
absl::Status AddInputs(TFE_Op& op, absl::Span<TFE_TensorHandle* const> inputs);

}  // namespace tenon::eager
