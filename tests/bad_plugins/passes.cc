// A pass for the CPU that adds a node: its own name, after those of the same kind that it finds.
// FAILS: with an answer and an error.
#include <cstdlib>
#include <cstring>
#include <string>

#include "tensorflow/c/experimental/grappler/grappler.h"

namespace {

std::string Field(char number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

void Optimize(void*, const TF_Buffer* in, const TF_GrapplerItem*, TF_Buffer* out,
              TF_Status* status) {
  std::string graph(static_cast<const char*>(in->data), in->length);
  std::string name = KIND;
  for (const char* other : {"pass_one", "pass_two"}) {
    if (graph.find(other) != std::string::npos) name += std::string("_after_") + other;
  }
  graph += Field(1, Field(1, name) + Field(2, "NoOp"));
  void* data = std::malloc(graph.size());
  std::memcpy(data, graph.data(), graph.size());
  out->data = data;
  out->length = graph.size();
  out->data_deallocator = [](void* bytes, size_t) { std::free(bytes); };
#ifdef FAILS
  TF_SetStatus(status, TF_DATA_LOSS, "it came to nothing");
#else
  (void)status;
#endif
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitGraph(
    TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "CPU";
  params->optimizer->optimize_func = Optimize;
}
