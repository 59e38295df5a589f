// train_line: builds a graph node by node, lets TF_AddGradients add the gradient of its loss, and
// trains two variables until the line y = w x + b goes through the points, which lie on y = 3 x
// + 1.
#include <stdio.h>
#include <stdlib.h>

#include "tensorflow/c/c_api.h"

enum { kPoints = 4, kSteps = 200 };

// Ends the program if the last call failed. A status says why in words.
static void Check(const TF_Status* status, const char* doing) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "train_line: %s: %s\n", doing, TF_Message(status));
  exit(1);
}

// Finishes a node, which must succeed, and gives its first output; a node without outputs has just
// its operation.
static TF_Output Finish(TF_OperationDescription* description, const char* name) {
  TF_Status* status = TF_NewStatus();
  const TF_Output output = {TF_FinishOperation(description, status), 0};
  Check(status, name);
  TF_DeleteStatus(status);
  return output;
}

// A node whose attributes all follow from its inputs.
static TF_Output Node(TF_Graph* graph, const char* op, const char* name, const TF_Output* inputs,
                      int count) {
  TF_OperationDescription* description = TF_NewOperation(graph, op, name);
  for (int i = 0; i < count; ++i) TF_AddInput(description, inputs[i]);
  return Finish(description, name);
}

static TF_Output Binary(TF_Graph* graph, const char* op, const char* name, TF_Output a,
                        TF_Output b) {
  return Node(graph, op, name, (const TF_Output[]){a, b}, 2);
}

static TF_Tensor* Floats(const float* values, int count, int rank) {
  const int64_t dims[1] = {count};
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, (size_t)count * sizeof(float));
  for (int i = 0; i < count; ++i) ((float*)TF_TensorData(tensor))[i] = values[i];
  return tensor;
}

static TF_Output Constant(TF_Graph* graph, const char* name, TF_DataType type, TF_Tensor* value) {
  TF_Status* status = TF_NewStatus();
  TF_OperationDescription* description = TF_NewOperation(graph, "Const", name);
  TF_SetAttrTensor(description, "value", value, status);
  Check(status, name);
  TF_SetAttrType(description, "dtype", type);
  TF_DeleteTensor(value);
  TF_DeleteStatus(status);
  return Finish(description, name);
}

// A scalar variable: a handle, the node that reads it, and the one that sets it to 0.
typedef struct {
  TF_Output handle, value;
  TF_Operation* clear;
} Variable;

static Variable NewVariable(TF_Graph* graph, const char* name, TF_Output zero) {
  char read[32], clear[32];
  snprintf(read, sizeof(read), "%s/read", name);
  snprintf(clear, sizeof(clear), "%s/clear", name);
  Variable variable;
  TF_OperationDescription* handle = TF_NewOperation(graph, "VarHandleOp", name);
  TF_SetAttrType(handle, "dtype", TF_FLOAT);
  TF_SetAttrShape(handle, "shape", NULL, 0);
  TF_SetAttrString(handle, "shared_name", name, 1);
  variable.handle = Finish(handle, name);
  TF_OperationDescription* value = TF_NewOperation(graph, "ReadVariableOp", read);
  TF_AddInput(value, variable.handle);
  TF_SetAttrType(value, "dtype", TF_FLOAT);
  variable.value = Finish(value, read);
  variable.clear = Binary(graph, "AssignVariableOp", clear, variable.handle, zero).oper;
  return variable;
}

static TF_Operation* Descend(TF_Graph* graph, const char* name, Variable variable, TF_Output rate,
                             TF_Output gradient) {
  const TF_Output inputs[] = {variable.handle, rate, gradient};
  return Node(graph, "ResourceApplyGradientDescent", name, inputs, 3).oper;
}

int main(void) {
  const float xs[kPoints] = {-1, 0, 1, 2}, ys[kPoints] = {-2, 1, 4, 7};
  const float zero_value = 0, rate_value = 0.1f;
  TF_Graph* graph = TF_NewGraph();
  TF_Status* status = TF_NewStatus();
  const TF_Output x = Constant(graph, "x", TF_FLOAT, Floats(xs, kPoints, 1));
  const TF_Output y = Constant(graph, "y", TF_FLOAT, Floats(ys, kPoints, 1));
  const TF_Output zero = Constant(graph, "zero", TF_FLOAT, Floats(&zero_value, 1, 0));
  const TF_Output rate = Constant(graph, "rate", TF_FLOAT, Floats(&rate_value, 1, 0));
  TF_Tensor* axis_value = TF_AllocateTensor(TF_INT32, (const int64_t[]){1}, 1, sizeof(int32_t));
  *(int32_t*)TF_TensorData(axis_value) = 0;
  const TF_Output axis = Constant(graph, "axis", TF_INT32, axis_value);

  const Variable w = NewVariable(graph, "w", zero), b = NewVariable(graph, "b", zero);
  const TF_Output line =
      Binary(graph, "AddV2", "line", Binary(graph, "Mul", "slope", x, w.value), b.value);
  const TF_Output loss =
      Binary(graph, "Mean", "loss", Binary(graph, "SquaredDifference", "square", line, y), axis);

  // The gradients of the loss with respect to what the two reads give, as new nodes of the graph.
  TF_Output wanted[2] = {w.value, b.value}, gradients[2], losses[1] = {loss};
  TF_AddGradients(graph, losses, 1, wanted, 2, NULL, status, gradients);
  Check(status, "the gradients");
  const TF_Operation* clear[2] = {w.clear, b.clear};
  const TF_Operation* step[2] = {Descend(graph, "w/step", w, rate, gradients[0]),
                                 Descend(graph, "b/step", b, rate, gradients[1])};

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status, "the session");
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, clear, 2, NULL, status);
  for (int i = 0; i < kSteps && TF_GetCode(status) == TF_OK; ++i)
    TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, step, 2, NULL, status);
  Check(status, "training");

  const TF_Output fetches[3] = {w.value, b.value, loss};
  TF_Tensor* fetched[3] = {NULL, NULL, NULL};
  TF_SessionRun(session, NULL, NULL, NULL, 0, fetches, fetched, 3, NULL, 0, NULL, status);
  Check(status, "the result");
  printf("y = %.3f x + %.3f, loss %.6f\n", *(float*)TF_TensorData(fetched[0]),
         *(float*)TF_TensorData(fetched[1]), *(float*)TF_TensorData(fetched[2]));

  for (int i = 0; i < 3; ++i) TF_DeleteTensor(fetched[i]);
  TF_DeleteSessionOptions(options);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
