// Updates of variables where they are: assignments that add, and optimizers. A row of the table is
// what is computed from the op's inputs x0, x1, ..., of which the first are variables.

#include "../base/map.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "families.h"
#include "tensorflow/c/kernels_experimental.h"

// TensorFlow has these up to version 2.18. In a later one the plug-in loads without them, and
// variables stay on the host.
#pragma weak TF_GetInputTensorFromVariable
#pragma weak TF_MaybeLockVariableInputMutexesInOrder
#pragma weak TF_ReleaseVariableInputLockHolder

namespace opencl {
namespace {

// New values of one variable; later steps see them.
struct Step {
  int variable;
  const char* value;  // NESTEROV and UPDATE_SLOTS are 1 or 0, as the op's attributes say
};

struct UpdateRow {
  OpRow row;
  int variables;
  int gradient;  // the input that has the variables' shape; all between are scalars
  Step steps[3];
};

constexpr UpdateRow kUpdates[] = {
    {{"AssignAddVariableOp", kFloats | kI64, "dtype"}, 1, 1, {{0, "x0 + x1"}}},
    {{"AssignSubVariableOp", kFloats | kI64, "dtype"}, 1, 1, {{0, "x0 - x1"}}},
    {{"ResourceApplyGradientDescent", kFloats}, 1, 2, {{0, "x0 - x1 * x2"}}},
    {{"ResourceApplyMomentum", kFloats},
     2,
     3,
     {{1, "x1 * x4 + x3"}, {0, "NESTEROV ? x0 - (x3 * x2 + x1 * x4 * x2) : x0 - x1 * x2"}}},
    {{"ResourceApplyKerasMomentum", kFloats},
     2,
     3,
     {{1, "x1 * x4 - x3 * x2"}, {0, "NESTEROV ? x0 + x1 * x4 - x3 * x2 : x0 + x1"}}},
    {{"ResourceApplyAdagrad", kFloats},
     2,
     3,
     {{1, "UPDATE_SLOTS ? x1 + x3 * x3 : x1"}, {0, "x0 - x2 * x3 / sqrt(x1)"}}},
    {{"ResourceApplyAdagradV2", kFloats},
     2,
     4,
     {{1, "UPDATE_SLOTS ? x1 + x4 * x4 : x1"}, {0, "x0 - x2 * x4 / (sqrt(x1) + x3)"}}},
    {{"ResourceApplyRMSProp", kFloats},
     3,
     7,
     {{1, "x1 + (x7 * x7 - x1) * (1 - x4)"},
      {2, "x2 * x5 + x3 * x7 / sqrt(x1 + x6)"},
      {0, "x0 - x2"}}},
    {{"ResourceApplyAdam", kFloats},
     3,
     9,
     {{1, "x1 + (x9 - x1) * (1 - x6)"},
      {2, "x2 + (x9 * x9 - x2) * (1 - x7)"},
      {0,
       "x0 - x5 * sqrt(1 - x4) / (1 - x3) * (NESTEROV ? x9 * (1 - x6) + x6 * x1 : x1) / (sqrt(x2) "
       "+ x8)"}}},
};

// The host asks for copies of values that somebody else still has. It has no status for them: what
// fails here is seen by the work behind it.
void CopyValue(TF_OpKernelContext* context, TF_Tensor* source, TF_Tensor* target) {
  const StatusPtr status(TF_NewStatus());
  Guard(status.get(), [&] {
    Call call(context);
    const Tensor from = Call::Facts(source), to = Call::Facts(target);
    CopyAll(call, from, to);
  });
  if (TF_GetCode(status.get()) != TF_OK) TF_OpKernelContext_Failure(context, status.get());
}

struct ReleaseLocks {
  void operator()(TF_VariableInputLockHolder* holder) const {
    TF_ReleaseVariableInputLockHolder(holder);
  }
};

class Update {
 public:
  Update(const Construction& node, const UpdateRow& row) : row_(row) {
    prologue_ = Flag(node, "use_nesterov", "NESTEROV", false) +
                Flag(node, "update_slots", "UPDATE_SLOTS", true);
    locks_ = node.Has("use_locking") && node.Bool("use_locking");
  }

  void Compute(Call& call) const {
    std::vector<int> numbers;
    for (int i = 0; i < row_.variables; ++i) numbers.push_back(i);
    const StatusPtr status(TF_NewStatus());
    TF_VariableInputLockHolder* holder = nullptr;
    TF_MaybeLockVariableInputMutexesInOrder(call.context(), locks_, false, numbers.data(),
                                            numbers.size(), CopyValue, &holder, status.get());
    const std::unique_ptr<TF_VariableInputLockHolder, ReleaseLocks> locked(holder);
    ThrowIfFailed(status);
    std::vector<Tensor> x;
    std::vector<TensorPtr> handles;
    for (const int i : numbers) {
      TF_Tensor* handle = nullptr;
      TF_GetInputTensorFromVariable(call.context(), i, locks_, false, false, CopyValue, &handle,
                                    status.get());
      handles.emplace_back(handle);
      ThrowIfFailed(status);
      x.push_back(Call::Facts(handle));
    }
    for (int i = row_.variables; i < call.inputs(); ++i) x.push_back(call.In(i));
    CheckShapes(x);
    for (const Step& step : row_.steps) {
      if (step.value == nullptr) break;
      RunBroadcastMap(call, {prologue_ + "r = " + step.value + ";"}, x,
                      x[static_cast<size_t>(step.variable)]);
    }
  }

 private:
  static std::string Flag(const Construction& node, const char* attr, const char* name,
                          bool value) {
    if (node.Has(attr)) value = node.Bool(attr);
    return std::string("const int ") + name + " = " + (value ? "1" : "0") + "; ";
  }

  void CheckShapes(const std::vector<Tensor>& x) const {
    for (size_t i = 1; i < x.size(); ++i) {
      const bool whole =
          static_cast<int>(i) < row_.variables || static_cast<int>(i) == row_.gradient;
      if (whole && x[i].dims != x[0].dims) {
        Refuse(std::string(row_.row.op) + ": var and input " + std::to_string(i) +
               " do not have the same shape " + ShapeText(x[0].dims) + " " + ShapeText(x[i].dims));
      }
      if (!whole && x[i].rank() != 0) {
        Refuse(std::string(row_.row.op) + ": input " + std::to_string(i) +
               " is not a scalar: " + ShapeText(x[i].dims));
      }
    }
  }

  const UpdateRow& row_;
  std::string prologue_;
  bool locks_ = false;
};

}  // namespace

void RegisterVariables() {
  if (TF_GetInputTensorFromVariable != nullptr) RegisterTable<Update, kUpdates>();
}

}  // namespace opencl
