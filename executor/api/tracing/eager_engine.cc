// Executes ops at once, by the eager C API.
#include "executor/api/tracing/engine.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::tracing {
namespace {

class EagerEngine final : public Engine {
 public:
  explicit EagerEngine(TFE_Context* context) : context_(context) {}
  ~EagerEngine() override { TFE_DeleteContext(context_); }

  void SetType(TF_AbstractOp& op, const char* type, TF_Status* status) override {
    TFE_Op* const made = TFE_NewOp(context_, type, status);
    if (made == nullptr) return;
    if (op.eager != nullptr) TFE_DeleteOp(op.eager);
    op.eager = made;
    op.type = type;
    op.attrs.clear();
  }
  void SetName(TF_AbstractOp&, const char*, TF_Status* status) override {
    Fail(status, TF_INVALID_ARGUMENT,
         "TF_AbstractOpSetOpName must be called on a TracingOperation.");
  }
  void SetAttrType(TF_AbstractOp& op, const char* attr, TF_DataType value,
                   TF_Status* status) override {
    if (op.eager == nullptr) return NoType(status);
    TFE_OpSetAttrType(op.eager, attr, value);
    op.attrs.emplace_back(attr, value);
  }
  void Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
               TF_Status* status) override;
  void Register(const TF_AbstractFunction& function, TF_Status* status) override {
    TFE_ContextAddFunction(context_, function.function, status);
  }
  TF_AbstractTensor* AddParameter(TF_DataType, const TF_Shape&, TF_Status* status) override {
    Fail(status, TF_INVALID_ARGUMENT,
         "TF_AddFunctionParameter must be called on a TracingContext.");
    return nullptr;
  }
  TF_AbstractFunction* Finalize(const TF_OutputList&, TF_Status* status) override {
    Fail(status, TF_INVALID_ARGUMENT, "Only TracingContext can be converted into a function.");
    return nullptr;
  }
  TFE_Context* eager(TF_Status*) override { return context_; }
  bool traces() const override { return false; }

 private:
  static void NoType(TF_Status* status) {
    Fail(status, TF_FAILED_PRECONDITION, "the op has no type yet");
  }
  static bool AddInputs(TF_AbstractOp& op, const Tensors& inputs, TF_Status* status);
  static void ForgetInputs(TF_AbstractOp& op);
  TFE_Context* const context_;
};

bool EagerEngine::AddInputs(TF_AbstractOp& op, const Tensors& inputs, TF_Status* status) {
  for (const TF_AbstractTensor* const input : inputs) {
    if (input->eager == nullptr)
      Fail(status, TF_INVALID_ARGUMENT, "Not an eager tensor handle.");
    else
      TFE_OpAddInput(op.eager, input->eager, status);
    if (!Ok(status)) return false;
  }
  return true;
}

// After an error and on a custom device the op has its inputs still, which are none of its next
// execution.
void EagerEngine::ForgetInputs(TF_AbstractOp& op) {
  TF_Status* const status = TF_NewStatus();
  TFE_OpReset(op.eager, op.type.c_str(), /*raw_device_name=*/nullptr, status);
  TF_DeleteStatus(status);
  for (const auto& [attr, value] : op.attrs) TFE_OpSetAttrType(op.eager, attr.c_str(), value);
}

void EagerEngine::Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
                          TF_Status* status) {
  if (op.eager == nullptr) return NoType(status);
  std::vector<TFE_TensorHandle*> results(outputs.outputs.size());
  int count = static_cast<int>(results.size());
  // A caller may give no status: a failure must be known all the same.
  TF_Status* const own = TF_NewStatus();
  if (AddInputs(op, inputs, own)) TFE_Execute(op.eager, results.data(), &count, own);
  const bool failed = !Ok(own);
  if (failed) Fail(status, TF_GetCode(own), TF_Message(own));
  if (failed || TFE_OpGetFlatInputCount(op.eager, own) > 0) ForgetInputs(op);
  TF_DeleteStatus(own);
  if (failed) return;
  outputs.outputs.clear();
  for (int i = 0; i < count; ++i)
    outputs.outputs.push_back(TF_AbstractTensor::Pool::New(results[i], TF_Output{}, 0));
}

}  // namespace

EnginePtr NewEagerEngine(const TFE_ContextOptions* options, TF_Status* status) {
  TFE_Context* const context = TFE_NewContext(options, status);
  return context == nullptr ? nullptr : std::make_shared<EagerEngine>(context);
}

}  // namespace tenon::tracing
