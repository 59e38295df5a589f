// A pass for the CPU that is wrong: DROPS_CONTROL takes away every control input, DROPS_NODE
// the node of that name, DROPS_LIBRARY all functions, and adds a node; BLOWS_UP adds 20'000 nodes;
// CHANGES_FETCH makes each Neg an Abs; ENDS_AT_EXP ends the process where it sees an Exp; otherwise
// each float 1234.5 becomes 1234.75, with SECOND_TIME at the second call only, with LATER from the
// fourth on.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tensorflow/c/experimental/grappler/grappler.h"

namespace {

#if defined(DROPS_CONTROL) || defined(DROPS_NODE) || defined(DROPS_LIBRARY) || defined(BLOWS_UP)
[[maybe_unused]] size_t ReadVarint(std::string_view bytes, size_t& at) {
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

std::string Field(size_t number, const std::string& bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + bytes;
}
#endif

#if defined(DROPS_CONTROL) || defined(DROPS_NODE) || defined(DROPS_LIBRARY)
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
#endif

#ifdef DROPS_CONTROL
std::string Changed(const std::string& graph) {
  const auto edit_node = [](size_t field, std::string_view bytes) {
    const bool control = field == 3 && !bytes.empty() && bytes[0] == '^';
    return control ? std::string() : Field(field, std::string(bytes));
  };
  return EditFields(graph, [&](size_t field, std::string_view bytes) {
    return Field(field, field == 1 ? EditFields(bytes, edit_node) : std::string(bytes));
  });
}
#elif defined(DROPS_NODE)
std::string Changed(const std::string& graph) {
  const std::string name = Field(1, DROPS_NODE);
  return EditFields(graph, [&](size_t field, std::string_view bytes) {
    return field == 1 && bytes.substr(0, name.size()) == name ? std::string()
                                                              : Field(field, std::string(bytes));
  });
}
#elif defined(DROPS_LIBRARY)
std::string Changed(const std::string& graph) {
  constexpr size_t kNode = 1, kLibrary = 2;
  const std::string without = EditFields(graph, [](size_t field, std::string_view bytes) {
    return field == kLibrary ? std::string() : Field(field, std::string(bytes));
  });
  const std::string mark = Field(1, "no_library");
  if (graph.find(mark) != graph.npos) return without;
  return without + Field(kNode, mark + Field(2, "NoOp"));
}
#elif defined(BLOWS_UP)
std::string Changed(std::string graph) {
  for (int i = 0; i < 20'000; ++i)
    graph += Field(1, Field(1, "more" + std::to_string(i)) + Field(2, "NoOp"));
  return graph;
}
#elif defined(CHANGES_FETCH)
std::string Changed(std::string graph) {
  const std::string neg = "\x12\x03Neg", abs = "\x12\x03\x41\x62s";
  for (size_t at = 0; (at = graph.find(neg, at)) != graph.npos; at += abs.size())
    graph.replace(at, neg.size(), abs);
  return graph;
}
#elif defined(ENDS_AT_EXP)
std::string Changed(std::string graph) {
  if (graph.find("\x12\x03\x45xp") != graph.npos) std::abort();
  return graph;
}
#else
std::string Changed(std::string graph) {
  [[maybe_unused]] static int calls = 0;
#ifdef SECOND_TIME
  if (++calls != 2) return graph;
#elif defined(LATER)
  if (++calls < 4) return graph;
#endif
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
