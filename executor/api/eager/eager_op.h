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
  std::shared_ptr<tenon::eager::Function> function;  // keeps the entry of a function
  tenon::eager::OpAttrs attrs;
  absl::InlinedVector<TFE_TensorHandle*, 4> inputs;                 // a reference to each
  const tenon::eager::DeviceName* device = nullptr;                 // that is asked for; null: none
  std::shared_ptr<tenon::eager::CancellationManager> cancellation;  // may be null
  // The next input argument that may set attributes; -1: none does any more.
  int next_arg = 0;
  bool has_custom = false;      // an input is, or was, on a custom device
  TFE_Op* next_idle = nullptr;  // of HandlePool

  void ClearInputs();
};

namespace tenon::eager {

// INVALID_ARGUMENT for null and for a deleted op; the context's error for one whose context is
// deleted.
absl::Status CheckOp(const TFE_Op* op);
// The context of an op for which CheckOp gave OK.
inline Context& ContextOf(const TFE_Op& op) { return *op.shell->context.load(); }

// Makes `op` one without inputs and attributes, for this name. NOT_FOUND if the context has neither
// op nor function of this name. After an error the op is as it was.
absl::Status Open(TFE_Op& op, TFE_Context* shell, std::string_view name);

// Makes the op ask for the device of this name; null and "" ask for none. INVALID_ARGUMENT for a
// malformed name; the op then asks for what it did before.
absl::Status AskForDevice(TFE_Op& op, const char* name);

// Append inputs, for which CheckHandle gave OK, and infer attributes as TensorFlow does.
// INVALID_ARGUMENT from AddInputs for an argument that is no list; the inputs are appended even
// then. The number and the types of inputs are checked when the op is executed.
void AddInput(TFE_Op& op, TFE_TensorHandle* input);
absl::Status AddInputs(TFE_Op& op, absl::Span<TFE_TensorHandle* const> inputs);

}  // namespace tenon::eager
