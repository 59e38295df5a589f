// saved_model DIR INPUT OUTPUT RUNS: runs a SavedModel several times in one session.
//
// INPUT and OUTPUT are tensors as `graph_run show DIR` lists them for each signature, such as
// serving_default_x:0. The input is float32 and is fed with ones; unknown dimensions are taken
// as 1. Variables live in the session, so a signature that changes one answers differently each
// time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

enum { kMaxRank = 8 };

// Ends the program if the last call failed. A status says why in words.
static void Check(const TF_Status* status, const char* doing) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "saved_model: %s: %s\n", doing, TF_Message(status));
  exit(1);
}

// Loads the graph that is tagged for serving, restores its variables and runs its initializer.
static TF_Session* Load(const char* folder, TF_Graph* graph, TF_Status* status) {
  const char* tags[] = {"serve"};
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Buffer* description = TF_NewBuffer();  // a serialized MetaGraphDef, with the signatures
  TF_Session* session =
      TF_LoadSessionFromSavedModel(options, NULL, folder, tags, 1, graph, description, status);
  Check(status, folder);
  printf("loaded, with a description of %zu bytes\n", description->length);
  TF_DeleteBuffer(description);
  TF_DeleteSessionOptions(options);
  return session;
}

static void PrintDevices(TF_Session* session, TF_Status* status) {
  TF_DeviceList* devices = TF_SessionListDevices(session, status);
  Check(status, "the devices");
  for (int i = 0; i < TF_DeviceListCount(devices); ++i)
    printf("device %s\n", TF_DeviceListName(devices, i, status));
  TF_DeleteDeviceList(devices);
}

// The output that "node" or "node:port" names.
static TF_Output Find(TF_Graph* graph, const char* name) {
  const char* colon = strchr(name, ':');
  char node[256];
  snprintf(node, sizeof(node), "%.*s", (int)(colon == NULL ? strlen(name) : (size_t)(colon - name)),
           name);
  TF_Output output = {TF_GraphOperationByName(graph, node), colon == NULL ? 0 : atoi(colon + 1)};
  if (output.oper != NULL && output.index < TF_OperationNumOutputs(output.oper)) return output;
  fprintf(stderr, "saved_model: the graph has no tensor %s\n", name);
  exit(1);
}

static TF_Tensor* Ones(TF_Graph* graph, TF_Output input, TF_Status* status) {
  int64_t dims[kMaxRank];
  const int rank = TF_GraphGetTensorNumDims(graph, input, status);
  Check(status, "the rank of the input");
  if (rank < 0 || rank > kMaxRank || TF_OperationOutputType(input) != TF_FLOAT) {
    fprintf(stderr, "saved_model: the input is not float32 of a known rank up to %d\n", kMaxRank);
    exit(1);
  }
  TF_GraphGetTensorShape(graph, input, dims, rank, status);
  Check(status, "the shape of the input");
  size_t count = 1;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] < 0) dims[i] = 1;
    count *= (size_t)dims[i];
  }
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, rank, count * sizeof(float));
  float* values = TF_TensorData(tensor);
  for (size_t i = 0; i < count; ++i) values[i] = 1;
  return tensor;
}

static void Print(const TF_Tensor* tensor) {
  const void* data = TF_TensorData(tensor);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
    switch (TF_TensorType(tensor)) {
      case TF_FLOAT:
        printf(" %g", ((const float*)data)[i]);
        break;
      case TF_INT64:
        printf(" %lld", (long long)((const int64_t*)data)[i]);
        break;
      default:
        printf(" ?");
    }
  }
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: saved_model DIR INPUT OUTPUT RUNS\n");
    return 2;
  }
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = Load(argv[1], graph, status);
  PrintDevices(session, status);

  const TF_Output input = Find(graph, argv[2]), output = Find(graph, argv[3]);
  TF_Tensor* fed = Ones(graph, input, status);
  for (int i = 1; i <= atoi(argv[4]); ++i) {
    TF_Tensor* fetched = NULL;
    TF_SessionRun(session, NULL, &input, &fed, 1, &output, &fetched, 1, NULL, 0, NULL, status);
    Check(status, "the run");
    printf("run %d:", i);
    Print(fetched);
    TF_DeleteTensor(fetched);
  }

  TF_DeleteTensor(fed);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
