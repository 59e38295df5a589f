// The part of protobuf's wire format that is needed to read a GraphDef and write it back with some
// nodes changed. All string_views refer to the original bytes, which must outlive them. Fields that
// the pass does not know are kept whole. There is no protobuf library here: a plug-in that carries
// one must keep it apart from the host's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace apu {

// One field of a message.
struct Field {
  int number = 0;
  int wire_type = 0;
  uint64_t varint = 0;     // the value, for wire type 0; else 0
  std::string_view bytes;  // the content, for the other wire types; else empty
  std::string_view raw;    // the whole field, tag included
};

// Walks through the fields of a message. Groups (wire types 3 and 4) are malformed here: no message
// of a GraphDef has them.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  // Reads the next field. Returns false at the end of the message and for malformed bytes; ok() is
  // false for malformed bytes alone. After a malformed field every further call returns false.
  bool Next(Field* field);
  bool ok() const { return ok_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool Take(uint64_t size, std::string_view* bytes);

  std::string_view rest_;
  bool ok_ = true;
};

// Append to `out`: a number; a whole field of wire type 2, with its tag and length.
void AppendVarint(std::string* out, uint64_t value);
void AppendBytesField(std::string* out, int number, std::string_view bytes);

// Field numbers of the messages that the pass reads and writes.
enum GraphDefField { kGraphDefNode = 1 };
enum NodeDefField {
  kNodeDefName = 1,
  kNodeDefOp = 2,
  kNodeDefInput = 3,
  kNodeDefDevice = 4,
  kNodeDefAttr = 5,
};
enum AttrValueField { kAttrValueString = 2, kAttrValueType = 6 };

// A node, as views. Inputs are "name", "name:port" or "^name", control inputs last; the reader does
// not check that.
struct Node {
  struct Attr {
    std::string_view name;
    std::string_view value;  // a serialized AttrValue
    std::string_view raw;    // the whole field of the NodeDef, tag included
  };

  std::string_view message;  // the serialized NodeDef
  std::string_view name;
  std::string_view op;
  std::string_view device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;
  std::vector<std::string_view> others;  // the other fields of the NodeDef, tags included

  // The type in attribute `attr`, and the string in it. 0 or empty if the node lacks the attribute
  // or its value is of another kind. If several attributes have the name, the first counts.
  uint64_t TypeAttr(std::string_view attr) const;
  std::string_view StringAttr(std::string_view attr) const;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<std::string_view> others;  // library, versions, ...; tags included
};

// Reads a GraphDef into an empty `graph`, which then refers to `bytes`. Returns false if the fields
// of the GraphDef, of a node or of an attribute's entry are malformed; `graph` then holds a part.
// Looks neither into the attributes' values nor into the graph's other fields. A field of an
// unexpected wire type is no error: a varint reads as an empty string.
bool ParseGraph(std::string_view bytes, Graph* graph);

}  // namespace apu
