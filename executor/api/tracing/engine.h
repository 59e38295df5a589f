// The engines behind TF_ExecutionContext, which execute ops or trace them.
// Private to executor/api/tracing/.
//
// This room is a client of the C API, and knows nothing of what is behind it but how handles are
// made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/c_api/handles.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/eager/c_api_unified_experimental.h"

namespace tenon::tracing {

class Engine;
using EnginePtr = std::shared_ptr<Engine>;

}  // namespace tenon::tracing

struct TF_ExecutionContext {
  using Pool = tenon::Handles<TF_ExecutionContext>;
  tenon::tracing::EnginePtr engine;
};

// An eager tensor (`eager`), or an output of a node in the graph of a trace (`output`, `trace`).
struct TF_AbstractTensor {
  using Pool = tenon::Handles<TF_AbstractTensor>;
  TFE_TensorHandle* eager = nullptr;  // owned
  TF_Output output = {};
  uint64_t trace = 0;  // the number of the trace that has the node; 0: eager
};

struct TF_AbstractOp {
  using Pool = tenon::Handles<TF_AbstractOp>;
  tenon::tracing::EnginePtr engine;
  TFE_Op* eager = nullptr;     // owned; null for a trace, and until SetType
  std::string type{}, name{};  // "" until SetType and SetName; `name` stays "" with an eager engine
  std::vector<std::pair<std::string, TF_DataType>> attrs{};
};

struct TF_AbstractFunction {
  using Pool = tenon::Handles<TF_AbstractFunction>;
  TF_Function* function;  // owned
};

struct TF_OutputList {
  using Pool = tenon::Handles<TF_OutputList>;
  std::vector<TF_AbstractTensor*> outputs;  // not owned; null until an entry is set
};

namespace tenon::tracing {

// Sets `status` to this error. Does nothing if `status` is null.
void Fail(TF_Status* status, TF_Code code, const std::string& message);
// Whether the status is OK. True if `status` is null.
bool Ok(TF_Status* status);

// Used by one thread at a time. No argument is null, except that `status` may be. A status is OK
// before the call. The caller owns the tensors and functions that are returned or put into
// `outputs`. A function that returns a pointer returns null after an error.
class Engine {
 public:
  using Tensors = std::vector<const TF_AbstractTensor*>;
  virtual ~Engine() = default;
  // With an eager engine a later SetType replaces the op, and drops its attributes. With a trace it
  // replaces the type, and keeps them; it is TF_FAILED_PRECONDITION once the op has a name.
  virtual void SetType(TF_AbstractOp& op, const char* type, TF_Status* status) = 0;
  // TF_INVALID_ARGUMENT with an eager engine. With a trace TF_FAILED_PRECONDITION before SetType,
  // and for a second name.
  virtual void SetName(TF_AbstractOp& op, const char* name, TF_Status* status) = 0;
  // SetAttrType and Execute are TF_FAILED_PRECONDITION before SetType.
  virtual void SetAttrType(TF_AbstractOp& op, const char* attr, TF_DataType value,
                           TF_Status* status) = 0;
  // Executes the op, or adds it to the trace, and replaces the entries of `outputs` by the results.
  // Does not delete the former entries. With an eager engine the size of `outputs` must be at least
  // the number of results; a trace ignores the size. TF_INVALID_ARGUMENT if an input is of the
  // other kind of engine or of another trace. After an error `outputs` is unchanged.
  virtual void Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
                       TF_Status* status) = 0;
  // Lets later ops call the function.
  virtual void Register(const TF_AbstractFunction& function, TF_Status* status) = 0;
  // AddParameter and Finalize are TF_INVALID_ARGUMENT with an eager engine, eager() with a trace.
  // With a trace AddParameter is TF_INVALID_ARGUMENT for a rank below -1, or above 0 without sizes,
  // and Finalize for an output that is null, deleted, eager or of another trace.
  virtual TF_AbstractTensor* AddParameter(TF_DataType dtype, const TF_Shape& shape,
                                          TF_Status* status) = 0;
  virtual TF_AbstractFunction* Finalize(const TF_OutputList& outputs, TF_Status* status) = 0;
  virtual TFE_Context* eager(TF_Status* status) = 0;  // owned by the engine
  virtual bool traces() const = 0;
};

// An engine with a context of its own. Null after an error.
EnginePtr NewEagerEngine(const TFE_ContextOptions* options, TF_Status* status);
// An engine that traces a function with this name. Never null.
EnginePtr NewTrace(const char* function);

}  // namespace tenon::tracing
