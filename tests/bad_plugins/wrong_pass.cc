// A pass for the CPU that is wrong: DROPS_CONTROL takes away every control input; otherwise each
// float 1234.5 becomes 1234.75.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tensorflow/c/experimental/grappler/grappler.h"

namespace {

#ifdef DROPS_CONTROL
size_t ReadVarint(std::string_view bytes, size_t& at) {
  size_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::string Varint(size_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// Every field of a message, length-delimited ones through `edit`, which may answer "" to drop one.
template <typename Edit>
std::string EditFields(std::string_view message, Edit edit) {
  std::string out;
  for (size_t at = 0; at < message.size();) {
    const size_t begin = at, tag = ReadVarint(message, at);
    if ((tag & 7) == 0) ReadVarint(message, at);
    if ((tag & 7) == 1) at += 8;
    if ((tag & 7) == 5) at += 4;
    if ((tag & 7) == 2) {
      const size_t length = ReadVarint(message, at);
      out += edit(tag >> 3, message.substr(at, length));
      at += length;
    } else {
      out += message.substr(begin, at - begin);
    }
  }
  return out;
}

std::string Field(size_t number, const std::string& bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + bytes;
}

std::string Changed(const std::string& graph) {
  const auto edit_node = [](size_t field, std::string_view bytes) {
    const bool control = field == 3 && !bytes.empty() && bytes[0] == '^';
    return control ? std::string() : Field(field, std::string(bytes));
  };
  return EditFields(graph, [&](size_t field, std::string_view bytes) {
    return Field(field, field == 1 ? EditFields(bytes, edit_node) : std::string(bytes));
  });
}
#else
std::string Changed(std::string graph) {
  const float right = 1234.5f, wrong = 1234.75f;
  std::string pattern(sizeof(right), '\0'), by(sizeof(wrong), '\0');
  std::memcpy(pattern.data(), &right, sizeof(right));
  std::memcpy(by.data(), &wrong, sizeof(wrong));
  for (size_t at = 0; (at = graph.find(pattern, at)) != graph.npos; at += by.size())
    graph.replace(at, by.size(), by);
  return graph;
}
#endif

void Optimize(void*, const TF_Buffer* in, const TF_GrapplerItem*, TF_Buffer* out, TF_Status*) {
  const std::string graph = Changed(std::string(static_cast<const char*>(in->data), in->length));
  void* data = std::malloc(graph.size());
  std::memcpy(data, graph.data(), graph.size());
  out->data = data;
  out->length = graph.size();
  out->data_deallocator = [](void* bytes, size_t) { std::free(bytes); };
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitGraph(
    TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "CPU";
  params->optimizer->optimize_func = Optimize;
}
