// Resident memory of one session that has served a batch of 64 rows, and of one that has served all
// batches of 1 to 64 rows, three times over. The source uses nothing but TensorFlow's C API.
//
//   batch_memory_bench [COLUMNS]
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "tensorflow/c/c_api.h"

namespace {

constexpr int kLayers = 100;
constexpr int64_t kRows = 64;

void Check(const TF_Status* status) {
  if (TF_GetCode(status) == TF_OK) return;
  std::fprintf(stderr, "batch_memory_bench: %s\n", TF_Message(status));
  std::exit(1);
}

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The outputs of a graph of kLayers elementwise ops on rows, and of their sum.
struct Net {
  TF_Output x, sum;
};

Net MakeNet(TF_Graph* graph, int64_t columns, TF_Status* status) {
  const auto finish = [&](TF_OperationDescription* op) {
    TF_Operation* const made = TF_FinishOperation(op, status);
    Check(status);
    return TF_Output{made, 0};
  };
  TF_OperationDescription* op = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(op, "dtype", TF_FLOAT);
  const int64_t shape[] = {-1, columns};
  TF_SetAttrShape(op, "shape", shape, 2);
  const TF_Output x = finish(op);
  TF_Output before = x, last = x;
  for (int i = 0; i < kLayers; ++i) {
    op = TF_NewOperation(graph, i % 2 == 0 ? "Sinh" : "Sigmoid", ("f" + std::to_string(i)).c_str());
    TF_AddInput(op, last);
    const TF_Output f = finish(op);
    op = TF_NewOperation(graph, "AddV2", ("add" + std::to_string(i)).c_str());
    TF_AddInput(op, f);
    TF_AddInput(op, before);
    before = last;
    last = finish(op);
  }
  const int64_t two = 2;
  TF_Tensor* const axes = TF_AllocateTensor(TF_INT32, &two, 1, 8);
  const int32_t both[] = {0, 1};
  std::memcpy(TF_TensorData(axes), both, sizeof(both));
  op = TF_NewOperation(graph, "Const", "axes");
  TF_SetAttrType(op, "dtype", TF_INT32);
  TF_SetAttrTensor(op, "value", axes, status);
  Check(status);
  const TF_Output constant = finish(op);
  TF_DeleteTensor(axes);
  op = TF_NewOperation(graph, "Sum", "sum");
  TF_AddInput(op, last);
  TF_AddInput(op, constant);
  return {x, finish(op)};
}

// Serves batches of first to kRows rows, and prints what the process holds then.
void Serve(int64_t first, int64_t columns) {
  TF_Status* const status = TF_NewStatus();
  TF_Graph* const graph = TF_NewGraph();
  const Net net = MakeNet(graph, columns, status);
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_Session* const session = TF_NewSession(graph, options, status);
  Check(status);
  const int64_t before = ResidentBytes();
  for (int round = 0; round < 3; ++round) {
    for (int64_t rows = first; rows <= kRows; ++rows) {
      const int64_t dims[] = {rows, columns};
      const auto bytes = static_cast<size_t>(rows * columns) * sizeof(float);
      TF_Tensor* const x = TF_AllocateTensor(TF_FLOAT, dims, 2, bytes);
      std::memset(TF_TensorData(x), 0, bytes);
      TF_Tensor* sum = nullptr;
      TF_SessionRun(session, nullptr, &net.x, &x, 1, &net.sum, &sum, 1, nullptr, 0, nullptr,
                    status);
      Check(status);
      TF_DeleteTensor(x);
      TF_DeleteTensor(sum);
    }
  }
  const int64_t after = ResidentBytes();
  std::printf("%2ld to %ld rows: %6.1f MB, of which the runs took %6.1f\n",
              static_cast<long>(first), static_cast<long>(kRows), after / 1e6,
              (after - before) / 1e6);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t columns = argc > 1 ? std::atoll(argv[1]) : 32768;
  if (columns < 1) {
    std::fprintf(stderr, "usage: batch_memory_bench [COLUMNS]\n");
    return 2;
  }
  for (const int64_t first : {kRows, int64_t{1}}) {
    std::fflush(stdout);
    if (fork() == 0) {  // each in a process of its own
      Serve(first, columns);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    wait(&status);
    if (status != 0) return 1;
  }
}
