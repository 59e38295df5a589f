// The part of a GraphDef that the pass reads and writes. All views are of the bytes that were
// parsed, which must outlive them; what the pass does not know is kept as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/c/tf_datatype.h"

namespace opencl {

// One field of a message: its number, its value if it is a varint, its content if it has a length
// or a fixed size, and all of its bytes.
struct Field {
  int number = 0;
  uint64_t varint = 0;
  std::string_view content, whole;
};

// Reads the fields of a message one after another. Throws INVALID_ARGUMENT for bytes that are no
// message, and for a group, which no message of TensorFlow has.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}
  bool Next(Field* field);  // false at the end
  // For the content of a packed list of varints: the next one. Not at the end.
  uint64_t Varint();
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view Take(uint64_t size);
  std::string_view rest_;
};

struct NodeView {
  struct Attr {
    std::string_view name, value, whole;  // `value`: an AttrValue
  };

  std::string_view whole;  // the field of the GraphDef
  std::string_view name, op, device;
  std::vector<std::string_view> inputs;  // "name", "name:port"; control inputs "^name" last
  std::vector<Attr> attrs;
  std::vector<std::string_view> others;  // the other fields of the NodeDef

  // Type to Bool are nothing if the node has no such attribute, or one of another kind. They throw
  // INVALID_ARGUMENT if the bytes of the attribute's value are no message: ParseGraph does not read
  // them.
  std::optional<TF_DataType> Type(std::string_view attr) const;
  std::optional<std::string_view> String(std::string_view attr) const;
  std::optional<std::string_view> Tensor(std::string_view attr) const;  // a TensorProto
  std::optional<float> Float(std::string_view attr) const;
  std::optional<bool> Bool(std::string_view attr) const;
  // NULL if there is none; of several of one name the last. Does not read the value.
  const Attr* Find(std::string_view attr) const;
};

struct GraphView {
  std::vector<NodeView> nodes;
  std::vector<std::string_view> others;  // the other fields of the GraphDef
};

// Throws INVALID_ARGUMENT for bytes that are no GraphDef.
GraphView ParseGraph(std::string_view bytes);

// Writes fields of a NodeDef.
void AppendInput(std::string* node, std::string_view input);
void AppendTypeAttr(std::string* node, std::string_view name, TF_DataType type);
void AppendTypesAttr(std::string* node, std::string_view name,
                     const std::vector<TF_DataType>& types);
void AppendFloatAttr(std::string* node, std::string_view name, float value);
void AppendStringAttr(std::string* node, std::string_view name, std::string_view text);
void AppendNames(std::string* node, std::string_view name, std::string_view op,
                 std::string_view device);
// A node of a GraphDef from the fields of a NodeDef.
void AppendNode(std::string* graph, std::string_view node);

}  // namespace opencl
