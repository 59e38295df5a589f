// Graphs and functions as text for people.
#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "executor/api/graph/tf_function.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/c_api/without_memory.h"
#include "graph/io/io.h"
#include "proto/function.pb.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::api {
namespace {

// A copy that the caller frees with free(). Null when memory is short.
char* FreeableText(const std::string& text, size_t* len) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.c_str(), text.size() + 1);
  if (len != nullptr) *len = text.size();
  return copy;
}

}  // namespace
}  // namespace tenon::api

extern "C" {

const char* TF_GraphDebugString(TF_Graph* graph, size_t* len) try {
  if (!tenon::IsThere(graph)) return nullptr;
  absl::ReaderMutexLock lock(&graph->mutex);
  const absl::StatusOr<std::string> text = tenon::ExportText(graph->graph);
  return tenon::api::FreeableText(text.ok() ? *text : text.status().ToString(), len);
} catch (...) {
  return tenon::WithoutMemory();
}

char* TF_FunctionDebugString(TF_Function* func, size_t* len) try {
  if (!tenon::IsThere(func)) return nullptr;
  tenon::pb::FunctionDef def;
  def.ParseFromString(func->wire);
  std::string text;
  google::protobuf::TextFormat::PrintToString(def, &text);
  return tenon::api::FreeableText(text, len);
} catch (...) {
  return tenon::WithoutMemory();
}

}  // extern "C"
