// The parts of a file that ops refer to by number: texts, names of ops, attributes and types.
// Private to plugin/pjrt_reference/bytecode/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../text/module.h"
#include "reader.h"

namespace pjref {

// What a type of the file is.
struct FileType {
  Type type;                          // a tensor, an element (no dims) or a token
  std::vector<Type> inputs, outputs;  // of a function
  bool is_function = false;
};

class Tables {
 public:
  // The sections' bytes, which must outlive the tables. To be called once each, in this order.
  // `start`: the first byte of the file. All functions of the class throw Refusal(kUnknown) for
  // malformed bytes and for a number that the file does not have.
  void ReadTexts(std::string_view section);
  void ReadDialects(std::string_view section, uint64_t version, const char* start);
  void ReadOffsets(std::string_view offsets, std::string_view section);

  void ReadProperties(std::string_view section);

  // For each set of properties the encoded numbers of its attributes.
  const std::vector<std::string_view>& properties() const { return properties_; }
  const std::string& OpName(uint64_t number) const;
  // Read when they are asked for: a file has locations, which nobody asks for. The references live
  // as long as the tables. An attribute that is not read here, as of another dialect, is a kUnit.
  // Both throw Refusal(kUnimplemented) for a type that is not read here, and
  // Refusal(kInvalidArgument) for a dimension that is not known: AttributeAt for a constant's type.
  const Attribute& AttributeAt(uint64_t number);
  const FileType& TypeAt(uint64_t number);

 private:
  struct Entry {
    std::string_view bytes;
    uint64_t dialect = 0;
    bool encoded = false;  // else it is text
    bool busy = false;     // being read: an entry that contains itself has no end
  };
  // Counts the entries that are being read within each other. Fails for more than kMaxDepth: each
  // takes a part of the stack.
  class Depth {
   public:
    explicit Depth(int* depth);
    ~Depth() { --*depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    static constexpr int kMaxDepth = 200;
    int* const depth_;
  };
  void ReadEntries(ByteReader* offsets, uint64_t count, ByteReader* section,
                   std::vector<Entry>* entries) const;
  const std::string& TextAt(uint64_t number) const;
  const std::string& DialectOf(const Entry& entry) const;
  // AttributeAt, to be copied into another attribute. Fails where a file copies too many.
  const Attribute& ToCopy(uint64_t number);
  Attribute ReadBuiltinAttribute(ByteReader reader);
  Attribute ReadVhloAttribute(ByteReader reader);
  Attribute ReadTensor(ByteReader* reader);
  Attribute ReadNumber(ByteReader* reader);
  Attribute ReadDictionary(ByteReader* reader);
  FileType ReadVhloType(ByteReader reader);
  std::vector<Type> ReadTypes(ByteReader* reader);

  std::vector<std::string> texts_, dialects_, ops_;
  std::vector<std::string_view> properties_;
  std::vector<Entry> attributes_, types_;
  std::map<uint64_t, Attribute> read_attributes_;
  std::map<uint64_t, FileType> read_types_;
  int depth_ = 0;        // of entries that are being read within each other
  uint64_t copied_ = 0;  // attributes that were copied into others, those within them included
};

}  // namespace pjref
