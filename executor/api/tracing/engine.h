// What executes or traces ops: behind TF_ExecutionContext. Private to executor/api/tracing/.
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

// One of the two: an eager tensor, or an output of a node in the graph of a trace.
struct TF_AbstractTensor {
  using Pool = tenon::Handles<TF_AbstractTensor>;
  TFE_TensorHandle* eager = nullptr;  // owned
  TF_Output output = {};
  uint64_t trace = 0;  // the number of the trace that has the node; 0: eager
};

struct TF_AbstractOp {
  using Pool = tenon::Handles<TF_AbstractOp>;
  tenon::tracing::EnginePtr engine;
  TFE_Op* eager = nullptr;     // owned; of an eager engine, once there is a type
  std::string type{}, name{};  // no name of an eager engine
  std::vector<std::pair<std::string, TF_DataType>> attrs{};
};

struct TF_AbstractFunction {
  using Pool = tenon::Handles<TF_AbstractFunction>;
  TF_Function* function;  // owned
};

struct TF_OutputList {
  using Pool = tenon::Handles<TF_OutputList>;
  std::vector<TF_AbstractTensor*> outputs;
};

namespace tenon::tracing {

// Sets `status`, which may be null.
void Fail(TF_Status* status, TF_Code code, const std::string& message);
// Whether the status, which may be null, is OK.
bool Ok(TF_Status* status);

// One thread uses it at a time. Arguments are not null, but for a status. A status that is given is
// OK before the call. Tensors and functions that are returned or put into `outputs` are the
// caller's, and null is returned after an error.
class Engine {
 public:
  using Tensors = std::vector<const TF_AbstractTensor*>;
  virtual ~Engine() = default;
  virtual void SetType(TF_AbstractOp& op, const char* type, TF_Status* status) = 0;
  virtual void SetName(TF_AbstractOp& op, const char* name, TF_Status* status) = 0;
  virtual void SetAttrType(TF_AbstractOp& op, const char* attr, TF_DataType value,
                           TF_Status* status) = 0;
  // Replaces what `outputs` has, and deletes none of it. Of an eager engine `outputs` must have
  // room for all results; a trace does not look at its size. After an error it is as it was.
  virtual void Execute(TF_AbstractOp& op, const Tensors& inputs, TF_OutputList& outputs,
                       TF_Status* status) = 0;
  virtual void Register(const TF_AbstractFunction& function, TF_Status* status) = 0;
  // These are errors in one of the two kinds of engines.
  virtual TF_AbstractTensor* AddParameter(TF_DataType dtype, const TF_Shape& shape,
                                          TF_Status* status) = 0;
  virtual TF_AbstractFunction* Finalize(const TF_OutputList& outputs, TF_Status* status) = 0;
  virtual TFE_Context* eager(TF_Status* status) = 0;
  virtual bool traces() const = 0;
};

// An engine with a context of its own. Null after an error.
EnginePtr NewEagerEngine(const TFE_ContextOptions* options, TF_Status* status);
// An engine that traces a function of this name. Never null.
EnginePtr NewTrace(const char* function);

}  // namespace tenon::tracing
