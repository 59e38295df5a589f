// Executes ops at once, by the eager C API.
#include "executor/api/tracing/engine.h"

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
  }
  void SetName(TF_AbstractOp&, const char*, TF_Status* status) override {
    Fail(status, TF_INVALID_ARGUMENT,
         "TF_AbstractOpSetOpName must be called on a TracingOperation.");
  }
  void SetAttrType(TF_AbstractOp& op, const char* attr, TF_DataType value,
                   TF_Status* status) override {
    if (op.eager == nullptr) return NoType(status);
    TFE_OpSetAttrType(op.eager, attr, value);
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
  TFE_Context* const context_;
};

void EagerEngine::Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
                          TF_Status* status) {
  if (op.eager == nullptr) return NoType(status);
  for (const TF_AbstractTensor* const input : inputs) {
    if (input->eager == nullptr)
      return Fail(status, TF_INVALID_ARGUMENT, "Not an eager tensor handle.");
    TFE_OpAddInput(op.eager, input->eager, status);
    if (!Ok(status)) return;
  }
  std::vector<TFE_TensorHandle*> results(outputs.outputs.size());
  int count = static_cast<int>(results.size());
  TFE_Execute(op.eager, results.data(), &count, status);
  if (!Ok(status)) return;
  outputs.outputs.clear();
  for (int i = 0; i < count; ++i)
    outputs.outputs.push_back(new TF_AbstractTensor{results[i], {}, 0});
}

}  // namespace

EnginePtr NewEagerEngine(const TFE_ContextOptions* options, TF_Status* status) {
  TFE_Context* const context = TFE_NewContext(options, status);
  return context == nullptr ? nullptr : std::make_shared<EagerEngine>(context);
}

}  // namespace tenon::tracing
