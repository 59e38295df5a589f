#include "executor/api/eager/eager_op.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"

namespace tenon::eager {
namespace {

// TensorFlow's message.
absl::Status UnknownName(std::string_view name) {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) host[0] = '\0';
  return absl::NotFoundError(absl::StrCat(
      "'", name,
      "' is neither a type of a primitive operation nor a name of a function registered in binary "
      "running on ",
      host,
      ". Make sure the operation or function is registered in the binary running in this "
      "process."));
}

void Append(TFE_Op& op, TFE_TensorHandle* input) {
  input->Ref();
  op.inputs.push_back(input);
  op.has_custom |= input->custom != nullptr;
}

// The argument that the next inputs belong to; null if attributes are not inferred any more.
const ArgAttrs* NextArg(TFE_Op& op) {
  const std::vector<ArgAttrs>& args = op.entry->args;
  if (op.next_arg < 0 || op.next_arg >= static_cast<int>(args.size())) return nullptr;
  return &args[op.next_arg++];
}

}  // namespace

absl::Status CheckOp(const TFE_Op* op) {
  if (op == nullptr) return absl::InvalidArgumentError("Invalid op");
  if (!op->alive.load(std::memory_order_relaxed))
    return absl::InvalidArgumentError("Invalid op: it is deleted");
  if (op->shell->generation.load(std::memory_order_relaxed) != op->generation)
    return absl::InvalidArgumentError("Invalid op: its context is deleted");
  if (op->lacks_memory) [[unlikely]]
    return OutOfMemory();
  return absl::OkStatus();
}

absl::Status Open(TFE_Op& op, TFE_Context* shell, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(Context* const context, ContextOf(shell));
  OpEntry* entry = context->ops().Find(name);
  if (entry != nullptr) {
    op.function = nullptr;
  } else {
    std::shared_ptr<Function> function = context->functions().Find(name);
    entry = function != nullptr ? function->entry.get() : context->ops().FindOrAdd(name);
    if (entry == nullptr) return UnknownName(name);
    op.function = std::move(function);
  }
  op.ClearInputs();
  op.shell = shell;
  op.generation = shell->generation.load(std::memory_order_relaxed);
  op.entry = entry;
  op.attrs.Reset(entry->def);
  op.device = nullptr;
  op.cancellation = nullptr;
  op.has_custom = false;
  op.lacks_memory = false;
  op.next_arg = entry->is_function ? -1 : 0;
  return absl::OkStatus();
}

absl::Status AskForDevice(TFE_Op& op, const char* name) {
  if (name == nullptr || *name == '\0') {
    op.device = nullptr;
    return absl::OkStatus();
  }
  const absl::StatusOr<const DeviceName*> device = ContextOf(op).device_names().Find(name);
  // As in TensorFlow, a bare "CPU:0" is no name here.
  if (!device.ok() || *name != '/') {
    return absl::InvalidArgumentError(absl::StrCat("Malformed device specification '", name,
                                                   "' in eager op: Name: ", op.entry->def->name));
  }
  op.device = *device;
  return absl::OkStatus();
}

void AddInput(TFE_Op& op, TFE_TensorHandle* input) {
  Append(op, input);
  const ArgAttrs* const arg = NextArg(op);
  if (arg == nullptr) return;
  if (arg->number >= 0 || arg->list >= 0) {
    // A caller that adds a list one by one does not say where the list ends.
    op.next_arg = -1;
  } else if (arg->type >= 0) {
    op.attrs.InferType(arg->type, input->dtype);
  }
}

absl::Status AddInputs(TFE_Op& op, absl::Span<TFE_TensorHandle* const> inputs) {
  for (TFE_TensorHandle* const input : inputs) Append(op, input);
  const ArgAttrs* const arg = NextArg(op);
  if (arg == nullptr) return absl::OkStatus();
  const std::vector<AttrDef>& attrs = op.entry->def->attrs;
  if (arg->list >= 0) {
    TypeVector types;
    for (const TFE_TensorHandle* input : inputs) types.push_back(input->dtype);
    op.attrs.Set(attrs[arg->list].name, attr::TypeList(types));
    return absl::OkStatus();
  }
  if (arg->number < 0) return absl::InvalidArgumentError("Invalid input list definition");
  op.attrs.Set(attrs[arg->number].name, attr::Int(static_cast<int64_t>(inputs.size())));
  if (arg->type >= 0 && !inputs.empty()) op.attrs.InferType(arg->type, inputs[0]->dtype);
  return absl::OkStatus();
}

}  // namespace tenon::eager

void TFE_Op::ClearInputs() {
  for (TFE_TensorHandle* const input : inputs) input->Unref();
  inputs.clear();
}
