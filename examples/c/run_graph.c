// run_graph GRAPH.pb INPUT OUTPUT NUMBER...: runs a graph from a file, a serialized GraphDef.
//
// INPUT is the name of a placeholder of float32 with shape [?, n]; the numbers fill it row by row.
// OUTPUT is the name of a node that gives float32; its value is printed, a row to a line.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensorflow/c/c_api.h"

// Ends the program if the last call failed. A status says why in words.
static void Check(const TF_Status* status, const char* doing) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "run_graph: %s: %s\n", doing, TF_Message(status));
  exit(1);
}

static void FreeBytes(void* data, size_t length) {
  (void)length;
  free(data);
}

// A buffer owns its bytes, by the function that frees them.
static TF_Buffer* ReadFile(const char* path) {
  FILE* file = fopen(path, "rb");
  long size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  void* bytes = size < 0 ? NULL : malloc((size_t)size + 1);
  if (bytes == NULL || fseek(file, 0, SEEK_SET) != 0 ||
      fread(bytes, 1, (size_t)size, file) != (size_t)size) {
    perror(path);
    exit(1);
  }
  fclose(file);
  TF_Buffer* buffer = TF_NewBuffer();
  buffer->data = bytes;
  buffer->length = (size_t)size;
  buffer->data_deallocator = FreeBytes;
  return buffer;
}

static TF_Graph* ImportGraph(const char* path, TF_Status* status) {
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* bytes = ReadFile(path);
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(graph, bytes, options, status);
  Check(status, path);
  TF_DeleteImportGraphDefOptions(options);
  TF_DeleteBuffer(bytes);
  return graph;
}

static TF_Output FirstOutput(TF_Graph* graph, const char* name) {
  TF_Output output = {TF_GraphOperationByName(graph, name), 0};
  if (output.oper != NULL) return output;
  fprintf(stderr, "run_graph: the graph has no node %s\n", name);
  exit(1);
}

// The numbers as a tensor that fits the placeholder, whose shape says how long a row is.
static TF_Tensor* Rows(TF_Graph* graph, TF_Output input, char** numbers, int count,
                       TF_Status* status) {
  int64_t dims[2] = {0, 0};
  TF_GraphGetTensorShape(graph, input, dims, 2, status);
  Check(status, "the shape of the input");
  if (dims[1] <= 0 || count % dims[1] != 0) {
    fprintf(stderr, "run_graph: %d numbers do not fill rows of %lld\n", count, (long long)dims[1]);
    exit(1);
  }
  dims[0] = count / dims[1];
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, dims, 2, (size_t)count * sizeof(float));
  float* values = TF_TensorData(tensor);
  for (int i = 0; i < count; ++i) values[i] = strtof(numbers[i], NULL);
  return tensor;
}

static void Print(const TF_Tensor* tensor) {
  const float* values = TF_TensorData(tensor);
  const int rank = TF_NumDims(tensor);
  const int64_t row = rank == 0 ? 1 : TF_Dim(tensor, rank - 1);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i)
    printf("%g%c", values[i], (i + 1) % row == 0 ? '\n' : ' ');
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: run_graph GRAPH.pb INPUT OUTPUT NUMBER...\n");
    return 2;
  }
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = ImportGraph(argv[1], status);
  const TF_Output input = FirstOutput(graph, argv[2]);
  const TF_Output output = FirstOutput(graph, argv[3]);

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status, "the session");
  TF_DeleteSessionOptions(options);

  // The first run with these feeds and fetches makes a plan; later ones find it.
  TF_Tensor* fed = Rows(graph, input, argv + 4, argc - 4, status);
  TF_Tensor* fetched = NULL;
  TF_SessionRun(session, NULL, &input, &fed, 1, &output, &fetched, 1, NULL, 0, NULL, status);
  Check(status, "the run");
  if (TF_TensorType(fetched) != TF_FLOAT) {
    fprintf(stderr, "run_graph: %s does not give float32\n", argv[3]);
    return 1;
  }
  Print(fetched);

  TF_DeleteTensor(fetched);
  TF_DeleteTensor(fed);
  TF_CloseSession(session, status);
  TF_DeleteSession(session, status);
  Check(status, "closing");
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return 0;
}
