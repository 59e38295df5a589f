// Version and registry queries of c_api.h and c_api_experimental.h.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/op_defs/op_registry.h"
#include "graph/wire/wire.h"
#include "plugin/host/loading/plugin_ledger.h"
#include "plugin/kernels/kernel_def_wire.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"

// A plug-in that asks while it is loaded also sees what it has registered so far.
namespace tenon {
namespace {

absl::Span<const OpDef> StagedOps() {
  if (LoadScope::Current() == nullptr) return {};
  return LoadScope::Current()->staged.ops;
}

const OpDef* FindOp(std::string_view name) {
  for (const OpDef& op : StagedOps()) {
    if (op.name == name) return &op;
  }
  return OpRegistry::Global().Find(name);
}

// The kernels of one op; of all ops if `op` is empty.
TF_Buffer* Kernels(std::string_view op) {
  std::vector<std::shared_ptr<const KernelDef>> kernels = KernelRegistry::Global().List(op);
  if (LoadScope::Current() != nullptr) {
    for (const auto& kernel : LoadScope::Current()->staged.kernels)
      if (op.empty() || kernel->op == op) kernels.push_back(kernel);
  }
  return NewBuffer(KernelListToWire(kernels));
}

}  // namespace
}  // namespace tenon

extern "C" {

// The release of TensorFlow that has this interface; plug-ins compare it.
const char* TF_Version(void) { return "2.21.0"; }

TF_Buffer* TF_GetAllOpList(void) try {
  tenon::OpRegistry& registry = tenon::OpRegistry::Global();
  std::string wire;
  tenon::WireWriter writer(&wire);
  for (std::string_view name : registry.Names()) {
    if (const tenon::OpDef* op = registry.Find(name)) writer.Bytes(1, tenon::OpDefToWire(*op));
  }
  for (const tenon::OpDef& op : tenon::StagedOps()) writer.Bytes(1, tenon::OpDefToWire(op));
  return tenon::NewBuffer(wire);
} catch (...) {
  return tenon::WithoutMemory();
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) try {
  tenon::ClearStatus(status);
  return tenon::Kernels({});
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) try {
  tenon::ClearStatus(status);
  // List("") is the list of all; no op has the empty name.
  if (name == nullptr || *name == '\0') return tenon::NewBuffer({});
  return tenon::Kernels(name);
} catch (...) {
  return tenon::WithoutMemory(status);
}

int TF_OpIsStateful(const char* op_type, TF_Status* status) try {
  const std::string_view name = absl::NullSafeStringView(op_type);
  const tenon::OpDef* op = tenon::FindOp(name);
  if (op == nullptr) {
    tenon::StatusToC(absl::NotFoundError(absl::StrCat("Op type not registered '", name, "'")),
                     status);
    return 0;
  }
  tenon::ClearStatus(status);
  return op->is_stateful;
} catch (...) {
  return tenon::WithoutMemory(status);
}

const char* TF_GetNumberAttrForOpListInput(const char* op_name, int input_index,
                                           TF_Status* status) try {
  const std::string_view name = absl::NullSafeStringView(op_name);
  const tenon::OpDef* op = tenon::FindOp(name);
  const auto fail = [&](absl::Status error) -> const char* {
    tenon::StatusToC(error, status);
    return nullptr;
  };
  if (op == nullptr)
    return fail(absl::NotFoundError(absl::StrCat("Op type not registered '", name, "'")));
  if (input_index < 0 || static_cast<size_t>(input_index) >= op->inputs.size())
    return fail(absl::InvalidArgumentError(absl::StrCat(input_index, " out of range for ", name)));
  const std::string& number = op->inputs[input_index].number_attr;
  if (number.empty())
    return fail(absl::NotFoundError(absl::StrCat(name, " does not have number_attr() defined.")));
  tenon::ClearStatus(status);
  return number.c_str();
} catch (...) {
  return tenon::WithoutMemory(status);
}

// As TensorFlow, by the flag alone: a level above 0, or its other values but "single-gpu(0)".
unsigned char TF_GetXlaAutoJitEnabled(void) {
  constexpr std::string_view kFlag = "-tf_xla_auto_jit=";
  const char* const variable = std::getenv("TF_XLA_FLAGS");
  const std::string_view flags = variable == nullptr ? "" : variable;
  const size_t at = flags.rfind(kFlag);
  if (at == flags.npos) return 0;
  std::string_view value = flags.substr(at + kFlag.size());
  value = value.substr(0, value.find_first_of(" \t\r\n"));
  return !value.empty() && value[0] != '-' && value[0] != '0' && value != "single-gpu(0)" ? 1 : 0;
}

}  // extern "C"
