// Traces ops: they become nodes of a graph, of which a function is made.
#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/api/tracing/engine.h"

namespace tenon::tracing {
namespace {

class Trace final : public Engine {
 public:
  explicit Trace(const char* function)
      : number_(NextNumber()), function_(function), graph_(TF_NewGraph()) {}
  ~Trace() override { TF_DeleteGraph(graph_); }

  void SetType(TF_AbstractOp& op, const char* type, TF_Status* status) override {
    if (!op.name.empty())
      return Fail(status, TF_FAILED_PRECONDITION, "Reset called on already built op.");
    op.type = type;
  }
  void SetName(TF_AbstractOp& op, const char* name, TF_Status* status) override {
    if (op.type.empty())
      return Fail(status, TF_FAILED_PRECONDITION,
                  "GraphOperation::Reset must be called before calling SetOpName.");
    if (!op.name.empty())
      return Fail(status, TF_FAILED_PRECONDITION, "SetOpName called on already built op.");
    op.name = name;
  }
  void SetAttrType(TF_AbstractOp& op, const char* attr, TF_DataType value,
                   TF_Status* status) override {
    if (op.type.empty())
      return Fail(status, TF_FAILED_PRECONDITION,
                  "op_type and op_name must be specified before specifying attrs.");
    op.attrs.emplace_back(attr, value);
  }
  void Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
               TF_Status* status) override;
  void Register(const TF_AbstractFunction& function, TF_Status* status) override {
    TF_GraphCopyFunction(graph_, function.function, nullptr, status);
  }
  TF_AbstractTensor* AddParameter(TF_DataType dtype, const TF_Shape& shape,
                                  TF_Status* status) override;
  TF_AbstractFunction* Finalize(const TF_OutputList& outputs, TF_Status* status) override;
  TFE_Context* eager(TF_Status* status) override {
    Fail(status, TF_INVALID_ARGUMENT, "Not an eager context.");
    return nullptr;
  }
  bool traces() const override { return true; }

 private:
  // An address would not do: a later trace may have it.
  static uint64_t NextNumber() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
  // A name of a node that no other node has.
  std::string Unique(const std::string& name) { return absl::StrCat(name, "/_", nodes_++); }
  bool IsOfThisTrace(const TF_AbstractTensor& tensor, TF_Status* status) const {
    if (tensor.trace == number_) return true;
    Fail(status, TF_INVALID_ARGUMENT,
         tensor.trace == 0 ? "an eager tensor is no input of a function that is traced"
                           : "the tensor is of another function");
    return false;
  }

  const uint64_t number_;
  const std::string function_;
  TF_Graph* const graph_;
  std::vector<TF_Output> parameters_;
  int64_t nodes_ = 0;
};

TF_AbstractTensor* Trace::AddParameter(TF_DataType dtype, const TF_Shape& shape,
                                       TF_Status* status) {
  if (shape.num_dims < -1 || (shape.num_dims > 0 && shape.dim_sizes == nullptr)) {
    Fail(status, TF_INVALID_ARGUMENT, "a parameter needs a shape");
    return nullptr;
  }
  const std::string name = Unique(absl::StrCat("input_", parameters_.size()));
  TF_OperationDescription* const node = TF_NewOperation(graph_, "Placeholder", name.c_str());
  TF_SetAttrType(node, "dtype", dtype);
  TF_SetAttrShape(node, "shape", shape.dim_sizes, shape.num_dims);
  TF_Operation* const made = TF_FinishOperation(node, status);
  if (made == nullptr) return nullptr;
  parameters_.push_back({made, 0});
  return TF_AbstractTensor::Pool::New(nullptr, parameters_.back(), number_);
}

void Trace::Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
                    TF_Status* status) {
  if (op.type.empty()) return Fail(status, TF_FAILED_PRECONDITION, "the op has no type yet");
  for (const TF_AbstractTensor* const input : inputs) {
    if (!IsOfThisTrace(*input, status)) return;
  }
  const std::string name = Unique(op.name.empty() ? op.type : op.name);
  TF_OperationDescription* const node = TF_NewOperation(graph_, op.type.c_str(), name.c_str());
  for (const TF_AbstractTensor* const input : inputs) TF_AddInput(node, input->output);
  for (const auto& [attr, value] : op.attrs) TF_SetAttrType(node, attr.c_str(), value);
  TF_Operation* const made = TF_FinishOperation(node, status);
  if (made == nullptr) return;
  outputs.outputs.clear();
  for (int i = 0; i < TF_OperationNumOutputs(made); ++i)
    outputs.outputs.push_back(TF_AbstractTensor::Pool::New(nullptr, TF_Output{made, i}, number_));
}

TF_AbstractFunction* Trace::Finalize(const TF_OutputList& outputs, TF_Status* status) {
  std::vector<TF_Output> results;
  for (const TF_AbstractTensor* const output : outputs.outputs) {
    if (output == nullptr || WasDeleted(output)) {
      Fail(status, TF_INVALID_ARGUMENT,
           output == nullptr ? "a result of the function is missing"
                             : "a result of the function was deleted");
      return nullptr;
    }
    if (!IsOfThisTrace(*output, status)) return nullptr;
    results.push_back(output->output);
  }
  TF_Function* const function = TF_GraphToFunction(
      graph_, function_.c_str(), /*append_hash_to_fn_name=*/0, /*num_opers=*/-1, /*opers=*/nullptr,
      static_cast<int>(parameters_.size()), parameters_.data(), static_cast<int>(results.size()),
      results.data(), /*output_names=*/nullptr, /*opts=*/nullptr, /*description=*/nullptr, status);
  return function == nullptr ? nullptr : TF_AbstractFunction::Pool::New(function);
}

}  // namespace

EnginePtr NewTrace(const char* function) { return std::make_shared<Trace>(function); }

}  // namespace tenon::tracing
