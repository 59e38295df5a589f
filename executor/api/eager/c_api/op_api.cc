// The functions of eager/c_api.h that make, fill and execute ops.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/eager/c_api/report.h"
#include "executor/api/eager/eager_op.h"
#include "executor/api/eager/execute/execute.h"
#include "graph/base/status_macros.h"
#include "graph/base/within_memory.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/without_memory.h"
#include "graph/op_defs/arg_ranges.h"
#include "graph/op_defs/op_registry.h"
#include "tensorflow/c/eager/c_api.h"

namespace tenon::eager {
namespace {

using OpPool = HandlePool<TFE_Op>;

absl::Status CheckHandles(TFE_TensorHandle* const* handles, int count) {
  if (!api::IsCount(count) || (handles == nullptr && count > 0))
    return absl::InvalidArgumentError("Invalid list of handles");
  for (int i = 0; i < count; ++i) TENON_RETURN_IF_ERROR(CheckHandle(handles[i]));
  return absl::OkStatus();
}

// The length of an argument or result, which a list of the OpDef names. As in TensorFlow, the
// lengths of all in the list must be known.
absl::StatusOr<int> LengthOf(const TFE_Op& op, const std::vector<ArgDef>& args, const char* name,
                             std::string_view kind) {
  // As in TensorFlow, only ops have names of arguments and results here.
  if (op.entry->is_function) return OpNotRegistered(op.entry->def->name);
  const NewAttrs all = op.attrs.All();
  std::vector<Attr> views;
  for (const auto& attr : all) views.push_back({attr.name, AttrValue(attr.wire)});
  for (const ArgDef& each : args) {
    for (const std::string& decides : {each.number_attr, each.type_list_attr}) {
      const AttrDef* const attr = op.entry->def->FindAttr(decides);
      if (attr == nullptr || attr->has_default) continue;
      const bool given = std::any_of(all.begin(), all.end(),
                                     [&](const auto& known) { return known.name == decides; });
      if (!given)
        return absl::NotFoundError(absl::StrCat("No attr named '", decides, "' in NodeDef:"));
    }
  }
  const auto arg = std::find_if(args.begin(), args.end(), [name](const ArgDef& a) {
    return name != nullptr && a.name == name;
  });
  if (arg == args.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, " '", name == nullptr ? "" : name, "' not found"));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t length,
                         ArgLength(*op.entry->def, AttrSet(std::move(views)), *arg));
  return static_cast<int>(length);
}

}  // namespace
}  // namespace tenon::eager

using tenon::ClearStatus;
using tenon::StatusToC;
using tenon::eager::CheckHandle;
using tenon::eager::CheckHandles;
using tenon::eager::CheckOp;
using tenon::eager::OpPool;
using tenon::eager::Report;

extern "C" {

TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name, TF_Status* status) try {
  ClearStatus(status);
  TFE_Op* const op = OpPool::Take();
  const std::string_view name = op_or_function_name == nullptr ? "" : op_or_function_name;
  absl::Status opened = tenon::eager::Open(*op, ctx, name);
  if (!opened.ok()) [[unlikely]] {
    StatusToC(opened, status);
    OpPool::Give(op);
    return nullptr;
  }
  op->alive.store(true, std::memory_order_relaxed);
  return op;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_DeleteOp(TFE_Op* op) {
  if (op == nullptr) return;
  if (!op->alive.load(std::memory_order_relaxed)) {
    return tenon::TellOfDeleted("TFE_DeleteOp");
  }
  op->ClearInputs();
  op->alive.store(false, std::memory_order_relaxed);
  OpPool::Give(op);
}

const char* TFE_OpGetName(const TFE_Op* op, TF_Status* status) try {
  return Report(CheckOp(op), status) ? op->entry->def->name.c_str() : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_Context* TFE_OpGetContext(const TFE_Op* op, TF_Status* status) try {
  return Report(CheckOp(op), status) ? op->shell : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) try {
  if (Report(CheckOp(op), status)) StatusToC(tenon::eager::AskForDevice(*op, device_name), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

const char* TFE_OpGetDevice(const TFE_Op* op, TF_Status* status) try {
  if (!Report(CheckOp(op), status)) return nullptr;
  return op->device == nullptr ? "" : op->device->text.c_str();
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) try {
  ClearStatus(status);
  absl::Status valid = CheckOp(op);
  if (valid.ok()) valid = CheckHandle(input);
  if (!valid.ok()) [[unlikely]]
    return StatusToC(valid, status);
  tenon::eager::AddInput(*op, input);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs,
                        TF_Status* status) try {
  if (!Report(CheckOp(op), status) || !Report(CheckHandles(inputs, num_inputs), status)) return;
  StatusToC(tenon::eager::AddInputs(*op, absl::MakeSpan(inputs, num_inputs)), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TFE_OpGetFlatInputCount(const TFE_Op* op, TF_Status* status) try {
  return Report(CheckOp(op), status) ? static_cast<int>(op->inputs.size()) : 0;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TFE_TensorHandle* TFE_OpGetFlatInput(const TFE_Op* op, int index, TF_Status* status) try {
  if (!Report(CheckOp(op), status)) return nullptr;
  if (index >= 0 && index < static_cast<int>(op->inputs.size())) return op->inputs[index];
  StatusToC(absl::InvalidArgumentError(
                absl::StrCat("there is no input ", index, " among ", op->inputs.size())),
            status);
  return nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status) try {
  if (!Report(CheckOp(op), status)) return -1;
  return Report(tenon::eager::LengthOf(*op, op->entry->def->inputs, input_name, "Input"), -1,
                status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status) try {
  if (!Report(CheckOp(op), status)) return -1;
  return Report(tenon::eager::LengthOf(*op, op->entry->def->outputs, output_name, "Output"), -1,
                status);
} catch (...) {
  tenon::WithoutMemory(status);
  return -1;
}

void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals, TF_Status* status) try {
  ClearStatus(status);
  absl::Status result = CheckOp(op);
  if (num_retvals == nullptr || (retvals == nullptr && *num_retvals > 0))
    result = absl::InvalidArgumentError("there is no room for the results");
  if (result.ok()) result = tenon::eager::Execute(*op, retvals, num_retvals);
  if (!result.ok()) [[unlikely]]
    StatusToC(result, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
