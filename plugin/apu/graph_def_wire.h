// Just enough of protobuf's wire format to read a GraphDef and write it back with some nodes
// changed. Everything is a view into the original bytes; fields that we do not know are copied
// whole. No protobuf library: a plug-in that carries one of its own must keep it from meeting the
// host's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apu {

// One field of a message. `raw` is all of it, tag included.
struct Field {
  int number = 0;
  int wire_type = 0;
  uint64_t varint = 0;     // wire type 0
  std::string_view bytes;  // wire type 2
  std::string_view raw;
};

// Walks through the fields of a message.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  // False at the end, or when the bytes make no sense: ok() tells which.
  bool Next(Field* field);
  bool ok() const { return ok_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool Take(uint64_t size, std::string_view* bytes);

  std::string_view rest_;
  bool ok_ = true;
};

void AppendVarint(std::string* out, uint64_t value);
void AppendBytesField(std::string* out, int number, std::string_view bytes);

// Field numbers of the messages that we touch.
enum GraphDefField { kGraphDefNode = 1 };
enum NodeDefField {
  kNodeDefName = 1,
  kNodeDefOp = 2,
  kNodeDefInput = 3,
  kNodeDefDevice = 4,
  kNodeDefAttr = 5,
};
enum AttrValueField { kAttrValueString = 2, kAttrValueType = 6 };

// A node, as views. Inputs are "name", "name:port" or "^name", control inputs last.
struct Node {
  struct Attr {
    std::string_view name;
    std::string_view value;  // a serialized AttrValue
    std::string_view raw;
  };

  std::string_view message;
  std::string_view name;
  std::string_view op;
  std::string_view device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;
  std::vector<std::string_view> others;  // fields that have no member here

  // The AttrValue's type (its string), or 0 ("") if there is no such attribute.
  uint64_t TypeAttr(std::string_view attr) const;
  std::string_view StringAttr(std::string_view attr) const;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<std::string_view> others;  // library, versions, ...
};

// False if the bytes are no GraphDef. The result refers to `bytes`.
bool ParseGraph(std::string_view bytes, Graph* graph);

}  // namespace apu
