// TF_InitGraph: a pass that makes each Neg on the device a SampleNegate. The graph comes and goes
// as the bytes of a GraphDef; a plug-in with a protobuf library of its own may parse them instead.

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "status.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace sample {
namespace {

// Fields of GraphDef and NodeDef.
constexpr uint64_t kNode = 1;
constexpr uint64_t kOp = 2, kDevice = 4;

// One field of a message: its number, its content if it has a length, and all of its bytes.
struct Field {
  uint64_t number = 0;
  std::string_view content, whole;
};

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const unsigned char byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Takes the first field off; false for bytes that are no message.
bool ReadField(std::string_view* bytes, Field* field) {
  const std::string_view all = *bytes;
  uint64_t tag = 0, length = 0;
  if (!ReadVarint(bytes, &tag)) return false;
  field->number = tag >> 3;
  field->content = {};
  switch (tag & 7) {
    case 0:
      if (!ReadVarint(bytes, &length)) return false;
      length = 0;
      break;
    case 1:
      length = 8;
      break;
    case 2:
      if (!ReadVarint(bytes, &length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > bytes->size()) return false;
  field->content = bytes->substr(0, length);
  bytes->remove_prefix(length);
  field->whole = all.substr(0, all.size() - bytes->size());
  return true;
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendField(uint64_t number, std::string_view content, std::string* out) {
  AppendVarint(number << 3 | 2, out);
  AppendVarint(content.size(), out);
  out->append(content);
}

// The bytes of the node with its op replaced. Empty if there is nothing to replace, or if the bytes
// are no node.
std::string Rewritten(std::string_view node) {
  std::string out;
  bool negates = false, on_device = false;
  Field field;
  while (!node.empty()) {
    if (!ReadField(&node, &field)) return {};
    if (field.number == kOp && field.content == "Neg") {
      negates = true;
      AppendField(kOp, "SampleNegate", &out);
      continue;
    }
    if (field.number == kDevice)
      on_device = field.content.find("/device:SAMPLE:") != std::string_view::npos;
    out.append(field.whole);
  }
  return negates && on_device ? out : std::string();
}

// Appends the new graph to `out`; sets `changed` if a node was replaced. False for bytes that are
// no GraphDef.
bool Rewrite(std::string_view graph, std::string* out, bool* changed) {
  Field field;
  while (!graph.empty()) {
    if (!ReadField(&graph, &field)) return false;
    const std::string node = field.number == kNode ? Rewritten(field.content) : std::string();
    if (node.empty()) {
      out->append(field.whole);
    } else {
      AppendField(kNode, node, out);
      *changed = true;
    }
  }
  return true;
}

void Optimize(void*, const TF_Buffer* graph_in, const TF_GrapplerItem*, TF_Buffer* graph_out,
              TF_Status* status) {
  Guard(status, [&] {
    std::string out;
    bool changed = false;
    if (!Rewrite({static_cast<const char*>(graph_in->data), graph_in->length}, &out, &changed)) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT, "sample: the graph is not a GraphDef");
      return;
    }
    if (!changed) {
      TF_SetStatus(status, TF_ABORTED, "sample: no Neg on the device");
      return;
    }
    void* data = std::malloc(out.size());
    if (data == nullptr) throw std::bad_alloc();
    std::memcpy(data, out.data(), out.size());
    graph_out->data = data;
    graph_out->length = out.size();
    graph_out->data_deallocator = [](void* bytes, size_t) { std::free(bytes); };
  });
}

}  // namespace
}  // namespace sample

SAMPLE_ENTRY_POINT void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = "SAMPLE";
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = sample::Optimize;
}
